"""Spans of tokens, and splits of spans.

Boundary b is the position before token b. A sentence of n tokens has the
boundaries 0..n, and the span (left, right) holds the tokens left..right-1.
"""

from __future__ import annotations

from typing import NamedTuple

from cleft.errors import UsageError

__all__ = ["Span", "Split"]


class Span(NamedTuple):
    """The tokens between two boundaries.

    >>> Span(1, 4).width
    3
    >>> list(Span(1, 4).splits())
    [2, 3]
    >>> Span(1, 4).at(2)
    (Span(left=1, right=2), Span(left=2, right=4))
    """

    left: int
    right: int

    @property
    def width(self) -> int:
        """The number of tokens."""
        try:
            return self.right - self.left
        except TypeError:
            raise _no_span(self) from None

    def splits(self) -> range:
        """The boundaries strictly inside the span."""
        try:
            return range(self.left + 1, self.right)
        except TypeError:
            raise _no_span(self) from None

    def at(self, boundary: int) -> tuple[Span, Span]:
        """The two halves on either side of a boundary."""
        return Span(self.left, boundary), Span(boundary, self.right)

    def holds(self, other: Span) -> bool:
        """Whether the other span lies inside this one (or equals it)."""
        try:
            left, right = other
            return self.left <= left and right <= self.right
        except (TypeError, ValueError):
            raise _no_span(other) from None

    def crosses(self, other: Span) -> bool:
        """Whether the two overlap and neither holds the other.

        >>> Span(0, 3).crosses(Span(2, 5)), Span(0, 3).crosses(Span(1, 2))
        (True, False)
        """
        try:
            left, right = other
            return self.left < left < self.right < right or left < self.left < right < self.right
        except (TypeError, ValueError):
            raise _no_span(other) from None


def _no_span(found: object) -> UsageError:
    return UsageError(
        f"expected a span of two whole numbers, found {found!r}", hint="as in Span(0, 3)"
    )


class Split(NamedTuple):
    """One decision: the span (left, right) is split at a boundary.

    A split at the right end is a stop: the span is left whole (discourse only).

    >>> str(Split(0, 1, 5))
    '(0,5)→1'
    >>> Split(0, 5, 5).is_stop
    True
    """

    left: int
    split: int
    right: int

    @property
    def span(self) -> Span:
        """The span that is split."""
        return Span(self.left, self.right)

    @property
    def is_stop(self) -> bool:
        """Whether the decision is to leave the span whole."""
        return self.split == self.right

    def __str__(self) -> str:
        return f"({self.left},{self.right})→{self.split}"
