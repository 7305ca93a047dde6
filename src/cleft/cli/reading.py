"""The sentences of the inputs of `cleft parse` and `cleft segment`, and their results.

Sentences are read as they are needed. From a pipe that pauses, what has come is
parsed at once.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from queue import Empty, Queue
from typing import TYPE_CHECKING, Generic, TypeVar

from cleft import files
from cleft.cli.inputs import AUTO, RAW, Input, text_lines
from cleft.errors import CleftError, UsageError

if TYPE_CHECKING:
    from cleft.parser import Parser
    from cleft.sentence import Sentence, SentenceInput
    from cleft.text import Hyphens

WITH_EDUS = ("text", "tokens", "jsonl")
"""Kinds of input that can give EDUs."""

WAIT = 0.05
"""Seconds to wait for more input before what has come is parsed."""

AHEAD = 4_096
"""The most items that are read ahead."""

T = TypeVar("T")


def open_inputs(args: argparse.Namespace, inputs: list[Input]) -> tuple[Parser, Sentences]:
    """The model that the options name, and the sentences of the inputs in its language."""
    from cleft.models import DEFAULT
    from cleft.parser import load

    model, language = args.model or DEFAULT, args.language
    if language == AUTO:
        if args.model is not None:
            raise UsageError(
                "--language auto chooses the model, and --model names one", hint="leave one out"
            )
        model, inputs = _by_language(list(inputs))
        language = None
    parser = load(model, threads=args.threads)
    edus = getattr(args, "edus", False)
    if edus and "discourse" not in parser.manifest.tasks:
        raise UsageError(
            "--edus is about discourse trees, and the model has none",
            where=model,
            hint="use a model with discourse, such as en",
        )
    return parser, Sentences(
        inputs,
        language=language or parser.language,
        hyphens=args.hyphens,
        edus=edus,
        clean=args.clean or "ptb",
        keep_tags=getattr(args, "keep_tags", False),
    )


def _by_language(inputs: list[Input]) -> tuple[str, list[Input]]:
    """The name of the model for the language of a text, and the inputs.

    Lines of standard input that were read for this are kept in its input.
    """
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


@dataclass
class Sentences:
    """The sentences of all inputs, one after the other, read as they are needed.

    What cannot be read ends the iteration and is kept as `error`, so that
    everything before it is still parsed.
    """

    inputs: list[Input]
    language: str = "en"
    hyphens: Hyphens | None = None
    edus: bool = False
    clean: str = "ptb"
    keep_tags: bool = False
    error: CleftError | None = None
    _starts: list[int] = field(default_factory=list)

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
            lines = text_lines(each)
            return text.read_plain(lines, self.language, self.hyphens)
        assert each.path is not None
        read = text.read_jsonl_tokens if each.kind == "jsonl" else text.read_conllu
        return read(each.path)

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
        lines = text_lines(each)
        tokenised = each.kind == "tokens"
        yield from edus_of_lines(lines, self.language, self.hyphens, tokenised=tokenised)


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


def parsed(
    parser: Parser, sentences: Sentences, args: argparse.Namespace, **options: object
) -> Iterator[Sentence | CleftError]:
    """The results in order, followed by the error that ended the reading, if there is one."""
    from cleft.runtime.batches import always

    live = Live(sentences) if sentences.piped and is_live() else None
    yield from parser.stream(
        live or sentences,
        ready=live.ready if live else always,
        beam=args.beam,
        joint=args.joint,
        jobs=args.jobs,
        language=sentences.language,
        hyphens=sentences.hyphens,
        **options,  # type: ignore[arg-type]
    )
    if sentences.error is not None:
        yield sentences.error


# ---------------------------------------------------------------- input that comes slowly


def is_live() -> bool:
    """Whether standard input is a pipe or a terminal, where reading may have to wait."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or replaced by another object
        return False
    return not stat.S_ISREG(mode)


class Live(Generic[T]):
    """The items of an iterable, read ahead by a thread, so that the parser knows when to wait.

    Input that pauses (`tail -f`, a person at a terminal) has to be parsed as
    far as it has come; input that does not is parsed in large batches.

    >>> items = Live(iter("ab"))
    >>> [*items], items.ready()
    (['a', 'b'], True)
    """

    def __init__(self, items: Iterable[T], *, ahead: int = AHEAD) -> None:
        self._queue: Queue[tuple[T] | BaseException | None] = Queue(ahead)
        self._next: tuple[T] | BaseException | None = None
        self._held = False
        # A read that waits cannot be stopped, so the thread must not block the exit.
        threading.Thread(target=self._read, args=(items,), daemon=True).start()

    def __iter__(self) -> Iterator[T]:
        while True:
            if not self._held:
                self._next, self._held = self._queue.get(), True
            found = self._next
            if found is None:
                return  # `ready` stays true after the end
            self._held = False
            if isinstance(found, BaseException):
                raise found
            yield found[0]

    def ready(self) -> bool:
        """Whether the next item, or the end, is available within WAIT seconds."""
        if not self._held:
            try:
                self._next, self._held = self._queue.get(timeout=WAIT), True
            except Empty:
                return False
        return True

    def _read(self, items: Iterable[T]) -> None:
        try:
            for item in items:
                self._queue.put((item,))
        except BaseException as error:
            self._queue.put(error)
        else:
            self._queue.put(None)
