"""The labels of chosen spans or splits, and nothing else's.

A beam scores thousands of spans; only those of the finished trees are ever
named, in one question to the scorer (or a few, where there are very many).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cleft.errors import ModelError
from cleft.scorer import Encoded, Floats, Ints, Scorer
from cleft.search.constraints import LOWEST
from cleft.tree import is_dummy

__all__ = ["Labels", "choose_labels", "runners_up"]

CHUNK = 16_384
"""How many items one question holds at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """One label an item: its name, its log-probability, and the next best."""

    names: list[str]
    log_probs: list[float]
    others: list[tuple[tuple[str, float], ...]]

    def of(self, places: slice | list[int]) -> Labels:
        """The labels of some of the items."""
        if isinstance(places, slice):
            return Labels(
                names=self.names[places],
                log_probs=self.log_probs[places],
                others=self.others[places],
            )
        return Labels(
            names=[self.names[place] for place in places],
            log_probs=[self.log_probs[place] for place in places],
            others=[self.others[place] for place in places],
        )


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
    names = list(scorer.labels(task))
    dummies = np.array([is_dummy(name) for name in names], bool)
    if dummies.all():
        raise ModelError(
            f"the model has no label for {task} but the dummy", hint="use a model trained for it"
        )
    found = Labels(names=[], log_probs=[], others=[])
    for start in range(0, len(rows), CHUNK):
        part = slice(start, start + CHUNK)
        log_probs = np.maximum(scorer.label(encoded, task, rows[part], items[part]), LOWEST)
        if dummies.any():
            log_probs[named[part, None] & dummies] = -np.inf
        best = log_probs.argmax(axis=1)
        found.names.extend(names[index] for index in best.tolist())
        found.log_probs.extend(log_probs[np.arange(len(best)), best].tolist())
        if alternatives:
            found.others.extend(
                tuple((names[index], chance) for index, chance in line)
                for line in runners_up(log_probs, best, alternatives)
            )
    if not alternatives:
        found.others.extend([()] * len(rows))
    return found


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
