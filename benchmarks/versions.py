"""Two versions of cleft by turns: processor time a token, greedy, trees written as brackets.

    python benchmarks/versions.py OLD_CHECKOUT MODEL_OF_OLD [MODEL_OF_NEW] [--rounds 2]

OLD_CHECKOUT is another checkout of the repository (`git worktree add ../old COMMIT`). Each
round parses wsj-sample dev six times in a process of each version, one thread, and takes the
median of all but the first. A model may be given for each, where an export of its own belongs
to a version.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEV = ROOT / "../shared/data/syntax/wsj-sample/dev.mrg"
PASSES = 6
TIMED = """
import sys, time
import cleft
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import cleaning

model, dev, passes = sys.argv[1:]
sentences = [tree.words() for tree in read_brackets(dev, cleaning("ptb"))]
tokens = sum(map(len, sentences))
parser = cleft.load(model)
taken = []
for _ in range(int(passes)):
    start = time.process_time()
    for sentence in parser.parse_tokens(sentences, task="syntax"):
        str(sentence.syntax)
    taken.append((time.process_time() - start) * 1e6 / tokens)
print(sorted(taken[1:])[len(taken[1:]) // 2])
"""


def microseconds(checkout: Path, model: str) -> float:
    """The median of a process of one version, a token."""
    command = [sys.executable, "-c", TIMED, model, str(DEV), str(PASSES)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Measure by turns, and print a line a round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("model")
    parser.add_argument("model_of_new", nargs="?")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    for _ in range(args.rounds):
        old = microseconds(args.old.resolve(), args.model)
        new = microseconds(ROOT, args.model_of_new or args.model)
        print(f"old {old:.0f} µs, new {new:.0f} µs a token: {old / new:.2f} times faster")


if __name__ == "__main__":
    main()
