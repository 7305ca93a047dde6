"""Tiny random networks of every kind, exported, for the tests of the runtime and the parser."""

import atexit
import json
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import torch

from cleft.nn.checkpoint import build_network
from cleft.nn.config import NetworkConfig
from cleft.nn.export.export import ExportOptions, export_scorer
from cleft.nn.features import Vocabulary
from cleft.nn.scorer import TorchScorer
from cleft.runtime import ModelDirectory, OnnxScorer

torch.set_num_threads(1)

TEXT = "the a old grey heron waits Rain fell , so she left . naïve can't 1984 UNESCO tréès"
WORDS = TEXT.split()
FIRST = "[PAD] [UNK] [CLS] [SEP] [MASK] the old grey her ##on wait ##s rain fell , . so she"
PIECES = [
    FIRST.split(),
    [chr(number) for number in range(ord("a"), ord("z") + 1)],
    [f"##{chr(number)}" for number in range(ord("a"), ord("z") + 1) if chr(number) != "s"],
    list("0123456789'-[]"),
]

SMALL = {
    "history": True,
    "pointer_range": "sentence",
    "span_scores": 0,
    "tasks": ("syntax", "discourse"),
    "tags": True,
    "word_size": 12,
    "char_size": 8,
    "char_hidden": 6,
    "encoder_layers": 2,
    "encoder_hidden": 10,
    "span_size": 9,
    "decoder_layers": 1,
    "decoder_hidden": 11,
    "pointer_size": 7,
    "label_size": 6,
    "tag_size": 5,
    "edu_size": 5,
    "transformer_size": 13,
}

KINDS = {
    "lstm": {"edu_boundaries": "pointer", "decoder_layers": 2},
    "words": {"char_size": 0, "span_input": "linear", "edu_boundaries": "pointer"},
    "plain": {"forms": "plain"},
    "spans": {"span_scores": 5, "edu_boundaries": "pointer", "label_none": True},
    "levels": {
        "span_scores": 5,
        "pointer_range": "span",
        "history": False,
        "decoder_layers": 2,
        "edu_boundaries": "pointer",
    },
    "chars": {"word_size": 0, "history": False, "edu_boundaries": "loss"},
    "bert": {"encoder": "transformer", "encoder_layers": 0, "casing_size": 4},
    "frozen": {"encoder": "transformer", "transformer_layers": 3},
    "mpnet": {
        "encoder": "transformer",
        "encoder_layers": 0,
        "transformer_layers": 1,
        "forms": "plain",
    },
    "distilbert": {"encoder": "transformer", "encoder_layers": 0, "transformer_layers": 2},
    "marian": {"encoder": "transformer", "encoder_layers": 0, "transformer_layers": 2},
}
OWN = ("mpnet", "distilbert", "marian")
"""Kinds with a transformer of their own; the others that have one have BERT."""


@cache
def folder() -> Path:
    made = Path(mkdtemp(prefix="cleft-test-models-"))
    atexit.register(rmtree, made, ignore_errors=True)
    return made


@cache
def transformer(kind: str) -> str:
    """A tiny transformer with a tokenizer, as a Hugging Face directory."""
    from transformers import (
        BertConfig,
        BertModel,
        DistilBertConfig,
        DistilBertModel,
        MPNetConfig,
        MPNetModel,
    )

    where = folder() / f"pretrained-{kind}"
    where.mkdir()
    if kind == "marian":
        return _translator(where)
    vocabulary = [piece for group in PIECES for piece in group]
    if kind == "mpnet":  # its padding is number 1
        vocabulary[:2] = vocabulary[1::-1]
    (where / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": kind != "distilbert"}
    (where / "tokenizer_config.json").write_text(json.dumps(settings))
    shape = {
        "vocab_size": len(vocabulary),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 24,
        "pad_token_id": vocabulary.index("[PAD]"),
    }
    torch.manual_seed(1)
    if kind == "mpnet":
        model = MPNetModel(MPNetConfig(**shape, max_position_embeddings=34))
    elif kind == "distilbert":
        shape["hidden_dim"] = shape.pop("intermediate_size")
        model = DistilBertModel(DistilBertConfig(**shape, max_position_embeddings=32))
    else:
        model = BertModel(BertConfig(**shape, max_position_embeddings=32))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(where)
    return str(where)


def _translator(where: Path) -> str:
    """A tiny translator, of which the encoder is used, and a unigram tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import MarianConfig, MarianModel, PreTrainedTokenizerFast

    pieces = ["▁the", "▁old", "▁her", "on", "▁wait", "s", "▁", "é", "’", *"abcdefgimprtuw,.1'"]
    vocabulary = [("</s>", 0.0), ("<unk>", 0.0), ("<pad>", 0.0)]
    vocabulary += [(piece, -1.5 - 0.25 * number) for number, piece in enumerate(pieces)]
    made = Tokenizer(models.Unigram(vocabulary, unk_id=1, byte_fallback=False))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    marks = {"bos_token": "</s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    PreTrainedTokenizerFast(tokenizer_object=made, **marks).save_pretrained(where)
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=16,
        encoder_layers=2,
        decoder_layers=0,
        encoder_attention_heads=2,
        encoder_ffn_dim=24,
        max_position_embeddings=32,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=2,
        eos_token_id=0,
        decoder_start_token_id=2,
        forced_eos_token_id=0,
    )
    torch.manual_seed(1)
    model = MarianModel(config)
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(where)
    return str(where)


@cache
def torch_scorer(kind: str) -> TorchScorer:
    """A network of a kind with random weights everywhere."""
    changes = dict(KINDS[kind])
    if changes.get("encoder") == "transformer":
        changes["transformer"] = transformer(kind if kind in OWN else "bert")
    config = NetworkConfig(**{**SMALL, **changes})
    labels = {
        "syntax": ["S", "NP", "VP", "∅", "∅NP", "S+VP"],
        "discourse": ["cause_NS", "joint_NN", "concession_SN"],
    }
    vocabulary = Vocabulary.build([WORDS[:12]] * 2, tags=["DT", "NN", "VB"], labels=labels)
    network, featurise = build_network(config, vocabulary)
    torch.manual_seed(2)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if ".transformer.model." not in name:
                parameter.normal_(std=0.4)
    return TorchScorer(network.eval(), vocabulary, featurise)


def model(kind: str, *, int8: bool = False) -> Path:
    """An exported model of a kind."""
    return _model(kind, int8)


@cache
def _model(kind: str, int8: bool) -> Path:
    options = ExportOptions(int8=int8, about={"name": kind, "licence": "CC0-1.0"})
    return export_scorer(torch_scorer(kind), folder() / f"{kind}{'-int8' * int8}", options)


@cache
def onnx_scorer(kind: str, *, int8: bool = False) -> OnnxScorer:
    return OnnxScorer(ModelDirectory(model(kind, int8=int8)))


def sentences(*lengths: int, seed: int = 0) -> list[list[str]]:
    """Random sentences of these lengths."""
    chooser = torch.Generator().manual_seed(seed)
    return [
        [WORDS[int(n)] for n in torch.randint(len(WORDS), (length,), generator=chooser)]
        for length in lengths
    ]
