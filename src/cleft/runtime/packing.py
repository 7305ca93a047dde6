"""Boundaries of many sentences without the padding between them, and keys with it.

An encoder reads sentences of like length in small portions, side by side and
padded to the longest. What comes after it works on each boundary alone, so all
portions are put together, one boundary after the other; then many sentences
take their steps together and none pays for another's length. Only the
pointer's keys go back into a grid, for its product is one a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cleft.runtime.sessions import Array
from cleft.search.scorer import Floats, Ints

__all__ = ["firsts", "grid_of_keys", "pack", "portions", "real_boundaries", "spread"]


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
