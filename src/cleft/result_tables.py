"""What the tables of results are made with: Markdown, numbers, and the parts of a run's record."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, KeysView, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "MEASURES",
    "NONE",
    "Run",
    "command",
    "name",
    "number",
    "set_title",
    "sets",
    "table",
    "widths",
]

Run = Mapping[str, Any]
NONE = "–"
MEASURES = ("segmentation", "span", "nuclearity", "relation", "full")
"""What is measured of discourse trees."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its lines ended."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float | None, places: int = 2) -> str:
    """A score as a table shows it.

    >>> number(88.126), number(None)
    ('88.13', '–')
    """
    return NONE if value is None else f"{value:.{places}f}"


def sets(run: Run, task: str) -> list[Mapping[str, Any]]:
    """The scored sets of a task, test first; of a run that is not scored yet, its dev scores."""
    if "final" in run:
        found = [one for one in run["final"]["sets"] if one["task"] == task]
        return sorted(found, key=lambda one: (one["part"] != "test", one["name"]))
    dev = run["best"].get("dev", {}).get(task)
    if dev is None:
        return []
    data = run["recipe"]["data"][task]
    beam = str(run["recipe"]["training"]["beam"])
    names = _directories(data["dev"])
    only: dict[str, Any] = {"task": task, "part": "dev", "name": ", ".join(names)}
    only["silver"] = not names.isdisjoint(data.get("silver", ()))
    only |= {"metric": data["metric"], "given_edus": False, "tagging": dev.get("tagging")}
    return [{**only, "beams": {beam: dev}}]


def _directories(paths: Sequence[str]) -> KeysView[str]:
    return dict.fromkeys(Path(path).parent.name for path in paths).keys()


def set_title(one: Mapping[str, Any]) -> str:
    """What a scored set is called."""
    return f"{one['name']} {one['part']}{' (silver)' if one['silver'] else ''}"


def widths(one: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], str]:
    """The scores by greedy search and by the widest beam, and that width."""
    beams = one["beams"]
    widest = max(beams, key=int)
    return beams.get("1", {}), beams[widest] if int(widest) > 1 else {}, widest


def name(run: Run) -> str:
    """What a run is called: its recipe, and what was changed in it."""
    recipe = run["recipe"]
    # What `--set` changed tells runs of one recipe apart; seeds have a column of their own.
    changes = [text for text in recipe.get("settings", ()) if not text.startswith("seed")]
    changes = [] if recipe.get("ablation") else changes
    return " ".join([str(recipe["name"]), *(text.rpartition(".")[2] for text in changes)])


def command(run: Run) -> str:
    """The command that a run was made by."""
    recipe = run["recipe"]
    source = recipe.get("source") or ""
    if not source or Path(source).is_absolute():
        source = f"recipes/{recipe['name']}.toml"
    settings = [part for setting in recipe.get("settings", ()) for part in ("--set", setting)]
    return shlex.join(["cleft", "train", source, *settings])
