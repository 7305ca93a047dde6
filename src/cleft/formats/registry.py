"""The formats of tree files: which one a file is in, and how each is read and written.

The format of a file follows from its ending, from a name, or from the beginning of
its text. What a format cannot hold comes back from its writer as a list of
messages: nothing is dropped in silence. The readers and writers themselves
are modules of this package, and loaded when they are used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cleft import files
from cleft.errors import FormatError, UsageError

if TYPE_CHECKING:
    from cleft.discourse import DiscourseTree
    from cleft.formats.cleaning import Cleaning
    from cleft.formats.jsonl import Record, Relations
    from cleft.formats.rst import RstDocument

__all__ = ["FORMATS", "DocumentFormat", "Format", "begins_as", "format_of", "records_of"]

# Opening brackets, a whole preterminal in them, and again a bracket: no prose begins so.
TREE = (
    r"(?:\(\(\)\)\s*+)*+(?:\(\s*+[^\s()]*+\s*+(?=\())++"
    r"\(\s*+[^\s()]++\s++[^\s()]++\s*+\)\s*+(?:[()]|\Z)"
)
RECORD = r'(?:\[\s*+)?\{\s*+"[^"\n]*+"\s*+:|\[\s*+"(?:[^"\\\n]|\\.)*+"\s*+[],]'
XML = r"<\?xml\b|<rst\b"
DIS = r"\(\s*(?:Root|Nucleus|Satellite)\s+\((?:span|leaf)\b"
UNDECIDED = re.compile(r"\s*+(?:(?:\(\(\)\)\s*+)*+(?:\(\s*+[^\s()]*+\s*+)*+|[\[{\s]*+)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, its files' endings, the tasks whose trees it holds.

    `begins` is a regular expression for the beginning of its files, if they have a typical one.

    >>> format_of("trees.mrg").name
    'brackets'
    >>> [record] = format_of("-", "brackets").records(files.Text("a tree", "(NP (NN rain))"))
    >>> print(record.syntax)
    (NP (NN rain))
    """

    name: str
    endings: tuple[str, ...]
    tasks: tuple[str, ...]
    writes: bool = True
    begins: str = ""

    def records(
        self, source: files.Readable, clean: Cleaning | None = None, relations: Relations = "fine"
    ) -> Iterator[Record]:
        """The trees of a file, one at a time; tokens of discourse trees are counted from 0.

        `clean` is for constituency trees, `relations` for JSON Lines that give both.
        """
        raise NotImplementedError

    def by_line(self, source: files.Readable, relations: Relations = "coarse") -> list[Record]:
        """All records as a list; in a format of lines, one for each line."""
        return list(self.records(source, relations=relations))

    def document(self, source: files.Readable, relations: Relations = "fine") -> RstDocument:
        """The discourse trees of a file as one document, tokens counted through it."""
        raise UsageError(f"{self.name} holds no discourse trees", where=files.source_name(source))

    def write(self, records: Iterable[Record], stream: TextIO, name: str) -> list[str]:
        """Write records; returns what is not kept. `name` is how messages call their source."""
        raise NotImplementedError


class _Brackets(Format):
    """Constituency trees in brackets."""

    __slots__ = ()

    def records(
        self, source: files.Readable, clean: Cleaning | None = None, relations: Relations = "fine"
    ) -> Iterator[Record]:
        from cleft.formats.brackets import read_parses
        from cleft.formats.jsonl import Record

        for tree in read_parses(source, clean):
            yield Record(syntax=tree, error=None if tree is not None else "there was no parse")

    def by_line(self, source: files.Readable, relations: Relations = "coarse") -> list[Record]:
        from cleft.formats.brackets import read_by_line
        from cleft.formats.jsonl import Record

        return [Record(syntax=tree) for tree in read_by_line(source)]

    def write(self, records: Iterable[Record], stream: TextIO, name: str) -> list[str]:
        from cleft.formats.brackets import MISSING, bracket_losses, format_brackets

        lost: Counter[str] = Counter()
        for number, record in enumerate(records, start=1):
            if record.syntax is None and record.error is None:
                raise FormatError(
                    f"record {number} has no syntactic tree",
                    where=name,
                    hint="brackets hold syntax only",
                )
            text = MISSING if record.syntax is None else format_brackets(record.syntax)
            stream.write(text + "\n")
            lost.update(_beside(record))
            if record.syntax is not None:
                lost.update(bracket_losses(record.syntax))
        return _counted(lost)


def _beside(record: Record) -> Iterator[str]:
    """What a record has beside a constituency tree."""
    if record.discourse is not None:
        yield "discourse trees left out: brackets hold syntax only"
    if record.fields:
        yield "records with further fields: brackets have no place for them"
    if record.error is not None:
        yield "error messages: brackets have no place for them"


