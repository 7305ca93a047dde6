"""The plan of a corpus run: which files are read, and how they are cut into shards.

It is written before the first sentence is parsed, as two files of the output
folder: `plan.json` has the options, the model and the counts, and
`plan.shards.jsonl` a line for each input file and then one for each shard. A
shard is a list of parts, each a range of bytes (of a Parquet file: of row
groups) with the line and the character that it begins at and the CRC-32 of
what it held. So a worker needs nothing but its shard to make records with
their places in the file, and notices if the file is no longer the same.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import cleft
from cleft import files
from cleft.errors import InputError, Place, UsageError

PLAN, SHARDS = "plan.json", "plan.shards.jsonl"
BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20

SMALLEST, LARGEST, SHARES = 128 << 10, 1 << 20, 64
"""The bytes of a shard where no size is asked for: a share of all, between enough sentences for
full batches and some minutes of work."""
UNPACKED = 4
"""How much larger a compressed file is taken to be."""

BLANK = re.compile(rb"\n[ \t\r\f\v]*\n")
STOP = re.compile(rb"(?:[.!?]|\xe2\x80\xa6)[\"')\]]*[ \t\r]*\n")
BY_BLANK_LINE = ("text", "conllu")
ENDINGS = {
    "text": (".txt", ".text"),
    "jsonl": (".jsonl", ".ndjson"),
    "conllu": (".conllu", ".conll"),
    "parquet": (".parquet", ".pq"),
}
PACKED = (".gz", ".zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What decides on the records of a run, besides its inputs; `shard_size` is in MB.

    >>> Options(beam=5).told()["--beam"]
    5
    """

    task: str = "both"
    beam: int = 1
    document: bool = False
    model: str = "en"
    input: str | None = None
    format: str = "jsonl"
    compress: str = "gzip"
    shard_size: float | None = None
    on_bad_bytes: str = "record"

    def told(self) -> dict[str, Any]:
        """The options as a command line has them."""
        return {f"--{name.replace('_', '-')}": value for name, value in asdict(self).items()}


class InputFile(NamedTuple):
    """A file to read: its name as it was given, what it holds, and how to see that it changed."""

    name: str
    kind: str
    size: int
    modified: str

    def path(self, root: str) -> str:
        """Where it is, for a process that runs elsewhere."""
        return self.name if "://" in self.name else str(Path(root) / self.name)

    def key(self, root: str) -> str:
        """The same for all names of a file, as far as names tell."""
        return self.name if "://" in self.name else os.path.normpath(self.path(root))


class Part(NamedTuple):
    """Bytes `start` to `end` of a file, unpacked (of a Parquet file: row groups).

    `line` is the number of their first line or row, from 1, `char` how many
    characters stand before them, `crc` their CRC-32.
    """

    file: InputFile
    start: int
    end: int
    line: int
    char: int
    crc: int


class Shard(NamedTuple):
    """The unit of work: its number, from 0, and what is to be read for it."""

    number: int
    parts: tuple[Part, ...]


# ---------------------------------------------------------------- finding files


def find_files(arguments: Sequence[str], kind: str | None, out: Path) -> list[InputFile]:
    """The files that arguments name: files, folders, globs, URLs. What is in `out` is not read.

    Of a folder they are those whose ending tells what they hold, by name.
    """
    found: list[InputFile] = []
    own = os.path.realpath(out)
    for argument in arguments:
        if "://" in argument:
            found += _remote(argument, kind)
        else:
            found += [_local(name, kind) for name in _named(argument, kind, own)]
    if not found:
        raise UsageError("there is nothing to read", hint="name files, folders or globs")
    seen: set[str] = set()
    root = str(Path.cwd())
    for each in found:
        if each.key(root) in seen:
            raise UsageError("named twice", where=each.name, hint="name it once")
        seen.add(each.key(root))
    return found


