"""Decoding by length of sentence, 10 to 2,000 tokens: ours, a CRF's, a chart's.

    python benchmarks/complexity.py --model en=DIR [--model NAME=DIR ...] [--quick] [--resume]

Each decoder alone, by peers/decode.py: no encoder, no scores of a chart. All
decoders at one length, then the next, each in a process of its own with one
thread. One that failed, or took more than `--patience` seconds, is not asked
for longer sentences. Writes results/complexity.json after each length;
report.py makes the table of slopes and the plots. Needs peers/prepare.py, and
for the peers peers/install.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from sections import LENGTHS
from speed import pairs, save
from turns import HERE, places, run

OUTPUT = HERE / "results" / "complexity.json"
SEARCHES = ("greedy", "beam 20", "levels")
SLOW = "not measured: a shorter one took too long"
PEERS = {"supar": "SuPar, CRF", "benepar": "benepar, chart"}


def decoders(models: dict[str, Path]) -> dict[str, list[str]]:
    """The command of each decoder by its name in the table; a peer must be installed."""
    script = str(HERE / "peers" / "decode.py")
    found = {
        f"{name}, {search}": [
            *(sys.executable, script, "cleft", "--model", str(path), "--search", search)
        ]
        for name, path in models.items()
        for search in SEARCHES
    }
    for peer, title in PEERS.items():
        if places.interpreter(peer).exists():
            found[title] = [str(places.interpreter(peer)), script, peer]
    return found


def ask(command: list[str], length: int, options: argparse.Namespace) -> dict[str, Any]:
    """What came of one length."""
    limits = ["--budget", str(options.budget), "--memory", str(options.memory)]
    whole = [*command, "--length", str(length), *limits]
    before, began = run.load_average(), time.monotonic()
    try:
        done = subprocess.run(
            whole,
            capture_output=True,
            text=True,
            env=run.settings(1),
            timeout=options.timeout,
            check=False,
        )
        found = run.only(run.parse_lines(done.stdout))
        if not done.stdout:
            found = {"error": f"exit {done.returncode}: {run.last_words(done.stderr)}"}
    except subprocess.TimeoutExpired:
        found = {"error": f"no end after {options.timeout} seconds"}
    return {**found, "took": round(time.monotonic() - began, 1), "load_average": before}


def is_beyond(answers: dict[str, Any], patience: float) -> bool:
    """Whether a longer sentence is out of reach."""
    return any("error" in one or one["ms"] > 1000 * patience for one in answers.values())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", metavar="NAME=PATH", action="append", default=[])
    parser.add_argument("--quick", action="store_true", help="short sentences: does it run?")
    parser.add_argument("--resume", action="store_true", help="keep what is there")
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of repeated decoding")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds of one decoding")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of a process")
    parser.add_argument("--memory", type=float, default=6.0, help="gigabytes of a process")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    commands = decoders(pairs(options.model))
    results: dict[str, Any] = {"decoders": {}}
    if options.resume and options.output.exists():
        results = json.loads(options.output.read_text(encoding="utf-8"))
    results |= {"machine": run.machine(), "quick": options.quick}
    for length in LENGTHS[:3] if options.quick else LENGTHS:
        for name, command in commands.items():
            known = results["decoders"].setdefault(name, {})
            if str(length) in known:
                continue
            beyond = is_beyond(known, options.patience)
            known[str(length)] = {"error": SLOW} if beyond else ask(command, length, options)
        save(options.output, results)
        print(f"{time.strftime('%H:%M:%S')} {length} tokens", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
