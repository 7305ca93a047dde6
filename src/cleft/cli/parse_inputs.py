"""What `cleft parse` and `cleft segment` read: texts, files, folders, standard input.

All inputs are one stream of sentences, so that worker processes and windows
span them; `Sentences.owner` tells which input a result belongs to.
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cleft import files
from cleft.errors import CleftError, InputError, UsageError
from cleft.text import (
    Hyphens,
    Source,
    lines_of_text,
    read_conllu,
    read_jsonl_tokens,
    read_lines,
    read_plain,
    read_tokens,
    sources_of_text,
)
from cleft.text.readers import edus_of_fields, edus_of_lines

__all__ = ["KINDS", "Input", "Sentences", "add_inputs", "find_inputs"]

KINDS = ("text", "lines", "tokens", "jsonl", "conllu")
ENDINGS = {"jsonl": (".jsonl", ".ndjson"), "conllu": (".conllu", ".conll")}
TEXTS = (".txt", ".text")
WITH_EDUS = ("text", "tokens", "jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input: a file (or `-`) in `path`, or a text of the command line.

    `name` is how messages call it, `target` how its output is called in a
    folder, without an ending.
    """

    name: str
    kind: str
    target: Path
    path: str | None = None
    text: str = ""


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say what to read and which model reads it."""
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        help="a file, a folder of .txt files, a text (if it has white space in it), or - "
        "for standard input",
    )
    parser.add_argument(
        "--text", action="append", default=[], metavar="TEXT", help="a text, whatever it looks like"
    )
    parser.add_argument(
        "--input",
        choices=KINDS,
        help="what the input holds: raw text, raw sentences or tokenised ones one a line, "
        "JSON Lines with tokens, or CoNLL-U (default: told by the ending, else text)",
    )
    parser.add_argument(
        "--language", metavar="CODE", help="the rules for text, as in fr (default: the model's)"
    )
    parser.add_argument(
        "--hyphens",
        choices=["split", "keep"],
        help="whether hyphens inside words are tokens (default: split, in English)",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        default="en",
        help="a built-in model or a model's directory (default: en)",
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


# ---------------------------------------------------------------- finding


def find_inputs(args: argparse.Namespace) -> list[Input]:
    """The inputs that a command line names, in order; a folder stands for its files."""
    found: list[Input] = []
    for argument in args.inputs:
        found += _named(argument, args.input)
    for text in args.text:
        found.append(_text(text, args.input))
    if not found:
        raise UsageError(
            "there is nothing to read",
            hint="name a file, a text in quotes, or - for standard input",
        )
    return found


def _named(argument: str, kind: str | None) -> list[Input]:
    if argument == files.STREAM:
        name = files.source_name(argument)
        return [Input(name=name, kind=kind or "text", target=Path("stdin"), path=argument)]
    path = Path(argument)
    if argument and _exists(path):  # no name at all would be the folder that one is in
        return _folder(path, kind) if path.is_dir() else [_file(path, Path(path.name), kind)]
    if any(char.isspace() for char in argument):
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
    return Input(name="text", kind=kind or "text", target=Path("text"), text=text)


def _file(path: Path, relative: Path, kind: str | None) -> Input:
    plain = Path(str(relative).removesuffix(".gz"))
    ending = plain.suffix.lower()
    told = next((name for name, endings in ENDINGS.items() if ending in endings), "text")
    return Input(name=str(path), kind=kind or told, target=plain.with_suffix(""), path=str(path))


def _folder(path: Path, kind: str | None) -> list[Input]:
    endings = ENDINGS.get(kind or "text", TEXTS)
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
    ) -> None:
        self.inputs = inputs
        self.language = language
        self.hyphens = hyphens
        self.edus = edus
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

    def __iter__(self) -> Iterator[Source]:
        count = 0
        for each in self.inputs:
            self._starts.append(count)
            try:
                for source in self._read(each):
                    count += 1
                    yield self._noted(source, each)
            except CleftError as error:
                self.error = error
                return
            if count == self._starts[-1]:  # an empty input has a result too
                count += 1
                yield self._noted(Source(text="", line=1), each)

    def _noted(self, source: Source, each: Input) -> Source:
        """The sentence with the name of its file, where there are several."""
        if len(self.inputs) == 1:
            return source
        return replace(source, fields={"file": each.name, **source.fields})

    def _read(self, each: Input) -> Iterator[Source]:
        if self.edus:
            return self._read_edus(each)
        if each.kind == "lines":
            return read_lines(_lines(each), self.language, self.hyphens)
        if each.kind == "tokens":
            return read_tokens(_lines(each))
        if each.path is None:
            return sources_of_text(each.text, self.language, self.hyphens)
        if each.kind == "text":
            return read_plain(each.path, self.language, self.hyphens)
        return {"jsonl": read_jsonl_tokens, "conllu": read_conllu}[each.kind](each.path)

    def _read_edus(self, each: Input) -> Iterator[Source]:
        if each.kind not in WITH_EDUS:
            raise UsageError(
                f"--edus cannot be read from {each.kind}",
                where=each.name,
                hint=f"use --input {', '.join(WITH_EDUS[:-1])} or {WITH_EDUS[-1]}",
            )
        if each.kind == "jsonl":
            assert each.path is not None
            for source in read_jsonl_tokens(each.path):
                yield replace(source, edus=edus_of_fields(source, each.name))
            return
        tokenised = each.kind == "tokens"
        yield from edus_of_lines(_lines(each), self.language, self.hyphens, tokenised=tokenised)


def _lines(each: Input) -> Iterable[str]:
    return lines_of_text(each.text) if each.path is None else files.lines(each.path)
