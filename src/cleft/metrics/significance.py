"""How sure a score is: bootstrap intervals, and a paired test between two systems.

Everything works on counts for each sentence, as rows of (matched, gold,
predicted), and on their micro-averaged F1. Results depend on the seed alone.

The test between two systems is approximate randomisation: on random sentences
their results change sides, which gives the differences that chance makes. Both
the p-value and the interval of the difference come from these, so that they
agree: p is at most 0.05 exactly where the 95 % interval leaves 0 out. (A
bootstrap interval beside it would not: on few sentences it is too narrow.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cleft.errors import MetricError, UsageError
from cleft.metrics.evalb import SyntaxScores
from cleft.metrics.parseval import DiscourseScores

__all__ = ["Comparison", "Interval", "bootstrap", "compare", "count_rows"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]

TOLERANCE = 1e-9
CHUNK = 4_000_000  # numbers drawn at once, so that memory stays bounded


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The difference in F1 between two systems and how likely chance alone makes it.

    `p_value` is two-sided: how often changing sides on random sentences makes
    a difference as large. `interval` is the difference, more or less what
    chance makes in all but the rarest samples.
    """

    difference: float
    interval: Interval
    p_value: float


def count_rows(scores: SyntaxScores | DiscourseScores, measure: str = "full") -> Rows:
    """The counts of each sentence; `measure` says which of discourse's.

    >>> from cleft import Tree
    >>> from cleft.metrics.evalb import score_syntax
    >>> tree = Tree.from_brackets("(NP (DT the) (NN cat))")
    >>> count_rows(score_syntax([tree], [tree])).tolist()
    [[1, 1, 1]]
    """
    if isinstance(scores, DiscourseScores):
        counts = [getattr(row, measure) for row in scores.sentences]
        return np.array([(c.matched, c.gold, c.predicted) for c in counts], np.int64).reshape(-1, 3)
    # The SPMRL variant may have two rows for one sentence.
    rows = np.zeros((scores.sentences[-1].number if scores.sentences else 0, 3), np.int64)
    for row in scores.sentences:
        rows[row.number - 1] += (row.matched, row.gold, row.predicted)
    return rows


def bootstrap(rows: Rows, samples: int = 1000, level: float = 0.95, seed: int = 0) -> Interval:
    """The percentile interval of F1 over resampled sets of sentences.

    >>> bootstrap(np.array([[3, 4, 4]] * 20))
    Interval(low=75.0, high=75.0)
    """
    _check(rows, samples, level)
    values = np.concatenate([_f1(w @ rows) for w in _weights(len(rows), samples, seed)])
    return _interval(values, level)


def compare(
    one: Rows, two: Rows, samples: int = 1000, level: float = 0.95, seed: int = 0
) -> Comparison:
    """Compare two systems on the same sentences; differences are two minus one.

    >>> worse, better = np.array([[1, 4, 4]] * 4), np.array([[3, 4, 4]] * 4)
    >>> found = compare(worse, better)
    >>> found.difference, found.p_value > 0.05, found.interval
    (50.0, True, Interval(low=0.0, high=100.0))
    """
    _check(one, samples, level)
    if len(one) != len(two):
        raise MetricError(
            f"{len(one)} sentences of one system, {len(two)} of the other",
            hint="compare predictions for the same gold file",
        )
    tail = int((1 - level) * (samples + 1) + TOLERANCE)  # samples outside the interval
    if not tail:
        raise UsageError(
            f"{samples} samples are too few to tell anything at level {level}",
            hint=f"take at least {math.ceil(1 / (1 - level) - TOLERANCE) - 1}",
        )
    observed = float(_f1(two.sum(0)) - _f1(one.sum(0)))
    chance = np.abs(
        np.concatenate([_swapped(one, two, s) for s in _swaps(len(one), samples, seed)])
    )
    # Differences that equal the observed one up to rounding count as equal to it.
    chance[np.abs(chance - abs(observed)) < TOLERANCE] = abs(observed)
    margin = float(np.sort(chance)[-tail])
    return Comparison(
        difference=observed,
        interval=Interval(observed - margin, observed + margin),
        p_value=(int(np.sum(chance >= abs(observed))) + 1) / (samples + 1),
    )


def _swapped(one: Rows, two: Rows, swaps: Rows) -> Floats:
    """The differences in F1 after these sentences, (samples, sentences), have changed sides."""
    moved = swaps @ (two - one)
    return np.asarray(_f1(two.sum(0) - moved) - _f1(one.sum(0) + moved))


def _check(rows: Rows, samples: int, level: float) -> None:
    if samples < 1 or not 0 < level < 1:
        raise UsageError(
            f"{samples} samples at level {level}",
            hint="take at least one sample and a level between 0 and 1",
        )
    if not len(rows):
        raise MetricError("no sentence to resample", hint="give at least one pair of trees")


def _f1(sums: npt.NDArray[np.int64]) -> Floats:
    """F1 in per cent of (…, 3) sums; 0 where there is nothing."""
    whole = sums[..., 1] + sums[..., 2]
    return np.asarray(200.0 * sums[..., 0] / np.maximum(whole, 1))


def _interval(values: Floats, level: float) -> Interval:
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(values, [tail, 100.0 - tail])
    return Interval(float(low), float(high))


def _sizes(length: int, samples: int) -> Iterator[int]:
    size = max(1, CHUNK // length)
    for start in range(0, samples, size):
        yield min(size, samples - start)


def _weights(length: int, samples: int, seed: int) -> Iterator[Rows]:
    """How often each sentence is drawn in each sample, (samples, sentences)."""
    random = np.random.default_rng(seed)
    for size in _sizes(length, samples):
        yield random.multinomial(length, np.full(length, 1 / length), size=size)


def _swaps(length: int, samples: int, seed: int) -> Iterator[Rows]:
    """Which sentences change sides in each sample, (samples, sentences)."""
    random = np.random.default_rng(seed)
    for size in _sizes(length, samples):
        yield random.integers(0, 2, size=(size, length), dtype=np.int64)
