"""Parsers that take turns: each loaded in its own process, asked one task at a time.

While one works the others wait, so whatever else the machine does hits all of
them alike. Uses the protocol of peers/measure.py (`serve`). Answers have
seconds and counts; what they make of speed, beside a baseline's, is here too.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import IO, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import places  # noqa: E402
import run  # noqa: E402

__all__ = [
    "HERE",
    "Contestant",
    "Results",
    "Running",
    "contestants",
    "places",
    "rate",
    "ratios",
    "run",
    "with_rates",
]

Results = dict[str, Any]
LOADING = 180.0
"""The most seconds that a parser may take to load."""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A parser to measure: its name in the tables, what runs it, sizes of batches to try."""

    name: str
    kind: str
    """`cleft`, `beam`, `torch` or `peer`."""
    model: str
    """The name of the model, so that a model's greedy, beam and torch can be compared."""
    parser: run.Parser

    @property
    def missing(self) -> str | None:
        """Why it cannot be measured, if it cannot."""
        for path in (self.parser.python, self.parser.model):
            if not path.exists():
                return f"{path.name} of {self.name} is not there"
        return None


def contestants(
    models: Mapping[str, Path],
    checkpoints: Mapping[str, Path],
    peers: Mapping[str, Path],
    batches: tuple[int, ...],
) -> list[Contestant]:
    """All that are measured: the models (greedy and beam), their torch twins, the peers."""
    python = Path(sys.executable)
    found = [_cleft(name, "cleft", python, path, batches) for name, path in models.items()]
    for name, path in peers.items():
        batches_ = run.BATCHES[places.peer_of(name)]
        parser = run.Parser(name, places.interpreter(name), places.driver(name), path, batches_)
        found.append(Contestant(name=name, kind="peer", model=name, parser=parser))
    # Last, so that it is these that go without when the time is used up.
    found += [_cleft(name, "beam", python, path, batches) for name, path in models.items()]
    found += [_cleft(name, "torch", python, path, batches) for name, path in checkpoints.items()]
    return found


SUFFIXES = {"cleft": "", "beam": ", beam 20", "torch": ", PyTorch"}
DRIVERS = {"cleft": "cleft", "beam": "cleft_beam", "torch": "cleft_torch"}


def _cleft(model: str, kind: str, python: Path, path: Path, batches: tuple[int, ...]) -> Contestant:
    name = model + SUFFIXES[kind]
    parser = run.Parser(name, python, places.driver(DRIVERS[kind]), path, batches)
    return Contestant(name=name, kind=kind, model=model, parser=parser)


class Running:
    """A contestant that is loaded, in one process or several that share the sentences."""

    def __init__(self, contestant: Contestant, *, threads: int, jobs: int, limit: int | None):
        self.contestant, self.threads, self.jobs = contestant, threads, jobs
        self.error: str | None = contestant.missing
        self._processes: list[subprocess.Popen[bytes]] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with it
        if self.error is None:
            self._start(limit)

    def _start(self, limit: int | None) -> None:
        options = {"sentences": places.TEST, "lengths": places.LENGTHS, "limit": limit}
        for part in range(self.jobs):
            command = self.contestant.parser.command(
                "serve", threads=self.threads, part=part, parts=self.jobs, **options
            )
            self._processes.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=run.settings(self.threads),
                    bufsize=0,
                )
            )
        self._answers(LOADING)

    def ask(self, allowed: float, **task: object) -> Results:
        """What came of a task, all parts together; an error is a result like any other."""
        if self.error is not None:
            return {"error": self.error}
        before = run.load_average()
        line = json.dumps({**task, "allowed": max(1, int(allowed))}).encode() + b"\n"
        try:
            for process in self._processes:
                assert process.stdin is not None
                process.stdin.write(line)
        except OSError:
            return self._end("the process died")
        # Python's alarm waits for native code to return: a little more time here.
        answers = self._answers(allowed + 20)
        if not answers:
            return {"error": self.error}
        return {**together(answers), "load_average": before}

    def _answers(self, allowed: float) -> list[Results]:
        deadline = time.monotonic() + allowed
        lines = [_read_line(process, deadline) for process in self._processes]
        if any(line is None for line in lines):
            self._end(f"no answer after {allowed:.0f} seconds")
        elif not all(lines):
            self._end("the process died")
        return [] if self.error else [json.loads(line) for line in lines if line]

    def _end(self, problem: str) -> Results:
        self.close()
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace")
        died = "died" in problem
        self.error = f"{problem}: {run.last_words(words)}" if died else problem
        return {"error": self.error}

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        self._processes = []
        if self.error is None:
            self.error = "closed"


def _read_line(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """A line that begins like JSON; None if it does not come in time, b"" if none will."""
    assert process.stdout is not None
    text = b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return None
        block = process.stdout.read(65_536)
        if not block:
            return b""
        text += block
        *lines, text = text.split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                return line


def together(answers: list[Results]) -> Results:
    """One answer of several processes: from the first one's start to the last one's end.

    >>> together([{"sentences": 2, "tokens": 9, "began": 1.0, "ended": 2.5, "memory_mb": 5.0},
    ...           {"sentences": 1, "tokens": 4, "began": 1.5, "ended": 3.0, "memory_mb": 6.0}])
    {'sentences': 3, 'tokens': 13, 'memory_mb': 11.0, 'seconds': 2.0}
    """
    failed = [answer for answer in answers if "error" in answer]
    if failed:
        return failed[0]
    if len(answers) == 1:
        return {key: value for key, value in answers[0].items() if key not in ("began", "ended")}
    sums = {
        key: round(sum(answer[key] for answer in answers), 1) if key == "memory_mb"
        else sum(answer[key] for answer in answers)
        for key in ("sentences", "tokens", "memory_mb")
    }  # fmt: skip
    wall = max(answer["ended"] for answer in answers) - min(answer["began"] for answer in answers)
    return {**sums, "seconds": round(wall, 5)}


# ---------------------------------------------------------------- speeds


def rate(answer: Results) -> float:
    """Sentences a second, 0 where there was an error."""
    return answer["sentences"] / answer["seconds"] if answer.get("seconds") else 0.0


def with_rates(answer: Results) -> Results:
    if "error" in answer:
        return answer
    each = {key: round(answer[key] / answer["seconds"], 2) for key in ("sentences", "tokens")}
    return {
        **answer,
        "sentences_per_second": each["sentences"],
        "tokens_per_second": each["tokens"],
    }


def baseline(names: Iterable[str]) -> str:
    """What the others are held against: SuPar, over another encoder where only that is there.

    >>> baseline(["en", "supar-minilm"]), baseline(["supar-minilm", "supar"]), baseline(["en"])
    ('supar-minilm', 'supar', 'supar')
    """
    return min((name for name in names if name.startswith("supar")), default="supar")


def ratios(answers: dict[str, list[Results]]) -> Results:
    """How many times the baseline's speed, round by round: median, lowest, highest.

    >>> slow, fast = {"seconds": 2.0, "sentences": 4}, {"seconds": 0.5, "sentences": 4}
    >>> ratios({"supar": [slow], "lstm": [fast]})["lstm"]["median"]
    4.0
    """
    found: Results = {}
    base = answers.get(baseline(answers), [])
    for name, rounds in answers.items():
        both = zip(rounds, base, strict=False)
        values = sorted(rate(one) / rate(other) for one, other in both if rate(one) and rate(other))
        if values:
            found[name] = {
                "median": round(median(values), 2),
                "lowest": round(values[0], 2),
                "highest": round(values[-1], 2),
                "rounds": len(values),
            }
    return found
