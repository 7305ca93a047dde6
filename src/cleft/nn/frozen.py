"""What a frozen transformer says of a window of pieces, remembered.

Its layers never change, so each window is read once and looked up in every
later epoch. Kept in main memory and never written to a file.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["MOST_BYTES", "Remembered"]

MOST_BYTES = 2 * 10**9
"""What is kept at most: some 300,000 pieces of a MiniLM's last four layers."""

Reader = Callable[[Tensor, Tensor], Tensor]
"""From ids and mask (windows, width) to layers (windows, width, layers, size)."""


class Remembered:
    """A reader that reads no window twice, as long as there is room.

    When the room is taken nothing is thrown out: an epoch goes through all
    windows in turn, so the oldest is as likely to come again as any other.

    >>> import torch
    >>> calls = []
    >>> def read(ids, mask):
    ...     calls.append(len(ids))
    ...     return ids[:, :, None, None].float()
    >>> reader = Remembered(read)
    >>> ids = torch.tensor([[5, 6, 7], [8, 9, 0]])
    >>> mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    >>> reader(ids, mask).flatten(1).tolist()
    [[5.0, 6.0, 7.0], [8.0, 9.0, 0.0]]
    >>> reader(ids[1:, :2], mask[1:, :2]).flatten(1).tolist()
    [[8.0, 9.0]]
    >>> calls
    [2]
    """

    def __init__(self, read: Reader, most: int = MOST_BYTES) -> None:
        self.read = read
        self.room = most
        self.known: dict[bytes, Tensor] = {}

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Layers (windows, width, layers, size), zero where there is no piece."""
        lengths: list[int] = mask.sum(1).tolist()
        keys = [row[:n].numpy().tobytes() for row, n in zip(ids, lengths, strict=True)]
        new = [number for number, key in enumerate(keys) if key not in self.known]
        rows = [self.known.get(key) for key in keys]
        if new:
            width = max(lengths[number] for number in new)
            read = self.read(ids[new, :width], mask[new, :width])
            for number, layers in zip(new, read, strict=True):
                rows[number] = layers[: lengths[number]]
                self._keep(keys[number], layers[: lengths[number]])
        full = [row for row in rows if row is not None]
        found = full[0].new_zeros(*ids.shape, *full[0].shape[1:])
        for number, row in enumerate(full):
            found[number, : len(row)] = row
        return found

    def _keep(self, key: bytes, layers: Tensor) -> None:
        size = layers.numel() * layers.element_size()
        if size <= self.room:
            self.room -= size
            self.known[key] = layers.clone(memory_format=torch.contiguous_format)
