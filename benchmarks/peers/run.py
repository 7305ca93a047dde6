"""Measure the peers and collect one JSON.

    python benchmarks/peers/run.py [--quick] [--output FILE] [supar] [benepar] [stanza]
    python benchmarks/peers/run.py --torture INPUTS.jsonl [--output FILE] [PEER ...]

Plain Python, standard library only: each measurement is one process of a
peer's own environment (see measure.py for what a mode does). `bench` and
`torture` can be called from another script, so that cleft's own numbers come
from the same run. A peer that is missing or fails is recorded as such.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from places import CACHE, HERE, LENGTHS, PEERS, TEST, driver, interpreter, model, peer_of

# Each peer's own default first, then what may suit a CPU better.
# (benepar: 100 and more are tokens, of sentences of like length, as its trainer parses.)
BATCHES = {"supar": (5000, 1000), "benepar": (64, 8, 500), "stanza": (50, 100)}
HARD_INPUTS: dict[str, list[str]] = {
    "empty sentence": [],
    "one word": ["word"],
    "empty token": ["an", "", "token"],
    "space token": ["a", " ", "token"],
    "line break in a token": ["a\nb"],
    "bracket": ["(", "word", ")"],
    "bracket inside a token": ["a(b"],
    "control character": ["\x00"],
    "emoji": ["🙂", "word"],
    "500 tokens": ["word"] * 500,
    "1,000 tokens": ["word"] * 1000,
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much is measured."""

    starts: int = 5
    repeat: int = 5
    limit: int | None = None
    single: int = 60
    threads: Sequence[int] = (1, 2)
    jobs: int = 2
    timeout: int = 1800


QUICK = Plan(starts=1, repeat=1, limit=6, single=3, threads=(1,), timeout=600)


@dataclass(frozen=True)
class Parser:
    """A parser to measure: which interpreter runs which driver on which model."""

    name: str
    python: Path
    driver: Path
    model: Path
    batches: Sequence[int] = ()

    def command(self, mode: str, **options: object) -> list[str]:
        """The command line of one measurement."""
        command = [str(self.python), str(self.driver), mode, "--model", str(self.model)]
        for key, value in options.items():
            if value is True:
                command.append(f"--{key}")
            elif value is not None and value is not False:
                command += [f"--{key}", str(value)]
        return command


def peer(name: str) -> Parser:
    return Parser(name, interpreter(name), driver(name), model(name), BATCHES[peer_of(name)])


