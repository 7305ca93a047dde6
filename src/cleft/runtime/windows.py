"""Pieces of words in windows that a transformer of limited length can read.

A sentence of more pieces than the limit is read in windows that overlap by
half; each piece is taken from the window in which it stands nearest to the
middle, so that it has context on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from cleft.search.scorer import Floats

__all__ = ["Windows", "make_windows", "mean_of_pieces", "window_starts"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Windows of pieces, and where the pieces of each unit stand in them.

    A unit is a mark or a word; they follow each other sentence by sentence,
    each sentence between its two marks.
    """

    ids: Numbers  # (windows, width)
    lengths: npt.NDArray[np.int32]  # (windows)
    source: Numbers  # (pieces): position in the flattened windows
    sizes: Numbers  # (units): how many pieces each has


def window_starts(count: int, room: int) -> list[int]:
    """Where the windows over `count` pieces begin, `room` pieces to a window.

    >>> window_starts(5, 8), window_starts(20, 8)
    ([0], [0, 4, 8, 12])
    """
    if count <= room:
        return [0]
    stride = max(1, room // 2)
    return list(range(0, count - room + stride, stride))


def _place(count: int, room: int) -> tuple[Numbers, Numbers]:
    """For each piece, the number of its window and its offset there."""
    starts = np.array(window_starts(count, room))
    if len(starts) == 1:
        return np.zeros(count, np.int64), np.arange(count)
    pieces = np.arange(count)
    middle = starts + (np.minimum(starts + room, count) - starts - 1) / 2
    # The nearest middle, the earlier of two: a line through halfway marks, not a table.
    best = np.searchsorted((middle[1:] + middle[:-1]) / 2, pieces, side="left")
    return best, pieces - starts[best]


def make_windows(
    sentences: Sequence[Sequence[Sequence[int]]], begin: int, end: int, pad: int, limit: int
) -> Windows:
    """The windows of sentences, which are lists of words, which are lists of pieces.

    >>> windows = make_windows([[[7], [8, 9]], [[5]]], begin=1, end=2, pad=0, limit=8)
    >>> windows.ids.tolist(), windows.source.tolist(), windows.sizes.tolist()
    ([[1, 7, 8, 9, 2], [1, 5, 2, 0, 0]], [0, 1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 1, 1, 1, 1])
    """
    rows: list[list[int]] = []
    sizes: list[int] = []
    places: list[tuple[Numbers, Numbers]] = []
    for words in sentences:
        flat = list(chain.from_iterable(words))
        window, offset = _place(len(flat), limit - 2)
        first = len(rows)
        rows += [
            [begin, *flat[start : start + limit - 2], end]
            for start in window_starts(len(flat), limit - 2)
        ]
        last = len(rows) - 1
        places.append(
            (
                np.concatenate([[first], first + window, [last]]),
                np.concatenate([[0], offset + 1, [len(rows[last]) - 1]]),
            )
        )
        sizes += [1, *map(len, words), 1]
    lengths = np.array([len(row) for row in rows], np.int32)
    width = int(lengths.max())
    ids = np.full((len(rows), width), pad, np.int64)
    ids[np.arange(width) < lengths[:, None]] = list(chain.from_iterable(rows))
    source = np.concatenate([window * width + offset for window, offset in places])
    return Windows(ids=ids, lengths=lengths, source=source, sizes=np.array(sizes, np.int64))


def mean_of_pieces(vectors: Floats, sizes: Numbers) -> Floats:
    """The mean over the pieces of each unit, from the vectors of all pieces.

    >>> mean_of_pieces(np.array([[1.0], [2.0], [4.0]]), np.array([1, 2])).tolist()
    [[1.0], [3.0]]
    """
    starts = np.cumsum(sizes) - sizes
    words: Floats = vectors[starts]
    # Most words are one piece: those of two or more are few, and each turn has fewer.
    more = np.flatnonzero(sizes > 1)
    if more.size:
        several, piece = more, 1
        while more.size:
            words[more] += vectors[starts[more] + piece]
            piece += 1
            more = more[sizes[more] > piece]
        words[several] /= sizes[several, None].astype(words.dtype)
    return words
