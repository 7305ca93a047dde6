"""How `cleft parse` writes results: one writer a format, and where the output goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from cleft import files
from cleft.errors import OutputError, UsageError

if TYPE_CHECKING:
    from cleft.cli.inputs import Input
    from cleft.discourse import DiscourseTree
    from cleft.sentence import Sentence
    from cleft.tree import Tree

ENDINGS = {
    "terminal": ".txt", "brackets": ".mrg", "jsonl": ".jsonl", "dis": ".dis", "rs3": ".rs3",
    "rs4": ".rs4", "svg": ".svg", "html": ".html", "png": ".png", "pdf": ".pdf",
    "forest": ".tex", "qtree": ".tex",
}  # fmt: skip
"""Every format, and the ending of its files in a folder."""

PICTURES = ("svg", "png", "pdf")
LATEX = ("forest", "qtree")
WHOLE = ("dis", "rs3", "rs4", "html", *PICTURES, *LATEX)
"""Formats of which nothing is written before all of it is there."""
DRAWINGS = {
    "svg": (".svg",),
    "html": (".html", ".htm"),
    "png": (".png",),
    "pdf": (".pdf",),
    "forest": (".tex",),
    "qtree": (".tex",),
}
"""The formats of drawings and their endings; the first that has an ending is told by it."""
OTHER_ENDINGS = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "terminal": (".txt", ".text"),
    "text": (".txt", ".text"),
    **DRAWINGS,
    "markdown": (".md", ".markdown"),
    "what cleft does not write": (
        *(".jpg", ".jpeg", ".gif", ".webp", ".ps", ".eps"),
        *(".conllu", ".conll", ".csv", ".tsv"),
    ),
}
"""Endings that stand for a format other than those of trees."""

Results = Iterator["Sentence"]


# ---------------------------------------------------------------- where to


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where output goes: standard output, one file, or a folder with a file for each input."""

    output: str | None
    form: str
    inputs: list[Input]

    @property
    def is_folder(self) -> bool:
        """Whether there is a file for each input (of pictures: for each sentence)."""
        if self.output is None or self.output == files.STREAM:
            return False
        path = Path(self.output)
        many = len(self.inputs) > 1 or self.form in PICTURES
        return path.is_dir() or self.output.endswith("/") or (many and not path.suffix)

    def check(self) -> None:
        """Fail before parsing if an output would overwrite an input, or two inputs share one."""
        if self.output == "":
            raise UsageError("expected a file or a folder after -o, found an empty name")
        if self.output is None:
            return
        for each in self.inputs:
            target = self.path(each) if self.is_folder else Path(self.output)
            refuse_overwriting(target, each.path)
        if not self.is_folder:
            refuse_ending(self.output, self.form, ENDINGS)
            return
        seen: dict[Path, str] = {}
        for each in self.inputs:
            if each.target in seen:
                raise UsageError(
                    f"{seen[each.target]} and {each.name} would both be written to "
                    f"{self.path(each)}",
                    hint="parse them one at a time",
                )
            seen[each.target] = each.name

    def path(self, each: Input, part: str = "") -> Path:
        """The file of an input in the folder; `part` is a suffix for one of its sentences."""
        assert self.output is not None
        name = f"{each.target.name}{part}{ENDINGS[self.form]}"
        return Path(self.output) / each.target.parent / name

    def read(self, number: int) -> str:
        """The names of the inputs whose results go to the same file as those of this number."""
        inputs = self.inputs[number : number + 1] if self.is_folder else self.inputs
        return ", ".join(dict.fromkeys(each.name for each in inputs))

    def done(self, inputs: int) -> str:
        """Where the output of the finished inputs is, for a run that is interrupted."""
        if self.is_folder:
            return f"{inputs} of {len(self.inputs)} inputs complete in {self.output}"
        return done(self.output or files.STREAM, whole=self.form in WHOLE)

    def name(self, number: int) -> str:
        """The output file of the input of this number (its folder is created), or `-`."""
        if not self.is_folder:
            return self.output or files.STREAM
        return str(_with_folder(self.path(self.inputs[number])))


