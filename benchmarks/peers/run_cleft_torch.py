"""Driver for cleft's network in PyTorch, with the same search and the same batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main


class CleftTorch(Driver):
    """What `cleft train` wrote, without export."""

    name = "cleft, PyTorch"
    weights = "trained"
    batch = 1000
    unit = "tokens"

    def imports(self) -> None:
        """Import the heavy half."""
        import torch  # noqa: F401 - measure.py sets its threads

        from cleft.nn.checkpoint import load_model
        from cleft.runtime.batches import plan
        from cleft.search import search

        self.load_model, self.plan, self.search = load_model, plan, search

    def load(self, model: Path) -> None:
        """Load a checkpoint."""
        self.scorer = self.load_model(model)
        self.scorer.network.eval()
        self.task = self.scorer.network.config.task("syntax")

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tokens, greedy."""
        trees: list[Any] = [None] * len(sentences)
        for numbers in self.plan([len(one.words) for one in sentences], batch):
            words = [sentences[number].words for number in numbers]
            for number, found in zip(
                numbers, self.search(self.scorer, words, self.task), strict=True
            ):
                if isinstance(found, Exception):
                    raise found
                trees[number] = found[0].tree
        return trees

    def brackets(self, tree: Any) -> str:
        """On one line."""
        return tree.brackets()

    def build(self, model: Path, treebank: Path) -> None:
        """There is nothing to build: `cleft train` makes a checkpoint."""
        raise SystemExit(f"{model}: expected a checkpoint; run 'cleft train'")


if __name__ == "__main__":
    main(CleftTorch())
