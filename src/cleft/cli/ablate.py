"""`cleft ablate`: train all variants of a recipe."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cleft.cli.train import add_recipe, training_packages
from cleft.errors import UsageError

__all__ = ["add", "run"]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Train every variant in a recipe's table [variants] with every seed, one after "
        "the other, each in its own directory. Finished runs are passed over and stopped ones go "
        "on, so the command may be given again. 'cleft results' makes the table."
    )
    add_recipe(parser)
    parser.add_argument("-o", "--output", required=True, help="the directory of the runs")
    parser.add_argument("--seeds", default="1,2", help="seeds, by default 1,2")
    parser.add_argument("--only", help="these variants only, as in baseline,no-history")


def run(args: argparse.Namespace) -> int:
    """Read the arguments and train."""
    with training_packages("training"):
        from cleft.nn.ablate import ablate
    ablate(
        args.recipe,
        Path(args.output).expanduser(),
        seeds=_seeds(args.seeds),
        settings=args.settings,
        only=args.only.split(",") if args.only else (),
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    return 0


def _seeds(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise UsageError(
            f"expected seeds as whole numbers, found {text!r}", hint="write --seeds 1,2"
        )
    return [int(part) for part in parts]
