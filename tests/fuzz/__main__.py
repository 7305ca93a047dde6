"""`make fuzz`: every target for its share of the time, and a JSON of what was tried.

Each target runs in a process of its own, some at a time, which may take so much
memory and no more: what dies, dies alone and is told as a finding.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.fuzz import readers
from tests.fuzz.cases import Target
from tests.fuzz.models import export_all
from tests.fuzz.trying import Tally, attempt

ROOMY = 3 << 30
"""Bytes of address space beyond what a target has when it starts."""
ROUND = 400


def groups() -> dict[str, Callable[[], list[Target]]]:
    """Targets by what they share, made when they are asked for."""
    from tests.fuzz import http, models

    return {"readers": readers.targets, "models": models.targets, "http": http.targets}


def names() -> list[str]:
    """All targets, with the name of their group."""
    return [f"{group}/{target.name}" for group, make in groups().items() for target in make()]


def find(name: str) -> Target:
    """A target by its name."""
    group, _, rest = name.partition("/")
    return next(target for target in groups()[group]() if target.name == rest)


def limit_memory() -> None:
    """From here on, an allocation beyond reason is a MemoryError."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOMY, size + ROOMY))


def one(name: str, seconds: float) -> dict[str, Any]:
    """Try a target until the time is over or something is found."""
    target, tally, failure = find(name), Tally(), ""
    target.warm()
    limit_memory()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end = time.monotonic() + seconds
    store = DirectoryBasedExampleDatabase(Path(".hypothesis") / "fuzz" / name)

    def tried(case: object) -> None:
        if time.monotonic() < end:
            attempt(target, case, tally)

    quiet = settings(
        max_examples=ROUND,
        deadline=None,
        database=store,
        # Not made smaller: that would take longer than the box of time has.
        phases=(Phase.reuse, Phase.generate),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    number = time.time_ns()
    while time.monotonic() < end and not failure:
        number += 1
        try:
            seed(number)(quiet(given(target.cases)(tried)))()
        except BaseException:  # an AssertionError, a MemoryError, whatever escaped
            failure = traceback.format_exc()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "target": name,
        "examples": tally.examples,
        "accepted": tally.accepted,
        "refused": tally.refused,
        "slowest_seconds": round(tally.slowest, 3),
        "peak_mb": round(peak / 1024),
        "grown_mb": round((peak - before) / 1024),
        "failure": failure,
    }


def apart(name: str, seconds: float) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.fuzz", "--target", name, "--seconds", str(seconds)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        found = {"target": name, "examples": 0, "failure": f"exit {run.returncode}: {run.stderr}"}
    said = "FAILED" if found["failure"] else f"slowest {found['slowest_seconds']} s"
    print(f"{name}: {found['examples']} examples, {said}", file=sys.stderr, flush=True)
    if found["failure"]:
        print(found["failure"][-3000:], file=sys.stderr, flush=True)
    return found


def every(minutes: float, only: str, jobs: int) -> dict[str, Any]:
    """All targets, so many at a time."""
    chosen = [name for name in names() if only in name]
    share = minutes * 60 * jobs / len(chosen)
    with TemporaryDirectory(prefix="cleft-fuzz-models-") as where, ThreadPoolExecutor(jobs) as pool:
        began = time.monotonic()
        plain = [name for name in chosen if name.startswith("readers/")]
        under_way = [pool.submit(apart, name, share) for name in plain]
        if len(plain) < len(chosen):  # the others need models, which take a while to make
            export_all(Path(where))
        others = [name for name in chosen if name not in plain]
        under_way += [pool.submit(apart, name, share) for name in others]
        found = [future.result() for future in under_way]
    return {
        "command": f"make fuzz FUZZ_MINUTES={minutes:g} FUZZ_JOBS={jobs}",
        "machine": f"{platform.machine()} {sys.platform}, Python {platform.python_version()}",
        "minutes": round((time.monotonic() - began) / 60, 1),
        "examples": sum(row["examples"] for row in found),
        "failures": sum(bool(row["failure"]) for row in found),
        "targets": found,
    }


def main() -> int:
    """Fuzz everything, or one target."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    parser.add_argument("--target", help="one target, in this process")
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    if args.target:
        print(json.dumps(one(args.target, args.seconds)))
        return 0
    result = every(args.minutes, args.only, args.jobs)
    if args.output:
        args.output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{result['examples']} examples, {result['failures']} targets with a finding")
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
