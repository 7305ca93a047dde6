"""From sentences to results, one after the other: counted, and grouped by their input."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from cleft.cli.live import Live, is_live
from cleft.cli.parse_inputs import Sentences
from cleft.errors import CleftError
from cleft.runtime.batches import always

if TYPE_CHECKING:
    from cleft.parser import Parser, Sentence

__all__ = ["Tally", "grouped", "parsed", "watched"]

PATIENCE = 1.0
"""Seconds before work is long enough for a progress bar."""

Group = tuple[int, Iterator["Sentence"]]


@dataclass(slots=True)
class Tally:
    """How many sentences there were, how many of them have no tree, and why the first.

    `inputs` is how many inputs, or groups of them, have all of their output.
    """

    count: int = 0
    failed: int = 0
    first: str = ""
    inputs: int = 0

    def add(self, sentence: Sentence, name: str) -> None:
        """Count one more."""
        self.count += 1
        if sentence.error is not None:
            self.failed += 1
            self.first = self.first or f"{name}: {sentence.error}"

    @contextmanager
    def told(self, done: Callable[[int], str]) -> Iterator[None]:
        """Let an interrupt say what was done; `done` tells where so many inputs' output is."""
        try:
            yield
        except KeyboardInterrupt as error:
            sentences = f"{self.count} sentence{'s' * (self.count != 1)} parsed"
            error.add_note(f"{sentences}, {done(self.inputs)}" if self.count else "nothing parsed")
            raise

    def report(self) -> int:
        """Say on standard error what failed; the exit code."""
        if not self.failed:
            return 0
        print(
            f"cleft: {self.failed} of {self.count} sentences could not be parsed; "
            f"the first: {self.first}",
            file=sys.stderr,
        )
        return 1


def parsed(
    parser: Parser, sentences: Sentences, args: argparse.Namespace, **options: object
) -> Iterator[Sentence | CleftError]:
    """The results in order, and after them the error that ended the reading, if one did."""
    live = Live(sentences) if sentences.piped and is_live() else None
    yield from parser.stream(
        live or sentences,
        ready=live.ready if live else always,
        beam=args.beam,
        jobs=args.jobs,
        language=args.language,
        hyphens=args.hyphens,
        **options,  # type: ignore[arg-type]
    )
    if sentences.error is not None:
        yield sentences.error


def grouped(
    results: Iterable[Sentence | CleftError], sentences: Sentences, tally: Tally, *, apart: bool
) -> Iterator[Group]:
    """The results of each input, or of all as one; each group must be used up before the next.

    An error of reading is raised inside the group of the input that has it, so
    that outputs of inputs before it are complete.
    """

    def owner(result: Sentence | CleftError) -> int:
        if not apart:
            return 0
        if isinstance(result, CleftError):
            return sentences.reached
        return sentences.owner(result.source)

    for number, group in groupby(results, owner):
        yield number, _sound(group, sentences, tally)


def _sound(
    group: Iterable[Sentence | CleftError], sentences: Sentences, tally: Tally
) -> Iterator[Sentence]:
    for result in group:
        if isinstance(result, CleftError):
            raise result
        yield result
        # It is written when the next is asked for: no more are counted than were.
        tally.add(result, sentences.inputs[sentences.owner(result.source)].name)


def watched(
    results: Iterable[Sentence | CleftError], *, visible: bool
) -> Generator[Sentence | CleftError, None, None]:
    """The results; a bar on standard error counts them if that is a terminal and rich is there."""
    if not visible or not sys.stderr.isatty():
        yield from results
        return
    try:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ImportError:  # pragma: no cover - tests have it
        yield from results
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} sentences"),
        TimeElapsedColumn(),
    )
    began, task = time.monotonic(), None
    with ExitStack() as stack:
        for count, result in enumerate(results, 1):
            yield result
            if task is None and time.monotonic() - began > PATIENCE:
                bar = Progress(*columns, console=Console(stderr=True), transient=True)
                stack.enter_context(bar)
                task = bar.add_task("", total=None, completed=count)
            if task is not None:
                bar.update(task, completed=count)
