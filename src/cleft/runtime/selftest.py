"""A model's self-test: its own sentences must give the trees they gave when it was exported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cleft.errors import CleftError, ModelError
from cleft.runtime.manifest import ModelScorer, SelfTest, SplitRow
from cleft.runtime.units import Unit
from cleft.search import Parse, search
from cleft.search.scorer import Encoded
from cleft.tasks import get_task

TOLERANCE = 1e-2
"""How far a log-probability may be from the one recorded: machines add up in different orders."""


def check(scorer: ModelScorer) -> int:
    """Parse the model's test sentences; their number, or a ModelError at the first difference.

    A model with a head for documents parses them once more, as one document.
    """
    tests, together = scorer.manifest.self_test, scorer.manifest.document_test
    for number, expected in enumerate(tests, 1):
        _compare(f"self-test sentence {number}", expected, self_test(scorer, expected.tokens))
    if together is not None:
        found = document_test(scorer, [test.tokens for test in tests])
        _compare("self-test document", together, found)
    return len(tests)


def _compare(where: str, expected: SelfTest, found: SelfTest) -> None:
    hint = "verify the model's files; report this machine and onnxruntime's version"
    for task, tree in expected.trees.items():
        if found.trees[task] != tree:
            raise ModelError(
                f"expected the {task} tree {tree}, found {found.trees[task]}",
                where=where,
                hint=hint,
            )
    for task, log_prob in expected.log_probs.items():
        other = found.log_probs.get(task, math.nan)
        if not math.isclose(other, log_prob, abs_tol=TOLERANCE, rel_tol=1e-3):
            raise ModelError(
                f"expected the log-probability {log_prob:.4f} of {task}, found {other:.4f}",
                where=where,
                hint=hint,
            )


def self_test(scorer: ModelScorer, tokens: tuple[str, ...]) -> SelfTest:
    """What the model makes of a sentence, greedily."""
    return _tested(scorer, tokens, tokens, scorer.manifest.token_tasks, scorer.encode([tokens]))


def document_test(scorer: ModelScorer, sentences: Sequence[tuple[str, ...]]) -> SelfTest:
    """What the model makes of sentences as one document, greedily."""
    units = [Unit(tokens, not number) for number, tokens in enumerate(sentences)]
    encoded = scorer.encode([units])
    return _tested(scorer, (), units, scorer.manifest.unit_tasks, encoded)


def _tested(
    scorer: ModelScorer,
    tokens: tuple[str, ...],
    units: Sequence[Any],
    tasks: Sequence[str],
    encoded: Encoded,
) -> SelfTest:
    parses: dict[str, Parse] = {}
    for name in tasks:
        (result,) = search(scorer, [units], scorer.manifest.task(name), encoded=encoded)
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
