"""Put the torture corpus through every door, and write down what came of it.

    python -m tests.torture.run [--doors DOOR ...] [--limit N] [--output FILE]

Each door is a process of its own, so that its peak memory is its own. Doors
that are not asked for keep what the output file already says of them. The exit
code is 1 if anything was lost, out of order, wrong or not an error of cleft's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cleft
from tests.torture.corpus import Case, corpus, counts, sample

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "benchmarks" / "results" / "torture.json"
DOORS = ("api", "shell", "web", "spacy", "documents", "determinism")
FP32 = Path.home() / "cleft-runs" / "exports" / "minilm"
"""A model that is not quantised, where there is one."""


def api(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.api import through_api

    return through_api(cases, options.model, jobs=2, every=options.every)


def shell(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.shell import through_shell

    with tempfile.TemporaryDirectory() as folder:
        counts = {"drawn": options.drawn, "most": options.alone}
        return through_shell(cases, options.model, Path(folder), **counts)


def web(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.web import through_web

    return served(options, lambda running: through_web(cases, running, every=options.every))


def served(options: argparse.Namespace, ask: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """What comes of asking a server, and how that ended."""
    from tests.server.running import in_process

    # On a busy machine the long ones take long; that they are cut off is tested elsewhere.
    with in_process("--model", options.model, "--seconds", "3000") as (running, process):
        assert process.stderr is not None
        # Its log is read on, or the server would wait for room in the pipe.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        found = ask(running)
        process.terminate()
        found["exit"] = process.wait(60)
        return found


def documents(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.documents import through_api, through_shell, through_web

    with tempfile.TemporaryDirectory() as folder:
        return {
            **through_api(cases, options.model, every=options.every),
            **through_shell(cases, options.model, Path(folder)),
            **served(options, lambda running: through_web(cases[:: options.every], running)),
        }


def spacy(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.pipeline import through_spacy

    return through_spacy(cases, options.model)


def determinism(cases: Sequence[Case], options: argparse.Namespace) -> dict[str, Any]:
    from tests.torture.determinism import compositions, fresh_digest, unequal

    sentences = list(to_compare(cases, options.compared))
    found: dict[str, Any] = {"inputs": len(sentences), "sentences": 0, "errors": {}, "faults": []}
    models: dict[str, Any] = {}
    for name, model in (("as it is", options.model), ("fp32", FP32)):
        if model is FP32 and not FP32.exists():
            models[name] = {"skipped": f"no model in ~/{FP32.relative_to(Path.home())}"}
            continue
        digests = {fresh_digest(model, sentences, beam=4, seed=seed) for seed in (1, 2)}
        parts = compositions(model, sentences)
        models[name] = {"same bytes twice": len(digests) == 1, **parts}
        found["sentences"] += len(sentences) * (2 + len(parts))
        if len(digests) != 1:
            found["faults"].append(f"{name}: two processes wrote different bytes")
        if model is FP32:  # int8 is measured, and promises nothing
            found["faults"] += [f"{name}: {one}" for one in unequal(parts)]
    return {"compared": found, "models": models}


def to_compare(cases: Sequence[Case], count: int) -> Iterator[list[str]]:
    """Sentences that can be parsed, half of them ordinary ones, the rest odd lists of tokens."""
    texts = [
        case.content.split()
        for case in cases
        if case.kind in ("ordinary", "mutated") and isinstance(case.content, str)
    ]
    lists = [case.content for case in cases if isinstance(case.content, list) and not case.is_long]
    yield from [one for one in texts if one][: count // 2]
    yield from [one for one in lists if one and all(one)][: count - count // 2]


def peak_memory() -> dict[str, int]:
    """Megabytes of this process, and of the largest one it started."""
    who = {"self": resource.RUSAGE_SELF, "largest child": resource.RUSAGE_CHILDREN}
    return {name: resource.getrusage(one).ru_maxrss // 1024 for name, one in who.items()}


def one_door(options: argparse.Namespace) -> None:
    """In a process of its own: one door, its results as JSON on standard output."""
    cases = sample(options.limit) if options.limit else list(corpus())
    began, used = time.time(), time.process_time()
    found = globals()[options.door](cases, options)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    names = ("limit", "every", "drawn", "alone", "compared")
    found["options"] = {name: getattr(options, name) for name in names}
    found["seconds"] = round(time.time() - began)
    found["cpu_seconds"] = round(time.process_time() - used + children.ru_utime)
    found["peak_memory_mb"] = peak_memory()
    print(json.dumps(found))


def run(options: argparse.Namespace) -> int:
    known = json.loads(options.output.read_text()) if options.output.exists() else {}
    doors = known.get("doors", {})
    for door in options.doors:
        command = [sys.executable, "-m", "tests.torture.run", "--door", door]
        for name in ("model", "limit", "every", "drawn", "alone", "compared"):
            command += [f"--{name}", str(getattr(options, name))]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
        if done.returncode:
            doors[door] = {"fault": f"the process ended with {done.returncode}"}
        else:
            doors[door] = json.loads(done.stdout.splitlines()[-1])
        print(f"{door}: {summary(doors[door])}", flush=True)
        kinds = counts()
        data = {
            "command": "make torture",
            "version": cleft.__version__,
            "model": str(options.model),
            "corpus": {"inputs": sum(kinds.values()), "kinds": dict(sorted(kinds.items()))},
            "doors": doors,
        }
        options.output.write_text(json.dumps(data, indent=1, ensure_ascii=True) + "\n")
    return int(any(faults(found) for found in doors.values()))


def faults(found: dict[str, Any]) -> list[str]:
    parts = [part for part in found.values() if isinstance(part, dict) and "faults" in part]
    return [fault for part in parts for fault in part["faults"]] + (
        [found["fault"]] if "fault" in found else []
    )


def summary(found: dict[str, Any]) -> str:
    parts = [part for part in found.values() if isinstance(part, dict) and "inputs" in part]
    inputs, sentences = (sum(part[key] for part in parts) for key in ("inputs", "sentences"))
    errors = sum(sum(part["errors"].values()) for part in parts)
    wrong = faults(found)
    lines = [
        f"{inputs:,} inputs, {sentences:,} results, {errors:,} of cleft's own errors, "
        f"{len(wrong)} faults, peak memory {found.get('peak_memory_mb')} MB"
    ]
    return "\n  ".join([*lines, *(repr(one)[:300] for one in wrong[:20])])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doors", nargs="*", choices=DOORS, default=DOORS)
    parser.add_argument("--door", choices=DOORS, help=argparse.SUPPRESS)
    parser.add_argument("--model", default="en")
    parser.add_argument("--limit", type=int, default=0, help="a sample of so many inputs")
    parser.add_argument("--every", type=int, default=10, help="one in so many also alone")
    parser.add_argument("--drawn", type=int, default=600, help="so many in every output format")
    parser.add_argument("--alone", type=int, default=100, help="so many in a process each")
    parser.add_argument("--compared", type=int, default=600, help="so many for determinism")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    if options.door:
        one_door(options)
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
