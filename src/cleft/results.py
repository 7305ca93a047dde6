"""Tables of results from the records of runs (run.json): docs/results.md is made by this.

Reads JSON and writes Markdown; needs no PyTorch. The same runs give the same
text, so a test can hold the page against the runs it was made from.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from cleft import files
from cleft.errors import InputError

__all__ = ["find_runs", "read_run", "results_page"]

Run = Mapping[str, Any]
NONE = "–"
MEASURES = ("segmentation", "span", "nuclearity", "relation", "full")

HEAD = """\
# Results

Made by `cleft results docs/runs -o docs/results.md` from the records of the runs; do not edit. \
A model is chosen on dev and looks at test once, when its run is over. \
*Silver* sets hold trees made by another parser: a score on them is agreement with it, not \
accuracy. Commands are given at the root of the repository, with the data in `../shared`; each \
takes `--output DIR`.
"""
SYNTAX = """\
## Syntax

Labelled F1 by EVALB (parameters as named), over gold tags; *tags* is the accuracy of the \
part-of-speech head. *Cost* is the number of hypotheses scored by the pruned beam as a multiple of \
greedy's. *Below* counts the sentences whose beam tree is less probable than greedy's.
"""
DISCOURSE = """\
## Discourse

RST Parseval F1 by micro-average, EDUs included; relations are coarse. End to end from tokens, or \
over the given EDUs. *Cost* and *below* as above.
"""
GENRES = """\
### By genre

Test sets end to end, by the widest beam.
"""
RUNS = "## Runs\n"
ABLATION = """\
## Ablation

