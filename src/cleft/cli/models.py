"""`cleft models`: which models there are, and where."""

from __future__ import annotations

import argparse
import json
from typing import Any

from cleft.errors import ModelError
from cleft.models import FoundModel, find_models

__all__ = ["add", "run"]

EPILOG = """\
A model has a name if it is built in, lies in a folder that the variable
CLEFT_MODELS names (several apart as in PATH) or in ./models, or came with an
installed package. 'cleft parse --model NAME' and cleft.load("NAME") find it.

examples:
  cleft models
  CLEFT_MODELS=~/models cleft models --json
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "List the models that are found by their names."
    parser.epilog = EPILOG
    parser.add_argument("--json", action="store_true", help="one JSON object a model")


def run(args: argparse.Namespace) -> int:
    """Look for models, and tell what each is."""
    from cleft.cli.info import _printable

    found = list(map(_facts, find_models()))
    if args.json:
        for each in found:
            print(json.dumps(each, ensure_ascii=False))
        return 0
    rows = [("model", "language", "tasks", "size", "where")]
    for each in found:
        size = f"{each['bytes'] / 1e6:.1f} MB"
        tasks = "+".join(each["tasks"]) or "unreadable"
        rows.append(
            (each["name"], str(each["language"] or "?"), tasks, size, each["error"] or each["home"])
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(_printable("  ".join(cells).rstrip()))
    return 0


def _facts(model: FoundModel) -> dict[str, Any]:
    """What there is to tell of a model; one that cannot be read has an error."""
    from cleft.cli.info import facts
    from cleft.runtime import ModelDirectory

    known: dict[str, Any] = {"language": None, "tasks": [], "bytes": 0}
    error = None
    try:
        known = facts(ModelDirectory(model.path))
    except ModelError as wrong:
        error = str(wrong)
    kept = {key: known[key] for key in ("language", "tasks", "bytes")}
    return {"name": model.name, **kept, "home": model.home, "path": str(model.path), "error": error}
