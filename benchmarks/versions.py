"""Two versions of cleft by turns: processor time a token, one thread, trees written as brackets.

    python benchmarks/versions.py OLD_CHECKOUT MODEL_OF_OLD [MODEL_OF_NEW]
        [--rounds 5] [--beam 1] [--single]

OLD_CHECKOUT is another checkout of the repository (`git worktree add ../old COMMIT`). Each
version has a process; in each round both parse wsj-sample dev once, all of it together or
(`--single`) every third sentence by itself. The first round is not counted. A model may be
given for each, where an export of its own belongs to a version.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
DEV = ROOT / "../shared/data/syntax/wsj-sample/dev.mrg"
TIMED = """
import sys, time
import cleft
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import cleaning

model, dev, beam, single = sys.argv[1:]
sentences = [tree.words() for tree in read_brackets(dev, cleaning("ptb"))]
parts = [[words] for words in sentences[::3]] if int(single) else [sentences]
tokens = sum(len(words) for part in parts for words in part)
parser = cleft.load(model)
for _ in sys.stdin:
    start = time.process_time()
    for part in parts:
        for sentence in parser.parse_tokens(part, task="syntax", beam=int(beam)):
            str(sentence.syntax)
    print((time.process_time() - start) * 1e6 / tokens, flush=True)
"""


class Version:
    """A process of one checkout, which parses when it is asked to."""

    def __init__(self, checkout: Path, *how: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", TIMED, *how],
            env={**os.environ, "PYTHONPATH": str(checkout / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def microseconds(self) -> float:
        """The processor time of a pass, a token."""
        assert self._process.stdin
        assert self._process.stdout
        print(file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def main() -> None:
    """Measure by turns, and print a line a round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("model")
    parser.add_argument("model_of_new", nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--single", action="store_true")
    args = parser.parse_args()
    how = str(DEV), str(args.beam), str(int(args.single))
    old = Version(args.old.resolve(), args.model, *how)
    new = Version(ROOT, args.model_of_new or args.model, *how)
    taken = []
    for number in range(args.rounds + 1):
        pair = old.microseconds(), new.microseconds()
        if number:
            taken.append(pair)
            print("old {:.0f} µs, new {:.0f} µs a token".format(*pair), flush=True)
    print(f"{median(one / two for one, two in taken):.2f} times faster (median of the rounds)")


if __name__ == "__main__":
    main()
