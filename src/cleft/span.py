"""Tokens, spans of tokens, splits of spans, and what a tree of them must obey.

Boundary b is the position before token b. A sentence of n tokens has the
boundaries 0..n, and the span (left, right) holds the tokens left..right-1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cleft.errors import ConstraintError, UsageError, whole

EDUS = "give the boundary at which each EDU ends, as in edus=(5, 8, 11)"
SPANS = "give pairs of boundaries, as in spans=(Span(0, 3), Span(4, 6))"


class Token(NamedTuple):
    """A token and its place: `text` is the source between `start` and `end`."""

    text: str
    start: int
    end: int


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What the tree of one sentence must obey.

    `edus` are the boundaries at which its EDUs end, the last of them the end
    of the sentence (discourse only); `spans` must all be spans of the tree.

    >>> Constraints(edus=(5, 8, 11)).edu_spans()
    [Span(left=0, right=5), Span(left=5, right=8), Span(left=8, right=11)]
    >>> Constraints(spans=(Span(0, 3), Span(2, 5))).check(6, stops=False, where="sentence 1")
    Traceback (most recent call last):
        ...
    cleft.errors.ConstraintError: sentence 1: the required spans (0, 3) and (2, 5) cross; \
drop one of them
    """

    edus: tuple[int, ...] | None = None
    spans: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        if self.edus is not None:
            object.__setattr__(self, "edus", tuple(_boundaries(self.edus, "edus", EDUS)))
        object.__setattr__(self, "spans", tuple(_spans(self.spans)))

    def edu_spans(self) -> list[Span]:
        """The spans of the given EDUs."""
        ends = self.edus or ()
        return [Span(left, right) for left, right in zip((0, *ends), ends, strict=False)]

    def required(self) -> frozenset[Span]:
        """The required spans, each once."""
        return frozenset(self.spans)

    def check(self, length: int, *, stops: bool, where: str) -> None:
        """Raise a ConstraintError unless some tree over so many tokens obeys."""
        if self.edus is not None:
            if not stops:
                raise ConstraintError(
                    "EDUs are given for a syntactic tree",
                    where=where,
                    hint="give them for discourse, or give required spans",
                )
            rising = all(span.width > 0 for span in self.edu_spans())
            if not rising or self.edus[-1:] != (length,):
                raise ConstraintError(
                    f"EDU ends must rise from above 0 to {length}, the number of tokens; "
                    f"found {list(self.edus)}",
                    where=where,
                    hint="give the boundary at which each EDU ends",
                )
        for left, right in self.required():
            if not 0 <= left < right <= length:
                raise ConstraintError(
                    f"the required span ({left}, {right}) does not lie in (0, {length})",
                    where=where,
                    hint="give spans of one or more tokens, counted from boundary 0",
                )
        self._check_crossing(where)

    def _check_crossing(self, where: str) -> None:
        """Sweep from left to right: a span may not end beyond the one it begins in."""
        edus = set(self.edu_spans())
        # An EDU that is also required comes once, as an EDU: nothing may begin inside it.
        spans = sorted(edus | self.required(), key=lambda span: (span.left, -span.right))
        around: list[Span] = []
        for span in spans:
            while around and around[-1].right <= span.left:
                around.pop()
            if around and (around[-1] in edus or around[-1].crosses(span)):
                one, two = tuple(around[-1]), tuple(span)
                if around[-1] in edus:
                    problem = f"the required span {two} divides the EDU {one}"
                elif span in edus:
                    problem = f"the required span {one} divides the EDU {two}"
                else:
                    problem = f"the required spans {one} and {two} cross"
                raise ConstraintError(problem, where=where, hint="drop one of them")
            around.append(span)


def _boundaries(given: Any, name: str, hint: str) -> Iterator[int]:
    """The boundaries that a caller gave, as ints; anything else is told."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConstraintError(f"expected boundaries, found {given!r}", where=name, hint=hint)
    for each in given:
        boundary = whole(each)
        if boundary is None:
            raise ConstraintError(
                f"expected a boundary, a whole number, found {each!r}", where=name, hint=hint
            )
        yield boundary


def _spans(given: Any) -> Iterator[Span]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ConstraintError(f"expected spans, found {given!r}", where="spans", hint=SPANS)
    for each in given:
        pair = tuple(_boundaries(each, "spans", SPANS))
        if len(pair) != 2:
            raise ConstraintError(
                f"expected two boundaries, found {each!r}", where="spans", hint=SPANS
            )
        yield Span(*pair)
