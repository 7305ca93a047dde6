"""The work of a shard, inside a worker: read, tokenise, parse, format, write.

The output gets its name only when it is whole and on the disk. What it holds
depends on the plan alone: sentences are parsed in windows that begin anew
with each shard, so another engine, another worker or a second try gives the
same bytes.
"""

from __future__ import annotations

import gzip
import os
import re
import socket
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from cleft import files
from cleft.corpus.plan import BOM, Options, Part, Shard, opened_at
from cleft.document import Document
from cleft.errors import CleftError, InputError, LanguageWarning, OutputError, Place, WorkerError
from cleft.formats.brackets import MISSING
from cleft.parser import Parser, load
from cleft.runtime.batches import LARGEST, windows
from cleft.search import SearchOptions
from cleft.sentence import Sentence, SentenceInput
from cleft.text import LanguageWatch, Reading, paragraphs_of_lines, tokenize
from cleft.text.annotated import json_object, sentence_of_conllu, sentence_of_object
from cleft.text.readers import sentences_of_text, split_words

BAD_LINE = re.compile("[^\n]*[\udc80-\udcff][^\n]*\n?")
BAD = re.compile("[\udc80-\udcff]")
BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
LEVEL = 3
"""gzip's: three quarters of the time of its default, and some percent more bytes."""
WHOLE = 1 << 62
"""The last item of a task that is about all of them."""
ENDINGS = {"jsonl": ".jsonl", "brackets": ".mrg", "parquet": ".parquet"}
PACKED = {"gzip": ".gz", "zstd": ".zst", "none": ""}


class Task(NamedTuple):
    """What a worker is asked for: a shard's output.

    Items of `skip` (their numbers in the shard, and what is known of the reason)
    get an error record, since they have ended workers before. A `dry` task writes
    nothing: it parses the items from `first` to `last` to see whether the worker
    lives.
    """

    shard: Shard
    name: str
    skip: tuple[tuple[int, str], ...] = ()
    dry: bool = False
    first: int = 0
    last: int = WHOLE


class Outcome(NamedTuple):
    """What came of a task; `items` is the number of all items of the shard."""

    items: int = 0
    sentences: int = 0
    tokens: int = 0
    errors: Mapping[str, int] = {}
    bytes: int = 0
    seconds: float = 0.0
    worker: str = ""
    first: str = ""
    remark: str = ""


def shard_name(number: int, count: int, options: Options) -> str:
    """The name of a shard's output.

    >>> shard_name(7, 1200, Options())
    'shard-00007.jsonl.gz'
    """
    ending = ENDINGS[options.format]
    packed = "" if options.format == "parquet" else PACKED[options.compress]
    return f"shard-{number:0{max(5, len(str(count - 1)))}d}{ending}{packed}"


# ---------------------------------------------------------------- reading


class _Text:
    """The text of a part, and for places in it, asked for in order, the line and the byte."""

    def __init__(self, part: Part, data: bytes) -> None:
        self.part = part
        mark = len(BOM) if not part.start and data.startswith(BOM) else 0
        # A byte that is no UTF-8 is one character, so that places can be told in both.
        self.text = data[mark:].decode("utf-8", "surrogateescape")
        self._first = (0, part.line, part.start + mark)
        self._at, self._line, self._byte = self._first
        self._told = (0, 0)

    def line(self, place: int) -> int:
        """The number of the line that a place is on."""
        if place < self._at:  # after an error in the middle of an item
            self._at, self._line, self._byte = self._first
        passed = self.text[self._at : place]
        self._line += passed.count("\n")
        self._byte += len(passed.encode("utf-8", "surrogateescape"))
        self._at = place
        return self._line

    def byte(self, place: int) -> int:
        """The byte of the file at a place."""
        self.line(place)
        return self._byte

    def fields(self, place: int) -> dict[str, Any]:
        """What a record says of where it is from; sentences that begin on a line are numbered."""
        line = self.line(place)
        self._told = (line, self._told[1] + 1 if self._told[0] == line else 1)
        name = f"{self.part.file.name}:{line}:{self._told[1]}"
        return {"id": name, "byte": self._byte}


class _Item(NamedTuple):
    """What cannot be cut: a paragraph, a line, a block of CoNLL-U, a row. `where` is its text."""

    part: Part
    data: Any
    text: _Text | None = None
    place: int = 0
    row: int = 0
    fault: CleftError | None = None


