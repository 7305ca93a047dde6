"""`cleft results`: tables of results from the records of runs."""

from __future__ import annotations

import argparse

from cleft import files
from cleft.cli.outputs import refuse_ending
from cleft.result_targets import read_aims
from cleft.results import find_runs, read_run, results_page

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Write the scores of finished runs as Markdown tables, from the run.json "
        "files that 'cleft train' and 'cleft ablate' leave."
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run.json, or a directory that holds some"
    )
    parser.add_argument(
        "--targets",
        metavar="FILE",
        help="a TOML file of [[target]] tables (recipe, set, edus, least, not_below, note) and "
        "'decisions': what the runs are held against",
    )
    parser.add_argument("-o", "--output", default=files.STREAM, help="where to write")


def run(args: argparse.Namespace) -> int:
    """Read the runs and write the page."""
    refuse_ending(args.output, "markdown")
    aims = read_aims(args.targets) if args.targets else None
    page = results_page([read_run(path) for path in find_runs(args.runs)], aims)
    with files.writing(args.output) as stream:
        stream.write(page)
    return 0
