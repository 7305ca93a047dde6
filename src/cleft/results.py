"""Tables of results from the records of runs (run.json): docs/results.md is made by this.

Reads JSON and writes Markdown; needs no PyTorch. The same runs give the same
text, so a test can hold the page against the runs it was made from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cleft import files
from cleft.errors import InputError
from cleft.result_ablation import ablation_blocks
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
from cleft.result_targets import Aims, target_blocks

__all__ = ["find_runs", "read_run", "results_page"]

HEAD = """\
# Results

Made by `cleft results docs/runs --targets docs/targets.toml -o docs/results.md` from the \
records of the runs; do not edit. \
A model is chosen on dev and looks at test once, when its run is over. \
*Silver* sets hold trees made by another parser: a score on them is agreement with it, not \
accuracy. Commands are given at the root of the repository, with the data in `../shared`; each \
takes `--output DIR`. Scores are of the checkpoint, in single precision by PyTorch, as the run \
ended; models that are shipped are 8-bit exports, whose scores stand in their cards and differ by \
some tenths. [data.md](data.md) says what the sets are.
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


def results_page(runs: Sequence[Run], aims: Aims | None = None) -> str:
    """The page of all runs, as Markdown; with aims, which of them were reached."""
    aims = aims or Aims()
    ordered = sorted(runs, key=lambda run: (run["recipe"]["name"], run["seed"], command(run)))
    plain = [run for run in ordered if not run["recipe"].get("ablation")]
    variants = [run for run in ordered if run["recipe"].get("ablation")]
    english = [run for run in plain if not is_language(run)]
    blocks = [HEAD, *target_blocks(plain, aims.targets)]
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
    blocks += ablation_blocks(variants, aims.decisions)
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
