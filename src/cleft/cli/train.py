"""`cleft train`: train a model by a recipe; and what the other commands that need PyTorch share."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cleft.errors import UsageError

__all__ = ["add", "add_recipe", "run", "training_packages"]


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Train a model by a TOML recipe. Paths in it are relative to the current "
        "directory. The output directory receives best/ (the model that scores best on dev), "
        "checkpoints, metrics.jsonl, run.json and curve.svg."
    )
    add_recipe(parser)
    parser.add_argument("-o", "--output", help="where to write; by default as the recipe says")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")


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


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Declare the recipe, and the option that overrides its values."""
    parser.add_argument("recipe", metavar="RECIPE.toml", help="the recipe")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="put a value over the recipe's, as in training.epochs=5; may repeat",
    )


@contextmanager
def training_packages(doing: str) -> Iterator[None]:
    """Say what to install if an import in this block fails.

    >>> with training_packages("training"):
    ...     raise ModuleNotFoundError(name="torch")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: training needs the package 'torch'; pip install '.[train]' ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{doing} needs the package {error.name!r}",
            hint="pip install '.[train]' in a clone of cleft",
        ) from error
