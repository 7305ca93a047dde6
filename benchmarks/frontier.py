"""Accuracy and speed of several models: F1 on wsj-sample dev, tokens a second, greedy and beam.

    python benchmarks/frontier.py --model lstm=DIR --model lstm-int8=DIR ... [--test] [--resume]

One thread, one process; the models take turns, so load hits all alike. F1 is
EVALB's over gold tags. Speed is taken on the same sentences, with the model's
own tags, as users get them. Writes `results/frontier.json` after every model.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from speed import model_facts, pairs, save
from turns import HERE, places, run

import cleft
from cleft.formats.brackets import read_brackets
from cleft.metrics.evalb import score_syntax
from cleft.tree import Tree

OUTPUT = HERE / "results" / "frontier.json"
BEAMS = {"greedy": 1, "beam 20": 20}


def f1(parser: cleft.Parser, gold: list[Tree], beam: int) -> float:
    """Labelled F1 of the trees over the gold tags."""
    words, tags = [tree.words() for tree in gold], [tree.tags() for tree in gold]
    found = parser.parse_tokens(words, task="syntax", beam=beam, tags=tags)
    return round(score_syntax(gold, [sentence.syntax for sentence in found]).f1, 2)


def seconds(parser: cleft.Parser, words: list[list[str]], beam: int) -> float:
    start = time.perf_counter()
    parser.parse_tokens(words, task="syntax", beam=beam)
    return time.perf_counter() - start


def in_turns(
    parsers: dict[str, cleft.Parser], words: list[list[str]], rounds: int, minutes: float
) -> dict[str, dict[str, Any]]:
    """Tokens a second of every model by beam, medians over rounds."""
    tokens = sum(map(len, words))
    times: dict[tuple[str, str], list[float]] = {}
    deadline = time.monotonic() + 60 * minutes
    for number in range(rounds):
        if number and time.monotonic() > deadline:
            break
        for name, parser in parsers.items():
            for beam, width in BEAMS.items():
                times.setdefault((name, beam), []).append(seconds(parser, words, width))
    found: dict[str, dict[str, Any]] = {}
    for (name, beam), runs in times.items():
        rate = round(tokens / median(runs), 1)
        each = [round(one, 4) for one in runs]
        found.setdefault(name, {})[beam] = {"tokens_per_second": rate, "runs": each}
    return found


def measure(parser: cleft.Parser, path: Path, sets: dict[str, list[Tree]]) -> dict[str, Any]:
    """The scores of one model."""
    scores = {
        beam: {name: f1(parser, gold, width) for name, gold in sets.items()}
        for beam, width in BEAMS.items()
    }
    return {"model": model_facts(path), "f1": scores}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", metavar="NAME=PATH", action="append", default=[])
    parser.add_argument("--test", action="store_true", help="F1 on test as well")
    parser.add_argument("--quick", action="store_true", help="a handful of sentences: does it run?")
    parser.add_argument("--resume", action="store_true", help="keep scores that are there")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=4.0, help="minutes for the speed rounds")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    limit = 6 if options.quick else None
    files = {"dev": places.DATA / "dev.none.mrg"} | ({"test": places.TEST} if options.test else {})
    sets = {name: list(read_brackets(path))[:limit] for name, path in files.items()}
    results: dict[str, Any] = {"points": {}}
    if options.resume and options.output.exists():
        results = json.loads(options.output.read_text(encoding="utf-8"))
    results |= {"machine": run.machine(), "quick": options.quick, "threads": 1}
    paths = pairs(options.model)
    parsers = {name: cleft.load(path) for name, path in paths.items()}
    for name, loaded in parsers.items():
        if name not in results["points"]:
            results["points"][name] = measure(loaded, paths[name], sets)
            save(options.output, results)
    words = [list(tree.words()) for tree in sets["dev"]]
    for name, speeds in in_turns(parsers, words, options.rounds, options.budget).items():
        results["points"][name]["speed"] = speeds
    results["load_average_after"] = run.load_average()
    save(options.output, results)


if __name__ == "__main__":
    main()
