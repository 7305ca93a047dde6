"""Conversion of a file of trees to another format of the same task.

What the target cannot hold comes back as a list of messages: nothing is
dropped in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from cleft import files
from cleft.discourse import DiscourseTree
from cleft.errors import FormatError, LossError, UsageError
from cleft.formats.brackets import MISSING, format_brackets, read_parses
from cleft.formats.cleaning import Cleaning
from cleft.formats.dis import read_dis, write_dis
from cleft.formats.jsonl import Record, Relations, read_jsonl, write_jsonl
from cleft.formats.registry import Format, format_of
from cleft.formats.rs3 import read_rs3, write_rs3, write_rs4
from cleft.formats.rsd import read_rsd
from cleft.formats.rst import RstDocument, losses
from cleft.tree import Tree

__all__ = ["convert", "read_document", "read_records"]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    clean: Cleaning | None = None,
    relations: Relations = "fine",
    strict: bool = False,
) -> list[str]:
    """Convert a file, formats by ending unless named; return what was lost.

    With `strict` a loss is an error, and no file is written.
    """
    old, new = format_of(source, source_format), format_of(target, target_format)
    if not new.writes:
        raise UsageError(f"{new.name} can be read but not written", hint="choose another format")
    if not (old.syntax and new.syntax) and not (old.discourse and new.discourse):
        raise UsageError(
            f"{old.name} holds {_tasks(old)}, {new.name} holds {_tasks(new)}",
            hint="convert between formats of one task",
        )
    if clean is not None and old.name != "brackets":
        raise UsageError(f"cleaning is for brackets, and {source} is {old.name}")
    with files.writing(target) as stream:
        if new.name == "brackets":
            records = read_records(source, old, clean, relations)
            lost = _to_brackets(records, stream, files.source_name(source))
        elif new.name == "jsonl":
            lost = _to_jsonl(source, stream, old, clean, relations)
        else:
            lost = _to_rst(read_document(source, old, relations), stream, new)
        if strict and lost:
            # Raised inside the block, so that the file does not appear.
            raise LossError("; ".join(lost), where=str(target), hint="convert without --strict")
    return lost


def _tasks(found: Format) -> str:
    both = found.syntax and found.discourse
    return "both tasks" if both else ("syntax" if found.syntax else "discourse")


def read_records(
    path: str | Path, found: Format, clean: Cleaning | None = None, relations: Relations = "fine"
) -> Iterator[Record]:
    """The trees of a file of any format, one at a time.

    Each discourse tree's tokens are counted from 0.
    """
    if found.name == "brackets":
        for tree in read_parses(path, clean):
            yield Record(syntax=tree, error=None if tree is not None else "there was no parse")
    elif found.name == "jsonl":
        yield from read_jsonl(path, relations)
    else:
        for discourse in read_document(path, found, relations).trees:
            yield Record(discourse=discourse.moved(-discourse.span.left))


def read_document(path: str | Path, found: Format, relations: Relations = "fine") -> RstDocument:
    """The discourse trees of a file as one document, tokens counted through it."""
    if found.name in ("rs3", "rs4"):
        return read_rs3(path)
    if found.name == "dis":
        return read_dis(path)
    if found.name == "rsd":
        return read_rsd(path)
    return _as_document(read_jsonl(path, relations), files.source_name(path))


def _as_document(records: Iterable[Record], name: str) -> RstDocument:
    trees: list[DiscourseTree] = []
    remarks: Counter[str] = Counter()
    position = 0
    for number, record in enumerate(records, start=1):
        if record.discourse is None:
            raise FormatError(
                f"record {number} has no discourse tree", where=name, hint="parse it for discourse"
            )
        trees.append(record.discourse.moved(position))
        position = trees[-1].span.right
        remarks["syntax tree: left out"] += record.syntax is not None
        remarks["record with further fields: left out"] += bool(record.fields)
        remarks["error message: left out"] += record.error is not None
        remarks[_unchosen(record)] += bool(record.left_out)
    return RstDocument.of(trees, [f"{count} {what}" for what, count in remarks.items() if count])


def _to_rst(document: RstDocument, stream: TextIO, new: Format) -> list[str]:
    write = {"rs3": write_rs3, "rs4": write_rs4, "dis": write_dis}[new.name]
    return write(document, stream)


def _to_jsonl(
    source: str | Path,
    stream: TextIO,
    old: Format,
    clean: Cleaning | None,
    relations: Relations,
) -> list[str]:
    lost: list[str] = []
    if old.name in ("brackets", "jsonl"):
        records = read_records(source, old, clean, relations)
    else:
        document = read_document(source, old)
        lost = losses(document, "jsonl")
        records = (Record(discourse=tree.moved(-tree.span.left)) for tree in document.trees)
    remarks: Counter[str] = Counter()
    for record in records:
        write_jsonl([record], stream)
        remarks[_unchosen(record)] += bool(record.left_out)
    return lost + [f"{count} {what}" for what, count in remarks.items() if count]


def _unchosen(record: Record) -> str:
    return f"records with {record.left_out} too: left out, --relations chooses"


def _to_brackets(records: Iterable[Record], stream: TextIO, name: str) -> list[str]:
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
        lost.update(_bracket_losses(record))
    return [f"{count} {what}" for what, count in lost.items()]


def _bracket_losses(record: Record) -> Iterator[str]:
    if record.discourse is not None:
        yield "discourse trees left out: brackets hold syntax only"
    if record.fields:
        yield "records with further fields: brackets have no place for them"
    if record.error is not None:
        yield "error messages: brackets have no place for them"
    nodes = list(record.syntax.preorder()) if record.syntax is not None else []
    if any(node.evidence for node in nodes):
        yield "trees with probabilities: brackets have no place for them"
    if any(map(_changes, nodes)):
        yield "trees with words or labels that brackets cannot hold as they are"


def _changes(node: Tree) -> bool:
    texts = (node.label, node.word if node.word is not None else "x")
    odd = any(set(text) & set("() \t\r\n\f\v") for text in texts)
    # A word without a tag is written bare, which not every place allows.
    return odd or node.word == "" or (node.word is not None and not node.label)
