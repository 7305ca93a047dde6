"""Ablation: train every variant in a recipe's [variants] with every seed, one after the other.

    python benchmarks/ablate.py RECIPE.toml -o DIR [--seeds 1,2] [--only baseline,no-history]

Each run has its own directory in DIR. One that is finished is passed over and
one that was stopped goes on, so the same command may be given again until all
is done. results.py makes the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cleft.cli.train import add_recipe
from cleft.errors import CleftError, RecipeError
from cleft.nn.checkpoint import read_object
from cleft.nn.train.recipe import Recipe, parse_recipe
from cleft.nn.train.recipe_file import read_recipe
from cleft.nn.train.trainer import train


def ablate(
    source: str | Path,
    output: Path,
    *,
    seeds: Sequence[int] = (1, 2),
    settings: Sequence[str] = (),
    only: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Train the variants of a recipe (or `only` some); what comes back are their records."""
    known = read_recipe(source, settings).variants
    if not known:
        raise RecipeError(
            "expected a table of variants, found none",
            where=f"{source}: variants",
            hint='name them, as in [variants] no-history = ["network.history=false"]',
        )
    for name in only:
        if name not in known:
            raise RecipeError(
                f"no variant is called {name!r}",
                where=str(source),
                hint=f"variants: {', '.join(known)}",
            )
    # Seed by seed, so that a first look at all variants comes early.
    wanted = [(name, seed) for seed in seeds for name in only or known]
    records = []
    for number, (name, seed) in enumerate(wanted, 1):
        directory = output / f"{name}-{seed}"
        say(f"{number}/{len(wanted)} {directory.name}")
        recipe = read_recipe(source, [*settings, f"ablation={name}", f"seed={seed}"])
        records.append(_finished(directory, recipe) or train(recipe, directory, resume=True))
    return records


def _finished(directory: Path, recipe: Recipe) -> dict[str, Any] | None:
    """The record of a run that is done and scored; it must be of this very recipe."""
    path = directory / "run.json"
    if not path.exists():
        return None
    record = read_object(path)
    if record["status"] != "done" or "final" not in record:
        return None
    before, now = parse_recipe(record["recipe"]), recipe
    for key in ("network", "data", "vocabulary", "training"):
        if getattr(before, key) != getattr(now, key):
            raise RecipeError(
                f"a finished run of another recipe is there: its [{key}] differs",
                where=str(directory),
                hint="choose another --output, or remove the directory",
            )
    return record


def seed_list(text: str) -> list[int]:
    """The seeds of a comma-separated list.

    >>> seed_list("1, 2")
    [1, 2]
    """
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(
            f"expected seeds as whole numbers, found {text!r}; write --seeds 1,2"
        )
    return [int(part) for part in parts]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Train every variant in a recipe's table [variants] with every seed, one after "
        "the other. Finished runs are passed over and stopped ones go on, so the command may be "
        "given again. results.py makes the table.",
    )
    add_recipe(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, help="the directory of the runs"
    )
    parser.add_argument("--seeds", type=seed_list, default="1,2", help="seeds, by default 1,2")
    parser.add_argument("--only", help="these variants only, as in baseline,no-history")
    args = parser.parse_args(argv)
    try:
        ablate(
            args.recipe,
            args.output.expanduser(),
            seeds=args.seeds,
            settings=args.settings,
            only=args.only.split(",") if args.only else (),
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
    except CleftError as error:
        raise SystemExit(f"ablate.py: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # the run that was under way has left a checkpoint


if __name__ == "__main__":
    main()
