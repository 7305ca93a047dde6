"""`cleft segment`: text to elementary discourse units."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from cleft import files
from cleft.cli.inputs import add_inputs, find_inputs
from cleft.cli.outputs import done, refuse_ending, refuse_overwriting
from cleft.cli.parse import Tally, grouped, with_progress
from cleft.cli.reading import open_inputs, parsed
from cleft.formats.json_values import dump_json

if TYPE_CHECKING:
    from cleft.sentence import Sentence


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_inputs(parser)
    parser.add_argument("--format", choices=["text", "jsonl"], default="text", help="default: text")
    parser.add_argument(
        "-o", "--output", metavar="FILE", default=files.STREAM, help="where to write"
    )


def run(args: argparse.Namespace) -> int:
    """Segment all inputs and write what comes."""
    refuse_ending(args.output, args.format)
    inputs = find_inputs(args)
    for each in inputs:
        refuse_overwriting(Path(args.output), each.path)

    parser, sentences = open_inputs(args, inputs)
    tally = Tally()
    results = parsed(parser, sentences, args, task="discourse")
    hidden = args.output == files.STREAM and sys.stdout.isatty()
    results = with_progress(results, visible=not hidden)
    with closing(results), tally.noting_interrupts(lambda _: done(args.output)):
        for _, group in grouped(results, sentences, tally, apart=False):
            with files.writing(args.output) as stream:
                _write(group, stream, args.format)
    return tally.report()


def _write(group: Iterable[Sentence], stream: TextIO, form: str) -> None:
    for count, sentence in enumerate(group):
        if form == "jsonl":
            stream.write(_line(sentence))
        else:
            units = [" ".join(edu.text.split()) for edu in sentence.edus]
            stream.write("\n" * bool(count) + "".join(f"{unit}\n" for unit in units))
        if stream is sys.stdout:
            stream.flush()


def _line(sentence: Sentence) -> str:
    data: dict[str, Any] = {
        **sentence.fields,
        "text": sentence.text,
        "start": sentence.start,
        "end": sentence.end,
        "edus": [{"text": edu.text, "start": edu.start, "end": edu.end} for edu in sentence.edus],
    }
    if sentence.error is not None:
        data["error"] = str(sentence.error)
    return dump_json(data) + "\n"