class _Reader:
    """The bytes of parts. A compressed file stays open: its parts come in order, more or less."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open = ExitStack()
        self._path, self._position = "", 0
        self._stream: IO[bytes]

    def read(self, part: Part) -> bytes:
        """The bytes of a part, if they are still those that were planned."""
        path = part.file.path(self._root)
        try:
            if path != self._path or part.start < self._position:
                self.close()
                self._stream = self._open.enter_context(files.open_bytes(path))
                self._path, self._position = path, 0
            opened_at(self._stream, self._position, part.start)
            data = self._stream.read(part.end - part.start)
            self._position = part.end
        except (OSError, EOFError, zlib.error) as error:
            self._path = ""
            raise InputError(f"cannot be read: {error}", where=part.file.name) from error
        if zlib.crc32(data) != part.crc:
            raise changed(part)
        return data

    def close(self) -> None:
        self._open.close()
        self._path = ""


def changed(part: Part) -> InputError:
    """The error of a file that is no longer what was planned."""
    return InputError(
        "the file has changed since the plan was made",
        where=part.file.name,
        hint="start anew in another folder, or bring the file back",
    )


# ---------------------------------------------------------------- items


def _items(part: Part, reader: _Reader, options: Options, root: str) -> Iterator[_Item]:
    """The items of a part in order; a whole file without any is an item with an error."""
    empty = True
    for item in (
        _rows(part, root) if part.file.kind == "parquet" else _pieces(part, reader, options)
    ):
        empty = False
        yield item
    if empty and not part.start:
        text = _Text(part, b"")
        fault = InputError("there is no sentence: the file is empty", where=part.file.name)
        yield _Item(part, "", text, fault=fault)


def _rows(part: Part, root: str) -> Iterator[_Item]:
    from cleft.corpus.parquet import footer_sum, rows

    path = part.file.path(root)
    if footer_sum(path) != part.crc:
        raise changed(part)
    for number, row in enumerate(rows(path, part.start, part.end), part.line):
        yield _Item(part, row, row=number)


def _pieces(part: Part, reader: _Reader, options: Options) -> Iterator[_Item]:
    """The items of a text, in whose places lines with bad bytes stand for themselves.

    A document is not cut at such a line: what is left would be two others.
    """
    text = _Text(part, reader.read(part))
    whole = text.text
    document = options.document and part.file.kind == "text"
    split = _SPLITS["document" if document else part.file.kind]
    if options.on_bad_bytes == "replace":
        whole = BAD.sub("\ufffd", whole)
    start = 0
    for bad in BAD_LINE.finditer(whole):
        yield from (
            _Item(part, data, text, start + at)
            for at, data in split("" if document else whole[start : bad.start()])
        )
        fault = _bad_bytes(bad, text)
        if options.on_bad_bytes == "stop":
            raise fault
        if document:
            yield _Item(part, BAD.sub("\ufffd", whole), text, fault=fault)
            return
        yield _Item(part, BAD.sub("\ufffd", bad[0].rstrip("\r\n")), text, bad.start(), fault=fault)
        start = bad.end()
    yield from (_Item(part, data, text, start + at) for at, data in split(whole[start:]))


def _bad_bytes(found: re.Match[str], text: _Text) -> InputError:
    bad = BAD.search(found[0])
    assert bad is not None
    line = text.line(found.start())
    column = 1 + len(found[0][: bad.start()].encode("utf-8", "surrogateescape"))
    return InputError(
        f"expected UTF-8, found byte 0x{ord(bad[0]) & 0xFF:02x}",
        where=Place(text.part.file.name, line, column),
        hint="convert the file to UTF-8, for example with iconv",
    )


Pieces = Iterator[tuple[int, str]]


def _lines(text: str) -> Pieces:
    start = 0
    for line in text.split("\n"):
        if start + len(line) < len(text) or line:  # what follows the last line's end is no line
            yield start, line.removesuffix("\r")
        start += len(line) + 1


_SPLITS: dict[str, Callable[[str], Pieces]] = {
    "text": lambda text: paragraphs_of_lines([text]),
    "document": lambda text: iter([(0, text)] if text.strip() else []),
    "lines": _lines,
    "tokens": _lines,
    "jsonl": lambda text: ((start, line) for start, line in _lines(text) if line.strip()),
    "conllu": lambda text: ((found.start(), found[0]) for found in BLOCK.finditer(text)),
}


class _Sentences:
    """Items to sentences that can be parsed, or have their error."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._read: dict[str, Callable[[_Item], Iterator[SentenceInput]]] = {
            "text": self._paragraph,
            "lines": self._line,
            "tokens": self._line,
            "jsonl": lambda item: self._object(item, json_object(item.data, _place(item))),
            "conllu": self._conllu,
            "parquet": lambda item: self._object(item, item.data),
        }

    def of(self, item: _Item) -> Iterator[SentenceInput]:
        """The sentences of an item, at least one."""
        fault = item.fault
        try:
            if fault is None:
                for one in self._read[item.part.file.kind](item):
                    yield one.checked(0, one.fields["id"])
        except CleftError as error:
            fault = error
        if fault is not None:
            yield self.failed(item, fault)

    def text(self, item: _Item) -> tuple[str, dict[str, Any]]:
        """The text of an item that is a document, and what its record says of it."""
        if item.part.file.kind == "text":
            return item.data, _fields(item, 1)
        data = item.data
        if item.part.file.kind == "jsonl":
            data = json_object(data, _place(item))
        text = data.get("text") if isinstance(data, dict) else None
        if not isinstance(text, str):
            raise InputError(
                'expected a "text" for --document, found none',
                where=_place(item),
                hint="'cleft parse --document' makes documents of tokens, one of each file",
            )
        return text, _fields(item, 1, {key: data[key] for key in data if key != "text"})

    def failed(self, item: _Item, fault: CleftError) -> SentenceInput:
        """An item that cannot be parsed, in its place."""
        text = item.data if isinstance(item.data, str) else str(item.data.get("text") or "")
        start = item.part.char + item.place if item.text else 0
        return SentenceInput(text=text, start=start, error=fault, fields=_fields(item, 1))

    def _paragraph(self, item: _Item) -> Iterator[SentenceInput]:
        assert item.text is not None
        for each in sentences_of_text(item.data, self._reading.language):
            place = item.place + each.start
            yield replace(each, start=item.part.char + place, fields=item.text.fields(place))

    def _line(self, item: _Item) -> Iterator[SentenceInput]:
        assert item.text is not None
        fields, start = item.text.fields(item.place), item.part.char + item.place
        if item.part.file.kind == "lines":
            tokens = tuple(tokenize(item.data, language=self._reading.language))
        else:
            tokens = split_words(item.data)
        yield SentenceInput(text=item.data, tokens=tokens, start=start, fields=fields)

    def _object(self, item: _Item, data: dict[str, Any]) -> Iterator[SentenceInput]:
        """One sentence for `tokens`, all sentences of `text` where there are none."""
        text = data.get("text")
        if data.get("tokens") is not None or not isinstance(text, str):
            source = sentence_of_object(data, _place(item))
            yield replace(source, line=None, fields=_fields(item, 1, source.fields))
            return
        others = {key: value for key, value in data.items() if key not in ("text", "tokens")}
        count = 0
        for count, each in enumerate(sentences_of_text(text, self._reading.language), 1):
            yield replace(each, fields=_fields(item, count, others))
        if not count:
            raise InputError("there is no sentence: the text is empty", where=_place(item))

    def _conllu(self, item: _Item) -> Iterator[SentenceInput]:
        assert item.text is not None
        lines = [line.rstrip("\r") for line in item.data.rstrip("\n").split("\n")]
        line = item.text.line(item.place)
        source = sentence_of_conllu(item.part.file.name, line, lines)
        if source is not None:
            yield replace(source, line=None, fields=_fields(item, 1, source.fields))