class _JsonLines(Format):
    """Our own lossless format for both tasks."""

    __slots__ = ()

    def records(
        self, source: files.Readable, clean: Cleaning | None = None, relations: Relations = "fine"
    ) -> Iterator[Record]:
        from cleft.formats.jsonl import read_jsonl

        return read_jsonl(source, relations)

    def document(self, source: files.Readable, relations: Relations = "fine") -> RstDocument:
        from cleft.formats.rst import RstDocument

        trees: list[DiscourseTree] = []
        remarks: Counter[str] = Counter()
        position = 0
        for number, record in enumerate(self.records(source, relations=relations), start=1):
            if record.discourse is None:
                raise FormatError(
                    f"record {number} has no discourse tree",
                    where=files.source_name(source),
                    hint="parse it for discourse",
                )
            trees.append(record.discourse.moved(position))
            position = trees[-1].span.right
            remarks["syntax tree: left out"] += record.syntax is not None
            remarks["record with further fields: left out"] += bool(record.fields)
            remarks["error message: left out"] += record.error is not None
            remarks[_unchosen(record)] += bool(record.left_out)
        return RstDocument.of(trees, _counted(remarks))

    def write(self, records: Iterable[Record], stream: TextIO, name: str) -> list[str]:
        from cleft.formats.jsonl import write_jsonl

        lost: Counter[str] = Counter()
        for record in records:
            write_jsonl([record], stream)
            lost[_unchosen(record)] += bool(record.left_out)
        return _counted(lost)


def _unchosen(record: Record) -> str:
    return f"records with {record.left_out} too: left out, --relations chooses"


def _counted(remarks: Counter[str]) -> list[str]:
    return [f"{count} {what}" for what, count in remarks.items() if count]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFormat(Format):
    """A format that holds one document: its discourse trees and what stands beside them.

    `module` reads and writes it: `read_NAME`, where NAME is the last part of
    the module's, and `write_NAME`, where NAME is the format's.
    """

    module: str

    def records(
        self, source: files.Readable, clean: Cleaning | None = None, relations: Relations = "fine"
    ) -> Iterator[Record]:
        """The trees of the document, one by one."""
        return records_of(self.document(source))

    def document(self, source: files.Readable, relations: Relations = "fine") -> RstDocument:
        """The document, with all that stands beside its trees."""
        read = getattr(import_module(self.module), f"read_{self.module.rpartition('.')[2]}")
        found: RstDocument = read(source)
        return found

    def write_document(self, document: RstDocument, stream: TextIO) -> list[str]:
        """Write a document; returns what is not kept."""
        write = getattr(import_module(self.module), f"write_{self.name}")
        lost: list[str] = write(document, stream)
        return lost


def records_of(document: RstDocument) -> Iterator[Record]:
    """The trees of a document, one by one."""
    from cleft.formats.jsonl import Record

    return (Record(discourse=tree.moved(-tree.span.left)) for tree in document.trees)


FORMATS: dict[str, Format] = {
    found.name: found
    for found in (
        _Brackets(
            name="brackets",
            endings=(".mrg", ".ptb", ".psd", ".parse", ".brackets", ".txt"),
            tasks=("syntax",),
            begins=TREE,
        ),
        _JsonLines(
            name="jsonl",
            endings=(".jsonl", ".ndjson"),
            tasks=("syntax", "discourse"),
            begins=RECORD,
        ),
        *(
            DocumentFormat(
                name=name,
                endings=(f".{name}",),
                tasks=("discourse",),
                module=f"cleft.formats.{module}",
                writes=name != "rsd",
                begins=begins,
            )
            for name, module, begins in (
                ("rs3", "rs3", XML),
                ("rs4", "rs3", ""),
                ("dis", "dis", DIS),
                ("rsd", "rsd", ""),
            )
        ),
    )
}
"""All formats by name."""


def format_of(path: files.Readable, name: str | None = None, default: str | None = None) -> Format:
    """The format of a file: the one named, else that of its ending (`.gz` is ignored).

    `default` is used if the ending is unknown.

    >>> format_of("notes.rs4").tasks, format_of("-", "dis").name
    (('discourse',), 'dis')
    """
    if name is not None:
        if name not in FORMATS:
            raise UsageError(f"no format is called {name!r}", hint=f"use one of {_names()}")
        return FORMATS[name]
    ending = Path(files.source_name(path).removesuffix(".gz")).suffix.lower()
    for found in FORMATS.values():
        if ending in found.endings:
            return found
    if default is not None:
        return FORMATS[default]
    raise UsageError(
        f"the ending {ending!r} tells no format" if ending else "the name has no ending",
        where=str(path),
        hint=f"name the format: one of {_names()}",
    )


def _names() -> str:
    return ", ".join(FORMATS)


def begins_as(text: str) -> str | None:
    r"""The format that a text begins as; empty for none, None while too little of it is known.

    >>> begins_as("( (S (NP (PRP It)) (VP (VBD rained))))"), begins_as("(It rained.) We left.")
    ('brackets', '')
    >>> begins_as('{"tokens": ["It", "rained"]}'), begins_as("(\n (S")
    ('jsonl', None)
    """
    for name, pattern in BEGINNINGS.items():
        if pattern.match(text):
            return name
    return None if UNDECIDED.match(text) else ""


BEGINNINGS = {
    found.name: re.compile(rf"\s*+(?:{found.begins})", re.ASCII)
    for found in reversed(FORMATS.values())  # what begins a .dis file would begin brackets too
    if found.begins
}
