"""What the commands that train share: their recipe, and the packages that they need."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from cleft.errors import UsageError

__all__ = ["add_recipe", "training_packages"]


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Declare the recipe, and values to put over its own."""
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
    """Say what to install where an import in this fails.

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
