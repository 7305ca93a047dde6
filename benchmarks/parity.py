"""Whether an exported model gives PyTorch's trees: all sentences of a dev set, greedy and beam.

    python benchmarks/parity.py CHECKPOINT MODEL_DIR TASK=FILE [--beam 20]

Prints one JSON line a beam: sentences, trees that differ, ties (trees that differ by less than
1e-4 in log-probability), the largest difference of log-probabilities among equal trees.
"""

from __future__ import annotations

import argparse
import json

from cleft.errors import CleftError
from cleft.nn.checkpoint import load_model
from cleft.nn.export.int8 import dev_sentences
from cleft.runtime import ModelDirectory, OnnxScorer
from cleft.runtime.batches import plan
from cleft.search import SearchOptions, search

TIE = 1e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint")
    parser.add_argument("model")
    parser.add_argument("dev", metavar="TASK=FILE")
    parser.add_argument("--beam", type=int, default=20)
    args = parser.parse_args()
    theirs, ours = load_model(args.checkpoint), OnnxScorer(ModelDirectory(args.model))
    ((name, dev),) = dev_sentences([args.dev]).items()
    task = ours.manifest.task(name)
    for beam in sorted({1, args.beam}):
        counts = {"different": 0, "ties": 0, "errors": 0}
        worst = 0.0
        for batch in plan([len(sentence.words) for sentence in dev]):
            words = [dev[number].words for number in batch]
            options = SearchOptions(beam=beam)
            pairs = zip(
                search(ours, words, task, options),
                search(theirs, words, task, options),
                strict=True,
            )
            for one, two in pairs:
                if isinstance(one, CleftError) or isinstance(two, CleftError):
                    counts["errors"] += 1
                    continue
                apart = abs(one[0].log_prob - two[0].log_prob)
                if one[0].tree == two[0].tree:
                    worst = max(worst, apart)
                else:
                    counts["ties" if apart < TIE else "different"] += 1
        line = {"task": name, "beam": beam, "sentences": len(dev), **counts, "log_prob": worst}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