def done(output: str, *, whole: bool = False) -> str:
    """Where unfinished output is; `whole` says that a format writes all at once.

    >>> done("-"), done("trees.mrg")
    ('all on standard output', 'nothing written: trees.mrg appears when it is complete')
    """
    if output != files.STREAM:
        return f"nothing written: {output} appears when it is complete"
    return "nothing written" if whole else "all on standard output"


def refuse_ending(
    output: str | None, form: str, formats: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Fail if the ending of a file's name is that of another format.

    `formats` are those that --format offers, with their endings.

    >>> refuse_ending("tree.png", "svg", {"png": ".png"})
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: tree.png: svg is written, and the ending '.png' is not that of svg; \
name a file that ends in .svg, or add --format png
    """
    if output is None or output == files.STREAM:
        return
    from cleft.formats.registry import FORMATS

    ending = Path(output.removesuffix(".gz")).suffix.lower()
    endings_of = {name: found.endings for name, found in FORMATS.items()} | OTHER_ENDINGS
    if ending not in endings_of[form] and any(ending in endings for endings in endings_of.values()):
        meant = next(
            (f", or add --format {name}" for name in formats if formats[name] == ending), ""
        )
        raise UsageError(
            f"{form} is written, and the ending {ending!r} is not that of {form}",
            where=output,
            hint=f"name a file that ends in {endings_of[form][0]}{meant}",
        )


def refuse_overwriting(target: Path, source: str | Path | None) -> None:
    """Fail if results would overwrite the file that they are made from."""
    if source in (None, files.STREAM) or str(target) == files.STREAM:
        return
    if target.resolve() == Path(str(source)).resolve():
        raise UsageError(
            "the output would overwrite its own input",
            where=str(target),
            hint="name another file or folder with -o",
        )


def _with_folder(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be made: {reason}", where=str(path.parent)) from error
    return path


# ---------------------------------------------------------------- how


def write_results(destination: Destination, number: int, results: Results, *, many: bool) -> None:
    """Write the results of one group; `many` says that there are several trees of a sentence."""
    form = destination.form
    if form in PICTURES:
        _write_pictures(destination, number, results)
        return
    if form in ("dis", "rs3", "rs4"):
        _write_rst(destination, number, results)
        return
    with files.writing(destination.name(number)) as stream:
        if form == "html":
            _write_html(destination, number, results, stream)
        elif form in LATEX:
            from cleft.draw import latex

            stream.write(latex([tree for one in results for tree in trees_of(one)], form))  # type: ignore[arg-type]
        else:
            _write_lines(form, results, stream, many=many)


def trees_of(sentence: Sentence) -> list[Tree | DiscourseTree]:
    """All trees of a sentence: syntax before discourse, best first."""
    return [parse.tree for parses in sentence.parses.values() for parse in parses]


def _write_lines(form: str, results: Results, stream: TextIO, *, many: bool) -> None:
    """Write the formats that need one sentence at a time."""
    for count, sentence in enumerate(results, 1):
        if form == "jsonl":
            text = sentence.to_jsonl() + "\n"
        elif form == "brackets":
            from cleft.formats.brackets import MISSING

            lines = [parse.tree.brackets() for parse in sentence.parses.get("syntax", ())]  # type: ignore[union-attr]
            text = "\n".join(lines or [MISSING]) + "\n" * (1 + many)
        else:
            text = _drawn(sentence, count)
        stream.write(text)
        if stream is sys.stdout:  # the reader of a pipe gets each result at once
            stream.flush()


def _drawn(sentence: Sentence, count: int) -> str:
    from cleft.draw import terminal
    from cleft.draw.characters import visible
    from cleft.draw.layout import percent

    heading = f"{count}  {visible(' '.join(sentence.text.split()))}".rstrip()
    blocks = [heading]
    for task, parses in sentence.parses.items():
        for number, parse in enumerate(parses, 1):
            if len(parses) > 1:
                sure = parse.tree.tree_probability
                told = "" if sure is None else f", right with {percent(sure)}"
                blocks.append(f"{task} tree {number} of {len(parses)}{told}")
            blocks.append(terminal(parse.tree))
    if sentence.error is not None:
        blocks.append(visible(_reason(sentence)))
    return ("\n" if count > 1 else "") + "\n\n".join(blocks) + "\n"


def _write_rst(destination: Destination, number: int, results: Results) -> None:
    """One tree a sentence, its EDUs as the source has them.

    These formats cannot be empty: in a folder an input without a tree has no file.
    """
    from cleft.formats.rst import as_text

    form = destination.form
    trees: list[DiscourseTree] = []
    position, reason = 0, ""
    for sentence in results:
        reason = reason or str(sentence.error or "")
        if sentence.discourse is not None:
            trees.append(as_text(sentence.discourse, position))
            position = trees[-1].span.right
    if not trees and destination.is_folder:
        return
    if not trees:
        raise UsageError(
            f"no sentence has a tree, and {form} cannot be empty",
            where=destination.read(number),
            hint=f"the first: {reason}",
        )
    with files.writing(destination.name(number)) as stream:
        write_rst(trees, stream, form)


def write_rst(trees: list[DiscourseTree], stream: TextIO, form: str) -> None:
    """Write trees of text in a format of RST, and say what it cannot hold."""
    from cleft.formats.registry import FORMATS, DocumentFormat
    from cleft.formats.rst import RstDocument

    target = FORMATS[form]
    assert isinstance(target, DocumentFormat)
    for lost in target.write_document(RstDocument.of(trees), stream):
        print(f"cleft: not kept: {lost}", file=sys.stderr)


def _write_html(destination: Destination, number: int, results: Results, stream: TextIO) -> None:
    from cleft.draw import Options, Section, html

    sections = [
        Section(trees=trees_of(sentence), text=sentence.text, note=_reason(sentence))
        for sentence in results
    ]
    stream.write(html(sections, Options(title=destination.read(number))))


def _reason(sentence: Sentence) -> str:
    """Why there is no tree, if there is none."""
    return f"no tree: {sentence.error}" if sentence.error is not None else ""


def _write_pictures(destination: Destination, number: int, results: Results) -> None:
    """A picture of all trees of a sentence: a file for each, or just one."""
    form = destination.form
    if destination.is_folder:
        each = destination.inputs[number]
        for count, sentence in enumerate(results, 1):
            if trees_of(sentence):
                path = _with_folder(destination.path(each, f"-{count:04d}"))
                _write_picture(str(path), sentence, form)
        return
    shown: Sentence | None = None
    for count, sentence in enumerate(results, 1):
        if count > 1:
            raise UsageError(
                f"expected one sentence for {form.upper()}, found more",
                hint="name a folder with -o for a file a sentence, or use --format html",
            )
        shown = sentence
    if shown is not None and trees_of(shown):
        _write_picture(destination.name(number), shown, form)


def _write_picture(path: str, sentence: Sentence, form: str) -> None:
    from cleft.draw import Options, lay_out
    from cleft.draw.layout import stack
    from cleft.draw.svg_output import fixed, image, render

    options = Options() if form == "svg" else fixed(Options())
    layouts = [lay_out(tree, options.width) for tree in trees_of(sentence)]
    if len(layouts) > 1:
        name = " ".join(sentence.text.split())
        described = " ".join(layout.description for layout in layouts)
        layouts = [stack(layouts, 16.0, name=name, description=described)]
    picture = render(layouts[0], options.theme)
    data = None if form == "svg" else image(picture, form)  # type: ignore[arg-type]
    with files.writing(path) as stream:
        if data is None:
            stream.write(picture)
        else:
            stream.buffer.write(data)
