"""A model without history: span by span, level by level, beam and exact search.

    python benchmarks/levels.py MODEL_DIR syntax=dev.mrg

For each search the F1, the calls of the scorer, the spans that it was asked about, and the
seconds (of process time; on a quiet machine only). `span by span` and `beam 20` are what a
model with history has to do.
"""

from __future__ import annotations

import argparse
import time

import turns  # noqa: F401 - finds the modules of peers/
from decode import OneByOne

from cleft.models import model_path
from cleft.nn.export.int8 import dev_sentences
from cleft.nn.train.evaluate import parse_sentences, score
from cleft.runtime import ModelDirectory, OnnxScorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("dev", metavar="TASK=FILE")
    args = parser.parse_args()
    scorer = OnnxScorer(ModelDirectory(model_path(args.model)))
    ((name, sentences),) = dev_sentences([args.dev]).items()
    task = scorer.manifest.task(name)
    print(f"{'search':14s} {'F1':>6s} {'calls':>7s} {'spans':>8s} {'seconds':>8s}")
    for what, plain, beam in (
        ("span by span", True, 1),
        ("beam 20", True, 20),
        ("level by level", False, 1),
        ("exact", False, 2),
    ):
        used = OneByOne(scorer) if plain else scorer
        start = time.process_time()
        outcomes, _ = parse_sentences(used, task, sentences, beams=[beam])
        seconds = time.process_time() - start
        outcome, cost = outcomes[beam], outcomes[beam].statistics
        f1 = score(name, sentences, outcome.parses, metric=task.metrics[0]).main
        calls, rows = cost.greedy_calls + cost.beam_calls, cost.greedy_rows + cost.beam_rows
        total = sum(parse.split_log_prob for parse in outcome.parses if parse is not None)
        print(f"{what:14s} {f1:6.2f} {calls:7d} {rows:8d} {seconds:8.1f}  log p {total:.2f}")


if __name__ == "__main__":
    main()
