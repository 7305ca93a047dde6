"""Driver for benepar 0.2.0 at its default sizes, with random weights: speed only.

PyPI has no training code. Its chart is exhaustive, so the speed does not
depend on the weights; the trees mean nothing.
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


class Benepar(Driver):
    """`benepar.Parser(path).parse_sents(sentences)`: its documented interface."""

    name = "benepar"
    weights = "random, default sizes: speed only"
    batch = 64

    def imports(self) -> None:
        """Import the peer."""
        import benepar
        import torch

        self.benepar, self.torch = benepar, torch

    def load(self, model: Path) -> None:
        """Load a model that `build` made."""
        self.parser = self.benepar.Parser(str(model))

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tokens; tags are passed through."""
        self.parser.batch_size = batch
        inputs = [self.benepar.InputSentence(words=one.words, tags=one.tags) for one in sentences]
        return list(self.parser.parse_sents(inputs))

    def brackets(self, tree: Any) -> str:
        """As it prints itself, on one line."""
        return tree.pformat(margin=10**9)

    def build(self, model: Path, treebank: Path) -> None:
        """A model with random weights; `treebank` is the training file under a TOP."""
        import nltk
        from benepar.char_lstm import RetokenizerForCharLSTM
        from benepar.decode_chart import ChartDecoder
        from benepar.nkutil import HParams
        from benepar.parse_chart import ChartParser

        lines = treebank.read_text(encoding="utf-8").splitlines()
        trees = [nltk.Tree.fromstring(line) for line in lines]
        tags = sorted({tag for tree in trees for _, tag in tree.pos()})
        self.torch.manual_seed(1)
        parser = ChartParser(
            tag_vocab={tag: index for index, tag in enumerate(["UNK", *tags])},
            label_vocab=ChartDecoder.build_vocab(trees),
            char_vocab=RetokenizerForCharLSTM.build_vocab([tree.leaves() for tree in trees]),
            hparams=HParams(**SIZES),
        )
        state = {"config": parser.config, "state_dict": parser.state_dict()}
        self.torch.save(state, model)


if __name__ == "__main__":
    main(Benepar())
