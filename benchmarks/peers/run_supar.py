"""Driver for SuPar 1.1.4, CRF constituency parser, over a BiLSTM or a pretrained encoder.

train.py trains it on wsj-sample: an hour or two on one core.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main


class SuPar(Driver):
    """`Parser.load(path).predict(sentences)`: its documented interface, MBR decoding."""

    name = "supar"
    weights = "trained on wsj-sample"
    batch = 5000
    unit = "tokens"

    def imports(self) -> None:
        """Import the peer."""
        import supar
        import torch

        self.supar, self.torch = supar, torch

    def load(self, model: Path) -> None:
        """Load a model that `build` made."""
        # Its models are pickles of its own classes, which torch 2.6 and later refuse.
        os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        self.parser = self.supar.Parser.load(str(model))

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tokens; tags are passed through."""
        data = [list(zip(one.words, one.tags, strict=True)) for one in sentences]
        return self.parser.predict(data, batch_size=batch, verbose=False).trees

    def brackets(self, tree: Any) -> str:
        """As it prints itself, on one line."""
        # Its root is TOP over a tree; pformat with this margin stays on one line.
        return tree.pformat(margin=10**9)

    def build(self, model: Path, treebank: Path) -> None:
        """There is nothing to build: train.py trains it."""
        raise SystemExit(f"{model}: expected a trained model; run train.py supar")


if __name__ == "__main__":
    main(SuPar())
