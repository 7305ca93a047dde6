"""Spans grouped by where they end, for a product that depends on that end alone.

A label's score is x W y, with x of a span's left end and y of its right. W y is
the large product; a tree's 2n - 1 spans have n right ends, so it is made once
an end, and then multiplied by the left ends of all spans that end there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cleft.search.scorer import Ints

__all__ = ["SpanGroup", "by_end"]

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
