"""Speed of reading and scoring trees, as ratios in one run against named baselines.

    python benchmarks/trees.py

- reading, cleaning and binarising a treebank against `nltk.Tree.fromstring`
  reading the same lines (NLTK neither cleans nor binarises)
- scoring 10,000 pairs of trees against reading them twice

Each is the median of several rounds that alternate the two sides. Results go
to `results/trees.json`.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median

import nltk

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.metrics.evalb import score_syntax
from cleft.tree import binarise

HERE = Path(__file__).parent
TREEBANK = HERE.parents[1] / "shared" / "data" / "syntax" / "genia" / "train.mrg"
ROUNDS = 7
PAIRS = 10_000


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(ours: Callable[[], object], baseline: Callable[[], object]) -> dict[str, float]:
    rounds = [(seconds(ours), seconds(baseline)) for _ in range(ROUNDS)]
    ratios = sorted(one / other for one, other in rounds)
    return {
        "seconds": round(median(one for one, _ in rounds), 3),
        "baseline_seconds": round(median(other for _, other in rounds), 3),
        "ratio": round(median(ratios), 3),
        "lowest_ratio": round(ratios[0], 3),
        "highest_ratio": round(ratios[-1], 3),
    }


def read_all() -> None:
    for tree in read_brackets(TREEBANK, PTB):
        binarise(tree)


def nltk_reads() -> None:
    with TREEBANK.open(encoding="utf-8") as stream:
        for line in stream:
            nltk.Tree.fromstring(line)


def scoring() -> dict[str, float]:
    gold, predicted = (list(islice(read_brackets(TREEBANK), PAIRS)) for _ in range(2))

    def read_twice() -> None:
        for _ in range(2):
            for _ in islice(read_brackets(TREEBANK), PAIRS):
                pass

    return compare(lambda: score_syntax(gold, predicted), read_twice)


def main() -> None:
    if not TREEBANK.exists():
        raise SystemExit(f"{TREEBANK} is not here: this benchmark needs the real treebanks")
    results = {
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "rounds": ROUNDS,
        "read + clean + binarise, against nltk.Tree.fromstring": compare(read_all, nltk_reads),
        f"score {PAIRS} pairs, against reading them twice": scoring(),
    }
    (HERE / "results" / "trees.json").write_text(json.dumps(results, indent=2) + "\n")
    for name, value in results.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
