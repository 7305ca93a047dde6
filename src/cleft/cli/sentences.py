"""`cleft sentences`: sentence-level discourse trees from a document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cleft import files
from cleft.cli.outputs import refuse_ending
from cleft.errors import CleftError
from cleft.formats.registry import FORMATS, format_of
from cleft.formats.rst import RstDocument
from cleft.relations import BUILT_IN, RelationClasses, load_classes, matching_classes
from cleft.sentences import format_sentence, read_sentences, sentence_trees

__all__ = ["add", "run"]

SOURCES = [name for name, found in FORMATS.items() if "discourse" in found.tasks]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Write every sentence of a document whose EDUs are one subtree, "
        "as JSON Lines with coarse and fine relations. How many were kept and dropped, "
        "and why, goes to standard error."
    )
    parser.add_argument("document", metavar="DOC", help=f"a document: {', '.join(SOURCES)}")
    parser.add_argument(
        "--sentences",
        required=True,
        metavar="FILE",
        help="its sentences: one a line, tokens separated by spaces",
    )
    parser.add_argument(
        "--relations",
        metavar="NAME",
        help=f"classes of relations: {', '.join(BUILT_IN)}, or a mapping file "
        "(default: the one that knows the document's relations)",
    )
    parser.add_argument("--from", dest="source", choices=SOURCES, help="the document's format")
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=files.STREAM, help="where to write"
    )


def run(args: argparse.Namespace) -> int:
    """Extract the sentences of one document."""
    refuse_ending(args.output, "jsonl")
    document = format_of(args.document, args.source).document(args.document)
    sentences = read_sentences(args.sentences)
    classes = _classes(document, args.relations)
    try:
        found = sentence_trees(document, sentences)
    except CleftError as error:
        raise type(error)(
            error.problem, where=f"{args.document} and {args.sentences}", hint=error.hint
        ) from error
    name = _name(args.document)
    with files.writing(args.output) as stream:
        for sentence in found.kept:
            stream.write(format_sentence(sentence, name, classes) + "\n")
    print(f"{name}: {found.summary()}", file=sys.stderr)
    return 0


def _name(path: str) -> str:
    """A document is called as its file is, without folder and ending."""
    return "stdin" if path == files.STREAM else Path(path.removesuffix(".gz")).stem


def _classes(document: RstDocument, asked: str | None) -> RelationClasses:
    if asked is not None:
        return load_classes(asked)
    classes = matching_classes(relation.name for relation in document.relations)
    print(f"relation classes: {classes.name}", file=sys.stderr)
    return classes
