"""`cleft convert`: a file of trees in another format."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from cleft.errors import UsageError
from cleft.formats.cleaning import CLEANINGS, cleaning
from cleft.formats.registry import FORMATS, format_of

EPILOG = """\
formats, by file ending or by --from and --to:
  syntax     brackets (.mrg .ptb .psd .parse .brackets .txt), jsonl
  discourse  rs3, rs4, dis, rsd (read only), jsonl

What the target format cannot hold is reported on standard error, one line
each; with --strict it is an error (exit code 2), and no file is written.

examples:
  cleft convert notes.rs4 notes.dis
  cleft convert wsj.mrg wsj.jsonl --clean ptb
  cat trees.jsonl | cleft convert - - --from jsonl --to brackets
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="convert a file of trees to another format",
        description="Convert a file of trees to another format of the same task.",
        epilog=EPILOG,
    )
    parser.add_argument("source", metavar="IN", help="the file to read; - for standard input")
    parser.add_argument("target", metavar="OUT", help="the file to write; - for standard output")
    names = list(FORMATS)
    parser.add_argument("--from", dest="source_format", choices=names, help="format of IN")
    parser.add_argument("--to", dest="target_format", choices=names, help="format of OUT")
    parser.add_argument(
        "--clean",
        choices=list(CLEANINGS),
        default="none",
        help="what to take off bracketed trees (default: nothing); see docs/formats.md",
    )
    parser.add_argument("--cut", metavar="CHARS", help="cut phrase labels at these characters")
    parser.add_argument(
        "--relations",
        choices=["fine", "coarse"],
        help="relation names to take where JSON Lines give both (default: fine)",
    )
    parser.add_argument("--strict", action="store_true", help="fail if anything would be lost")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Convert, and say what was lost."""
    from cleft.cli.parse_outputs import refuse_ending
    from cleft.convert import convert

    if args.target_format is not None:
        refuse_ending(args.target, args.target_format)
    if args.relations is not None and format_of(args.source, args.source_format).name != "jsonl":
        raise UsageError("--relations is for JSON Lines, which may give both", where=args.source)
    lost = convert(
        args.source,
        args.target,
        source_format=args.source_format,
        target_format=args.target_format,
        clean=cleaning(args.clean, args.cut),
        relations=args.relations or "fine",
        strict=args.strict,
    )
    for message in lost:
        print(f"cleft: not kept: {message}", file=sys.stderr)
    return 0
