"""`cleft train`: train a model by a recipe."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cleft.cli.training import add_recipe, training_packages
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
    add_recipe(parser)
    parser.add_argument("-o", "--output", help="where to write; by default as the recipe says")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the recipe and train."""
    with training_packages("training"):
        from cleft.nn.train.recipe import read_recipe
        from cleft.nn.train.rundir import RunDirectory
        from cleft.nn.train.trainer import train
    recipe = read_recipe(args.recipe, args.settings)
    output = args.output or recipe.output
    if not output:
        raise UsageError("no output directory", hint="give --output or set it in the recipe")
    folder = Path(output).expanduser()
    try:
        train(recipe, folder, resume=args.resume)
    except KeyboardInterrupt as error:
        if RunDirectory(folder).has_checkpoint:
            error.add_note(f"{folder} has a checkpoint: the same command with --resume goes on")
        raise
    return 0
