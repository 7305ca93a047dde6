"""Small networks and invented data for the tests of cleft.nn."""

import json
from pathlib import Path

import pytest
import torch

from cleft.nn.config import NetworkConfig
from cleft.nn.features import Featuriser, Vocabulary
from cleft.nn.network import Network
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.batches import Example
from cleft.nn.train.data import (
    Sentence,
    derive_sentences,
    make_examples,
    make_vocabulary,
    read_sentences,
)
from cleft.nn.train.recipe import DataConfig

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"

SMALL = {
    "word_size": 10,
    "char_size": 6,
    "char_hidden": 5,
    "encoder_layers": 2,
    "encoder_hidden": 8,
    "span_size": 7,
    "decoder_layers": 1,
    "decoder_hidden": 9,
    "pointer_size": 6,
    "label_size": 5,
    "tag_size": 5,
    "edu_size": 4,
}
PAPER = {"history": True, "pointer_range": "sentence", "span_scores": 0}
"""The paper's decoder and pointer."""
BOTH = {
    **SMALL,
    **PAPER,
    "tasks": ("syntax", "discourse"),
    "tags": True,
    "edu_boundaries": "pointer",
}


class Bench:
    """A network over the invented data, with everything at hand."""

    def __init__(self, config: NetworkConfig, transformer: object = None, pieces: object = None):
        self.config = config
        self.sentences = {task: invented(task) for task in config.tasks}
        self.decisions = {
            task: derive_sentences(task, rows, config) for task, rows in self.sentences.items()
        }
        self.vocabulary: Vocabulary = make_vocabulary(self.decisions, config, min_count=1)
        torch.manual_seed(3)
        self.network = Network(config, self.vocabulary, transformer).eval()
        self.featurise = Featuriser(config, self.vocabulary, pieces)  # type: ignore[arg-type]
        self.scorer = TorchScorer(self.network, self.vocabulary, self.featurise)

    def examples(self, task: str) -> list[Example]:
        return make_examples(task, self.decisions[task], self.vocabulary)

    def scramble(self) -> "Bench":
        """Random weights everywhere, so that nothing is zero by its start."""
        torch.manual_seed(4)
        with torch.no_grad():
            for parameter in self.network.parameters():
                parameter.normal_(std=0.3)
        return self


def invented(task: str, part: str = "train") -> list[Sentence]:
    suffix = "mrg" if task == "syntax" else "jsonl"
    config = DataConfig(train=("x",))
    return read_sentences(task, [str(DATA / f"invented-{part}.{suffix}")], config)


@pytest.fixture
def both() -> Bench:
    return Bench(NetworkConfig(**BOTH))


VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a she he it ra ##in ##ed pla ##y ##ing grey her ##on wait "
    "tree ##s , . ! ? a b c d e f g h i j k l m n o p q r s t u v w x y z "
    "##a ##b ##c ##d ##e ##f ##g ##h ##i ##j ##k ##l ##m ##n ##o ##p ##q ##r ##t ##u ##v ##w ##x "
    "##y ##z"
)


def write_bert(directory: Path, limit: int = 24) -> Path:
    """A tiny random BERT with a WordPiece vocabulary, as a Hugging Face directory."""
    from transformers import BertConfig, BertModel

    directory.mkdir(parents=True, exist_ok=True)
    words = list(dict.fromkeys(VOCABULARY.split()))
    (directory / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    (directory / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=20,
        max_position_embeddings=limit,
    )
    BertModel(config).save_pretrained(directory)
    return directory


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "model")
