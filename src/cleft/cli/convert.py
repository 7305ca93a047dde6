"""`cleft convert` and `cleft sentences`: trees in another format, and those of sentences."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cleft import files
from cleft.cli.outputs import refuse_ending, refuse_overwriting
from cleft.errors import CleftError, UsageError
from cleft.formats.cleaning import CLEANINGS, cleaning
from cleft.formats.registry import FORMATS, format_of

if TYPE_CHECKING:
    from cleft.formats.rst import RstDocument
    from cleft.relations import RelationClasses

SOURCES = [name for name, found in FORMATS.items() if "discourse" in found.tasks]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="IN", help="the file to read; - for standard input")
    parser.add_argument("target", metavar="OUT", help="the file to write; - for standard output")
    names = list(FORMATS)
    parser.add_argument("--from", dest="source_format", choices=names, help="format of IN")
    parser.add_argument("--to", dest="target_format", choices=names, help="format of OUT")
    parser.add_argument(
        "--clean",
        choices=list(CLEANINGS),
        default="none",
        help="what to take off bracketed trees (default: nothing); see docs/formats.md",
    )
    parser.add_argument("--cut", metavar="CHARS", help="cut phrase labels at these characters")
    parser.add_argument(
        "--relations",
        choices=["fine", "coarse"],
        help="relation names to take where JSON Lines give both (default: fine)",
    )
    parser.add_argument("--strict", action="store_true", help="fail if anything would be lost")


def run(args: argparse.Namespace) -> int:
    """Convert, and say what was lost."""
    from cleft.convert import convert

    refuse_overwriting(Path(args.target), args.source)
    if args.target_format is not None:
        refuse_ending(args.target, args.target_format)
    if args.relations is not None and format_of(args.source, args.source_format).name != "jsonl":
        raise UsageError("--relations is for JSON Lines, which may give both", where=args.source)
    lost = convert(
        args.source,
        args.target,
        source_format=args.source_format,
        target_format=args.target_format,
        clean=cleaning(args.clean, args.cut),
        relations=args.relations or "fine",
        strict=args.strict,
    )
    for message in lost:
        print(f"cleft: not kept: {message}", file=sys.stderr)
    return 0


# ---------------------------------------------------------------- cleft sentences


def add_sentences(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `cleft sentences`."""
    from cleft.relations import BUILT_IN

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


def run_sentences(args: argparse.Namespace) -> int:
    """Extract the sentences of one document."""
    from cleft.convert import format_sentence, read_sentences, sentence_trees

    refuse_ending(args.output, "jsonl")
    for source in (args.document, args.sentences):
        refuse_overwriting(Path(args.output), source)
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


def _classes(document: RstDocument, name: str | None) -> RelationClasses:
    """The classes of that name, or those that know the relations of the document."""
    from cleft.relations import load_classes, matching_classes

    if name is not None:
        return load_classes(name)
    classes = matching_classes(relation.name for relation in document.relations)
    print(f"relation classes: {classes.name}", file=sys.stderr)
    return classes
