"""Reading a recipe: its TOML file, what that extends, and the settings put over it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cleft import files
from cleft.errors import RecipeError
from cleft.nn.config import convert
from cleft.nn.train.recipe import SETTINGS, Recipe, parse_recipe
from cleft.tasks import get_task, task_names

OWN = ("name", "output")
"""What a recipe never has from the one that it extends."""


def read_recipe(
    path: str | Path, settings: Iterable[str] = (), *, init: str = "", output: str = ""
) -> Recipe:
    """The recipe of a TOML file, with `key=value` settings, `init` and `output` put over it.

    `extends` names another recipe, relative to the file itself, whose keys it has
    where it has none of its own. If `ablation` names one of its `[variants]`,
    that one's settings are put over it as well, below those given here.
    """
    table = _read_table(path)
    table.setdefault("name", Path(path).stem)
    wanted = list(settings)
    for setting in wanted:
        _apply(table, setting)
    table |= {key: value for key, value in (("init", init), ("output", output)) if value}
    table.setdefault("source", files.source_name(path))
    table.setdefault("settings", wanted)
    try:
        _choose_variant(table, wanted)
        _inherit(table)
        return parse_recipe(table)
    except RecipeError as error:
        raise RecipeError(
            error.problem, where=f"{files.source_name(path)}: {error.where}", hint=error.hint
        ) from error


def _read_table(path: str | Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The table of a file over that of the one it extends; `above` are those that extend it."""
    file = Path(path).resolve()
    if file in above:
        raise RecipeError(
            "expected another recipe under 'extends', found one that extends this one",
            where=str(path),
            hint="name the recipe that has the shared keys",
        )
    try:
        table = tomllib.loads(files.read_text(path))
    except tomllib.TOMLDecodeError as error:
        hint = "a recipe is a TOML file, as docs/how-to-train.md shows one"
        raise RecipeError(f"not TOML: {error}", where=str(path), hint=hint) from error
    if "extends" not in table:
        return table
    base = convert(str, table.pop("extends"), f"{path}: extends")
    below = _read_table(Path(path).parent / Path(base).expanduser(), (*above, file))
    return _over({key: value for key, value in below.items() if key not in OWN}, table)


def _over(below: dict[str, Any], table: dict[str, Any], depth: int = 2) -> dict[str, Any]:
    """A table over another, tables inside them too; a value such as `portions` is one's alone.

    >>> _over({"training": {"epochs": 3, "clip": 1}}, {"training": {"epochs": 5}})
    {'training': {'epochs': 5, 'clip': 1}}
    """
    merged = {**below, **table}
    for key, old in below.items() if depth else ():
        if isinstance(old, dict) and isinstance(merged[key], dict):
            merged[key] = _over(old, merged[key], depth - 1)
    return merged


def _choose_variant(table: dict[str, Any], settings: list[str]) -> None:
    """Put the settings of the variant that `ablation` names over a table."""
    name, variants = table.get("ablation"), table.get("variants")
    if not name:
        return
    known = convert(SETTINGS, variants or {}, "variants")
    if name not in known:
        raise RecipeError(
            f"expected one of the recipe's variants, found {name!r}",
            where="ablation",
            hint=f"variants: {', '.join(known) or 'none'}",
        )
    for setting in (*known[name], *settings):
        _apply(table, setting)


def _inherit(table: dict[str, Any]) -> None:
    """Take settings of the network that a recipe leaves out from the model that it begins from."""
    init, output, given = table.get("init"), table.get("output") or "", table.get("network", {})
    if not init or not isinstance(given, dict):
        return
    from cleft.nn.train.start import network_of  # it loads PyTorch

    data = table.get("data", {})
    tasks = [get_task(name) for name in task_names() if isinstance(data, dict) and name in data]
    network = network_of(convert(str, init, "init"), convert(str, output, "output"))
    if not any(task.stops for task in tasks):
        network["edu_boundaries"] = "none"
    network["tags"] = bool(network.get("tags")) and any(task.tags is not None for task in tasks)
    table["network"] = {**network, **given}


def _apply(table: dict[str, Any], setting: str) -> None:
    """Put one `key=value` into a table; the value is TOML, or a bare string."""
    path, separator, text = setting.partition("=")
    keys = path.strip().split(".")
    if not separator or not all(keys):
        raise RecipeError(f"expected key=value, found {setting!r}", where="--set")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text.strip()
    for key in keys[:-1]:
        inner = table.setdefault(key, {})
        if not isinstance(inner, dict):
            raise RecipeError(f"expected a table, found {inner!r}", where=f"--set {path}")
        table = inner
    table[keys[-1]] = value
