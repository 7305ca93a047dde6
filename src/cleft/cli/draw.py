"""`cleft draw`: trees of a file in the terminal, as a picture, a page or LaTeX."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cleft.cli.outputs import DRAWINGS
from cleft.errors import CleftError, UsageError
from cleft.formats.cleaning import CLEANINGS, cleaning
from cleft.formats.registry import FORMATS, format_of
from cleft.span import Span

if TYPE_CHECKING:
    from cleft.discourse import DiscourseTree
    from cleft.draw import Drawable
    from cleft.formats.jsonl import Record

THEMES = ("auto", "light", "dark")
VIEWS = ("auto", "tree", "rows", "outline")


class Shown(NamedTuple):
    """A tree to draw, the number of its record and the text of it, where that is known."""

    tree: Drawable
    record: int
    text: str = ""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="trees; - for standard input")
    parser.add_argument(
        "--diff", action="store_true", help="mark how FILE GOLD and FILE PRED differ"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="write OUT.svg, .html, .png, .pdf or .tex"
    )
    parser.add_argument(
        "--format", choices=list(DRAWINGS), help="of OUT (default: by its ending; .tex: forest)"
    )
    parser.add_argument("--number", type=int, metavar="N", help="draw only the Nth tree, from 1")
    parser.add_argument("--theme", choices=THEMES, help="colours of OUT (default: auto)")
    parser.add_argument(
        "--view", choices=VIEWS, help="one line, rows or an outline (default: auto, by --width)"
    )
    parser.add_argument(
        "--nested", action="store_true", help="draw several nuclei of a relation as nested pairs"
    )
    parser.add_argument(
        "--width", type=int, metavar="W", help="columns of text, or pixels of OUT, to stay within"
    )
    parser.add_argument(
        "--from", dest="source_format", choices=list(FORMATS), help="format of FILE"
    )
    parser.add_argument(
        "--clean",
        choices=list(CLEANINGS),
        default="none",
        help="what to take off bracketed trees (default: nothing)",
    )


def run(args: argparse.Namespace) -> int:
    """Draw, and write or print the drawing."""
    _check(args)
    found = _chosen(_pairs(args) if args.diff else _read(args.files[0], args), args)
    if args.output is None:
        _print(found, args.width)
        return 0
    from cleft.files import writing

    drawn = _rendered(list(found), args)
    with writing(args.output) as stream:
        if isinstance(drawn, bytes):
            stream.buffer.write(drawn)
        else:
            stream.write(drawn)
    return 0


def _check(args: argparse.Namespace) -> None:
    expected = 2 if args.diff else 1
    if len(args.files) != expected:
        raise UsageError(
            f"expected {'two files, gold and predicted' if args.diff else 'one file'}, "
            f"found {len(args.files)}",
            hint="name them after --diff"
            if args.diff
            else "draw one file at a time, or use --diff",
        )
    if args.number is not None and args.number < 1:
        raise UsageError(f"--number {args.number}: trees are counted from 1")
    if args.width is not None and args.width < 1:
        raise UsageError(
            f"--width {args.width}: expected at least 1", hint="leave it out for the usual width"
        )
    for name in ("theme", "view", "format"):
        if getattr(args, name) is not None and args.output is None:
            raise UsageError(
                f"--{name} is for files, and a terminal draws in its own way",
                hint="write a file with -o, or leave it out",
            )
    if args.output is not None:
        _form(args)


def _form(args: argparse.Namespace) -> str:
    """The format of the output, which its ending may not contradict."""
    ending = Path(args.output).suffix.lower()
    told = [form for form, endings in DRAWINGS.items() if ending in endings]
    if not told:
        known = ", ".join(dict.fromkeys(endings[0] for endings in DRAWINGS.values()))
        raise UsageError(
            f"the ending {ending!r} tells no drawing",
            where=args.output,
            hint=f"write a file that ends in one of {known}",
        )
    if args.format is not None and args.format not in told:
        raise UsageError(
            f"--format {args.format} does not go with the ending {ending!r}",
            where=args.output,
            hint=f"name a file that ends in {DRAWINGS[args.format][0]}",
        )
    return args.format or told[0]


def _pairs(args: argparse.Namespace) -> Iterator[Shown | None]:
    """The comparisons of two files, in order; None for a tree that is missing."""
    from cleft.draw import diff

    gold, predicted = (list(_read(path, args)) for path in args.files)
    if len(gold) != len(predicted):
        raise UsageError(
            f"{args.files[0]} has {len(gold)} trees, {args.files[1]} has {len(predicted)}",
            hint="give two files with the same sentences in the same order",
        )
    for at, (one, two) in enumerate(zip(gold, predicted, strict=True), start=1):
        if one is None or two is None or args.number not in (None, at):
            yield None  # a pair that is not asked for need not be comparable
            continue
        try:
            found = diff(one.tree, two.tree, nested=True)  # type: ignore[type-var]
            yield Shown(found, one.record, one.text)
        except CleftError as error:
            where = f"{args.files[0]} and {args.files[1]}, tree {at}"
            raise type(error)(error.problem, where=where, hint=error.hint) from error


def _read(path: str, args: argparse.Namespace) -> Iterator[Shown | None]:
    """The trees of a file in order (both of a record that has both); None for one without."""
    found = format_of(path, args.source_format)
    if found.name != "brackets" and args.clean != "none":
        raise UsageError(f"cleaning is for brackets, and this is {found.name}", where=path)
    clean = cleaning(args.clean) if found.name == "brackets" else None
    for at, record in enumerate(found.records(path, clean=clean), start=1):
        text = record.fields.get("text")
        for tree in (record.syntax, _as_drawn(record, args)):
            if tree is not None:
                yield Shown(tree, at, text if isinstance(text, str) else "")
        if record.tree is None:
            reason = record.error or "none is given"
            print(f"cleft: {path}: record {at} has no tree: {reason}", file=sys.stderr)
            yield None


def _as_drawn(record: Record, args: argparse.Namespace) -> DiscourseTree | None:
    """The discourse tree of a record; of a document, sentences stay whole."""
    if record.discourse is None or args.nested:
        return record.discourse
    from cleft.draw.layout import as_drawn

    apart = [Span(*ends) for ends in pairwise((0, *record.sentence_ends))]
    return as_drawn(record.discourse, apart=apart)


def _chosen(shown: Iterator[Shown | None], args: argparse.Namespace) -> Iterator[Shown]:
    number, path = args.number, args.files[-1]
    if number is not None:
        found = list(islice(shown, number - 1, number))
        if not found or found[0] is None:
            why = "it is missing" if found else "there are fewer"
            raise UsageError(
                f"no tree number {number}: {why}", where=path, hint="choose another number"
            )
        shown = iter(found)
    return (one for one in shown if one is not None)


def _print(shown: Iterator[Shown], width: int | None) -> None:
    from cleft.draw import terminal

    for at, one in enumerate(shown):
        print(("\n" if at else "") + terminal(one.tree, width, nested=True))


def _rendered(shown: list[Shown], args: argparse.Namespace) -> str | bytes:
    from cleft.draw import Diff, Options, Section, html, latex, pdf, png, svg

    form = _form(args)
    # `_as_drawn` has joined the nuclei already, so trees are drawn as they are given.
    options = Options(theme=args.theme or "auto", view=args.view or "auto", nested=True)
    if args.width is not None:
        options = replace(options, width=args.width)
    if form == "html":
        title = " and ".join(Path(path).name for path in args.files)
        sections = []
        for _, group in groupby(shown, lambda one: one.record):
            rows = list(group)
            sections.append(Section(trees=[row.tree for row in rows], text=rows[0].text))
        return html(sections, replace(options, title=title))
    if form in ("forest", "qtree"):
        trees = [one.tree for one in shown if not isinstance(one.tree, Diff)]
        if len(trees) < len(shown):
            raise UsageError("LaTeX holds trees, not comparisons", hint="write .svg or .html")
        return latex(trees, form, nested=True)  # type: ignore[arg-type]
    if len(shown) != 1:
        raise UsageError(
            f"expected one tree for {form.upper()}, found {len(shown)}",
            where=args.files[0],
            hint="choose one with --number, or write .html for all",
        )
    tree = shown[0].tree
    return svg(tree, options) if form == "svg" else (png if form == "png" else pdf)(tree, options)
