"""`cleft corpus` against the library's best batched speed, and workers against one.

    python benchmarks/corpus.py [--model en-fast --model en] [--sentences 20000] [--ray]
    python benchmarks/corpus.py --model en-fast --sentences 0 --lines 200000

Everything is measured in turns, both trees, starting workers included, on the
tokenised sentences of wsj-sample; the best of all rounds counts. The library is
`Parser.stream` with two jobs, and two processes that parse half each and drop
their trees: the faster of them is what the others are held against. `--ray`
adds the Ray engine, without the time to start Ray. SuPar (peers/), where it is
set up, takes its turn with syntax alone, loaded and in two processes, on the
test sentences of the same source: the last column is the ratio to it, in tokens.
`--lines` is the memory of a worker over so many lines; without sentences only that.
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
from collections.abc import Callable, Mapping
from contextlib import chdir
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path

from turns import Running, contestants, places

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


HALF = """\
import sys
from cleft.parser import load
with open("lines.txt", encoding="utf-8") as stream:
    lines = stream.read().splitlines()[int(sys.argv[2]) :: 2]
for _ in load(sys.argv[1], threads=1).stream(line.split() for line in lines):
    pass
"""


def halves(model: str) -> None:
    command = [sys.executable, "-c", HALF, model]
    started = [subprocess.Popen([*command, str(part)]) for part in range(2)]
    assert [each.wait() for each in started] == [0, 0]


def library(model: str, jobs: int) -> None:
    lines = Path("lines.txt").read_text(encoding="utf-8").splitlines()
    for _ in load(model).stream((line.split() for line in lines), jobs=jobs):
        pass


LIBRARY = ("library, 2 jobs", "library, 2 processes")
ONE = "corpus, 1 worker"


def ways(model: str, *, ray: bool) -> dict[str, Callable[[], None]]:
    found: dict[str, Callable[[], None]] = {
        LIBRARY[0]: partial(library, model, 2),
        LIBRARY[1]: partial(halves, model),
        ONE: partial(corpus, model, 1, "local"),
        "corpus, 2 workers": partial(corpus, model, 2, "local"),
        "corpus, 2 workers, syntax": partial(corpus, model, 2, "local", "syntax"),
    }
    if ray:
        found["corpus, Ray, 2 workers"] = partial(corpus, model, 2, "ray")
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


def supar(rounds: int) -> float | None:
    """SuPar's tokens a second, at the setting that is its best on two cores; None without it."""
    (peer,) = contestants({}, {}, {"supar": places.model("supar")}, ())
    running = Running(peer, threads=1, jobs=2, limit=None)
    try:
        found = [running.ask(600, do="batched") for _ in range(rounds)]
    finally:
        running.close()
    if "error" in found[0]:
        print(f"SuPar: {found[0]['error']}", file=sys.stderr)
        return None
    return max(float(each["tokens"] / each["seconds"]) for each in found)


def table(model: str, best: Mapping[str, float], length: float, peer: float | None) -> None:
    """Print the rows of a model; `length` is the tokens of a sentence."""
    base = max(best[name] for name in LIBRARY)
    for name, speed in best.items():
        cells = [model, name, f"{speed:.0f}", f"{speed * length:,.0f}", f"{speed / base:.2f}"]
        ratio = f"{speed * length / peer:.2f}" if peer else ""
        print(f"| {' | '.join([*cells, f'{speed / best[ONE]:.2f}', ratio])} |", flush=True)


MEMORY = """\
import json, resource, sys
from pathlib import Path
from cleft.corpus.plan import Plan
from cleft.corpus.shard import ShardWorker, Task
plan = Plan.read(Path(sys.argv[1]))
work = ShardWorker(sys.argv[2], plan.root, plan.options, plan.options.model)
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
    args = parser.parse_args()
    models = args.model or ["en-fast", "en"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        if args.sentences:
            compared(models, args)
        for model in models if args.lines else []:
            memory(model, args.lines)


def compared(models: list[str], args: argparse.Namespace) -> None:
    """Print the table of all ways."""
    lines = tokens(args.sentences)
    Path("lines.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    length = sum(len(line.split()) for line in lines) / len(lines)
    if args.ray:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    peer = supar(args.rounds)
    print(f"load {os.getloadavg()[0]:.1f}; {length:.1f} tokens a sentence", end="")
    print(f"; SuPar, syntax alone: {peer:,.0f} tokens/s\n" if peer else "\n")
    print("| model | way | sentences/s | tokens/s | against library | against 1 worker | × SuPar |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for model in models:
        table(model, speeds(model, args), length, peer)


if __name__ == "__main__":
    main()
