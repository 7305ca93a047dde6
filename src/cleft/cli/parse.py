"""`cleft parse`: text to syntactic and discourse trees."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from cleft.errors import UsageError

if TYPE_CHECKING:
    from cleft.cli.parse_outputs import Destination

EPILOG = """\
what is read
  An argument that names an existing path is a file, or a folder whose .txt
  files are all read; one with white space in it is a text; - is standard
  input. Anything else is an error: for a text of one word use --text.
  Text that begins as a file of trees does (brackets, JSON, rs3, dis) is an
  error too; --input says what it is. --input brackets parses the words of
  trees again, traces left out, with their own tags if --keep-tags asks for it.
  With --edus the input gives the elementary discourse units: one a line, a
  blank line between sentences, as 'cleft segment' writes them; in JSON Lines
  the key "edus" has them as [[left, right], ...] over the tokens.

what is written
  terminal  trees drawn as text (the default)
  brackets  syntax, one tree a line; (()) for a sentence without a tree. With
            --n-best the trees of a sentence, best first, then a blank line
  jsonl     everything, one sentence a line; an "error" where there is no tree
  dis, rs3  discourse, one tree a sentence: sentences are parsed one by one
  svg       a picture a sentence; several sentences need a folder
  html      one page

  -o OUT is a file, or a folder with a file for each input if OUT is a folder,
  ends in / or has no ending while there are several inputs. Files appear when
  they are complete. Without -o everything goes to standard output.

Sentences are written as they are parsed, in order, one result for each; memory
stays bounded except for dis, rs3 and html, which need the whole document. From a
pipe that rests, what has come is parsed at once: raw text after a blank line,
since a sentence may go on in the next one, other inputs after every sentence.

examples:
  cleft parse "Although it rained, she played tennis."
  cleft parse notes.txt
  cleft parse notes.txt --task discourse --format rs3 -o notes.rs3
  cleft parse notes.txt --format brackets --beam 20 --n-best 5
  cleft parse corpus/ --format jsonl --jobs 2 -o trees/
  cleft parse edus.txt --edus
  cleft parse trees.mrg --input brackets --keep-tags --format brackets
  cat corpus.txt | cleft parse - --format jsonl > trees.jsonl
  tail -f notes.txt | cleft parse - --input lines

exit codes: 0 all sentences parsed; 1 some could not be, and the last line on
standard error says how many; 2 wrong use or bad input; 130 interrupted, 143
ended by SIGTERM: the last line then says what was done and where it is
"""
SYNTAX, DISCOURSE, BOTH = "syntax", "discourse", "both"
HOLDS = {"brackets": SYNTAX, "dis": DISCOURSE, "rs3": DISCOURSE}


def add(commands: Any) -> None:
    """Declare the command."""
    from cleft.cli.parse_inputs import add_inputs
    from cleft.cli.parse_outputs import ENDINGS

    parser = commands.add_parser(
        "parse",
        help="parse text to syntactic and discourse trees",
        description="Parse text to syntactic and discourse trees.",
        epilog=EPILOG,
    )
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Parse all inputs and write what comes."""
    from cleft.cli.parse_inputs import Sentences, find_inputs
    from cleft.cli.parse_outputs import Destination, write_results
    from cleft.cli.parse_results import Tally, grouped, parsed, watched

    task = _task(args)
    inputs = find_inputs(args)
    destination = Destination(output=args.output, form=args.format, inputs=inputs)
    destination.check()

    from cleft.parser import load

    parser = load(args.model, threads=args.threads)
    if args.edus and DISCOURSE not in parser.manifest.tasks:
        raise UsageError(
            "--edus is about discourse trees, and the model has none",
            where=args.model,
            hint="use a model with discourse, such as en",
        )
    language = args.language or parser.language
    sentences = Sentences(
        inputs,
        language=language,
        hyphens=args.hyphens,
        edus=args.edus,
        clean=args.clean or "ptb",
        keep_tags=args.keep_tags,
    )
    tally = Tally()
    results = parsed(parser, sentences, args, task=task, n_best=args.n_best)
    results = watched(results, visible=not _to_terminal(destination))
    with closing(results), tally.told(destination.done):
        for number, group in grouped(results, sentences, tally, apart=destination.is_folder):
            write_results(destination, number, group, many=args.n_best > 1)
            tally.inputs += 1
    _remark(args.format)
    return tally.report()


def _task(args: argparse.Namespace) -> str:
    """The task to parse for: what is asked for, as far as the format holds it."""
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
    """Whether results appear where a progress bar would stand in their way."""
    return destination.output in (None, "-") and sys.stdout.isatty()


def _remark(form: str) -> None:
    if HOLDS.get(form) == DISCOURSE:
        what = "one root" if form == "rs3" else "one tree"
        print(
            f"cleft: sentences are parsed one by one: {form} has {what} a sentence",
            file=sys.stderr,
        )