def _named(argument: str, kind: str | None, out: str) -> Iterator[str]:
    matches = [argument]
    if not os.path.lexists(argument):
        matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - it may be absolute
    if not matches:
        raise InputError("no such file", where=argument or "''", hint="check the path")
    for match in matches:
        if not Path(match).is_dir():
            yield match
            continue
        names = [*_walk(match, kind, out)]
        if not names:
            known = ", ".join(end for name in _kinds(kind) for end in ENDINGS[name])
            raise InputError(
                f"the folder has no file that ends in {known} (.gz and .zst may follow)",
                where=match,
                hint="name the files themselves",
            )
        yield from names


def _walk(folder: str, kind: str | None, out: str) -> Iterator[str]:
    """The files below a folder. Links are followed, but each folder is read once: no loop."""
    seen: set[str] = set()
    for here, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(here)
        if real in seen or real == out:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and _told(name) in _kinds(kind):
                yield str(Path(here) / name)


def _told(name: str) -> str | None:
    """What the ending of a name tells that the file holds."""
    plain = name.lower()
    for packed in PACKED:
        plain = plain.removesuffix(packed)
    return next((kind for kind, ends in ENDINGS.items() if plain.endswith(ends)), None)


def _kinds(asked: str | None) -> tuple[str, ...]:
    """The kinds of ENDINGS that are meant: all, or the one that is asked for."""
    return tuple(ENDINGS) if asked is None else (asked if asked in ENDINGS else "text",)


def _local(name: str, kind: str | None) -> InputFile:
    try:
        state = Path(name).stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=name) from error
    return InputFile(name, kind or _told(name) or "text", state.st_size, str(state.st_mtime_ns))


def _remote(url: str, kind: str | None) -> list[InputFile]:
    """The files behind a URL: one, those of a folder, or those that match a glob."""
    fsspec = files.needed("fsspec", "cluster", "URLs")
    try:
        system, path = fsspec.core.url_to_fs(url)
        many = glob.has_magic(path) or system.isdir(path)
        found = system.glob(path) if glob.has_magic(path) else system.find(path)
        details = [system.info(name) for name in sorted(found)]
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"cannot be listed: {error}", where=url) from error
    marks = ("mtime", "ETag", "etag", "LastModified", "last_modified", "updated")
    files_found = [
        InputFile(
            system.unstrip_protocol(each["name"]),
            kind or _told(each["name"]) or "text",
            int(each["size"] or 0),
            next((str(each[mark]) for mark in marks if each.get(mark)), ""),
        )
        for each in details
        if each.get("type") != "directory" and (not many or _told(each["name"]) in _kinds(kind))
    ]
    if not files_found:
        raise InputError("no such file", where=url, hint="check the URL")
    return files_found


# ---------------------------------------------------------------- cutting


def opened_at(stream: IO[bytes], position: int, start: int) -> None:
    """Move a stream from one place to a later one, even if it can only be read forward."""
    if stream.seekable():
        stream.seek(start)
        return
    while position < start:
        block = stream.read(min(BLOCK, start - position))
        if not block:
            return
        position += len(block)


def _cut(each: InputFile, path: str, size: int, *, whole: bool) -> Iterator[Part]:
    """The parts of a file, each ending at the first good place after `size` bytes."""
    if each.kind == "parquet":
        from cleft.corpus.parquet import row_groups

        yield from (Part(each, *row) for row in row_groups(path, size))
        return
    start, line, char = 0, 1, 0
    with files.open_bytes(path) as stream:
        held, at = b"", 0
        # What is added to a file from now on is not read.
        left = sys.maxsize if path.endswith(PACKED) else each.size
        while True:
            cut = 0 if whole else _place(held, at, size, each.kind)
            if not cut:
                block = stream.read(min(BLOCK, left))
                left -= len(block)
                held, at = held[at:] + block, 0
                _refuse_long(held, size, each, line)
                if block:
                    continue
                cut = len(held)
            data = held[at:cut]
            if data or not start:  # an empty file is a part too
                yield Part(each, start, start + len(data), line, char, zlib.crc32(data))
            if not data:
                return
            at = cut
            char += len(data.decode("utf-8", "surrogateescape"))
            char -= not start and data.startswith(BOM)
            start, line = start + len(data), line + data.count(b"\n")


