"""Reading and writing text files, with errors that say which file and why.

`-` stands for standard input or output. Input is UTF-8, with or without a
byte order mark, plain or compressed (`.gz`; `.zst` by pyarrow), on this machine
or, through fsspec, behind a URL such as `s3://…`. Output to a file appears
under its name only when it is complete.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TextIO

from cleft.errors import InputError, OutputError, Place, UsageError

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no such locks
    fcntl = None  # type: ignore[assignment]

STREAM = "-"
"""The name of standard input and output."""

PARTIAL = ".cleft-partial"
"""How the names of partial files and folders end."""

LONGEST_LINE = 1 << 28
"""The most bytes of a line: a small gzipped file may unpack to a line larger than memory."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in memory that is read like a file; error messages call it `name`."""

    name: str
    text: str


Readable = str | Path | Text
"""What readers of files take: a path, `-` for standard input, or a text in memory."""


def source_name(path: Readable) -> str:
    """The name of a source in error messages.

    >>> source_name("-"), source_name("trees.mrg"), source_name(Text("gold", "(())"))
    ('standard input', 'trees.mrg', 'gold')
    """
    if isinstance(path, Text):
        return path.name
    return "standard input" if str(path) == STREAM else str(path)


def lines(path: Readable) -> Iterator[str]:
    r"""The lines of a text file, one at a time, their line ends kept.

    Only a line feed ends a line. Other Unicode line separators (such as U+0085)
    may stand inside words, so they stay.

    >>> list(lines(Text("notes", "one\r\ntwo\x85")))
    ['one\r\n', 'two\x85']
    """
    if isinstance(path, Text):
        yield from io.StringIO(path.text, newline="\n")
        return
    with open_bytes(path) as stream:
        number = 0
        while True:
            number += 1
            raw = stream.readline(LONGEST_LINE + 1)
            if not raw:
                return
            if len(raw) > LONGEST_LINE:
                raise InputError(
                    f"a line of more than {LONGEST_LINE >> 20} MB",
                    where=Place(source_name(path), number),
                    hint="is it text at all?",
                )
            yield _decode(raw, path, number)


def read_text(path: Readable) -> str:
    """A whole text file."""
    return "".join(lines(path))


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes; `~` is the home directory.

    >>> sha256(__file__) == sha256(Path(__file__))
    True
    """
    try:
        with open(Path(path).expanduser(), "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _decode(raw: bytes, path: str | Path, number: int) -> str:
    if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"expected UTF-8, found byte 0x{raw[error.start]:02x}",
            where=Place(source_name(path), number, error.start + 1),
            hint="convert the file to UTF-8, for example with iconv",
        ) from error


@contextmanager
def open_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """A stream of the bytes of a file, unpacked by its ending; every failure is an InputError.

    >>> with open_bytes(__file__) as stream:
    ...     stream.read(7)[3:]
    b'Read'
    """
    opened = _standard_input() if str(path) == STREAM else _opened(str(path))
    with opened as stream:
        try:
            yield stream
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"cannot be read: {error}", where=source_name(path)) from error


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    try:
        stream: IO[bytes] = _remote(name) if "://" in name else open(name, "rb")  # noqa: SIM115
    except FileNotFoundError as error:
        raise InputError("no such file", where=name, hint="check the path") from error
    except IsADirectoryError as error:
        raise InputError(
            "expected a file, found a directory", where=name, hint="name the files in it"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be opened: {reason}", where=name) from error
    with stream, _unpacked(stream, name) as unpacked:
        yield unpacked


def _remote(name: str) -> IO[bytes]:
    fsspec = needed("fsspec", "cluster", "URLs")
    stream: IO[bytes] = fsspec.open(name, "rb").open()
    return stream


def _unpacked(stream: IO[bytes], name: str) -> AbstractContextManager[Any]:
    if name.endswith(".gz"):
        return gzip.open(stream, "rb")
    if name.endswith(".zst"):
        pyarrow = needed("pyarrow", "parquet", ".zst files")
        return io.BufferedReader(pyarrow.CompressedInputStream(stream, "zstd"))
    return nullcontext(stream)


def needed(module: str, extra: str, what: str) -> Any:
    """A module of an extra; where it is absent, an error that says how to get it.

    >>> needed("json", "parquet", "examples").loads("[1]")
    [1]
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{what} need {module}, which is not installed",
            hint=f"pip install 'cleft[{extra}]'",
        ) from error


@contextmanager
def _standard_input() -> Iterator[IO[bytes]]:
    if sys.stdin is None:
        raise InputError("it is closed", where="standard input", hint="name a file")
    try:
        number = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # replaced by a program, as tests do
        yield sys.stdin.buffer
        return
    # Its own buffer: the interpreter cannot exit while a thread holds the lock of sys.stdin's.
    with open(number, "rb", closefd=False) as stream:
        yield stream


@contextmanager
def writing(path: str | Path) -> Iterator[TextIO]:
    """A text stream to a file or, for `-`, to standard output.

    The file appears under its name when the block ends without an error;
    after an error nothing is left behind and an older file stays as it was.
    A target that is no regular file (a pipe, /dev/null) is written directly.
    """
    if str(path) == STREAM:
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    if target.suffix == ".gz":
        raise OutputError(
            "gzipped files are read but not written", where=str(path), hint="write without .gz"
        )
    try:
        special = target.exists() and not target.is_file()
        with _open_text(target) if special else _replacing(target) as stream:
            yield stream
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = error.strerror or str(error)
        hint = "make its folder first" if isinstance(error, FileNotFoundError) else ""
        raise OutputError(f"cannot be written: {reason}", where=str(path), hint=hint) from error


def _open_text(path: Path) -> TextIO:
    return open(path, "w", encoding="utf-8", newline="\n", errors="backslashreplace")


@contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    target = target.resolve() if target.is_symlink() else target
    with partial(target) as temporary:
        with _open_text(temporary) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)


@contextmanager
def partial(target: Path, *, folder: bool = False) -> Iterator[Path]:
    """A hidden file or folder beside a target, to be renamed when it is complete, else removed.

    A process that is killed leaves its partial files behind. A partial file is
    locked while its writer runs, so the next writer in the same folder finds
    those without a lock and removes them.
    """
    _remove_abandoned(target.parent.absolute())
    path, lock = _locked_partial(target, folder=folder)
    try:
        yield path
    finally:
        _remove(path)
        if lock is not None:
            os.close(lock)


def _locked_partial(target: Path, *, folder: bool) -> tuple[Path, int | None]:
    prefix = f".{target.name[:40]}."  # a long name must leave room for the rest
    while True:
        if folder:
            path = Path(tempfile.mkdtemp(PARTIAL, prefix, target.parent))
        else:
            handle, name = tempfile.mkstemp(PARTIAL, prefix, target.parent)
            os.close(handle)
            path = Path(name)
        lock = _lock(path, wait=True)
        if path.exists():  # else another process removed it before it was locked
            return path, lock
        if lock is not None:
            os.close(lock)


@cache
def _remove_abandoned(folder: Path) -> None:
    """Remove partial files whose writer has ended; done once for each folder."""
    for path in folder.glob(f".*{PARTIAL}"):
        lock = _lock(path, wait=False)
        if lock is not None:
            _remove(path)
            os.close(lock)


def _lock(path: Path, *, wait: bool) -> int | None:
    """A handle that holds a lock; None if another process has it, or the system has no locks."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        return None
    return handle


def try_lock(stream: IO[Any]) -> bool:
    """Lock an open file until it is closed; False if another process has it locked."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """The permissions the file would have had if it had been opened in place."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
