"""Sentences in batches: like lengths together, in windows of bounded size, without padding.

An encoder reads sentences of like length in small portions, side by side and
padded to the longest. What comes after it works on each boundary alone, so all
portions are put together, one boundary after the other; then many sentences
take their steps together and none pays for another's length. Only the
pointer's keys go back into a grid, for its product is one a sentence: a
sentence's keys are never copied for each of its hypotheses (`Memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from cleft.runtime.sessions import Array
from cleft.search.scorer import Floats, Ints

T = TypeVar("T")

TOKENS, GREEDY_TOKENS = 1_000, 2_000
SENTENCES = 192
"""The most that a batch holds; tokens count with their padding. A beam has many hypotheses of a
sentence, so that it has rows enough with fewer sentences; greedy and exact search have few."""

FIRST, LARGEST = 32, 2_048
"""The sentences of a stream's first window; each is twice the last one, up to the largest."""

WINDOW_TOKENS = 60_000


def plan(
    lengths: Sequence[int], tokens: int = TOKENS, sentences: int = SENTENCES
) -> list[list[int]]:
    """Batches of numbers of sentences, longest first, each at most so many padded tokens.

    A sentence longer than that is a batch by itself. Longest first, so that a
    batch's sentences are sorted as the pointer wants them.

    >>> plan([3, 50, 4, 3], tokens=12)
    [[1], [2, 0, 3]]
    """
    batches: list[list[int]] = []
    width = 0
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        full = not batches or len(batches[-1]) >= sentences
        if full or (len(batches[-1]) + 1) * width > tokens:
            batches.append([])
            width = max(1, lengths[number])
        batches[-1].append(number)
    return batches


def always() -> bool:
    """The next item can be had without waiting for it, as far as anyone knows."""
    return True


def windows(
    items: Iterable[T],
    size: int = LARGEST,
    tokens: int = WINDOW_TOKENS,
    first: int = FIRST,
    ready: Callable[[], bool] = always,
) -> Iterator[list[T]]:
    """Items in lists that grow, so that the first results come soon and memory stays bounded.

    The first list has `first` items, each is twice the last one. A list ends early
    when its items together have so many tokens, or when the next item is not `ready`.

    >>> [len(window) for window in windows(["a"] * 200, size=64)]
    [32, 64, 64, 40]
    """
    window: list[T] = []
    room, weight = min(first, size), 0
    for item in items:
        window.append(item)
        weight += len(item) if hasattr(item, "__len__") else 1
        full = len(window) >= room or weight >= tokens
        if full or not ready():
            yield window
            window, weight = [], 0
            room = min(2 * room, size) if full else room
    if window:
        yield window


def portions(lengths: Sequence[int], tokens: int) -> list[slice]:
    """Runs of neighbouring sentences, each at most so many boundaries with their padding.

    >>> portions([9, 8, 3, 3, 2, 2], tokens=20)
    [slice(0, 2, None), slice(2, 6, None)]
    """
    found: list[slice] = []
    start = width = 0
    for number, length in enumerate(lengths):
        wider = max(width, length + 1)
        if number > start and wider * (number + 1 - start) > tokens:
            found.append(slice(start, number))
            start, wider = number, length + 1
        width = wider
    return [*found, slice(start, len(lengths))]


def real_boundaries(lengths: Sequence[int]) -> Array:
    """Where a grid (sentences, 1 + longest) has a boundary and no padding.

    >>> real_boundaries([2, 1]).tolist()
    [[True, True, True], [True, True, False]]
    """
    sizes = np.asarray(lengths)
    found: Array = np.arange(int(sizes.max()) + 1) <= sizes[:, None]
    return found


def firsts(lengths: Sequence[int]) -> Ints:
    """The rows of the sentences' first boundaries when packed.

    >>> firsts([2, 1, 4]).tolist()
    [0, 3, 5]
    """
    sizes = np.asarray(lengths, np.intp) + 1
    found: Ints = np.cumsum(sizes) - sizes
    return found


def pack(grid: Floats, real: Array) -> Floats:
    """The rows of a grid, (sentences · width, size), that are no padding."""
    found: Floats = grid if real.all() else grid[real.ravel()]
    return found


def spread(rows: Floats, real: Array) -> Floats:
    """Packed rows in their grid, (sentences · width, size), with zeros between them."""
    if real.all():
        return rows
    grid = np.zeros((real.size, rows.shape[1]), rows.dtype)
    grid[real.ravel()] = rows
    return grid


def grid_of_keys(keys: Floats, offsets: Floats, lengths: Sequence[int]) -> tuple[Floats, Floats]:
    """Packed keys (1, pointer, boundaries) and offsets (1, 1, boundaries), sentence by sentence.

    The keys become (sentences, pointer, 1 + longest), zero in the padding; the
    offsets, -inf in it, (sentences, 1, 1 + longest).
    """
    width = max(lengths) + 1
    grid = np.zeros((len(lengths), keys.shape[1], width), keys.dtype)
    edge = np.full((len(lengths), 1, width), -np.inf, offsets.dtype)
    for number, (first, length) in enumerate(zip(firsts(lengths).tolist(), lengths, strict=True)):
        grid[number, :, : length + 1] = keys[0, :, first : first + length + 1]
        edge[number, 0, : length + 1] = offsets[0, 0, first : first + length + 1]
    return grid, edge


SPARE = 8
"""Keys are copied when one in so many sentences has left."""