def _refuse_long(held: bytes, size: int, each: InputFile, line: int) -> None:
    if len(held) > files.LONGEST_LINE + 2 * size + BLOCK:
        raise InputError(
            f"{files.LONGEST_LINE >> 20} MB without a place to cut",
            where=Place(each.name, line),
            hint="is it text at all? A line, a sentence of CoNLL-U and a document have less",
        )


def _place(held: bytes, at: int, size: int, kind: str) -> int:
    """Where to cut what has been read from `at` on; 0 if more has to be read first."""
    first = at + size - 1
    if len(held) <= first:
        return 0
    if kind not in BY_BLANK_LINE:
        return held.find(b"\n", first) + 1
    far = at + 2 * size if kind == "text" else len(held)
    found = BLANK.search(held, first, far)
    if found is None and len(held) >= far and kind == "text":
        found = STOP.search(held, first)  # prose without blank lines, as one sentence a line
    return found.end() if found else 0


def _shards(parts: Iterable[Part], size: int) -> Iterator[list[Part]]:
    """Parts together in shards of like size: small files share one."""
    group: list[Part] = []
    weight = 0
    for part in parts:
        more = part.end - part.start if part.file.kind != "parquet" else size
        if group and weight + more > size * 5 // 4:
            yield group
            group, weight = [], 0
        group.append(part)
        weight += more
    if group:
        yield group


