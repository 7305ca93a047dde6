"""Windows of pieces as tensors; `cleft.runtime.windows` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cleft.runtime import windows as runtime

__all__ = ["Windows", "make_windows"]

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


def make_windows(
    kinds: Numbers, lengths: Numbers, pieces: Sequence[Sequence[int]], marks: Marks
) -> Windows:
    """The windows of a batch; `kinds` says which entry of `pieces` stands at a position."""
    words = [
        [pieces[kind] for kind in row[1 : length + 1]]
        for row, length in zip(kinds, lengths, strict=True)
    ]
    found = runtime.make_windows(words, marks.begin, marks.end, marks.pad, marks.limit)
    width = kinds.shape[1]
    units = [row * width + np.arange(length + 2) for row, length in enumerate(lengths)]
    mask = np.arange(found.ids.shape[1]) < found.lengths[:, None]
    return Windows(
        ids=torch.from_numpy(found.ids),
        mask=torch.from_numpy(mask.astype(np.int64)),
        source=torch.from_numpy(found.source),
        target=torch.from_numpy(np.repeat(np.concatenate(units), found.sizes)),
        share=torch.from_numpy(np.repeat(1 / found.sizes, found.sizes).astype(np.float32)),
    )
