"""The scores of training runs as Markdown tables, from the run.json files that runs leave.

    python benchmarks/results.py RUN... [--targets FILE] [--documents RECORD] [-o PAGE]

A RUN is a run.json, or a directory that holds some at any depth; RECORD is what
documents.py wrote. The same runs give the same text, so a test can hold
docs/results.md against the runs it was made from. Needs no PyTorch.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ablation import ablation_blocks
from documents import document_blocks
from languages import is_language, language_blocks
from paper import is_peer, paper_blocks
from records import (
    MEASURES,
    NONE,
    Run,
    Speed,
    command,
    find_runs,
    name,
    number,
    read_run,
    read_speeds,
    set_title,
    sets,
    widths,
)
from report import table
from targets import Aims, read_aims, target_blocks

from cleft import files
from cleft.errors import CleftError

HEAD = """\
# Results

Made by `python benchmarks/results.py docs/runs --targets benchmarks/targets.toml \
--documents benchmarks/results/documents.json -o docs/results.md` from the records of the runs; \
do not edit. \
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


def results_page(
    runs: Sequence[Run],
    aims: Aims | None = None,
    documents: Mapping[str, Any] | None = None,
    speeds: Mapping[str, Speed] | None = None,
) -> str:
    """The page of all runs, as Markdown; with aims, which of them were reached.

    `documents` is the record of the built-in models' trees of documents; `speeds` are those
    of parsers, by name.
    """
    aims = aims or Aims()
    everyone = sorted(runs, key=lambda run: (run["recipe"]["name"], run["seed"], command(run)))
    peers = [run for run in everyone if is_peer(run)]
    ordered = [run for run in everyone if not is_peer(run)]
    plain = [run for run in ordered if not run["recipe"].get("ablation")]
    variants = [run for run in ordered if run["recipe"].get("ablation")]
    english = [run for run in plain if not is_language(run)]
    beside = [run for run in everyone if is_peer(run) or run in english]
    blocks = [HEAD, *target_blocks([*plain, *peers], aims.targets), *paper_blocks(beside, speeds)]
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
    if documents is not None:
        blocks += document_blocks(documents, aims.documents)
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


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Write the scores of finished runs as Markdown tables, from the run.json "
        "files that 'cleft train' and ablate.py leave.",
    )
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="a run.json, or a directory that holds some"
    )
    parser.add_argument(
        "--targets",
        metavar="FILE",
        help="a TOML file of [[target]] tables (recipe, set, edus, least, not_below, note) and "
        "'decisions': what the runs are held against",
    )
    parser.add_argument("--documents", metavar="RECORD", help="what documents.py wrote")
    parser.add_argument("-o", "--output", default=files.STREAM, help="where to write")
    args = parser.parse_args(argv)
    try:
        aims = read_aims(args.targets) if args.targets else None
        found = json.loads(files.read_text(args.documents)) if args.documents else None
        runs = [read_run(path) for path in find_runs(args.runs)]
        page = results_page(runs, aims, found, read_speeds(args.runs))
        with files.writing(args.output) as stream:
            stream.write(page)
    except CleftError as error:
        raise SystemExit(f"results.py: {error}") from None


if __name__ == "__main__":
    main()