def _place(item: _Item) -> Place:
    line = item.text.line(item.place) if item.text else item.row
    return Place(item.part.file.name, line)


def _fields(item: _Item, count: int, source: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a record says of where it is from: of the sentence with this number of an item."""
    place = _place(item)
    fields: dict[str, Any] = {"id": f"{place.name}:{place.line}:{count}"}
    if item.text is not None:
        fields["byte"] = item.text.byte(item.place)
    if source:
        fields["source"] = dict(source)
    return fields


# ---------------------------------------------------------------- writing


class _Output:
    """The records of a shard, in a file that has no name yet."""

    def __init__(self, stream: IO[bytes], options: Options) -> None:
        self._form = options.format
        self._stream: Any = stream
        self._table: Any = None
        if self._form == "parquet":
            from cleft.corpus.parquet import Table

            self._table = Table(stream, options.compress)
        elif options.compress == "gzip":
            self._stream = gzip.GzipFile("", "wb", LEVEL, stream, mtime=0)
        elif options.compress == "zstd":
            pyarrow = files.needed("pyarrow", "parquet", ".zst files")
            # Closing it closes what it writes to, and ours has to be flushed to the disk later.
            inner = open(os.dup(stream.fileno()), "wb")  # noqa: SIM115
            self._stream = pyarrow.CompressedOutputStream(inner, "zstd")
        self._packed = self._stream if self._stream is not stream else None

    def write(self, sentences: list[Sentence]) -> None:
        if self._table is not None:
            self._table.write(sentences)
            return
        text = "".join(f"{self._line(sentence)}\n" for sentence in sentences)
        self._stream.write(text.encode("utf-8", "backslashreplace"))

    def _line(self, sentence: Sentence | Document) -> str:
        if isinstance(sentence, Document):
            return sentence.to_jsonl()
        if self._form == "jsonl":
            return sentence.to_jsonl(compact=True)
        return sentence.syntax.brackets() if sentence.syntax is not None else MISSING

    def close(self) -> None:
        for part in filter(None, (self._table, self._packed)):
            part.close()


@contextmanager
def _named_when_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that gets its name when it is whole, and on the disk."""
    mark = f"{socket.gethostname()}-{os.getpid()}"
    hidden = path.with_name(f".{path.name}.{mark}{files.PARTIAL}")
    try:
        with open(hidden, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        hidden.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written: {reason}", where=str(path)) from error
    finally:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)


# ---------------------------------------------------------------- the worker


class ShardWorker:
    """Does tasks, one after the other, with a model that is loaded once."""

    def __init__(self, out: str, root: str, options: Options, model: str) -> None:
        self.out, self.root, self.options = Path(out), root, options
        self.parser: Parser = load(model)
        self._sentences = _Sentences(Reading(language=self.parser.language))
        self._reader = _Reader(root)
        self._search = SearchOptions(beam=options.beam)
        self._task = "syntax" if options.format == "brackets" else options.task

    def __call__(self, task: Task) -> Outcome:
        """Do one; a CleftError is one that ends the run."""
        began = time.perf_counter()
        count = _Count(self.parser)
        if task.dry:
            for _ in self._parsed(task, count):
                pass
            return count.outcome(began, 0)
        path = self.out / task.name
        with _named_when_whole(path) as stream:
            output = _Output(stream, self.options)
            for sentences in self._parsed(task, count):
                output.write(sentences)
            output.close()
            stream.flush()
            size = os.fstat(stream.fileno()).st_size
        return count.outcome(began, size)

    def _parsed(self, task: Task, count: _Count) -> Iterator[list[Any]]:
        """The results in order, some at a time: sentences, or documents."""
        if self.options.document:
            for item, fault in self._chosen(task, count):
                found = [self._document(item, fault)]
                count.add(found)
                yield found
            return
        for window in windows(self._given(task, count), first=LARGEST):
            sentences = self.parser.parse_inputs(window, task=self._task, options=self._search)
            count.add(sentences)
            yield sentences

    def _document(self, item: _Item, fault: CleftError | None) -> Any:
        """One tree over the text of an item, or the error in its place."""
        try:
            text, fields = self._sentences.text(item)
            if fault is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", LanguageWarning)  # the count tells it
                    found = self.parser.parse_document(
                        text, task=self._task, beam=self.options.beam
                    )
                return replace(found, id=fields.pop("id"), fields=fields)
        except CleftError as error:
            fault = error
        return self._sentences.failed(item, fault).result()

    def _given(self, task: Task, count: _Count) -> Iterator[SentenceInput]:
        for item, fault in self._chosen(task, count):
            if fault is not None:
                yield self._sentences.failed(item, fault)
            else:
                yield from self._sentences.of(item)

    def _chosen(self, task: Task, count: _Count) -> Iterator[tuple[_Item, CleftError | None]]:
        """The items of a task, those that are skipped with their error."""
        skip = dict(task.skip)
        for part in task.shard.parts:
            for item in _items(part, self._reader, self.options, self.root):
                number = count.items
                count.items += 1
                if number in skip:
                    why = skip[number] or "its worker process ended each time it was parsed"
                    yield item, WorkerError(why, where=_place(item))
                elif task.first <= number < task.last:
                    yield item, item.fault


class _Count:
    """What a worker has seen of a shard."""

    def __init__(self, parser: Parser) -> None:
        self.items = self.sentences = self.tokens = 0
        self.errors: Counter[str] = Counter()
        self.first = self.remark = ""
        self._watch = LanguageWatch(str(parser.manifest.about.get("language") or ""))

    def add(self, found: Sequence[Sentence | Document]) -> None:
        for each in found:
            self.sentences += len(each.sentences) if isinstance(each, Document) else 1
            self.tokens += len(each.tokens)
            self.remark = self._watch.read(each.text) or self.remark
            if each.error is not None:
                self.errors[type(each.error).__name__] += 1
                self.first = self.first or str(each.error)

    def outcome(self, began: float, size: int) -> Outcome:
        return Outcome(
            items=self.items,
            sentences=self.sentences,
            tokens=self.tokens,
            errors=dict(self.errors),
            bytes=size,
            seconds=time.perf_counter() - began,
            worker=f"{socket.gethostname()}:{os.getpid()}",
            first=self.first,
            remark=self._watch.end() or self.remark,
        )
