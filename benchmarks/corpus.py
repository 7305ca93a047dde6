"""`cleft corpus` against the library's best batched speed, and workers against one.

    python benchmarks/corpus.py [--model en-fast --model en] [--sentences 20000] [--ray]
                                [--lines 200000] [--rounds 3] [--supar 350]

Everything is measured in turns, starting workers included, on the tokenised
sentences of wsj-sample; the best of all rounds counts. `library` is
`Parser.stream` with two jobs, whose trees are dropped. `--ray` adds the Ray
engine, without the time to start Ray. `--lines` adds the memory of a worker
over so many lines. `--supar` is SuPar's sentences a second for syntax alone, as
`benchmarks/results/speed.json` has it for this machine: the last column is
the ratio to it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from itertools import count, cycle, islice
from pathlib import Path

from cleft.corpus.driver import run
from cleft.corpus.plan import Options
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import clean_tree, cleaning
from cleft.parser import load

TREES = Path(__file__).parents[2] / "shared" / "data" / "syntax" / "wsj-sample" / "train.mrg"
NUMBERS = count()


def tokens(wanted: int) -> list[str]:
    """Tokenised sentences, one a line; those of the treebank again and again."""
    rules = cleaning("ptb")
    assert rules is not None
    words = [clean_tree(tree, rules).words() for tree in read_brackets(TREES)]  # type: ignore[union-attr]
    return [" ".join(each) for each in islice(cycle(words), wanted)]


def corpus(model: str, workers: int, engine: str, task: str = "both") -> None:
    options = Options(model=model, input="tokens", task=task)
    out = Path(f"out-{next(NUMBERS)}")
    progress = run(["lines.txt"], out, options, workers=workers, engine=engine)
    assert progress.done == progress.shards
    assert not progress.errors


def library(model: str, jobs: int) -> None:
    lines = Path("lines.txt").read_text(encoding="utf-8").splitlines()
    for _ in load(model).stream((line.split() for line in lines), jobs=jobs):
        pass


def ways(model: str, *, ray: bool) -> dict[str, Callable[[], None]]:
    found: dict[str, Callable[[], None]] = {
        "library, 2 jobs": lambda: library(model, 2),
        "corpus, 1 worker": lambda: corpus(model, 1, "local"),
        "corpus, 2 workers": lambda: corpus(model, 2, "local"),
        "corpus, 2 workers, syntax": lambda: corpus(model, 2, "local", "syntax"),
    }
    if ray:
        found["corpus, Ray, 2 workers"] = lambda: corpus(model, 2, "ray")
    return found


def speeds(model: str, args: argparse.Namespace) -> dict[str, float]:
    """The best sentences a second of each way."""
    best: dict[str, float] = {}
    for _ in range(args.rounds):
        for name, work in ways(model, ray=args.ray).items():
            began = time.monotonic()
            work()
            best[name] = max(best.get(name, 0.0), args.sentences / (time.monotonic() - began))
    return best


def table(model: str, best: dict[str, float], supar: float | None) -> None:
    base, one = best["library, 2 jobs"], best["corpus, 1 worker"]
    for name, speed in best.items():
        cells = [model, name, f"{speed:.0f}", f"{speed / base:.2f}", f"{speed / one:.2f}"]
        print(f"| {' | '.join([*cells, f'{speed / supar:.2f}' if supar else ''])} |", flush=True)


MEMORY = """\
import json, resource, sys
from pathlib import Path
from cleft.corpus.plan import Options, Plan
from cleft.corpus.shard import Task, make_worker
from dataclasses import asdict
plan = Plan.read(Path(sys.argv[1]))
work = make_worker(sys.argv[2], plan.root, asdict(plan.options), plan.options.model)
most = []
for number in range(len(plan)):
    work(Task(plan[number], f"shard-{number}"))
    most.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
print(json.dumps(most))
"""


def memory(model: str, lines: int) -> None:
    """Print the most memory of a worker after a tenth, a half and all of so many lines."""
    from cleft.corpus.plan import find_files, make_plan

    Path("many.txt").write_text("\n".join(tokens(lines)) + "\n", encoding="utf-8")
    out = Path(f"out-{next(NUMBERS)}")
    out.mkdir()
    options = Options(model=model, input="tokens")
    make_plan(out, options, {"path": model, "sha256": ""}, find_files(["many.txt"], "tokens", out))
    command = [sys.executable, "-c", MEMORY, str(out), str(out)]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    parts = [found[len(found) // 10], found[len(found) // 2], found[-1]]
    print(f"{model}, {lines:,} lines: {parts} MB after a tenth, a half, all; ", end="")
    print(f"this driver {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=0)
    parser.add_argument("--ray", action="store_true")
    parser.add_argument("--supar", type=float)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("lines.txt").write_text("\n".join(tokens(args.sentences)) + "\n", encoding="utf-8")
        if args.ray:
            import ray

            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        print(f"load {os.getloadavg()[0]:.1f}\n")
        print("| model | way | sentences/s | against library | against 1 worker | SuPar |")
        print("| --- | --- | --- | --- | --- | --- |")
        for model in args.model or ["en-fast", "en"]:
            table(model, speeds(model, args), args.supar)
        for model in (args.model or ["en-fast", "en"]) if args.lines else []:
            memory(model, args.lines)


if __name__ == "__main__":
    main()
