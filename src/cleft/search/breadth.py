"""A history that splits spans level by level: a queue of open spans in place of the stack.

The halves of a hypothesis's decisions, in the order in which these were made,
are the queue; so what waits is a place in it: half `place % 2` of decision
`place // 2`. Decisions know only what came before them, so each also has a
jump to an earlier one, by which any is found in logarithmic time.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cleft.order import Order
from cleft.scorer import Floats, Ints
from cleft.search.history import History

__all__ = ["BreadthFirstHistory", "make_history"]


def make_history(order: Order, capacity: int) -> History:
    """An empty history that splits spans in this order."""
    return BreadthFirstHistory(capacity) if order == "breadth-first" else History(capacity)


class BreadthFirstHistory(History):
    """An append-only table of decisions; the next span is the one that has waited longest.

    >>> history = BreadthFirstHistory(8)
    >>> one = np.array([1])
    >>> ids, left, right, waiting = history.split(
    ...     0 * one, 2 * one, 5 * one, log_prob=-0.1 * one, parent=0 * one, waiting=0 * one)
    >>> ids, left, right, waiting = history.split(
    ...     left, 1 * one, right, log_prob=-0.1 * one, parent=ids, waiting=waiting)
    >>> int(left[0]), int(right[0])  # the right half of the first decision
    (2, 5)
    """

    __slots__ = ("_depth", "_jump")

    COLUMNS: ClassVar[tuple[str, ...]] = (*History.COLUMNS, "_depth", "_jump")

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._depth, self._jump = (np.zeros(len(self._left), np.intp) for _ in range(2))

    def split(
        self,
        left: Ints,
        split: Ints,
        right: Ints,
        *,
        log_prob: Floats,
        parent: Ints,
        waiting: Ints,
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Record one decision a hypothesis; return their numbers, the next spans, what waits."""
        ids = self._record(left, split, right, log_prob=log_prob, parent=parent, waiting=waiting)
        self._link(ids, parent)
        place = waiting.copy()
        next_left, next_right = np.zeros((2, len(ids)), np.intp)
        seeking = np.arange(len(ids))
        while seeking.size:
            seeking = seeking[place[seeking] < 2 * self._depth[ids[seeking]]]
            start, end = self._half(ids[seeking], place[seeking])
            place[seeking] += 1
            wide = end - start > 1
            next_left[seeking[wide]], next_right[seeking[wide]] = start[wide], end[wide]
            seeking = seeking[~wide]
        return ids, next_left, next_right, place

    def _link(self, ids: Ints, parent: Ints) -> None:
        """Give decisions their depth and a jump: over two equal jumps if there are such."""
        one = self._jump[parent]
        two = self._jump[one]
        depth = self._depth
        equal = depth[parent] - depth[one] == depth[one] - depth[two]
        self._depth[ids] = depth[parent] + 1
        self._jump[ids] = np.where(equal, two, parent)

    def _half(self, last: Ints, place: Ints) -> tuple[Ints, Ints]:
        """The ends of the half at a place in the queue of each hypothesis; empty for a stop's."""
        made = self._earlier(last, place // 2 + 1)
        left, split, right = self._left[made], self._split[made], self._right[made]
        second = place % 2 == 1
        start = np.where(second | (split == right), split, left)
        return start, np.where(second, right, split)

    def _earlier(self, last: Ints, depth: Ints) -> Ints:
        """The decision at a depth on the way to each of the last ones."""
        found = last.copy()
        above = np.flatnonzero(self._depth[found] > depth)
        while above.size:
            here = found[above]
            jump = self._jump[here]
            far = self._depth[jump] >= depth[above]
            found[above] = np.where(far, jump, self._parent[here])
            above = above[self._depth[found[above]] > depth[above]]
        return found
