"""Vectors by number: a matrix of floats, or of 8-bit numbers with a scale for each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cleft.search.scorer import Floats

__all__ = ["Table", "shrink"]

STEPS = 127

SMALLEST = 1e-30
"""Rows below this are zeros: the scale of a smaller one would not be a number of 32 bits."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of vectors; what is looked up is always 32-bit floats.

    >>> Table(np.array([[2, -4]], np.int8), np.array([[0.5]], np.float32))[[0, 0]].tolist()
    [[1.0, -2.0], [1.0, -2.0]]
    """

    values: npt.NDArray[np.float32] | npt.NDArray[np.int8]
    scales: Floats | None = None  # (rows, 1)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: npt.ArrayLike) -> Floats:
        """The vectors of some rows, in the shape of their numbers."""
        found = self.values[rows].astype(np.float32, copy=False)  # type: ignore[index]
        if self.scales is None:
            return found
        scaled: Floats = found * self.scales[rows]  # type: ignore[index]
        return scaled


def shrink(matrix: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """A matrix as 8-bit numbers and the scale of each row, of shape (rows, 1).

    >>> values, scales = shrink(np.array([[1.0, -0.5], [0.0, 0.0]], np.float32))
    >>> values.tolist(), Table(values, scales)[0].round(2).tolist()
    ([[127, -64], [0, 0]], [1.0, -0.5])
    """
    most = np.abs(matrix).max(axis=1, keepdims=True)
    scales = (np.maximum(most, SMALLEST) / STEPS).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
