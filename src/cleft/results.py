"""Tables of results from the records of runs (run.json): docs/results.md is made by this.

Reads JSON and writes Markdown; needs no PyTorch. The same runs give the same
text, so a test can hold the page against the runs it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from cleft import files
from cleft.errors import InputError
from cleft.result_languages import is_language, language_blocks
from cleft.result_tables import (
    MEASURES,
    NONE,
    Run,
    command,
    name,
    number,
    set_title,
    sets,
    table,
    widths,
)

__all__ = ["find_runs", "read_run", "results_page"]

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
    ordered = sorted(runs, key=lambda run: (run["recipe"]["name"], run["seed"], command(run)))
    plain = [run for run in ordered if not run["recipe"].get("ablation")]
    variants = [run for run in ordered if run["recipe"].get("ablation")]
    english = [run for run in plain if not is_language(run)]
    blocks = [HEAD]
    for text, task, head, cells in (
        (SYNTAX, "syntax", SYNTAX_HEAD, _syntax_rows),
        (DISCOURSE, "discourse", DISCOURSE_HEAD, _discourse_rows),
    ):
        rows = [row for run in english for one in sets(run, task) for row in cells(run, one)]
        if rows:
            blocks.append(f"{text}\n{table(head, rows)}")
    genres = [row for run in english for row in _genre_rows(run)]
    if genres:
        blocks.append(f"{GENRES}\n{table(GENRE_HEAD, genres)}")
    blocks += language_blocks([run for run in plain if is_language(run)])
    if plain:
        blocks.append(f"{RUNS}\n{table(RUN_HEAD, map(_run_row, plain))}")
    if variants:
        blocks.append(f"{ABLATION}\n{table(ABLATION_HEAD, _ablation_rows(variants))}")
        blocks.append(f"{table(BEAM_HEAD, _beam_rows(variants))}")
    return "\n".join(blocks)


# ---------------------------------------------------------------- scores


SYNTAX_HEAD = (
    *("recipe", "seed", "set", "EVALB", "greedy F1", "beam F1", "beam"),
    *("complete", "tags", "cost", "below"),
)


def _syntax_rows(run: Run, one: Mapping[str, Any]) -> Iterator[list[str]]:
    greedy, beam, width = widths(one)
    yield [
        name(run),
        str(run["seed"]),
        set_title(one),
        one["metric"].upper(),
        number(greedy.get("f1")),
        number(beam.get("f1")),
        width if beam else NONE,
        number((beam or greedy).get("complete"), 1),
        number(one["tagging"]),
        number(beam.get("cost")),
        str(beam.get("below_greedy", NONE)),
    ]


DISCOURSE_HEAD = ("recipe", "seed", "set", "EDUs", "search", *MEASURES, "cost", "below")


def _discourse_rows(run: Run, one: Mapping[str, Any]) -> Iterator[list[str]]:
    for width, scores in sorted(one["beams"].items(), key=lambda item: int(item[0])):
        wide = int(width) > 1
        yield [
            name(run),
            str(run["seed"]),
            set_title(one),
            "given" if one["given_edus"] else "found",
            f"beam {width}" if wide else "greedy",
            *[number(scores.get(name)) for name in MEASURES],
            number(scores.get("cost") if wide else None),
            str(scores.get("below_greedy", NONE)) if wide else NONE,
        ]


GENRE_HEAD = ("recipe", "seed", "set", "genre", "sentences", *MEASURES)


def _genre_rows(run: Run) -> Iterator[list[str]]:
    for one in sets(run, "discourse"):
        if one["part"] != "test" or one["given_edus"]:
            continue
        for genre, scores in sorted(one.get("genres", {}).items()):
            yield [
                name(run),
                str(run["seed"]),
                set_title(one),
                genre,
                str(scores["sentences"]),
                *[number(scores[name]) for name in MEASURES],
            ]


# ---------------------------------------------------------------- runs


RUN_HEAD = (
    *("recipe", "command", "seed", "best epoch", "epochs", "hours", "parameters"),
    *("sentences", "status"),
)


def _run_row(run: Run) -> list[str]:
    status = "done" if run["status"] == "done" and "final" in run else f"{run['status']}, not final"
    return [
        name(run),
        f"`{command(run)}`",
        str(run["seed"]),
        str(run["best"].get("epoch", NONE)),
        str(len(run.get("epochs", ()))),
        number(run.get("hours")),
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
        for one in sets(run, "syntax"):
            key = (name(run), set_title(one), run["recipe"]["ablation"])
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
            number(here),
            number(_spread(values)),
            against,
            number(_mean([run["hours"] for run, _ in group])),
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
                number(_mean(values)),
                number(_spread(values)),
                number(_mean(costs)),
                str(int(sum(below))) if below else NONE,
            ]
