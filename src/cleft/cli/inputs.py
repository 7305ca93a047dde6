"""What `cleft parse` and `cleft segment` read: texts, files, folders, standard input.

All inputs are one stream of sentences, so that worker processes and windows
span them; `Sentences.owner` tells which input a result belongs to.
"""

from __future__ import annotations

import argparse
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cleft import files
from cleft.errors import CleftError, InputError, UsageError

if TYPE_CHECKING:
    from cleft.parser import Parser
    from cleft.sentence import SentenceInput
    from cleft.text import Hyphens

KINDS = ("text", "lines", "tokens", "jsonl", "conllu", "brackets")
AUTO = "auto"
RAW = ("text", "lines")
"""Kinds whose tokens are found by the rules of a language."""
ENDINGS = {"jsonl": (".jsonl", ".ndjson"), "conllu": (".conllu", ".conll")}
TEXTS = (".txt", ".text")
WITH_EDUS = ("text", "tokens", "jsonl")

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


def load_model(args: argparse.Namespace, inputs: Sequence[Input]) -> tuple[Parser, list[Input]]:
    """The model that is asked for, or that of the text's language; and the inputs to read then."""
    from cleft.models import DEFAULT
    from cleft.parser import load

    inputs = list(inputs)
    if args.language == AUTO:
        if args.model is not None:
            raise UsageError(
                "--language auto chooses the model, and --model names one", hint="leave one out"
            )
        args.model, inputs = _by_language(inputs)
        args.language = None
    return load(args.model or DEFAULT, threads=args.threads), inputs


def _by_language(inputs: list[Input]) -> tuple[str, list[Input]]:
    """The name of the model of a text's language; what was read to know it is read again."""
    from cleft.models import languages
    from cleft.text.recognition import WINDOW, identify

    known = languages()
    beginning = ""
    for number, each in enumerate(inputs):
        if each.kind in RAW and len(beginning) < WINDOW:
            lines, held = iter(each.lines()), list[str]()
            while len(beginning) < WINDOW and (line := next(lines, None)) is not None:
                held.append(line)
                beginning += line
            if each.path == files.STREAM:
                inputs[number] = replace(each, begun=chain(held, lines))
    language = identify(beginning, among=known)
    if language not in known:
        what = f"seems to be {language!r}, and no model of it is here" if language else "is unknown"
        raise UsageError(
            f"the language of the text {what}",
            where="--language auto",
            hint=f"there are models of {', '.join(known)} ('cleft models'); name one by --model",
        )
    return known[language], inputs


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
    raise UsageError("no such file", where=argument or "''", hint="for text use --text")


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


# ---------------------------------------------------------------- reading


class Sentences:
    """The sentences of all inputs, one after the other, read as they are needed.

    What cannot be read ends the iteration and is kept as `error`, so that
    everything before it is still parsed.
    """

    def __init__(
        self,
        inputs: list[Input],
        *,
        language: str = "en",
        hyphens: Hyphens | None = None,
        edus: bool = False,
        clean: str = "ptb",
        keep_tags: bool = False,
    ) -> None:
        self.inputs = inputs
        self.language = language
        self.hyphens = hyphens
        self.edus = edus
        self.clean = clean
        self.keep_tags = keep_tags
        self.error: CleftError | None = None
        self._starts: list[int] = []

    @property
    def piped(self) -> bool:
        """Whether standard input is among what is read."""
        return any(each.path == files.STREAM for each in self.inputs)

    def owner(self, number: int) -> int:
        """Which input the sentence of this number came from."""
        return bisect_right(self._starts, number) - 1

    @property
    def reached(self) -> int:
        """The input that is being read."""
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[SentenceInput]:
        from cleft.sentence import SentenceInput

        count = 0
        for each in self.inputs:
            self._starts.append(count)
            try:
                for sentence in self.read(each):
                    count += 1
                    yield self._noted(sentence, each)
            except CleftError as error:
                self.error = error
                return
            if count == self._starts[-1]:  # an empty input has a result too
                count += 1
                yield self._noted(SentenceInput(text="", line=1), each)

    def _noted(self, sentence: SentenceInput, each: Input) -> SentenceInput:
        """The sentence with the name of its file, where there are several."""
        if len(self.inputs) == 1:
            return sentence
        return replace(sentence, fields={"file": each.name, **sentence.fields})

    def read(self, each: Input) -> Iterator[SentenceInput]:
        """The sentences of one input."""
        from cleft import text

        if self.edus:
            return self._read_edus(each)
        if each.kind == "lines":
            return text.read_lines(each.lines(), self.language, self.hyphens)
        if each.kind == "tokens":
            return text.read_tokens(files.lines(each.source))
        if each.kind == "brackets":
            return _words_of_trees(each, self.clean, keep_tags=self.keep_tags)
        if each.kind == "text":
            return text.read_plain(self.lines(each), self.language, self.hyphens)
        assert each.path is not None
        read = text.read_jsonl_tokens if each.kind == "jsonl" else text.read_conllu
        return read(each.path)

    def lines(self, each: Input) -> Iterable[str]:
        """The lines of an input; one that nothing tells the kind of must be prose."""
        return _prose(each) if each.guessed else each.lines()

    def _read_edus(self, each: Input) -> Iterator[SentenceInput]:
        from cleft.span import Constraints
        from cleft.text import read_jsonl_tokens
        from cleft.text.annotated import edus_of_fields
        from cleft.text.readers import edus_of_lines

        if each.kind not in WITH_EDUS:
            raise UsageError(
                f"--edus cannot be read from {each.kind}",
                where=each.name,
                hint=f"use --input {', '.join(WITH_EDUS[:-1])} or {WITH_EDUS[-1]}",
            )
        if each.kind == "jsonl":
            assert each.path is not None
            for sentence in read_jsonl_tokens(each.path):
                edus = edus_of_fields(sentence, each.name)
                yield replace(sentence, constraints=Constraints(edus=edus))
            return
        tokenised = each.kind == "tokens"
        yield from edus_of_lines(self.lines(each), self.language, self.hyphens, tokenised=tokenised)


def _words_of_trees(each: Input, name: str, *, keep_tags: bool) -> Iterator[SentenceInput]:
    """The words of the trees of an input; a tree without a word keeps its place."""
    from cleft.formats.cleaning import clean_tree, cleaning
    from cleft.formats.registry import FORMATS
    from cleft.sentence import SentenceInput

    clean = cleaning(name)
    for number, record in enumerate(FORMATS["brackets"].records(each.source), start=1):
        tree = record.syntax
        if tree is not None and clean is not None:
            tree = clean_tree(tree, clean)
        words = [] if tree is None else tree.words()
        tags = None if tree is None or not keep_tags else tree.tags()
        yield SentenceInput.of_words(words, tags=tags, number=number)