def _size(options: Options, found: Sequence[InputFile]) -> int:
    if options.shard_size is not None:
        return max(1, int(options.shard_size * (1 << 20)))
    total = sum(each.size * (UNPACKED if each.name.endswith(PACKED) else 1) for each in found)
    return min(max(total // SHARES, SMALLEST), LARGEST)


# ---------------------------------------------------------------- the plan


class Plan:
    """A plan in memory: the shards are numbers in two arrays, and made when they are asked for."""

    def __init__(self, header: Mapping[str, Any], found: list[InputFile]) -> None:
        self.header = header
        self.files = found
        self._rows = array("q")  # six numbers for each part: the file's, and the rest of a Part
        self._firsts = array("q", [0])  # the first part of each shard, and the end

    def add(self, rows: Iterable[Sequence[int]]) -> None:
        """Add a shard."""
        for row in rows:
            self._rows.extend(row)
        self._firsts.append(len(self._rows) // 6)

    def __len__(self) -> int:
        return len(self._firsts) - 1

    def __getitem__(self, number: int) -> Shard:
        first, last = self._firsts[number], self._firsts[number + 1]
        rows = (self._rows[6 * each : 6 * each + 6] for each in range(first, last))
        return Shard(number, tuple(Part(self.files[row[0]], *row[1:]) for row in rows))

    def parts(self) -> Iterator[Part]:
        """All parts, in order."""
        for number in range(len(self)):
            yield from self[number].parts

    @property
    def root(self) -> str:
        """The folder that names of files are relative to."""
        return str(self.header["root"])

    @property
    def options(self) -> Options:
        """The options that it was made for."""
        return Options(**self.header["options"])

    @classmethod
    def read(cls, out: Path) -> Plan:
        """The plan of an output folder."""
        try:
            header = json.loads((out / PLAN).read_text(encoding="utf-8"))
            Options(**header["options"])
            plan = cls(header, [])
            with open(out / SHARDS, encoding="utf-8") as stream:
                for count, line in enumerate(stream):
                    row = json.loads(line)
                    if count < header["files"]:
                        plan.files.append(InputFile(*row))
                    else:
                        plan.add(row)
        except (FileNotFoundError, NotADirectoryError) as error:
            missing = Path(error.filename).name if Path(out).is_dir() else "such folder"
            raise InputError(
                f"there is no {missing}",
                where=str(out),
                hint="name the folder that -o named when the run was started",
            ) from error
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(f"cannot be read: {error}", where=str(out / PLAN)) from error
        if len(plan) != header["shards"]:
            raise InputError(
                f"expected {header['shards']} shards, found {len(plan)}", where=str(out / SHARDS)
            )
        return plan


def make_plan(
    out: Path, options: Options, model: Mapping[str, str], found: list[InputFile]
) -> Plan:
    """Cut files into shards, and write that down; `plan.json` appears when all of it is there."""
    root, size = str(Path.cwd()), _size(options, found)
    whole = options.document
    numbers = {each: number for number, each in enumerate(found)}
    plan = Plan({}, found)
    parts = (
        part
        for each in found
        for part in _cut(each, each.path(root), size, whole=whole and each.kind == "text")
    )
    digest = hashlib.sha256()
    with files.writing(out / SHARDS) as stream:

        def write(row: Any) -> None:
            line = json.dumps(row, separators=(",", ":")) + "\n"
            digest.update(line.encode())
            stream.write(line)

        for each in found:
            write(each)
        for group in _shards(parts, size):
            rows = [[numbers[part.file], *part[1:]] for part in group]
            plan.add(rows)
            write(rows)
    known = [cleft.__version__, asdict(options), dict(model), digest.hexdigest()]
    plan.header = {
        "cleft": cleft.__version__,
        "hash": hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest(),
        "options": asdict(options),
        "model": dict(model),
        "root": root,
        "shard_bytes": size,
        "files": len(found),
        "shards": len(plan),
    }
    with files.writing(out / PLAN) as stream:
        stream.write(json.dumps(plan.header, indent=2) + "\n")
    return plan


# ---------------------------------------------------------------- is it still the same?


def changes(
    plan: Plan, options: Options, model: Mapping[str, str], found: Sequence[InputFile]
) -> list[str]:
    """What differs between a plan and the command that would go on with it, as messages."""
    told = []
    header = plan.header
    if header["cleft"] != cleft.__version__:
        told.append(f"it was planned by cleft {header['cleft']}, and this is {cleft.__version__}")
    before, now = plan.options.told(), options.told()
    told += [
        f"{name} was {before[name]}, and is {now[name]}"
        for name in now
        if before[name] != now[name]
    ]
    if header["model"]["sha256"] != model["sha256"] and options.model == plan.options.model:
        told.append(f"the model {options.model} is another one")
    old = {each.key(plan.root): each for each in plan.files}
    new = {each.key(str(Path.cwd())): each for each in found}
    told += [f"{old[path].name} is missing" for path in old if path not in new]
    told += [f"{new[path].name} is new" for path in new if path not in old]
    touched = {path for path in old if path in new and old[path][2:] != new[path][2:]}
    if touched:
        for each, parts in groupby(plan.parts(), key=lambda part: part.file):
            if each.key(plan.root) in touched and not _intact(each, plan.root, parts):
                told.append(f"{each.name} has changed")
    return told


def _intact(each: InputFile, root: str, parts: Iterable[Part]) -> bool:
    """Whether a file whose date or size is another still holds what was planned, at least."""
    path, position = each.path(root), 0
    with suppress(InputError):
        if each.kind == "parquet":
            from cleft.corpus.parquet import footer_sum

            return footer_sum(path) == next(iter(parts)).crc
        with files.open_bytes(path) as stream:
            for part in parts:
                opened_at(stream, position, part.start)
                if zlib.crc32(stream.read(part.end - part.start)) != part.crc:
                    return False
                position = part.end
            return True
    return False


def grown(plan: Plan) -> list[str]:
    """Messages on the files of this machine that have more bytes than when they were planned."""
    told = []
    for each in plan.files:
        with suppress(OSError):  # of a URL, and of a file that is gone
            more = Path(each.path(plan.root)).stat().st_size - each.size
            if more > 0:
                told.append(f"{each.name} has grown by {more} bytes, which are not read")
    return told
