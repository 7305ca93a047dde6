"""`cleft check`: whether a model is whole, and parses here as it did when it was exported."""

from __future__ import annotations

import argparse
import sys

from cleft.errors import ModelError
from cleft.models import DEFAULT, model_path

__all__ = ["add", "run"]

EPILOG = """\
Every file is compared with its checksum, then the sentences that the model
brings along are parsed: their trees and probabilities must be the ones that
they were when the model was exported.

examples:
  cleft check
  cleft check MODEL_DIR

exit codes: 0 all is well; 1 it is not, and the message says what; 2 no model there
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = "Verify the files of a model and run its self-test."
    parser.epilog = EPILOG
    parser.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        default=DEFAULT,
        help=f"a built-in model or a directory (default: {DEFAULT})",
    )


def run(args: argparse.Namespace) -> int:
    """Load the model, which verifies it, and parse its own sentences."""
    from cleft.parser import load

    path = model_path(args.model)
    if not path.is_dir():
        load(path)  # raises the error that says what is wrong
    try:
        count = load(path).check()
    except ModelError as error:
        print(f"cleft: {error}", file=sys.stderr)
        return 1
    print(f"ok, {count} sentences")
    return 0
