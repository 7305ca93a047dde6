"""`cleft results`: tables of results from the records of runs."""

from __future__ import annotations

import argparse
from typing import Any

from cleft import files
from cleft.results import find_runs, read_run, results_page

__all__ = ["add", "run"]


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "results",
        help="make tables of results from run.json files",
        description="Write the scores of finished runs as Markdown tables, from the run.json "
        "files that 'cleft train' and 'cleft ablate' leave.",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run.json, or a directory that holds some"
    )
    parser.add_argument("-o", "--output", default=files.STREAM, help="where to write")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the runs and write the page."""
    page = results_page([read_run(path) for path in find_runs(args.runs)])
    with files.writing(args.output) as stream:
        stream.write(page)
    return 0
