"""Scores: EVALB for syntax, Parseval for discourse, and how sure they are.

Here are the counts of matched, gold and predicted items that all of them are made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Counts", "percentage"]


def percentage(part: float, whole: float) -> float:
    """A part of a whole in per cent; 0 of nothing.

    >>> percentage(7, 8), percentage(0, 0)
    (87.5, 0.0)
    """
    return 100.0 * part / whole if whole else 0.0


class Shares:
    """What items matched of those in gold and of those predicted, in per cent."""

    __slots__ = ()

    matched: int
    gold: int
    predicted: int

    @property
    def precision(self) -> float:
        """Predicted items that are right, in per cent."""
        return percentage(self.matched, self.predicted)

    @property
    def recall(self) -> float:
        """Gold items that were found, in per cent."""
        return percentage(self.matched, self.gold)


@dataclass(frozen=True, slots=True)
class Counts(Shares):
    """How many items are in gold, how many were predicted, how many are in both.

    >>> counts = Counts(matched=2, gold=6, predicted=4)
    >>> counts.precision, round(counts.recall, 2), counts.f1
    (50.0, 33.33, 40.0)
    """

    matched: int = 0
    gold: int = 0
    predicted: int = 0

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """The sum of counts.

        >>> Counts.total([Counts(1, 2, 3), Counts(4, 5, 6)])
        Counts(matched=5, gold=7, predicted=9)
        """
        rows = [(part.matched, part.gold, part.predicted) for part in parts]
        return cls(*map(sum, zip(*rows, strict=True)))

    @property
    def f1(self) -> float:
        """Twice the matched items over all, in per cent."""
        return percentage(2 * self.matched, self.gold + self.predicted)
