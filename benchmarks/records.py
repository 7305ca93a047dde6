"""The records of training runs (run.json): finding and reading them, and what they hold.

Reads JSON alone; needs no PyTorch. The tables of results.py are made of this.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cleft import files
from cleft.errors import InputError

Run = Mapping[str, Any]
NONE = "–"
MEASURES = ("segmentation", "span", "nuclearity", "relation", "full")
"""What is measured of discourse trees."""


def find_runs(paths: Iterable[str | Path]) -> list[Path]:
    """The run.json files that paths name: files, or directories that hold them at any depth."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.rglob("run.json")) if path.is_dir() else [path]
        if not inside:
            raise InputError(
                "no run.json is in it", where=str(path), hint="name the directories of runs"
            )
        found += inside
    return found


def read_run(path: Path) -> Run:
    """The record of one run."""
    try:
        run = json.loads(files.read_text(path))
    except ValueError as error:
        raise InputError(f"expected JSON: {error}", where=str(path)) from error
    if not isinstance(run, dict) or not {"recipe", "best", "status"} <= set(run):
        raise InputError(
            "expected the record of a run", where=str(path), hint="cleft train writes run.json"
        )
    return run


@dataclass(frozen=True, kw_only=True)
class Speed:
    """How fast a parser was in its run of speed.py, beside that run's baseline."""

    rate: float
    """Sentences a second."""
    ratio: float
    """Times the baseline's speed: the median of the ratios of all rounds."""
    baseline: str
    baseline_rate: float


def read_speeds(paths: Iterable[str | Path]) -> dict[str, Speed]:
    """Speeds by parser, of the runs of speed.py left as `speed*.json` in directories.

    A baseline may be in several runs, its speed is that of the first; any other parser that two
    runs have measured is an error: a table has one row for it.
    """
    found: dict[str, Speed] = {}
    for file in (file for path in paths for file in sorted(Path(path).glob("speed*.json"))):
        record = json.loads(files.read_text(file))
        baseline, results = record["baseline"], record["sections"]["batched"]["results"]
        for parser, ratio in results["ratios"].items():
            if parser in found and parser != baseline:
                raise InputError(
                    f"expected each parser in one run, found {parser!r} in a second",
                    where=str(file),
                    hint="measure it in one run, with those that it is held against",
                )
            rates = (results[name]["sentences_per_second"] for name in (parser, baseline))
            rate, base = map(float, rates)
            speed = Speed(rate=rate, ratio=ratio["median"], baseline=baseline, baseline_rate=base)
            found.setdefault(parser, speed)
    return found


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
