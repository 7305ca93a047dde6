"""The order in which the spans of a tree are split: down the left side first, or level by level.

Trees are built from splits in depth-first order. A model may have been taught
to make them breadth-first: then search makes them so, and they are put back
into depth-first order afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Literal

from cleft.span import Span, Split

__all__ = ["Order", "breadth_first", "depth_first"]

Order = Literal["depth-first", "breadth-first"]


def depth_first(splits: Sequence[Split]) -> tuple[Split, ...]:
    """The splits of a whole tree, in any order, as depth-first search makes them.

    >>> level = [Split(0, 2, 4), Split(0, 1, 2), Split(2, 3, 4)]
    >>> print(*depth_first([level[0], level[2], level[1]]))
    (0,4)→2 (0,2)→1 (2,4)→3
    """
    # A parent begins no later than its children and is wider than they are.
    return tuple(sorted(splits, key=lambda split: (split.left, -split.right)))


def breadth_first(splits: Sequence[Split]) -> tuple[Split, ...]:
    """The splits of a whole tree, in any order, level by level and from left to right.

    >>> tree = [Split(0, 3, 5), Split(0, 2, 3), Split(0, 1, 2), Split(3, 4, 5)]
    >>> print(*breadth_first(tree))
    (0,5)→3 (0,3)→2 (3,5)→4 (0,2)→1
    """
    if not splits:
        return ()
    made = {split.span: split for split in splits}
    waiting = deque([max(made, key=lambda span: span.width)])
    found: list[Split] = []
    while waiting:
        span: Span = waiting.popleft()
        split = made[span]
        found.append(split)
        if not split.is_stop:
            waiting.extend(half for half in span.at(split.split) if half.width > 1)
    return tuple(found)
