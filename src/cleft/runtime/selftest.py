"""A model's self-test: its own sentences must give the trees they gave when it was exported."""

from __future__ import annotations

import math

from cleft.errors import CleftError, ModelError
from cleft.runtime.manifest import ModelScorer, SelfTest, SplitRow
from cleft.search import Parse, search
from cleft.tasks import get_task

TOLERANCE = 1e-2
"""How far a log-probability may be from the one recorded: machines add up in different orders."""


def check(scorer: ModelScorer) -> int:
    """Parse the model's test sentences; their number, or a ModelError at the first difference."""
    tests = scorer.manifest.self_test
    for number, expected in enumerate(tests, 1):
        found = self_test(scorer, expected.tokens)
        where = f"self-test sentence {number}"
        for task, tree in expected.trees.items():
            if found.trees[task] != tree:
                raise ModelError(
                    f"expected the {task} tree {tree}, found {found.trees[task]}",
                    where=where,
                    hint="verify the model's files; report this machine and onnxruntime's version",
                )
        for task, log_prob in expected.log_probs.items():
            other = found.log_probs.get(task, math.nan)
            if not math.isclose(other, log_prob, abs_tol=TOLERANCE, rel_tol=1e-3):
                raise ModelError(
                    f"expected the log-probability {log_prob:.4f} of {task}, found {other:.4f}",
                    where=where,
                    hint="verify the model's files; report this machine and onnxruntime's version",
                )
    return len(tests)


def self_test(scorer: ModelScorer, tokens: tuple[str, ...]) -> SelfTest:
    """What the model makes of a sentence, greedily."""
    encoded = scorer.encode([tokens])
    parses: dict[str, Parse] = {}
    for name in scorer.manifest.tasks:
        (result,) = search(scorer, [tokens], scorer.manifest.task(name), encoded=encoded)
        if isinstance(result, CleftError):
            raise result
        parses[name] = result[0]
    return SelfTest(
        tokens=tokens,
        trees={name: _tree(parse, get_task(name).labels) for name, parse in parses.items()},
        log_probs={name: round(parse.log_prob, 5) for name, parse in parses.items()},
    )


def _tree(parse: Parse, labels: str) -> str | tuple[SplitRow, ...]:
    """A tree as a self-test has it."""
    if labels == "spans":
        return str(parse.tree)
    derivation = parse.derivation
    inner = [split for split in derivation.splits if not split.is_stop]
    return tuple((*split, name) for split, name in zip(inner, derivation.labels, strict=True))
