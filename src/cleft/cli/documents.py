"""`cleft parse --document`: every input is one document, with one discourse tree over it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, TextIO

from cleft import files
from cleft.cli.inputs import Input, text_lines
from cleft.cli.reading import Sentences
from cleft.errors import UsageError

if TYPE_CHECKING:
    from cleft.cli.outputs import Destination
    from cleft.document import Document
    from cleft.documents import DocumentInput
    from cleft.parser import Parser

FORMATS = ("terminal", "jsonl", "rs3", "rs4", "dis", "svg", "html")
ALONE = ("rs3", "rs4", "dis", "svg")
"""Formats of which a file holds one document."""
SUMMARISED = ("terminal", "jsonl")


def check(args: argparse.Namespace, destination: Destination) -> None:
    """Fail on options that do not go with documents, or with each other."""
    if args.summary is not None and args.summary < 1:
        raise UsageError(f"--summary {args.summary}", hint="give a number of sentences from 1")
    if args.summary is not None and args.format not in SUMMARISED:
        raise UsageError(
            f"--format {args.format} has no place for a summary",
            hint=f"use {' or '.join(SUMMARISED)}",
        )
    if not args.document:
        if args.summary is not None:
            raise UsageError("--summary is of a document", hint="add --document")
        return
    if args.format not in FORMATS:
        raise UsageError(
            f"--format {args.format} holds no document", hint=f"use one of {', '.join(FORMATS)}"
        )
    if args.task == "syntax":
        raise UsageError("--document is about discourse trees, and --task asks for syntax")
    if args.n_best > 1 and args.format not in SUMMARISED:
        raise UsageError(
            f"--format {args.format} holds one tree of a document, and --n-best asks for more",
            hint=f"use {' or '.join(SUMMARISED)}",
        )
    if args.format in ALONE and len(destination.inputs) > 1 and not destination.is_folder:
        raise UsageError(
            f"a file of {args.format} holds one document, found {len(destination.inputs)} inputs",
            hint="name a folder with -o for a file each",
        )


# ---------------------------------------------------------------- reading


def documents_of(
    parser: Parser, sentences: Sentences, args: argparse.Namespace, task: str
) -> Iterator[Document]:
    """The documents in order, one for each input."""
    results = parser.stream(
        (_read(each, sentences) for each in sentences.inputs),
        document=True,
        task=task,
        beam=args.beam,
        n_best=args.n_best,
        joint=args.joint,
        jobs=args.jobs,
    )
    with closing(results):  # type: ignore[type-var]
        yield from results


def _read(each: Input, sentences: Sentences) -> DocumentInput:
    """An input as a document: raw text is kept as it stands, other inputs make one."""
    from cleft.document import paragraph_starts
    from cleft.documents import DocumentInput
    from cleft.text import Reading

    text = None
    if each.kind == "text" and not sentences.edus:
        text = "".join(text_lines(each))
        reading = Reading(language=sentences.language, hyphens=sentences.hyphens)
        rows = list(reading.text(text))
    else:
        rows = list(sentences.read(each))
    starts = paragraph_starts(row.paragraph for row in rows)
    name = each.name if each.path not in (None, files.STREAM) else None
    return DocumentInput(rows, text, starts, id=name)


# ---------------------------------------------------------------- writing


def write_documents(
    destination: Destination, documents: Iterator[Document], summary: int | None
) -> Iterator[Document]:
    """Write the documents, each when it comes, and yield each when it is written."""
    if destination.is_folder:
        for number, document in enumerate(documents):
            if _has_output(destination, document):
                with files.writing(destination.name(number)) as stream:
                    _write(destination, [document], stream, summary)
            yield document
        return
    if destination.form in ("html", *ALONE):
        found = list(documents)
        if not _has_output(destination, *found):
            reason = next((str(each.error) for each in found if each.error is not None), "")
            raise UsageError(
                f"there is no tree, and {destination.form} cannot be empty",
                where=destination.read(0),
                hint=reason,
            )
        with files.writing(destination.name(0)) as stream:
            _write(destination, found, stream, summary)
        yield from found
        return
    with files.writing(destination.name(0)) as stream:
        for count, document in enumerate(documents, 1):
            _write(destination, [document], stream, summary, count)
            if stream is sys.stdout:
                stream.flush()
            yield document


def _has_output(destination: Destination, *documents: Document) -> bool:
    """Whether there is something to write: the formats of RST and pictures need a tree."""
    return destination.form not in ALONE or any(each.tree is not None for each in documents)


def _write(
    destination: Destination,
    documents: list[Document],
    stream: TextIO,
    summary: int | None,
    count: int = 1,
) -> None:
    form = destination.form
    if form == "html":
        _write_page(documents, stream, destination.read(0))
        return
    (document,) = documents
    if form == "jsonl":
        stream.write(_line(document, summary) + "\n")
    elif form == "svg":
        from cleft.draw import Options, svg

        stream.write(svg(document.flat_trees[0], Options(nested=True)))
    elif form == "terminal":
        stream.write("\n" * (count > 1) + _shown(document, summary) + "\n")
    else:
        from cleft.cli.outputs import write_rst
        from cleft.formats.rst import as_text

        write_rst([as_text(document.flat_trees[0])], stream, form)


def _write_page(documents: list[Document], stream: TextIO, title: str) -> None:
    from cleft.draw import Options, Section, html

    sections = [
        Section(
            trees=each.flat_trees[:1],
            text=each.text,
            note=str(each.error or ""),
            document=each,
        )
        for each in documents
    ]
    stream.write(html(sections, Options(title=title, nested=True)))


def _line(document: Document, summary: int | None) -> str:
    from dataclasses import replace

    if summary is not None:
        found = document.summary(summary)
        chosen = {"sentences": list(found.numbers), "left_out": list(found.left_out)}
        fields = {**document.fields, "summary": {**chosen, "text": str(found)}}
        document = replace(document, fields=fields)
    return document.to_jsonl()


def _shown(document: Document, summary: int | None) -> str:
    """The tree drawn as text, or the summary and what it left out."""
    from cleft.draw import terminal
    from cleft.draw.characters import visible

    blocks = [visible(document.id)] if document.id else []
    if summary is not None:
        found = document.summary(summary)
        rows = zip(found.numbers, found.sentences, strict=True)
        blocks += [f"{at + 1}  {visible(' '.join(each.text.split()))}" for at, each in rows]
        if found.left_out and document.tree is not None:
            blocks.append(f"left out: {_ranges(found.left_out)} of {len(document.sentences)}")
    else:
        blocks += [terminal(tree, nested=True) for tree in document.flat_trees]
    if document.error is not None:
        blocks.append(visible(str(document.error)))
    return "\n".join(blocks)


def _ranges(numbers: tuple[int, ...]) -> str:
    """The numbers of sentences as people write them, from 1.

    >>> _ranges((0, 1, 2, 4))
    'sentences 1–3, 5'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = [f"{p[0] + 1}–{p[-1] + 1}" if len(p) > 1 else f"{p[0] + 1}" for p in parts]
    return f"sentence{'s' * (len(numbers) > 1)} {', '.join(shown)}"
