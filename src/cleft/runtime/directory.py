"""A model's directory: which files it has, and that they are what they were.

SHA256SUMS lists the checksum of every file, as the program sha256sum writes
and checks it. A file is verified before anything is made of it. Nothing in a
model is code: graphs are ONNX without outside data, tables are NumPy arrays
without objects, the rest is JSON and text. Only plain files of the directory
itself are read: no pipe, no device, no link that leads out of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cleft import files
from cleft.errors import ModelError
from cleft.runtime.manifest import CONFIG, Manifest
from cleft.search.labels import Counts
from cleft.search.scorer import Floats

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


SUMS = "SHA256SUMS"
COUNTS = "counts.json"
NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
SMALL = 64 << 20
LARGE = 4 << 30
"""The most bytes that a JSON or text file, and any other, may have."""

OUTSIDE = b"location"
"""The key by which an ONNX tensor names the file that holds its data.

Looked for as it is: how long a key is can be written in several ways.
"""


def write_checksums(directory: Path) -> None:
    """Write SHA256SUMS over all files of a directory."""
    names = sorted(path.name for path in directory.iterdir() if path.name != SUMS)
    lines = [f"{files.sha256(directory / name)}  {name}\n" for name in names]
    (directory / SUMS).write_text("".join(lines), encoding="utf-8")


class ModelDirectory:
    """A model on disk; its manifest is read at once, its files when they are asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        if not self.path.is_dir():
            what = "a file" if self.path.exists() else "nothing"
            raise ModelError(
                f"expected a model's directory, found {what}",
                where=str(path),
                hint="name a directory that 'cleft export' wrote",
            )
        # The format comes first: a newer one may list its files otherwise.
        table = self._json(CONFIG, self._bytes(CONFIG, SMALL))
        self.manifest = self._located(table)
        self._verified(CONFIG, SMALL)

    def _located(self, table: Any) -> Manifest:
        try:
            return Manifest.from_table(table)
        except ModelError as error:
            raise ModelError(
                error.problem, where=str(self.path / error.where), hint=error.hint
            ) from error

    @cached_property
    def sums(self) -> dict[str, str]:
        """The checksum of every file, by name."""
        text = self._bytes(SUMS, SMALL).decode("utf-8", "replace")
        sums: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), 1):
            digest, _, name = line.partition("  ")
            if not re.fullmatch("[0-9a-f]{64}", digest) or not NAME.fullmatch(name):
                raise ModelError(
                    f"line {number} is no checksum and plain file name: {line[:80]!r}",
                    where=str(self.path / SUMS),
                    hint="copy the model again",
                )
            sums[name] = digest
        return sums

    def has(self, name: str) -> bool:
        """Whether the model lists a file of this name."""
        return name in self.sums

    def _bytes(self, name: str, most: int) -> bytes:
        path = self.path / name
        try:
            size = self._plain_size(path, most)
            with open(path, "rb") as stream:
                data = stream.read(size + 1)
            if len(data) > size:  # it grows, or has no true size, as files in /proc
                raise ModelError(f"more than the {size} bytes it should have", where=str(path))
            return data
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            problem = "no such file" if missing else f"cannot be read: {error.strerror}"
            raise ModelError(problem, where=str(path), hint="copy the model again") from error

    def _plain_size(self, path: Path, most: int) -> int:
        """The size of a file; what is no plain file of this directory is not opened at all."""
        if path.is_symlink() and not path.resolve().is_relative_to(self.path.resolve()):
            raise ModelError(
                "a link that leads out of the model's directory",
                where=str(path),
                hint="put the file itself there",
            )
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            what = "a directory" if stat.S_ISDIR(found.st_mode) else "a pipe or a device"
            raise ModelError(f"expected a file, found {what}", where=str(path))
        if found.st_size > most:
            raise ModelError(f"{found.st_size} bytes, expected {most} at most", where=str(path))
        return found.st_size

    def _verified(self, name: str, most: int = LARGE) -> bytes:
        data = self._bytes(name, most)
        self._compare(name, hashlib.sha256(data).hexdigest(), len(data))
        return data

    def _compare(self, name: str, found: str, size: int) -> None:
        expected = self.sums.get(name)
        if expected is None:
            raise ModelError(
                f"{name} is not listed in {SUMS}",
                where=str(self.path / name),
                hint="copy the model again",
            )
        if found != expected:
            raise ModelError(
                f"expected the SHA-256 {expected[:12]}…, found {found[:12]}… ({size} bytes): "
                "the file is cut short or altered",
                where=str(self.path / name),
                hint="copy the model again",
            )

    def verify(self) -> None:
        """Check every file that the model lists."""
        for name in self.sums:
            self._verified(name)

    def graph(self, name: str) -> bytes:
        """A verified ONNX graph."""
        data = self._verified(name)
        if OUTSIDE in data or data[4:8] == b"ORTM":
            what = "keeps data in another file" if OUTSIDE in data else "is in ORT's own format"
            raise ModelError(
                f"the graph {what}, which is not allowed",
                where=str(self.path / name),
                hint="export the model again",
            )
        return data

    def lines(self, name: str) -> list[str]:
        """The lines of a verified text file; only a line feed ends one."""
        return self._text(name, self._verified(name, SMALL)).removesuffix("\n").split("\n")

    def table(self, name: str) -> Table:
        """A verified table of vectors; its pages are read as they are used.

        8-bit numbers have their scales in a file of their own beside them.
        """
        values = self._matrix(name, "fi")
        if values.dtype.kind == "f":
            # A plain view of the mapped file: indexing it makes plain arrays.
            return Table(np.asarray(values, np.float32))
        if values.dtype != np.int8:
            raise ModelError(
                f"expected floats or 8-bit numbers, found {values.dtype}",
                where=str(self.path / name),
            )
        beside = f"{Path(name).stem}-scales.npy"
        scales = self._matrix(beside, "f")
        if scales.shape != (len(values), 1):
            raise ModelError(
                f"expected a scale for each of {len(values)} rows, found {scales.shape}",
                where=str(self.path / beside),
            )
        return Table(np.asarray(values), np.asarray(scales, np.float32))

    def _matrix(self, name: str, kinds: str) -> np.ndarray[Any, np.dtype[Any]]:
        path = self.path / name
        try:
            self._plain_size(path, LARGE)
            with open(path, "rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
                self._compare(name, found, stream.tell())
            array = map_matrix(path)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"expected a NumPy array: {error}", where=str(path), hint="copy the model again"
            ) from error
        if array.dtype.kind not in kinds:
            raise ModelError(
                f"expected a matrix of numbers, found {array.dtype} {array.shape}", where=str(path)
            )
        return array

    def counts(self, task: str) -> Counts:
        """The counts of pairs in the training trees of a task."""
        name = f"{task}-{COUNTS}"
        return Counts.from_table(self.json(name), str(self.path / name))

    def json(self, name: str) -> Any:
        """A verified JSON file."""
        return self._json(name, self._verified(name, SMALL))

    def _text(self, name: str, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(
                f"expected UTF-8: {error}", where=str(self.path / name), hint="copy the model again"
            ) from error

    def _json(self, name: str, data: bytes) -> Any:
        try:
            return json.loads(self._text(name, data))
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"expected JSON: {error}", where=str(self.path / name), hint="copy the model again"
            ) from error


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
