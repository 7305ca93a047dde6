"""`cleft parse`: text to syntactic and discourse trees.

How results are made and counted, and how slow input is read, is shared with
`cleft segment`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from cleft.cli.inputs import add_inputs, find_inputs
from cleft.cli.outputs import ENDINGS, Destination, write_results
from cleft.cli.reading import Sentences, open_inputs, parsed
from cleft.errors import CleftError, UsageError

if TYPE_CHECKING:
    from cleft.document import Document
    from cleft.parser import Parser
    from cleft.sentence import Sentence

T = TypeVar("T")

SYNTAX, DISCOURSE, BOTH = "syntax", "discourse", "both"
HOLDS = {"brackets": SYNTAX, "dis": DISCOURSE, "rs3": DISCOURSE, "rs4": DISCOURSE}

PROGRESS_AFTER = 1.0
"""Seconds after which a progress bar is shown."""

Group = tuple[int, Iterator["Sentence"]]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_inputs(parser)
    parser.add_argument(
        "--task",
        choices=[SYNTAX, DISCOURSE, BOTH],
        default=BOTH,
        help="which trees (default: both, as far as model and format have them)",
    )
    parser.add_argument(
        "--n-best", type=int, default=1, metavar="N", help="how many trees of a task (default: 1)"
    )
    parser.add_argument(
        "--keep-tags", action="store_true", help="with --input brackets: the tags of its trees"
    )
    parser.add_argument("--edus", action="store_true", help="the input gives the EDUs; see below")
    parser.add_argument(
        "--format", choices=list(ENDINGS), default="terminal", help="default: terminal"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="a file or a folder; see below")
    parser.add_argument(
        "--document", action="store_true", help="one discourse tree over each input; see below"
    )
    parser.add_argument(
        "--summary", type=int, metavar="N", help="with --document: its N most important sentences"
    )


def run(args: argparse.Namespace) -> int:
    """Parse all inputs and write what comes."""
    task = _task(args)
    inputs = find_inputs(args)
    destination = Destination(output=args.output, form=args.format, inputs=inputs)
    destination.check()
    if args.document or args.summary is not None:
        from cleft.cli.documents import check

        check(args, destination)

    parser, sentences = open_inputs(args, inputs)
    if args.document:
        return _run_documents(args, parser, sentences, destination, task)
    tally = Tally()
    results = parsed(parser, sentences, args, task=task, n_best=args.n_best)
    results = with_progress(results, visible=not _to_terminal(destination))
    with closing(results), tally.noting_interrupts(destination.done):
        for number, group in grouped(results, sentences, tally, apart=destination.is_folder):
            write_results(destination, number, group, many=args.n_best > 1)
            tally.inputs += 1
    _remark(args.format)
    return tally.report()


def _run_documents(
    args: argparse.Namespace,
    parser: Parser,
    sentences: Sentences,
    destination: Destination,
    task: str,
) -> int:
    """The same for whole documents."""
    from cleft.cli.documents import documents_of, write_documents

    tally = Tally(what="document")
    found = documents_of(parser, sentences, args, task)
    found = with_progress(found, visible=not _to_terminal(destination), what="documents")
    with closing(found), tally.noting_interrupts(destination.done):
        for number, each in enumerate(write_documents(destination, found, args.summary)):
            tally.add(each, sentences.inputs[number].name)
            tally.inputs += 1
    return tally.report()


def _task(args: argparse.Namespace) -> str:
    """The task to parse for: that of --task, if the format can hold it."""
    held = HOLDS.get(args.format, BOTH)
    task: str = args.task if held == BOTH else held
    if args.task not in (BOTH, task):
        raise UsageError(
            f"--format {args.format} holds {held}, and --task asks for {args.task}",
            hint="choose another format",
        )
    if args.edus and task == SYNTAX:
        raise UsageError("--edus is about discourse trees, and none is asked for")
    if args.keep_tags and task == DISCOURSE:
        raise UsageError("--keep-tags is about syntactic trees, and none is asked for")
    if args.n_best > 1 and held == DISCOURSE:
        raise UsageError(
            f"--format {args.format} holds one tree a sentence, and --n-best asks for more",
            hint="use jsonl or terminal",
        )
    return task


def _to_terminal(destination: Destination) -> bool:
    """Whether results go to the terminal, where a progress bar would disturb them."""
    return destination.output in (None, "-") and sys.stdout.isatty()


def _remark(form: str) -> None:
    if HOLDS.get(form) == DISCOURSE:
        print(
            f"cleft: {form} has one tree a sentence; --document makes one of each input",
            file=sys.stderr,
        )


# ---------------------------------------------------------------- results, one after the other


@dataclass(slots=True)
class Tally:
    """How many sentences or documents there were, how many have an error, and the first one.

    `inputs` is how many inputs, or groups of them, have all of their output.
    """

    count: int = 0
    failed: int = 0
    first: str = ""
    inputs: int = 0
    what: str = "sentence"

    def add(self, found: Sentence | Document, name: str) -> None:
        """Count one more."""
        self.count += 1
        if found.error is not None:
            self.failed += 1
            self.first = self.first or f"{name}: {found.error}"

    @contextmanager
    def noting_interrupts(self, done: Callable[[int], str]) -> Iterator[None]:
        """Add to an interrupt what was done; `done` says where the output of so many inputs is."""
        try:
            yield
        except KeyboardInterrupt as error:
            parsed = f"{self.count} {self.what}{'s' * (self.count != 1)} parsed"
            error.add_note(f"{parsed}, {done(self.inputs)}" if self.count else "nothing parsed")
            raise

    def report(self) -> int:
        """Say on standard error what failed; the exit code."""
        if not self.failed:
            return 0
        print(
            f"cleft: {self.failed} of {self.count} {self.what}s could not be parsed; "
            f"the first: {self.first}",
            file=sys.stderr,
        )
        return 1


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
        yield number, _counted(group, sentences, tally)


def _counted(
    group: Iterable[Sentence | CleftError], sentences: Sentences, tally: Tally
) -> Iterator[Sentence]:
    for result in group:
        if isinstance(result, CleftError):
            raise result
        yield result
        # The consumer asks for the next result when this one is written: only then it counts.
        tally.add(result, sentences.inputs[sentences.owner(result.source)].name)


def with_progress(
    results: Iterable[T], *, visible: bool, what: str = "sentences"
) -> Generator[T, None, None]:
    """The results; a bar on standard error counts them if that is a terminal."""
    if not visible or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(f"{{task.completed:,.0f}} {what}"), TimeElapsedColumn())
    began, task = time.monotonic(), None
    with ExitStack() as stack:
        for count, result in enumerate(results, 1):
            yield result
            if task is None and time.monotonic() - began > PROGRESS_AFTER:
                bar = Progress(*columns, console=Console(stderr=True), transient=True)
                stack.enter_context(bar)
                task = bar.add_task("", total=None, completed=count)
            if task is not None:
                bar.update(task, completed=count)
