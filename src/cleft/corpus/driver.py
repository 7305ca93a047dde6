"""A corpus run seen from its driver: what is done, what is next, what has died.

The driver hands shards to an engine and writes a line of `journal.jsonl` for
each that is finished; no tree passes through it. A shard is done if it has
both its line and its output. So whatever ends a run, the same command goes on
with what is missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from cleft import files
from cleft.corpus.plan import PLAN as PLAN_NAME
from cleft.corpus.plan import InputFile, Options, Plan, changes, find_files, grown, make_plan
from cleft.corpus.shard import WHOLE, Outcome, ShardWorker, Task, shard_name
from cleft.engines import start
from cleft.errors import CleftError, OutputError, UsageError, WorkerError
from cleft.models import builtin_models, model_path
from cleft.runtime import ModelDirectory

BOTH = "both"
JOURNAL, REPORT, LOCK = "journal.jsonl", "report.json", ".lock"
TRIES = 2
"""How often a task may end its worker before it is cut in halves."""
ROUNDS = 3
"""How often the item that ends workers is looked for before a shard is given up."""
IN_A_ROW = 10
"""So many workers that end, with nothing finished in between, end the run."""
FIRST = 10
"""The errors that a report tells in full."""
TICK = 0.5
"""Seconds after which progress is told though nothing was finished."""


class Engine(Protocol):
    """What does tasks: processes of this machine, or actors of a Ray cluster."""

    jobs: int

    @property
    def is_full(self) -> bool:
        """Whether an answer should be waited for before the next task is given."""

    def submit(self, task: Any) -> int:
        """Give a task; the number by which its answer is known."""

    def wait(self, seconds: float) -> list[tuple[int, Any, Exception | None]]:
        """The answers that are there, or come so soon; a WorkerError for a worker that ended."""


# ---------------------------------------------------------------- what is done


@dataclass(slots=True)
class Progress:
    """What a run has done, earlier runs into the same folder included."""

    shards: int
    done: int = 0
    sentences: int = 0
    tokens: int = 0
    bytes: int = 0
    seconds: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    first: list[str] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    workers: dict[str, list[float]] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)
    began: float = 0.0
    before: tuple[int, int] = (0, 0)

    def begin(self, at: float) -> None:
        """Begin a run: rates are those of the present one."""
        self.began, self.before = at, (self.done, self.sentences)
        self.failed.clear()

    def add(self, number: int, outcome: Outcome) -> None:
        """Count a finished shard."""
        self.done += 1
        self.failed.pop(number, None)
        self.sentences += outcome.sentences
        self.tokens += outcome.tokens
        self.bytes += outcome.bytes
        self.errors.update(outcome.errors)
        if outcome.first and len(self.first) < FIRST:
            self.first.append(outcome.first)
        if outcome.remark:
            self.remarks[outcome.remark] = None
        shards, seconds = self.workers.get(outcome.worker, (0, 0.0))
        self.workers[outcome.worker] = [shards + 1, seconds + outcome.seconds]

    def rate(self, now: float) -> tuple[float, float | None]:
        """Sentences a second in the present run, and the seconds left, if that is known."""
        passed, done = now - self.began, self.done - self.before[0]
        if passed <= 0 or not done:
            return 0.0, None
        left = (self.shards - self.done - len(self.failed)) * passed / done
        return (self.sentences - self.before[1]) / passed, left


class Journal:
    """The lines of finished shards; a line that was cut short counts for nothing."""

    def __init__(self, out: Path, plan: Plan) -> None:
        self.path = out / JOURNAL
        self.plan = plan
        self.progress = Progress(len(plan))
        self.is_done = bytearray(len(plan))
        self.last = 0.0
        self._there = _outputs(out, plan)
        if self.path.exists():
            with open(self.path, encoding="utf-8", errors="replace") as stream:
                for line in stream:
                    with suppress(ValueError, KeyError, TypeError, IndexError):
                        self._read(json.loads(line))

    def _read(self, line: dict[str, Any]) -> None:
        at = float(line["at"])
        if "run" in line:
            self.progress.seconds += max(0.0, self.last - self.progress.began)
            self.progress.begin(at)
        self.last = at
        number = line.get("shard")
        if number is None:
            return
        if "failed" in line:
            self.progress.failed[number] = line["failed"]
        elif self._there[number] and not self.is_done[number]:
            known = {name: line[name] for name in Outcome._fields if name in line}
            self.progress.add(number, Outcome(**known))
            self.is_done[number] = 1

    @contextmanager
    def writing(self, **about: Any) -> Iterator[Callable[..., None]]:
        """A function that adds a line, for the length of a run."""
        self.progress.seconds += max(0.0, self.last - self.progress.began)
        with open(self.path, "ab") as stream:
            if stream.tell():
                stream.write(b"\n")  # what was cut short is a line of its own

            def write(**line: Any) -> None:
                self.last = time.time()
                text = json.dumps({**line, "at": round(self.last, 3)}, separators=(",", ":"))
                stream.write(text.encode() + b"\n")
                stream.flush()

            write(run=about)
            self.progress.begin(self.last)
            try:
                yield write
            finally:
                stream.flush()
                os.fsync(stream.fileno())
        self.progress.seconds += time.time() - self.progress.began


def _outputs(out: Path, plan: Plan) -> bytearray:
    """Which shards have their output."""
    there = bytearray(len(plan))
    sample = shard_name(0, len(plan), plan.options)
    head, digits = "shard-", len(sample.split(".")[0]) - len("shard-")
    tail = sample[len(head) + digits :]
    with os.scandir(out) as entries:
        for entry in entries:
            name = entry.name
            number = name[len(head) : len(head) + digits]
            fits = name.startswith(head) and name.endswith(tail) and number.isdecimal()
            if fits and int(number) < len(plan):
                there[int(number)] = 1
    return there


def _clear(out: Path) -> None:
    """Remove what workers that ended have left unfinished."""
    with os.scandir(out) as entries:
        for entry in entries:
            if entry.name.endswith(files.PARTIAL):
                with suppress(OSError):
                    Path(entry.path).unlink()


# ---------------------------------------------------------------- the folder


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """The output folder for this process alone; made if it is not there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        stream = open(out / LOCK, "a+", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "name a folder with -o that is yours to write to, or that is not there yet"
        raise OutputError(f"cannot be written: {reason}", where=str(out), hint=hint) from error
    with stream:
        if not files.try_lock(stream):
            stream.seek(0)
            raise UsageError(
                f"another run is writing to it ({stream.read(200).strip() or 'a process'})",
                where=str(out),
                hint="wait for it, or name another folder",
            )
        stream.truncate(0)
        stream.write(f"process {os.getpid()} of {socket.gethostname()}\n")
        stream.flush()
        yield


def prepare(out: Path, inputs: list[str], options: Options, model: Mapping[str, str]) -> Plan:
    """The plan to go on with, or a new one."""
    found = find_files(inputs, options.input, out)
    if options.document:
        _refuse_sentences(found)
    if (out / PLAN_NAME).exists():
        plan = Plan.read(out)
        told = changes(plan, options, model, found)
        if told:
            more = f" and {len(told) - 5} more" if len(told) > 5 else ""
            raise UsageError(
                f"it holds another run: {'; '.join(told[:5])}{more}",
                where=str(out),
                hint="give the same command to go on, or name another folder",
            )
        return plan
    others = [path.name for path in out.iterdir() if not path.name.startswith((".", "plan."))]
    if others:
        raise UsageError(
            f"the folder is not empty ({min(others)}), and holds no run",
            where=str(out),
            hint="name a new folder",
        )
    return make_plan(out, options, model, found)


def _refuse_sentences(found: list[InputFile]) -> None:
    """Fail on files that hold sentences where documents are asked for."""
    for each in found:
        if each.kind not in ("text", "jsonl", "parquet"):
            raise UsageError(
                f"--document expects text, or rows with a text, found {each.kind}",
                where=each.name,
                hint="name other files, or use 'cleft parse --document', which takes it",
            )


# ---------------------------------------------------------------- the run


class _Search:
    """Looks for the items of a shard that end their workers, by halves."""

    def __init__(self, task: Task) -> None:
        self.task = task._replace(dry=True)
        self.found: dict[int, str] = dict(task.skip)
        self.open = 0
        self.rounds = 0

    def begin(self) -> list[Task]:
        """The first task: how many items there are."""
        self.rounds += 1
        self.open = 1
        return [self.task._replace(first=0, last=0)]

    def _halves(self, first: int, last: int) -> list[Task]:
        middle = (first + last) // 2
        ranges = [(a, b) for a, b in ((first, middle), (middle, last)) if a < b]
        self.open += len(ranges)
        skip = tuple(self.found.items())
        return [self.task._replace(first=a, last=b, skip=skip) for a, b in ranges]

    def lived(self, task: Task, outcome: Outcome) -> list[Task]:
        """What to try after a worker that lived."""
        self.open -= 1
        return [] if task.last else self._halves(0, outcome.items)

    def died(self, task: Task, why: str) -> list[Task]:
        """What to try after a task that ended its worker as often as it may."""
        self.open -= 1
        if task.last - task.first == 1:
            self.found[task.first] = why
            return []
        return self._halves(task.first, task.last)


class _Run:
    """The tasks of a run: those under way, those to be tried again, and whose turn is next."""

    def __init__(self, journal: Journal, engine: Engine, write: Callable[..., None]) -> None:
        self.journal, self.engine, self.write = journal, engine, write
        self.plan, self.progress = journal.plan, journal.progress
        self._next = (n for n in range(len(self.plan)) if not journal.is_done[n])
        self._again: deque[Task] = deque()
        self._under_way: dict[int, Task] = {}
        self._ended: Counter[tuple[int, int, int]] = Counter()
        self._searches: dict[int, _Search] = {}
        self._in_a_row = 0

    def go(self, tell: Callable[[Progress], None]) -> None:
        """Do all that is missing."""
        try:
            while self._fill():
                self._take(TICK)
                tell(self.progress)
        except BaseException:
            with suppress(Exception):
                self._take(0)  # what is finished already counts
            raise

    def _take(self, seconds: float) -> None:
        """Take the answers that are there, or come so soon."""
        for ticket, outcome, error in self.engine.wait(seconds):
            task = self._under_way.pop(ticket)
            if error is None:
                self._in_a_row = 0
                self._lived(task, outcome)
            elif isinstance(error, CleftError) and not isinstance(error, WorkerError):
                raise error
            else:
                self._died(task, error)

    def _fill(self) -> bool:
        """Give tasks while there are any and the engine takes them; whether any are under way."""
        while not self.engine.is_full:
            if self._again:
                task = self._again.popleft()
            elif (number := next(self._next, None)) is not None:
                name = shard_name(number, len(self.plan), self.plan.options)
                task = Task(self.plan[number], name)
            else:
                break
            self._under_way[self.engine.submit(task)] = task
        return bool(self._under_way)

    def _lived(self, task: Task, outcome: Outcome) -> None:
        number = task.shard.number
        if task.dry:
            self._went_on(number, self._searches[number].lived(task, outcome))
            return
        self.progress.add(number, outcome)
        self._searches.pop(number, None)
        self.write(shard=number, **outcome._asdict())

    def _died(self, task: Task, error: Exception) -> None:
        number = task.shard.number
        self._in_a_row += 1
        if self._in_a_row > max(IN_A_ROW, 3 * self.engine.jobs):
            raise WorkerError(
                f"{self._in_a_row} worker processes ended in a row",
                hint="is there enough memory? use fewer workers",
            ) from error
        key = (number, task.first, task.last)
        self._ended[key] += 1
        if self._ended[key] < TRIES:
            self._again.append(task)
            return
        del self._ended[key]
        why = "" if isinstance(error, WorkerError) else f"{type(error).__name__}: {error}"
        if not task.dry:
            search = self._searches.setdefault(number, _Search(task))
            if search.rounds < ROUNDS:
                self._again.extend(search.begin())
            else:
                self._fail(number, why)
        elif not task.last:  # it cannot even be read
            self._fail(number, why)
        else:
            self._went_on(number, self._searches[number].died(task, why))

    def _went_on(self, number: int, tasks: list[Task]) -> None:
        """Go on with a search; at its end the shard is done without what was found."""
        self._again.extend(tasks)
        search = self._searches[number]
        if not search.open:
            skip = tuple(sorted(search.found.items()))
            self._again.append(search.task._replace(dry=False, first=0, last=WHOLE, skip=skip))

    def _fail(self, number: int, why: str) -> None:
        del self._searches[number]
        told = why or "its worker processes ended each time, and no single item does that"
        self.progress.failed[number] = told
        self.write(shard=number, failed=told)


def run_shards(
    plan: Plan,
    out: Path,
    engine: Engine,
    tell: Callable[[Progress], None],
    about: Mapping[str, Any] | None = None,
) -> Progress:
    """Do what is missing of a plan, and write `report.json`, whatever ends it."""
    journal = Journal(out, plan)
    state = "interrupted"
    try:
        with journal.writing(**(about or {})) as write:
            _Run(journal, engine, write).go(tell)
        state = "complete" if journal.progress.done == len(plan) else "incomplete"
    except KeyboardInterrupt as error:
        error.add_note(f"{journal.progress.done} of {len(plan)} shards are done in {out}")
        error.add_note("the same command does the rest")
        raise
    finally:
        journal.progress.remarks.update(dict.fromkeys(grown(plan)))
        with suppress(CleftError):  # a full disk is told already
            write_report(out, plan, journal.progress, state)
    return journal.progress


def run(
    inputs: list[str],
    out: Path,
    options: Options,
    *,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> Progress:
    """Parse a corpus into a folder, or go on with it: all of `cleft corpus`.

    `tell` is called with the progress again and again, `say` with remarks.
    """
    model = _model(options)
    with locked(out):
        plan = prepare(out, inputs, options, model)
        for remark in grown(plan):
            say(remark)
        _clear(out)
        jobs = workers if workers is not None or engine == "ray" else os.cpu_count() or 1
        jobs = jobs and min(jobs, max(1, len(plan)))
        args = (str(out.absolute()), plan.root, options, model["path"])
        try:
            with start(engine, jobs, address, ShardWorker, *args) as crew:
                about = {"engine": engine, "workers": crew.jobs}
                return run_shards(plan, out, crew, tell, about)
        finally:
            _clear(out)


def _model(options: Options) -> dict[str, str]:
    """The model by name or absolute path, and a sum over all its files."""
    path = model_path(options.model)
    directory = ModelDirectory(path)
    if options.task not in (BOTH, *directory.manifest.tasks):
        known = " and ".join(directory.manifest.tasks)
        raise UsageError(
            f"the model has no task {options.task!r}", where=options.model, hint=f"it has {known}"
        )
    if options.document:
        directory.manifest.need_units(options.model)
    known = json.dumps(directory.sums, sort_keys=True)
    name = options.model if options.model in builtin_models() else str(path.absolute())
    return {"path": name, "sha256": hashlib.sha256(known.encode()).hexdigest()}


# ---------------------------------------------------------------- reports


def write_report(out: Path, plan: Plan, progress: Progress, state: str) -> None:
    """Write `report.json`: counts, errors by kind, time by worker."""
    seconds = progress.seconds
    report = {
        "state": state,
        "hash": plan.header["hash"],
        "files": len(plan.files),
        "shards": progress.shards,
        "done": progress.done,
        "failed": {str(number): why for number, why in sorted(progress.failed.items())},
        "sentences": progress.sentences,
        "tokens": progress.tokens,
        "bytes": progress.bytes,
        "errors": dict(sorted(progress.errors.items())),
        "first_errors": progress.first,
        "remarks": list(progress.remarks),
        "seconds": round(seconds, 3),
        "sentences_per_second": round(progress.sentences / seconds, 1) if seconds > 0 else 0.0,
        "workers": {
            name: {"shards": int(count), "seconds": round(busy, 3)}
            for name, (count, busy) in sorted(progress.workers.items())
        },
        "options": asdict(plan.options),
        "model": plan.header["model"],
    }
    with files.writing(out / REPORT) as stream:
        stream.write(json.dumps(report, indent=2) + "\n")


def status(out: Path) -> tuple[Progress, float | None, str]:
    """How far a run is; the time of its last line, and who is at it (empty for nobody)."""
    plan = Plan.read(out)
    journal = Journal(out, plan)
    holder = ""
    with suppress(OSError), open(out / LOCK, encoding="utf-8") as stream:
        if not files.try_lock(stream):
            holder = stream.read(200).strip()
    return journal.progress, journal.last or None, holder
