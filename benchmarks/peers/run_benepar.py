"""Driver for benepar 0.2.0: trained by train.py, or of random weights, for speed only.

Its chart is exhaustive, so the speed does not depend on the weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main

SIZES = {
    "use_chars_lstm": True,
    "d_char_emb": 64,
    "char_lstm_input_dropout": 0.2,
    "use_pretrained": False,
    "use_encoder": True,
    "d_model": 1024,
    "num_layers": 8,
    "num_heads": 8,
    "d_kv": 64,
    "d_ff": 2048,
    "encoder_max_len": 512,
    "morpho_emb_dropout": 0.2,
    "attention_dropout": 0.2,
    "relu_dropout": 0.1,
    "residual_dropout": 0.2,
    "force_root_constituent": True,
    "predict_tags": False,
    "d_label_hidden": 256,
    "d_tag_hidden": 256,
    "tag_loss_scale": 5.0,
}

TOKENS = 100
"""From here on a batch is so many tokens, of sentences of like length, as its trainer parses."""


class Benepar(Driver):
    """`benepar.Parser(path).parse_sents(sentences)`: its documented interface."""

    name = "benepar"
    weights = "trained on wsj-sample, or random (default sizes): speed only"
    batch = 64

    def imports(self) -> None:
        """Import the peer."""
        import benepar
        import torch
        from transformers import PreTrainedTokenizerFast

        self.benepar, self.torch = benepar, torch
        if not hasattr(PreTrainedTokenizerFast, "build_inputs_with_special_tokens"):
            # Gone in transformers 5; benepar asks it where BERT's [CLS] and [SEP] stand.
            PreTrainedTokenizerFast.build_inputs_with_special_tokens = lambda self, pieces: [
                self.cls_token_id,
                *pieces,
                self.sep_token_id,
            ]

    def load(self, model: Path) -> None:
        """Load a model that `build` made."""
        self.parser = self.benepar.Parser(str(model))

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tokens; tags are passed through. A large batch is one of tokens, not sentences."""
        inputs = [self.input(one) for one in sentences]
        if batch >= TOKENS:
            filled = [self.parser._with_missing_fields_filled(one) for one in inputs]
            return list(self.parser._parser.parse(filled, subbatch_max_tokens=batch))
        self.parser.batch_size = batch
        return list(self.parser.parse_sents(inputs))

    def input(self, one: Sentence) -> Any:
        """Its own input: of a treebank, the words as they were before they were escaped."""
        if not one.brackets:
            return self.benepar.InputSentence(words=one.words, tags=one.tags)
        words, spaces = self.text(one.words)
        return self.benepar.InputSentence(
            words=words, escaped_words=one.words, space_after=spaces, tags=one.tags
        )

    def text(self, leaves: list[str]) -> tuple[list[str], list[bool]]:
        """The words of a treebank's leaves and where white space follows, as its trainer has it."""
        from benepar.ptb_unescape import guess_space_after, ptb_unescape

        return ptb_unescape(leaves), guess_space_after(leaves)

    def brackets(self, tree: Any) -> str:
        """As it prints itself, on one line."""
        return tree.pformat(margin=10**9)

    def build(self, model: Path, treebank: Path) -> None:
        """A model with random weights; `treebank` is the training file under a TOP."""
        self.torch.manual_seed(1)
        self.store(self.fresh(treebank, SIZES), model)

    def fresh(self, treebank: Path, sizes: dict[str, Any]) -> Any:
        """An untrained parser with the labels, tags and characters of a treebank."""
        import nltk
        from benepar.char_lstm import RetokenizerForCharLSTM
        from benepar.decode_chart import ChartDecoder
        from benepar.nkutil import HParams
        from benepar.parse_chart import ChartParser

        lines = treebank.read_text(encoding="utf-8").splitlines()
        trees = [nltk.Tree.fromstring(line) for line in lines]
        tags = sorted({tag for tree in trees for _, tag in tree.pos()})
        words = [self.text(tree.leaves())[0] for tree in trees]
        return ChartParser(
            tag_vocab={tag: index for index, tag in enumerate(["UNK", *tags])},
            label_vocab=ChartDecoder.build_vocab(trees),
            char_vocab=RetokenizerForCharLSTM.build_vocab(words),
            hparams=HParams(**sizes),
        )

    def store(self, parser: Any, path: Path) -> None:
        """The single file that its own trainer writes."""
        self.torch.save({"config": parser.config, "state_dict": parser.state_dict()}, path)


if __name__ == "__main__":
    main(Benepar())
