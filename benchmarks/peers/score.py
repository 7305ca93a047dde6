"""F1 of a file of predicted trees, by cleft's EVALB, as JSON.

    python benchmarks/peers/score.py PREDICTED [GOLD]

Runs in cleft's own environment. GOLD is the cleaned test set unless given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from places import TEST

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.metrics.evalb import score_syntax
from cleft.metrics.significance import count_rows


def score(predicted: Path, gold: Path = TEST) -> dict[str, Any]:
    """The scores, and the counts of each sentence: matched/gold/predicted, as in run.json."""
    scores = score_syntax(list(read_brackets(gold)), list(read_brackets(predicted, PTB)))
    return {
        "f1": round(scores.f1, 4),
        "precision": round(scores.precision, 4),
        "recall": round(scores.recall, 4),
        "complete": round(scores.complete, 4),
        "sentences": len(scores.sentences),
        "errors": scores.errors,
        "skipped": scores.skipped,
        "counts": " ".join("/".join(map(str, row)) for row in count_rows(scores).tolist()),
    }


if __name__ == "__main__":
    found = score(*map(Path, sys.argv[1:]))
    del found["counts"]
    print(json.dumps(found))
