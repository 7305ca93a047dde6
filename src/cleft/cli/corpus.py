"""`cleft corpus`: parse large inputs in shards, and go on after whatever ended a run."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleft.errors import UsageError, check_number

if TYPE_CHECKING:
    from cleft.corpus.driver import Progress

KINDS = ("text", "lines", "tokens", "jsonl", "conllu", "parquet")
EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "inputs", metavar="IN", nargs="+", help="a file, a folder, a glob or a URL; see below"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the folder of the run")
    parser.add_argument(
        "--status", action="store_true", help="tell how far the run in the folder IN is"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes that parse (default: all cores)"
    )
    parser.add_argument(
        "--engine",
        choices=["local", "ray"],
        default="local",
        help="processes of this machine (the default), or actors of a Ray cluster",
    )
    parser.add_argument(
        "--address", metavar="ADDRESS", help="the Ray cluster (default: one on this machine)"
    )
    _add_parsing(parser)
    _add_reading_and_writing(parser)


def _add_parsing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        choices=["syntax", "discourse", "both"],
        default="both",
        help="which trees (default: both, as far as model and format have them)",
    )
    parser.add_argument(
        "--beam", type=int, default=1, metavar="N", help="width of the search (default: 1, greedy)"
    )
    parser.add_argument(
        "--document",
        action="store_true",
        help="one discourse tree for each text file, or row with a text",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        default="en",
        help="a built-in model or a model's directory (default: en)",
    )


def _add_reading_and_writing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        choices=KINDS,
        help="what the inputs hold (default: told by the ending, else text)",
    )
    parser.add_argument(
        "--format",
        choices=["jsonl", "brackets", "parquet"],
        default="jsonl",
        help="JSON Lines in a compact form (the default), syntax in brackets, or Parquet",
    )
    parser.add_argument(
        "--compress",
        choices=["gzip", "zstd", "none"],
        help="how the output is compressed (default: gzip; Parquet: zstd)",
    )
    parser.add_argument(
        "--shard-size",
        type=float,
        metavar="MB",
        help="input of a shard (default: a 64th of all, at least 0.125 and at most 1)",
    )
    parser.add_argument(
        "--on-bad-bytes",
        choices=["record", "replace", "stop"],
        default="record",
        help="what becomes of a line that is not UTF-8: a record with an error (the default), "
        "a line with replacement characters, or the end of the run",
    )


def run(args: argparse.Namespace) -> int:
    """Start or resume a run, or tell how far it is."""
    if args.status:
        return _status(args)
    if not args.output:
        raise UsageError("the folder of the run is missing", hint="name it with -o OUT")
    if "://" in args.output:
        raise UsageError(
            "the output must be a folder", where=args.output, hint="mount the storage, name that"
        )
    if args.address and args.engine != "ray":
        raise UsageError("--address is for --engine ray")
    if args.workers is not None:
        check_number("--workers", args.workers, 1)
    if args.shard_size is not None and not args.shard_size > 0:
        raise UsageError(f"--shard-size is {args.shard_size}, expected more than 0")

    from cleft.corpus.driver import run as run_corpus
    from cleft.search import SearchOptions

    SearchOptions(beam=args.beam)  # raises an error for a width that makes no sense
    out = Path(args.output)
    said: list[str] = []

    def say(message: str) -> None:
        said.append(message)
        _say(message)

    with _telling() as tell:
        progress = run_corpus(
            args.inputs,
            out,
            _options(args),
            workers=args.workers,
            engine=args.engine,
            address=args.address,
            tell=tell,
            say=say,
        )
    return _summary(progress, out, said)


def _options(args: argparse.Namespace) -> Any:
    from cleft.corpus.plan import Options

    if args.document and args.format != "jsonl":
        raise UsageError("--document needs --format jsonl", hint="the others hold sentences")
    if args.document and args.task == "syntax":
        raise UsageError("--document is about discourse trees, and --task asks for syntax")
    if args.format == "brackets" and args.task == "discourse":
        raise UsageError("--format brackets holds syntax", hint="choose another format")
    return Options(
        task="syntax" if args.format == "brackets" else args.task,
        beam=args.beam,
        document=args.document,
        model=args.model,
        input=args.input,
        format=args.format,
        compress=args.compress or ("zstd" if args.format == "parquet" else "gzip"),
        shard_size=args.shard_size,
        on_bad_bytes=args.on_bad_bytes,
    )


def _say(message: str) -> None:
    print(f"cleft: {message}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- how far it is


def _state(progress: Progress, now: float) -> str:
    """Progress in a line."""
    rate, left = progress.rate(now)
    parts = [
        f"{progress.done:,} of {progress.shards:,} shards",
        f"{progress.sentences:,} sentences",
        f"{rate:,.0f}/s",
        f"{sum(progress.errors.values()):,} errors",
    ]
    if progress.failed:
        parts.append(f"{len(progress.failed):,} shards failed")
    if left is not None:
        parts.append(f"{timedelta(seconds=round(left))} left")
    return ", ".join(parts)


@contextmanager
def _telling() -> Iterator[Callable[[Progress], None]]:
    """A function that shows progress: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        last = time.monotonic()

        def lines(progress: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= EVERY:
                last = time.monotonic()
                _say(_state(progress, time.time()))

        yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    with Bar(
        BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("starting", total=None)

        def shown(progress: Progress) -> None:
            state = _state(progress, time.time())
            bar.update(task, total=progress.shards, completed=progress.done, description=state)

        yield shown


def _summary(progress: Progress, out: Path, said: list[str]) -> int:
    """Say on standard error what was done and what failed, if not `said`; the exit code."""
    for remark in progress.remarks:
        if remark not in said:
            _say(remark)
    errors = sum(progress.errors.values())
    took = timedelta(seconds=round(progress.seconds))
    _say(
        f"{progress.sentences:,} sentences in {progress.done:,} of {progress.shards:,} shards, "
        f"{errors:,} errors, {took} in all; {out / 'report.json'} has the rest"
    )
    for number, why in progress.failed.items():
        _say(f"shard {number} failed: {why}; the same command tries it again")
    if errors:
        _say(f"the first error: {progress.first[0]}")
    return 1 if errors or progress.failed else 0


def _status(args: argparse.Namespace) -> int:
    from cleft.corpus.driver import status

    if len(args.inputs) != 1 or args.output:
        raise UsageError("--status takes one folder, and no -o")
    progress, last, holder = status(Path(args.inputs[0]))
    now = time.time() if holder else last or 0.0
    complete = progress.done == progress.shards
    how = f"running ({holder})" if holder else "complete" if complete else "not running"
    print(f"{how}: {_state(progress, now)}")
    for kind, count in sorted(progress.errors.items()):
        print(f"{kind}: {count:,}")
    for first in progress.first:
        print(f"  {first}")
    for number, why in progress.failed.items():
        print(f"shard {number} failed: {why}")
    return 0
