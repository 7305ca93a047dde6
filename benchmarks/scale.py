"""What the driver of a corpus run costs, with workers that parse nothing.

    python benchmarks/scale.py [--shards 1000000] [--real 2000] [--ray]

Each shard is one short line, so that the plan is as long as it gets. The first
row is the plan; the second a run on an engine that answers at once, which is
the driver alone; the third the start of the same run once more. With `--real`
come so many shards on two processes of this machine, and with `--ray` on two
actors. Seconds are those of the driver's CPU; memory is the most it ever had.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

from cleft.corpus.driver import Engine, Journal, run_shards
from cleft.corpus.plan import Options, Plan, find_files, make_plan
from cleft.corpus.shard import Outcome, Task
from cleft.engines import start

OUT = Path("out")


class Instant:
    """An engine that has an answer at once, and no workers."""

    jobs = 1000

    def __init__(self) -> None:
        self.count = 0
        self.open: deque[int] = deque()

    @property
    def is_full(self) -> bool:
        """Whether a thousand tasks are under way."""
        return len(self.open) >= self.jobs

    def submit(self, task: Task) -> int:
        """Take a task."""
        self.count += 1
        self.open.append(self.count)
        return self.count

    def wait(self, seconds: float) -> list[tuple[int, Any, Exception | None]]:
        """Answer the oldest."""
        return [(self.open.popleft(), _outcome(f"node-{self.count % 1000}"), None)]


def _outcome(worker: str) -> Outcome:
    return Outcome(items=1, sentences=9000, tokens=200_000, bytes=2, seconds=60.0, worker=worker)


class Nothing:
    """A worker that writes an output of two bytes."""

    def __init__(self, out: str) -> None:
        self.out = Path(out)

    def __call__(self, task: Task) -> Outcome:
        """Do nothing."""
        (self.out / task.name).write_text("{}")
        return _outcome(f"process {os.getpid()}")


def planned(count: int) -> Plan:
    """A plan of so many shards."""
    with open("lines.txt", "wb") as stream:
        stream.write(b"x\n" * count)
    options = Options(input="lines", shard_size=1 / 2**20, compress="none")
    OUT.mkdir()
    found = find_files(["lines.txt"], "lines", OUT)
    return make_plan(OUT, options, {"path": "en", "sha256": ""}, found)


def measured(name: str, count: int, work: Callable[[], Any]) -> Any:
    """Do some work; print what it took."""
    began, passed = time.process_time(), time.monotonic()
    value = work()
    cpu, wall = time.process_time() - began, time.monotonic() - passed
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    micro = cpu / count * 1e6
    print(f"| {name} | {count:,} | {cpu:.1f} | {micro:.0f} | {wall:.1f} | {most:.0f} |", flush=True)
    return value


def run(plan: Plan, engine: Engine) -> None:
    done = run_shards(plan, OUT, engine, lambda _: None).done
    assert done == len(plan), f"{done} of {len(plan)} shards"


def simulated(count: int) -> None:
    plan = measured("plan", count, lambda: planned(count))
    measured("driver", count, lambda: run(plan, Instant()))
    measured("read the plan", count, lambda: Plan.read(OUT))
    measured("read the journal", count, lambda: Journal(OUT, plan))
    sizes = {path.name: path.stat().st_size / 2**20 for path in OUT.iterdir()}
    print(f"\n{', '.join(f'{name} {size:.0f} MB' for name, size in sizes.items() if size > 1)}\n")


def real(count: int, engine: str) -> None:
    plan = planned(count)
    with start(engine, 2, None, Nothing, str(OUT.absolute())) as crew:
        measured(f"driver and two workers, {engine}", count, lambda: run(plan, crew))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--real", type=int, default=2_000)
    parser.add_argument("--ray", action="store_true")
    args = parser.parse_args()
    print("| | shards | CPU s | µs a shard | wall s | MB at most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for work in (
        lambda: simulated(args.shards),
        lambda: real(args.real, "local"),
        lambda: real(args.real, "ray") if args.ray else None,
    ):
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            work()


if __name__ == "__main__":
    main()