def settings(threads: int) -> dict[str, str]:
    count = str(threads)
    return {**os.environ, "OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}


def load_average() -> float:
    return round(os.getloadavg()[0], 2)


def parse_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def last_words(stderr: str) -> str:
    lines = [line for line in stderr.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


def call(
    parser: Parser, mode: str, timeout: int, threads: int = 1, **options: object
) -> list[dict[str, Any]]:
    """The results of one process; its death is one more result."""
    command = parser.command(mode, threads=threads, started=time.time(), **options)
    before = load_average()
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=settings(threads),
            timeout=timeout,
            check=False,
        )
        results, status = parse_lines(done.stdout), done.returncode
        problem = f"exit {status}: {last_words(done.stderr)}" if status else ""
    except subprocess.TimeoutExpired as error:
        results = parse_lines((error.stdout or b"").decode())
        problem = f"no end after {timeout} seconds"
    except OSError as error:
        results, problem = [], f"{type(error).__name__}: {error}"
    if problem:
        results.append({"error": problem})
    return [{**result, "load_average": before} for result in results]


def only(results: list[dict[str, Any]]) -> dict[str, Any]:
    return results[-1] if results else {"error": "no result"}


def start_up(parser: Parser, plan: Plan) -> dict[str, Any]:
    """Fresh processes, the first not counted: it fills the disk cache."""
    runs = [
        only(call(parser, "start", plan.timeout, sentences=TEST)) for _ in range(plan.starts + 1)
    ][1:]
    good = [run for run in runs if "error" not in run]
    if not good:
        return runs[-1]
    keys = ("seconds", "import_seconds", "load_seconds", "memory_mb", "load_average")
    middle = {key: round(median(run[key] for run in good), 3) for key in keys}
    return {**middle, "runs": [run["seconds"] for run in good], "weights": good[0]["weights"]}


def batched(parser: Parser, plan: Plan) -> list[dict[str, Any]]:
    """Every batch size and number of threads, then processes of one thread each."""
    options = {"sentences": TEST, "limit": plan.limit, "repeat": plan.repeat}
    results = []
    for batch in parser.batches or (None,):
        for threads in plan.threads:
            found = only(call(parser, "batched", plan.timeout, threads, batch=batch, **options))
            results.append({"jobs": 1, "threads": threads, "batch": batch, **found})
        if plan.jobs > 1:
            results.append(side_by_side(parser, plan, batch=batch, **options))
    return results


def side_by_side(parser: Parser, plan: Plan, **options: object) -> dict[str, Any]:
    """Several processes, each with its part of the sentences, started together."""
    before = load_average()
    running = []
    for part in range(plan.jobs):
        command = parser.command("batched", part=part, parts=plan.jobs, wait=True, **options)
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        pipes |= {"stderr": subprocess.DEVNULL, "env": settings(1)}
        running.append(subprocess.Popen(command, **pipes))
    ready = [bool(process.stdout and process.stdout.readline()) for process in running]
    try:
        texts = [process.communicate("go\n", timeout=plan.timeout)[0] for process in running]
    except (OSError, subprocess.TimeoutExpired) as error:
        for process in running:
            process.kill()
        return {"jobs": plan.jobs, "threads": 1, "error": f"{type(error).__name__}: {error}"}
    results = [only(parse_lines(text)) for text in texts]
    setting = {"jobs": plan.jobs, "threads": 1, "batch": options.get("batch")}
    if not all(ready) or any("error" in result for result in results):
        return {**setting, "error": "a process failed"}
    wall = max(one["ended"] for one in results) - min(one["began"] for one in results)
    count = sum(result["sentences"] for result in results)
    return {
        **setting,
        "sentences": count,
        "sentences_per_second": round(count * plan.repeat / wall, 2),
        "memory_mb": round(sum(result["memory_mb"] for result in results), 1),
        "load_average": before,
    }


def single(parser: Parser, plan: Plan) -> list[dict[str, Any]]:
    options = {"sentences": TEST, "limit": plan.single, "repeat": min(plan.repeat, 3)}
    return [
        {"threads": threads, **only(call(parser, "single", plan.timeout, threads, **options))}
        for threads in plan.threads
    ]


def hard_inputs(parser: Parser, plan: Plan) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "hard.jsonl"
        inputs.write_text("".join(json.dumps(one) + "\n" for one in HARD_INPUTS.values()))
        results = torture(parser, inputs, plan.timeout)
    return dict(zip(HARD_INPUTS, results, strict=True))


def torture(
    parser: Parser,
    inputs: Path,
    timeout: int = 1800,
    *,
    allowed: int = 60,
    budget: float | None = None,
) -> list[dict[str, Any]]:
    """One result an input; a process that dies is started again after that input.

    `allowed` is the seconds that an input may take, `budget` those of all
    processes together: what is not reached in it has the status `not tried`.
    """
    count = sum(1 for line in inputs.read_text(encoding="utf-8").split("\n") if line)
    results: list[dict[str, Any]] = []
    end = time.monotonic() + budget if budget else None
    while len(results) < count:
        left = int(end - time.monotonic()) if end else timeout
        if left < 1:
            rest = range(len(results), count)
            return [*results, *({"index": index, "status": "not tried"} for index in rest)]
        options: dict[str, Any] = {"inputs": inputs, "skip": len(results), "allowed": allowed}
        found = call(parser, "torture", min(left, timeout), **options)
        results += [one for one in found if "index" in one]
        late = end is not None and time.monotonic() >= end
        if len(results) < count and not late:
            problem = only(found).get("error", "the process died")
            results.append({"index": len(results), "status": "crash", "error": problem})
    return results


def size(parser: Parser) -> dict[str, Any]:
    command = [str(parser.python), str(HERE / "environment.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": last_words(done.stderr)}


def predict(parser: Parser, plan: Plan) -> dict[str, Any]:
    """Parse the test set into a file of the cache directory, for score.py."""
    name = "quick" if plan.limit else "test"
    target = CACHE / parser.name / f"{name}.predicted.mrg"
    target.parent.mkdir(parents=True, exist_ok=True)
    results = call(parser, "predict", plan.timeout, sentences=TEST, limit=plan.limit)
    trees = [one["brackets"] for one in results if "brackets" in one]
    target.write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    failed = [one for one in results if "error" in one]
    return failed[0] if failed else {"trees": len(trees), "file": str(target)}


def measure(parser: Parser, plan: Plan) -> dict[str, Any]:
    """All that is measured of one parser."""
    if not parser.python.exists() or not parser.model.exists():
        return {"error": f"{parser.name} is not set up; run install.py"}
    results: dict[str, Any] = {"environment": size(parser), "start": start_up(parser, plan)}
    results["batched"] = batched(parser, plan)
    good = [one for one in results["batched"] if "sentences_per_second" in one]
    results["best_batched"] = max(good, key=lambda one: one["sentences_per_second"], default=None)
    results["single"] = single(parser, plan)
    repeat = min(plan.repeat, 3)
    results["lengths"] = call(parser, "lengths", plan.timeout, lengths=LENGTHS, repeat=repeat)
    results["hard_inputs"] = hard_inputs(parser, plan)
    results["predicted"] = predict(parser, plan)
    return results


def machine() -> dict[str, Any]:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load_average": load_average(),
        "when": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def bench(names: Sequence[str] = PEERS, plan: Plan = QUICK) -> dict[str, Any]:
    """Everything about these peers, ready for JSON."""
    before = machine()
    found = {}
    for name in names:
        print(f"measuring {name}", file=sys.stderr)
        found[name] = measure(peer(name), plan)
    return {"machine": before, "load_average_after": load_average(), "peers": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="a handful of sentences: does it run?")
    parser.add_argument("--torture", type=Path, help="JSONL of token lists or strings")
    parser.add_argument("--output", type=Path, help="instead of stdout")
    options = parser.parse_args()
    names = options.peers or PEERS
    if set(names) - set(PEERS):
        parser.error(f"expected peers of {', '.join(PEERS)}, found {', '.join(names)}")
    if options.torture:
        results: Any = {name: torture(peer(name), options.torture) for name in names}
    else:
        results = bench(names, QUICK if options.quick else Plan())
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
