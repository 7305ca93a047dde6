"""Pieces of words in windows that a transformer of limited length can read.

A sentence of more pieces than the limit is read in windows that overlap by
half; each piece is taken from the window in which it stands nearest to the
middle, so that it has context on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

__all__ = ["Windows", "make_windows", "window_starts"]

Numbers = npt.NDArray[np.int64]


class Marks(Protocol):
    """The marks that frame a window, and the longest window, marks included."""

    begin: int
    end: int
    pad: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Windows of pieces, and where each word's pieces stand in them."""

    ids: Tensor  # (windows, width)
    mask: Tensor  # (windows, width), 1 where there is a piece
    source: Tensor  # (pieces): position in the flattened windows
    target: Tensor  # (pieces): position in the flattened sentences (batch, n + 2)
    share: Tensor  # (pieces): one over the number of pieces of the word

    def to(self, device: torch.device) -> Windows:
        """The same on a device."""
        return Windows(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})


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
    pieces = np.arange(count)
    middle = starts + (np.minimum(starts + room, count) - starts - 1) / 2
    best = np.abs(pieces[:, None] - middle[None, :]).argmin(1)
    return best, pieces - starts[best]


def make_windows(
    kinds: Numbers, lengths: Numbers, pieces: Sequence[Sequence[int]], marks: Marks
) -> Windows:
    """The windows of a batch; `kinds` says which entry of `pieces` stands at a position."""
    rows: list[list[int]] = []
    source: list[Numbers] = []
    target: list[Numbers] = []
    room, width = marks.limit - 2, kinds.shape[1]
    starts_of: list[tuple[int, Numbers, Numbers]] = []
    for row, length in enumerate(lengths):
        words = [pieces[kind] for kind in kinds[row, 1 : length + 1]]
        sizes = np.array([len(word) for word in words])
        flat = [piece for word in words for piece in word]
        best, offsets = _place(len(flat), room)
        first = len(rows)
        rows += [
            [marks.begin, *flat[start : start + room], marks.end]
            for start in window_starts(len(flat), room)
        ]
        ends = np.array([first, len(rows) - 1])
        places = np.concatenate([[first], first + best, ends[1:]])
        offsets = np.concatenate([[0], offsets + 1, [len(rows[-1]) - 1]])
        starts_of.append((row, places, offsets))
        inner = np.repeat(np.arange(1, length + 1), sizes)
        target.append(row * width + np.concatenate([[0], inner, [length + 1]]))
    longest = max(map(len, rows))
    ids = np.full((len(rows), longest), marks.pad, dtype=np.int64)
    mask = np.zeros((len(rows), longest), dtype=np.int64)
    for number, line in enumerate(rows):
        ids[number, : len(line)] = line
        mask[number, : len(line)] = 1
    source = [places * longest + offsets for _, places, offsets in starts_of]
    where = np.concatenate(target)
    share = 1 / np.bincount(where)[where]
    return Windows(
        ids=torch.from_numpy(ids),
        mask=torch.from_numpy(mask),
        source=torch.from_numpy(np.concatenate(source)),
        target=torch.from_numpy(where),
        share=torch.from_numpy(share),
    )
