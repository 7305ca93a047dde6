"""Driver for cleft itself: an exported model on ONNX Runtime, greedy.

Runs in cleft's own environment, by the peers' protocol. Threads are those of
OMP_NUM_THREADS, which run.py sets.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from measure import Driver, Sentence, main


class Cleft(Driver):
    """`cleft.load(path).parse_tokens(sentences)`: its documented interface.

    A part-of-speech head is used, as it is by default, unless CLEFT_BENCH_TAGS
    is set: then the given tags are passed through, so that EVALB sees them.
    """

    name = "cleft"
    weights = "trained"
    batch = 1000
    unit = "tokens"
    beam = 1

    def imports(self) -> None:
        """Import what a user imports."""
        import cleft
        import cleft.parser
        from cleft.runtime.batches import plan

        self.cleft, self.module, self.plan = cleft, cleft.parser, plan

    def load(self, model: Path) -> None:
        """Load an exported model."""
        threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        self.parser = self.cleft.load(model, threads=threads)

    def parse(self, sentences: list[Sentence], batch: int) -> list[Any]:
        """Parse tokens."""
        # The size of batches is no option of the parser's: users need not choose it.
        self.module.plan = lambda lengths, *_: self.plan(lengths, tokens=batch)
        tags = [one.tags for one in sentences] if "CLEFT_BENCH_TAGS" in os.environ else None
        words = [one.words for one in sentences]
        found = self.parser.parse_tokens(words, task="syntax", beam=self.beam, tags=tags)
        errors = [one.error for one in found if one.error is not None]
        if errors:
            raise errors[0]
        return [one.syntax for one in found]

    def brackets(self, tree: Any) -> str:
        """On one line."""
        return tree.brackets()

    def build(self, model: Path, treebank: Path) -> None:
        """There is nothing to build: `cleft export` makes a model."""
        raise SystemExit(f"{model}: expected an exported model; run 'cleft export'")


if __name__ == "__main__":
    main(Cleft())