@dataclass(frozen=True, slots=True)
class Group:
    """Hypotheses as the step's graph wants them.

    `slots` (sentences, most hypotheses) are the rows of each sentence, 0 where
    there are fewer; `places` (rows) say where in `slots` a row stands.
    """

    keys: Floats  # (sentences, pointer, n + 1)
    offsets: Floats  # (sentences, 1, n + 1)
    slots: Ints
    places: Ints


class Memory:
    """The results of a head's memory graph, by name, and where each sentence's rows begin.

    `left_gates` and `right_gates` (boundaries, decoder) are what boundaries give to the decoder
    as ends of a span, `keys` (sentences, pointer, n + 1) and `offsets` (sentences, 1, n + 1)
    what the pointer compares with; the rest is there as the head has it.
    """

    def __init__(
        self, parts: Mapping[str, Floats], *, lengths: Sequence[int], first: Ints | None = None
    ) -> None:
        self.parts = parts
        self.keys, self.offsets = parts["keys"], parts["offsets"]
        self.width = self.keys.shape[2]
        self.lengths = np.asarray(lengths)
        # Where each sentence's boundaries begin among the rows of gates and labels.
        self.first = np.arange(len(self.keys)) * self.width if first is None else first
        self._here = np.arange(len(self.keys))
        self._kept = self.keys, self.offsets
        self._last = Group(self.keys, self.offsets, self._here[:, None], self._here)

    def group(self, rows: Ints) -> Group:
        """The hypotheses of these sentences, one a row, in any order."""
        here = self._here
        if len(self.keys) == 1:
            every = np.arange(len(rows))
            return Group(self.keys, self.offsets, every[None, :], every)
        if len(rows) == len(here) and bool((rows == here).all()):
            if len(self._last.places) != len(rows) or self._last.keys is not self._kept[0]:
                every = np.arange(len(rows))
                self._last = Group(*self._kept, every[:, None], every)
            return self._last
        order = np.arange(len(rows))
        if bool((rows[1:] < rows[:-1]).any()):
            order = np.argsort(rows, kind="stable")
            rows = rows[order]
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        counts = np.diff(first, append=len(rows))
        self._keep(rows[first])
        slot = np.repeat(np.searchsorted(self._here, rows[first]), counts)
        rank = np.arange(len(rows)) - np.repeat(first, counts)
        most = int(counts.max())
        slots = np.zeros((len(self._here), most), np.intp)
        slots[slot, rank] = order
        places = np.empty(len(rows), np.intp)
        places[order] = slot * most + rank
        return Group(*self._kept, slots, places)

    def window(self, sentence: int, start: int, end: int) -> Group:
        """One hypothesis of a sentence, which looks at these boundaries only."""
        keys = self.keys[sentence : sentence + 1, :, start:end]
        offsets = self.offsets[sentence : sentence + 1, :, start:end]
        one = np.zeros((1, 1), np.intp)
        return Group(np.ascontiguousarray(keys), np.ascontiguousarray(offsets), one, one[0])

    def _keep(self, sentences: Ints) -> None:
        """Have the keys of these sentences at hand, and of few others."""
        here = self._here
        found = np.searchsorted(here, sentences)
        known = bool((found < len(here)).all()) and bool((here[found] == sentences).all())
        if known and SPARE * len(sentences) > (SPARE - 1) * len(here):
            return
        self._here = sentences
        width = int(self.lengths[sentences].max()) + 1
        first, last = int(sentences[0]), int(sentences[-1]) + 1
        # A run of neighbours needs no copy.
        chosen = slice(first, last) if last - first == len(sentences) else sentences
        keys, offsets = self.keys[chosen], self.offsets[chosen]
        if width < self.width:
            keys, offsets = keys[:, :, :width], offsets[:, :, :width]
        self._kept = np.ascontiguousarray(keys), np.ascontiguousarray(offsets)


SLOTS = 2_048
"""How many slots a group has at most, unless one end has more."""


class SpanGroup(NamedTuple):
    """Some right ends, with the left ends of all spans that end there.

    `slots` (ends, most spans) are the left ends, 0 where there are fewer;
    `places` say where in `slots` each of the `items` stands.
    """

    items: Ints
    ends: Ints
    slots: Ints
    places: Ints


def by_end(left: Ints, right: Ints, most: int) -> Iterator[SpanGroup]:
    """Groups of at most so many ends; those with many spans are together, and those with few.

    >>> groups = by_end(np.array([0, 4, 2, 3]), np.array([5, 5, 3, 5]), most=1)
    >>> [(group.items.tolist(), group.slots.tolist()) for group in groups]
    [([0, 1, 3], [[0, 4, 3]]), ([2], [[2]])]
    """
    ends, own, counts = np.unique(right, return_inverse=True, return_counts=True)
    ranked = np.argsort(-counts, kind="stable")
    ends, counts = ends[ranked], counts[ranked]
    rank_of_end = np.empty_like(ranked)
    rank_of_end[ranked] = np.arange(len(ranked))
    order = np.argsort(rank_of_end[own], kind="stable")
    first = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(ends)), counts)  # of `order`
    column = np.arange(len(order)) - first[row]
    start = 0
    while start < len(ends):
        width = int(counts[start])
        stop = min(len(ends), start + max(1, min(most, SLOTS // width)))
        part = slice(int(first[start]), int(first[stop - 1] + counts[stop - 1]))
        items, here = order[part], row[part] - start
        slots = np.zeros((stop - start, width), np.intp)
        slots[here, column[part]] = left[items]
        yield SpanGroup(items, ends[start:stop], slots, here * width + column[part])
        start = stop
