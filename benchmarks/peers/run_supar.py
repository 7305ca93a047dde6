"""Driver for SuPar 1.1.4, CRF constituency parser (BiLSTM and characters).

Trained on wsj-sample: `build` takes about an hour on one core.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main

EPOCHS = 13


class SuPar(Driver):
    """`Parser.load(path).predict(sentences)`: its documented interface, MBR decoding."""

    name = "supar"
    weights = f"trained on wsj-sample, {EPOCHS} epochs"
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
        """Train; `treebank` is the training file under a TOP, dev and test beside it.

        Every better epoch is saved, so the model gets its name when training is over.
        """
        unfinished = model.with_name(f"{model.name}.part")
        splits = {
            name: treebank.with_name(treebank.name.replace("train", name, 1))
            for name in ("train", "dev", "test")
        }
        command = [sys.executable, "-m", "supar.cmds.crf_con", "--mbr", "train", "-b"]
        command += ["-f", "char", "-c", str(Path(__file__).with_name("supar.ini"))]
        command += ["-p", str(unfinished), "-t", "1", "-s", "1", "--embed=", "--n-embed", "100"]
        command += [f"--epochs={EPOCHS}"]
        command += [part for name, path in splits.items() for part in (f"--{name}", str(path))]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        subprocess.run(command, check=True, env=environment)
        unfinished.rename(model)


if __name__ == "__main__":
    main(SuPar())
