"""A model's self-test: its own sentences must give the trees they gave when it was exported."""

from __future__ import annotations

import math

from cleft.errors import CleftError, ModelError
from cleft.runtime.manifest import SelfTest
from cleft.runtime.scorer import OnnxScorer
from cleft.search import Parse, search
from cleft.tasks import DISCOURSE

__all__ = ["check", "self_test"]

TOLERANCE = 1e-2
"""How far a log-probability may be from the one recorded: machines add up in different orders."""


def check(scorer: OnnxScorer) -> int:
    """Parse the model's test sentences; their number, or a ModelError at the first difference."""
    tests = scorer.manifest.self_test
    for number, expected in enumerate(tests, 1):
        found = self_test(scorer, expected.tokens)
        where = f"self-test sentence {number}"
        for what in ("syntax", "discourse"):
            if getattr(found, what) != getattr(expected, what):
                raise ModelError(
                    f"expected the {what} tree {getattr(expected, what)}, "
                    f"found {getattr(found, what)}",
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


def self_test(scorer: OnnxScorer, tokens: tuple[str, ...]) -> SelfTest:
    """What the model makes of a sentence, greedily."""
    encoded = scorer.encode([tokens])
    parses: dict[str, Parse] = {}
    for task in (scorer.manifest.syntax, DISCOURSE):
        if task.name in scorer.manifest.tasks:
            (result,) = search(scorer, [tokens], task, encoded=encoded)
            if isinstance(result, CleftError):
                raise result
            parses[task.name] = result[0]
    splits = None
    if "discourse" in parses:
        derivation = parses["discourse"].derivation
        inner = [split for split in derivation.splits if not split.is_stop]
        splits = tuple((*split, name) for split, name in zip(inner, derivation.labels, strict=True))
    return SelfTest(
        tokens=tokens,
        syntax=str(parses["syntax"].tree) if "syntax" in parses else None,
        discourse=splits,
        log_probs={task: round(parse.log_prob, 5) for task, parse in parses.items()},
    )
