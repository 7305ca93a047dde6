"""The labels of chosen spans or splits, and nothing else's.

A beam scores thousands of spans; only those of the finished trees are ever
named, in one question to the scorer (or a few, where there are very many).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cleft.errors import ModelError
from cleft.search.options import LOWEST
from cleft.search.scorer import Encoded, Floats, Ints, Scorer
from cleft.tree import is_dummy

__all__ = ["Labels", "choose_labels", "runners_up"]

CHUNK = 16_384
"""How many items one question holds at most."""


Others = list[tuple[tuple[str, float], ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """One label an item: its number among `names`, its log-probability, and the next best.

    `others` is empty if none were asked for.
    """

    names: tuple[str, ...]
    numbers: Ints
    log_probs: Floats
    others: Others

    def of(self, start: int, end: int) -> Labels:
        """The labels of some of the items."""
        # Copies, for a tree that is kept is not to keep a whole batch.
        return Labels(
            names=self.names,
            numbers=self.numbers[start:end].copy(),
            log_probs=self.log_probs[start:end].copy(),
            others=self.others[start:end],
        )

    def at(self, places: Ints) -> Labels:
        """The labels of these items, in this order."""
        return Labels(
            names=self.names,
            numbers=self.numbers[places],
            log_probs=self.log_probs[places],
            others=[self.others[place] for place in places] if self.others else [],
        )

    def phrases(self) -> npt.NDArray[np.bool_]:
        """Which items have a label that is no dummy."""
        found: npt.NDArray[np.bool_] = ~_dummies(self.names)[self.numbers]
        return found


@lru_cache(maxsize=64)
def _dummies(names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    return np.array([is_dummy(name) for name in names], bool)


def choose_labels(
    scorer: Scorer,
    encoded: Encoded,
    task: str,
    rows: Ints,
    items: Ints,
    *,
    named: npt.NDArray[np.bool_],
    alternatives: int = 0,
) -> Labels:
    """The best label of each item, and up to so many runners-up with their probabilities.

    Where `named` is true the item must be a phrase: dummy labels are masked.
    """
    names = tuple(scorer.labels(task))
    dummies = _dummies(names)
    if len(rows) and dummies.all():
        raise ModelError(
            f"the model has no label for {task} but the dummy", hint="use a model trained for it"
        )
    numbers, gains = np.zeros(len(rows), np.intp), np.zeros(len(rows))
    others: Others = []
    for start in range(0, len(rows), CHUNK):
        part = slice(start, start + CHUNK)
        log_probs = np.maximum(scorer.label(encoded, task, rows[part], items[part]), LOWEST)
        if dummies.any():
            log_probs[np.ix_(named[part], dummies)] = -np.inf
        best = log_probs.argmax(axis=1)
        numbers[part] = best
        gains[part] = log_probs[np.arange(len(best)), best]
        if alternatives:
            others.extend(
                tuple((names[index], chance) for index, chance in line)
                for line in runners_up(log_probs, best, alternatives)
            )
    return Labels(names=names, numbers=numbers, log_probs=gains, others=others)


def runners_up(log_probs: Floats, chosen: Ints, count: int) -> list[list[tuple[int, float]]]:
    """For each row the best columns but the chosen one, with probabilities, best first.

    Impossible columns (-inf) are left out.

    >>> log_probs = np.array([[-1.5, -1.0, 0.0, -np.inf]])
    >>> [[column for column, _ in line] for line in runners_up(log_probs, np.array([1]), 5)]
    [[2, 0]]
    """
    rest = np.array(log_probs, np.float64)
    rest[np.arange(len(rest)), chosen] = -np.inf
    order = np.argsort(-rest, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(rest, order, axis=1)
    chances = np.exp(kept)
    return [
        [(index, chance) for index, chance, log in zip(*line, strict=True) if log > -np.inf]
        for line in zip(order.tolist(), chances.tolist(), kept.tolist(), strict=True)
    ]
