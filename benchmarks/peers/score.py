"""F1 of a file of predicted trees, by cleft's EVALB, as JSON.

    python benchmarks/peers/score.py PREDICTED [GOLD]

Runs in cleft's own environment. GOLD is the cleaned test set unless given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from places import TEST

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.metrics.evalb import score_syntax


def score(predicted: Path, gold: Path = TEST) -> dict[str, float]:
    scores = score_syntax(list(read_brackets(gold)), list(read_brackets(predicted, PTB)))
    return {
        "f1": round(scores.f1, 2),
        "precision": round(scores.precision, 2),
        "recall": round(scores.recall, 2),
        "complete": round(scores.complete, 2),
        "sentences": len(scores.sentences),
        "errors": scores.errors,
        "skipped": scores.skipped,
    }


if __name__ == "__main__":
    print(json.dumps(score(*map(Path, sys.argv[1:]))))
