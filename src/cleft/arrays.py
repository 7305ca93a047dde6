"""Matrices in .npy files, mapped into memory; safe for files from strangers.

The header must be the plain one that NumPy writes for a matrix of numbers, and
the file exactly as long as the header says. So nothing in it is evaluated, and
a wrong header cannot make us allocate memory.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["map_matrix"]

LONGEST = 1 << 12
"""The most bytes of a header; that of a matrix has about 100."""

START = re.compile(rb"\x93NUMPY(?:\x01\x00(..)|\x02\x00(....))", re.DOTALL)
HEADER = re.compile(
    rb"\{'descr': '([<|][fiu][1248])', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9]{1,12}), ([0-9]{1,12})\), \} *\n"
)


def map_matrix(path: str | Path) -> npt.NDArray[Any]:
    """The matrix of numbers in a .npy file; a ValueError says why the file is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/a.npy", np.ones((2, 3), np.float32))
    ...     float(map_matrix(f"{folder}/a.npy").sum())
    6.0
    """
    with open(path, "rb") as stream:
        head = stream.read(LONGEST)
        size = os.fstat(stream.fileno()).st_size
        start = START.match(head)
        if start is None:
            raise ValueError(f"it begins with {head[:8]!r}, not as a .npy file does")
        end = start.end() + int.from_bytes(start[1] or start[2], "little")
        header = HEADER.fullmatch(head[start.end() : end])
        if header is None or end > len(head):
            raise ValueError(f"its header is not that of a matrix: {head[start.end() :][:80]!r}")
        kind, shape = header[1].decode(), (int(header[3]), int(header[4]))
        expected = end + np.dtype(kind).itemsize * math.prod(shape)
        if size != expected:
            raise ValueError(f"{size} bytes, expected {expected} for a matrix {kind} {shape}")
        order: Literal["C", "F"] = "F" if header[2] == b"True" else "C"
        if not math.prod(shape):  # an empty matrix cannot be mapped
            return np.zeros(shape, kind)
        return np.memmap(stream, kind, "r", end, shape, order)