Dev scores of the finished models by `cleft ablate`, all with the same number of epochs: mean over \
the seeds, and the spread between them (highest less lowest). *Against* is the difference to the \
baseline; a variant that does not win by more than the spread leaves the default as it is.
"""


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


def results_page(runs: Sequence[Run]) -> str:
    """The page of all runs, as Markdown."""
    ordered = sorted(runs, key=lambda run: (run["recipe"]["name"], run["seed"], _command(run)))
    plain = [run for run in ordered if not run["recipe"].get("ablation")]
    variants = [run for run in ordered if run["recipe"].get("ablation")]
    blocks = [HEAD]
    for text, task, head, cells in (
        (SYNTAX, "syntax", SYNTAX_HEAD, _syntax_rows),
        (DISCOURSE, "discourse", DISCOURSE_HEAD, _discourse_rows),
    ):
        rows = [row for run in plain for one in _sets(run, task) for row in cells(run, one)]
        if rows:
            blocks.append(f"{text}\n{_table(head, rows)}")
    genres = [row for run in plain for row in _genre_rows(run)]
    if genres:
        blocks.append(f"{GENRES}\n{_table(GENRE_HEAD, genres)}")
    if plain:
        blocks.append(f"{RUNS}\n{_table(RUN_HEAD, map(_run_row, plain))}")
    if variants:
        blocks.append(f"{ABLATION}\n{_table(ABLATION_HEAD, _ablation_rows(variants))}")
        blocks.append(f"{_table(BEAM_HEAD, _beam_rows(variants))}")
    return "\n".join(blocks)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, its lines ended."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(value: float | None, places: int = 2) -> str:
    return NONE if value is None else f"{value:.{places}f}"


# ---------------------------------------------------------------- scores


def _sets(run: Run, task: str) -> list[Mapping[str, Any]]:
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


def _set_title(one: Mapping[str, Any]) -> str:
    return f"{one['name']} {one['part']}{' (silver)' if one['silver'] else ''}"


def _widths(one: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], str]:
    """The scores by greedy search and by the widest beam, and that width."""
    beams = one["beams"]
    widest = max(beams, key=int)
    return beams.get("1", {}), beams[widest] if int(widest) > 1 else {}, widest


SYNTAX_HEAD = (
    *("recipe", "seed", "set", "EVALB", "greedy F1", "beam F1", "beam"),
    *("complete", "tags", "cost", "below"),
)


def _syntax_rows(run: Run, one: Mapping[str, Any]) -> Iterator[list[str]]:
    greedy, beam, width = _widths(one)
    yield [
        _name(run),
        str(run["seed"]),
        _set_title(one),
        one["metric"].upper(),
        _number(greedy.get("f1")),
        _number(beam.get("f1")),
        width if beam else NONE,
        _number((beam or greedy).get("complete"), 1),
        _number(one["tagging"]),
        _number(beam.get("cost")),
        str(beam.get("below_greedy", NONE)),
    ]


DISCOURSE_HEAD = ("recipe", "seed", "set", "EDUs", "search", *MEASURES, "cost", "below")


def _discourse_rows(run: Run, one: Mapping[str, Any]) -> Iterator[list[str]]:
    for width, scores in sorted(one["beams"].items(), key=lambda item: int(item[0])):
        wide = int(width) > 1
        yield [
            _name(run),
            str(run["seed"]),
            _set_title(one),
            "given" if one["given_edus"] else "found",
            f"beam {width}" if wide else "greedy",
            *[_number(scores.get(name)) for name in MEASURES],
            _number(scores.get("cost") if wide else None),
            str(scores.get("below_greedy", NONE)) if wide else NONE,
        ]


GENRE_HEAD = ("recipe", "seed", "set", "genre", "sentences", *MEASURES)


def _genre_rows(run: Run) -> Iterator[list[str]]:
    for one in _sets(run, "discourse"):
        if one["part"] != "test" or one["given_edus"]:
            continue
        for genre, scores in sorted(one.get("genres", {}).items()):
            yield [
                _name(run),
                str(run["seed"]),
                _set_title(one),
                genre,
                str(scores["sentences"]),
                *[_number(scores[name]) for name in MEASURES],
            ]


# ---------------------------------------------------------------- runs


RUN_HEAD = (
    *("recipe", "command", "seed", "best epoch", "epochs", "hours", "parameters"),
    *("sentences", "status"),
)


def _name(run: Run) -> str:
    recipe = run["recipe"]
    # What `--set` changed tells runs of one recipe apart; seeds have a column of their own.
    changes = [text for text in recipe.get("settings", ()) if not text.startswith("seed")]
    changes = [] if recipe.get("ablation") else changes
    return " ".join([str(recipe["name"]), *(text.rpartition(".")[2] for text in changes)])


def _command(run: Run) -> str:
    """The command that a run was made by."""
    recipe = run["recipe"]
    source = recipe.get("source") or ""
    if not source or Path(source).is_absolute():
        source = f"recipes/{recipe['name']}.toml"
    settings = [part for setting in recipe.get("settings", ()) for part in ("--set", setting)]
    return shlex.join(["cleft", "train", source, *settings])


def _run_row(run: Run) -> list[str]:
    status = "done" if run["status"] == "done" and "final" in run else f"{run['status']}, not final"
    return [
        _name(run),
        f"`{_command(run)}`",
        str(run["seed"]),
        str(run["best"].get("epoch", NONE)),
        str(len(run.get("epochs", ()))),
        _number(run.get("hours")),
        f"{run['parameters'] / 1e6:.2f} M",
        ", ".join(f"{count} {task}" for task, count in sorted(run["sentences"].items())),
        status,
    ]


# ---------------------------------------------------------------- ablation


ABLATION_HEAD = (
    *("recipe", "variant", "changes", "seeds", "set", "greedy F1", "spread", "against"),
    *("hours a run", "parameters"),
)
BEAM_HEAD = ("recipe", "variant", "set", "beam", "F1", "spread", "cost", "below")
BASELINE = "baseline"

Groups = dict[tuple[str, str, str], list[tuple[Run, Mapping[str, Any]]]]


def _groups(runs: Sequence[Run]) -> Groups:
    """Runs with one scored set each, by recipe, set and variant: the baseline first."""
    found: Groups = {}
    for run in runs:
        for one in _sets(run, "syntax"):
            key = (_name(run), _set_title(one), run["recipe"]["ablation"])
            found.setdefault(key, []).append((run, one))
    order = sorted(found, key=lambda key: (*key[:2], key[2] != BASELINE, key[2]))
    return {key: found[key] for key in order}


def _values(group: list[tuple[Run, Mapping[str, Any]]], beam: str, name: str) -> list[float]:
    return [one["beams"][beam][name] for _, one in group if name in one["beams"].get(beam, {})]


def _mean(values: list[float]) -> float | None:
    return mean(values) if values else None


def _spread(values: list[float]) -> float | None:
    return max(values) - min(values) if len(values) > 1 else None


def _ablation_rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    groups = _groups(runs)
    for (recipe, title, variant), group in groups.items():
        values = _values(group, "1", "f1")
        base = _mean(_values(groups.get((recipe, title, BASELINE), []), "1", "f1"))
        here = _mean(values)
        against = NONE
        if variant != BASELINE and base is not None and here is not None:
            against = f"{here - base:+.2f}"
        first = group[0][0]
        changes = first["recipe"].get("variants", {}).get(variant, [])
        yield [
            recipe,
            variant,
            ", ".join(f"`{change}`" for change in changes) or NONE,
            ", ".join(str(run["seed"]) for run, _ in group),
            title,
            _number(here),
            _number(_spread(values)),
            against,
            _number(_mean([run["hours"] for run, _ in group])),
            f"{first['parameters'] / 1e6:.2f} M",
        ]


def _beam_rows(runs: Sequence[Run]) -> Iterator[list[str]]:
    """What a wider beam gives: a row for each width of each variant."""
    for (recipe, title, variant), group in _groups(runs).items():
        for beam in sorted({beam for _, one in group for beam in one["beams"]}, key=int):
            values, costs = _values(group, beam, "f1"), _values(group, beam, "cost")
            below = _values(group, beam, "below_greedy")
            yield [
                recipe,
                variant,
                title,
                beam,
                _number(_mean(values)),
                _number(_spread(values)),
                _number(_mean(costs)),
                str(int(sum(below))) if below else NONE,
            ]
