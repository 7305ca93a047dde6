"""Ablation: train every variant of a recipe with every seed, one after the other.

A run that is finished is passed over and one that was stopped goes on, so the
same command may be given again until all is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cleft.errors import RecipeError
from cleft.nn.checkpoint import read_object
from cleft.nn.train.recipe import Recipe, parse_recipe, read_recipe
from cleft.nn.train.trainer import train

__all__ = ["ablate"]


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
