"""Which splits are legal: the task's own rule, and what the caller demands.

A caller may give the EDUs of a sentence and spans that its tree must have.
Both are masks on the boundaries, laid before the best are taken. Spans that do
not cross leave every span that can come up at least one legal split, so a
hypothesis never runs dry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cleft.errors import ConstraintError, whole
from cleft.search.scorer import Floats, Ints
from cleft.span import Span

__all__ = ["LOWEST", "Constraints", "Masks"]

LOWEST = -1e6
"""What a legal split or label scores at least: a zero probability must not make it illegal."""

EDUS = "give the boundary at which each EDU ends, as in edus=(5, 8, 11)"
SPANS = "give pairs of boundaries, as in spans=(Span(0, 3), Span(4, 6))"

FAR = np.iinfo(np.intp).max
"""Beyond every boundary."""


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


class Masks:
    """The legal splits of every sentence of a batch.

    For a span that crosses no required one, the boundaries that no required
    span inside it covers are those that the fewest required spans cover: so a
    count for each boundary is all there is to keep.

    >>> masks = Masks([5], stops=False, constraints={0: Constraints(spans=(Span(1, 4),))})
    >>> zero = np.zeros(1, np.intp)
    >>> masks.apply(np.full((1, 6), -1.0), zero, zero, zero + 5).tolist()
    [[-inf, -1.0, -inf, -inf, -1.0, -inf]]
    """

    __slots__ = ("_columns", "_cover", "_forced", "_limit", "stops")

    def __init__(
        self,
        lengths: Iterable[int],
        *,
        stops: bool,
        constraints: Mapping[int, Constraints] | None = None,
    ) -> None:
        sizes = list(lengths)
        width = max(sizes, default=0) + 1
        self.stops = stops
        self._columns = np.arange(width, dtype=np.int32)[None, :]  # half as much to compare
        self._cover: Ints | None = None
        if constraints:
            shape = (len(sizes), width)
            self._cover = np.zeros(shape, np.intp)
            self._limit = np.full(shape, FAR)
            self._forced = np.full(shape, -1)
            for sentence, given in constraints.items():
                self._add(sentence, given)

    @property
    def constrained(self) -> bool:
        """Whether any sentence has constraints."""
        return self._cover is not None

    def _add(self, sentence: int, given: Constraints) -> None:
        """Count the spans over each boundary; find where stops are barred, and forced."""
        assert self._cover is not None
        cover, limit = self._cover[sentence], self._limit[sentence]
        edus = given.edu_spans()
        for left, right in given.required().union(edus):
            cover[left + 1 : right] += 1
            # A stop at `right` of a span from `left` is legal if right < limit[left]: from
            # further left, no required span may end at or before it; from the same left, it
            # may be that span itself.
            np.minimum(limit[:left], right, out=limit[:left])
            limit[left] = min(limit[left], right + 1)
        for left, right in edus:
            self._forced[sentence, left] = right

    def apply(self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The log-probabilities with -inf at every illegal boundary, (rows, boundaries).

        They are not renormalised. The stop of a given EDU is forced and costs nothing.
        """
        if self._cover is not None:
            return self._apply_constraints(log_probs, sentence, left, right)
        columns = self._columns
        legal = columns > left[:, None].astype(np.int32)
        legal &= columns < (right + self.stops)[:, None].astype(np.int32)
        return np.where(legal, np.maximum(log_probs, LOWEST), -np.inf)

    def _apply_constraints(
        self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints
    ) -> Floats:
        assert self._cover is not None
        columns = self._columns
        inside = (columns > left[:, None]) & (columns < right[:, None])
        cover = np.where(inside, self._cover[sentence], FAR)
        legal = cover == cover.min(axis=1, keepdims=True)
        row = np.arange(len(left))
        forced = self._forced[sentence, left] == right
        legal[forced] = False
        if self.stops:
            legal[row, right] = forced | (right < self._limit[sentence, left])
        masked = np.where(legal, np.maximum(log_probs, LOWEST), -np.inf)
        masked[row[forced], right[forced]] = 0.0
        return masked
