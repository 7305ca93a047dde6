"""The inputs of `cleft parse` and `cleft segment`: texts, files, folders, standard input."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cleft import files
from cleft.errors import InputError, UsageError

KINDS = ("text", "lines", "tokens", "jsonl", "conllu", "brackets")
AUTO = "auto"
RAW = ("text", "lines")
"""Kinds whose tokens are found by the rules of a language."""
ENDINGS = {"jsonl": (".jsonl", ".ndjson"), "conllu": (".conllu", ".conll")}
TEXTS = (".txt", ".text")

CONLLU = re.compile(r"\s*(?:# (?:sent_id|newdoc|global\.columns)\b|[0-9]+(?:-[0-9]+)?(?:\t.*){6})")
UNSPACED = re.compile(r"[^./\\]*[\u3040-\u30ff\u3400-\u9fff][^./\\]*")
"""What is a text though no space is in it: Chinese and Japanese, without a file's ending."""
UNDECIDED = 10_000
"""Characters after which a file is read as text if its beginning still fits several formats."""
NOT_TEXT = {
    "brackets": (
        "trees in brackets",
        "--input brackets parses their words again; --keep-tags keeps their tags",
    ),
    "jsonl": ("JSON", "--input jsonl reads JSON Lines with tokens"),
    "conllu": ("a table of words", "--input conllu reads CoNLL-U"),
    "rs3": ("XML", "'cleft draw' and 'cleft convert' read the trees of .rs3 and .rs4 files"),
    "dis": ("discourse trees", "'cleft draw' and 'cleft convert' read the trees of .dis files"),
}
"""Formats that may be given where text is expected: what they are, and what to do with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input: a file (or `-`) in `path`, or a text of the command line.

    `name` is how messages call it, `target` how its output is called in a
    folder, without an ending. `option` is the kind that --input names, `ending`
    the one that the ending of the file's name stands for. `begun` are the lines of
    standard input where some were read already.
    """

    name: str
    target: Path
    option: str | None
    ending: str = "text"
    path: str | None = None
    text: str = ""
    begun: Iterable[str] | None = None

    @property
    def kind(self) -> str:
        """What it holds, one of KINDS."""
        return self.option or self.ending

    @property
    def guessed(self) -> bool:
        """Whether it is taken for text because nothing says otherwise."""
        return self.option is None and self.ending == "text"

    @property
    def source(self) -> files.Readable:
        """The path or the text, as the readers of formats take it."""
        return files.Text(self.name, self.text) if self.path is None else self.path

    def lines(self) -> Iterable[str]:
        """The lines of a text."""
        return files.lines(self.source) if self.begun is None else self.begun


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say what to read and which model reads it."""
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        help="a file, a folder of .txt files, a text (if it has white space in it, or is "
        "Chinese or Japanese), or - for standard input",
    )
    parser.add_argument(
        "--text", action="append", default=[], metavar="TEXT", help="a text, whatever it looks like"
    )
    parser.add_argument(
        "--input",
        choices=KINDS,
        help="what the input holds: raw text, raw sentences or tokenised ones one a line, "
        "JSON Lines with tokens, CoNLL-U, or trees whose words are parsed again "
        "(default: told by the ending, else text)",
    )
    parser.add_argument(
        "--clean",
        metavar="NAME",
        help="what to take off trees before their words are read: ptb (the default: no traces), "
        "ptb-text, spmrl, keyaki or none",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="the rules for text, as in fr (default: the model's); auto tells the language "
        "from the beginning of the text, and takes the model of it",
    )
    parser.add_argument(
        "--hyphens",
        choices=["split", "keep"],
        help="whether hyphens inside words are tokens (default: split, in English)",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        help="a model's name, as 'cleft models' lists them, or its directory (default: en)",
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of one process (default: 1)"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="processes that parse (default: 1)"
    )
    parser.add_argument(
        "--beam", type=int, default=1, metavar="N", help="width of the search (default: 1, greedy)"
    )
    parser.add_argument(
        "--no-joint",
        dest="joint",
        action="store_false",
        help="choose the structure first, then each label by itself, as in the paper",
    )


# ---------------------------------------------------------------- finding


def find_inputs(args: argparse.Namespace) -> list[Input]:
    """The inputs that a command line names, in order; a folder stands for its files.

    Options that none of them needs, and trees that would be read as text, are refused.
    """
    found: list[Input] = []
    for argument in args.inputs:
        found += _named(argument, args.input)
    for text in args.text:
        found.append(_text(text, args.input or "text"))
    if not found:
        raise UsageError(
            "there is nothing to read",
            hint="name a file, a text in quotes, or - for standard input",
        )
    _refuse_unused(args, {each.kind for each in found})
    for each in found:
        if each.guessed and (each.path is None or Path(each.path).is_file()):
            with suppress(InputError):  # raised again when the file is read
                any(line.strip() for line in _prose(each))
    return found


def _refuse_unused(args: argparse.Namespace, kinds: set[str]) -> None:
    for name in ("language", "hyphens"):
        if getattr(args, name) is not None and not kinds & set(RAW):
            raise UsageError(
                f"--{name} is for raw text, and the input has its tokens already",
                hint="leave it out",
            )
    for name in ("clean", "keep_tags"):
        if getattr(args, name, None) and "brackets" not in kinds:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is for trees in brackets", hint="give --input brackets")
    if args.clean is not None:
        from cleft.formats.cleaning import cleaning

        cleaning(args.clean)  # raises an error for an unknown name


def text_lines(each: Input) -> Iterable[str]:
    """The lines of raw text; fails where text was guessed and it begins as a file of trees does."""
    return _prose(each) if each.guessed else each.lines()


def _prose(each: Input) -> Iterator[str]:
    """The lines of raw text; fails where it begins as a file of trees does."""
    lines, held = iter(each.lines()), ""
    for line in lines:
        held += line
        found = _beginning(held)
        if found is None and held.strip() and len(held) < UNDECIDED:
            continue
        if found:
            what, hint = NOT_TEXT[found]
            raise UsageError(
                f"expected text, found {what}",
                where=each.name,
                hint=f"{hint}; --input text reads it as text all the same",
            )
        if held.strip():
            break
        yield held
        held = ""
    if held:
        yield held
    yield from lines


def _beginning(text: str) -> str | None:
    """The format that a text begins as; empty for none, None while undecided."""
    first = text.lstrip()[:1]
    if first and first not in "([{<":
        return "conllu" if CONLLU.match(text) else ""
    from cleft.formats.registry import begins_as

    return begins_as(text)


def _named(argument: str, kind: str | None) -> list[Input]:
    if argument == files.STREAM:
        name = files.source_name(argument)
        return [Input(name=name, target=Path("stdin"), option=kind, path=argument)]
    path = Path(argument)
    if argument and _exists(path):  # an empty path would be the current folder
        return _folder(path, kind) if path.is_dir() else [_file(path, Path(path.name), kind)]
    if any(char.isspace() for char in argument) or UNSPACED.fullmatch(argument):
        return [_text(argument, kind)]
    if not argument:
        raise UsageError("expected a text or a file, found ''", hint="is a variable empty?")
    raise UsageError("no such file", where=argument, hint="for text use --text")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a text may be longer than any name, or hold a NUL
        return False


def _text(text: str, kind: str | None) -> Input:
    if kind in ("jsonl", "conllu"):
        raise UsageError(
            f"a text on the command line cannot be {kind}", hint="name a file, or - with a pipe"
        )
    return Input(name="text", target=Path("text"), option=kind, text=text)


def _file(path: Path, relative: Path, kind: str | None) -> Input:
    plain = Path(str(relative).removesuffix(".gz"))
    suffix = plain.suffix.lower()
    ending = next((name for name, endings in ENDINGS.items() if suffix in endings), "text")
    target = plain.with_suffix("")
    return Input(name=str(path), target=target, option=kind, ending=ending, path=str(path))


def _folder(path: Path, kind: str | None) -> list[Input]:
    endings: tuple[str, ...] = ENDINGS.get(kind or "text", TEXTS)
    if kind == "brackets":
        from cleft.formats.registry import FORMATS

        endings = FORMATS[kind].endings
    found = [
        each
        for each in sorted(path.rglob("*"))
        if each.is_file()
        and each.name.lower().removesuffix(".gz").endswith(endings)
        and not any(part.startswith(".") for part in each.relative_to(path).parts)
    ]
    if not found:
        raise InputError(
            f"the folder has no file that ends in {' or '.join(endings)}",
            where=str(path),
            hint="name the files themselves",
        )
    return [_file(each, each.relative_to(path), kind) for each in found]
