"""`cleft train`: train a model by a recipe."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cleft.errors import UsageError

__all__ = ["add", "run"]


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "train",
        help="train a model on treebanks, by a recipe",
        description="Train a model by a TOML recipe. Paths in it are relative to the current "
        "directory. The output directory receives best/ (the model that scores best on dev), "
        "checkpoints, metrics.jsonl, run.json and curve.svg.",
    )
    parser.add_argument("recipe", metavar="RECIPE.toml", help="the recipe")
    parser.add_argument("-o", "--output", help="where to write; by default as the recipe says")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value over the recipe's, as in training.epochs=5; may repeat",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the recipe and train."""
    try:
        from cleft.nn.recipe import read_recipe
        from cleft.nn.train import train
    except ModuleNotFoundError as error:
        raise UsageError(
            f"training needs the package {error.name!r}", hint="pip install 'cleft[train]'"
        ) from error
    recipe = read_recipe(args.recipe, args.settings)
    output = args.output or recipe.output
    if not output:
        raise UsageError("no output directory", hint="give --output or set it in the recipe")
    train(recipe, Path(output).expanduser(), resume=args.resume)
    return 0
