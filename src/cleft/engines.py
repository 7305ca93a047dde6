"""Processes that work for this one: those of this machine, or those of a Ray cluster.

Both engines take tasks and give answers; a worker that ends is told as the
`WorkerError` of the task that it was at, and replaced. Only a few tasks are
under way at a time: a slow reader slows the workers down.

A process of this machine is started afresh (never forked), so threads and
sessions of the parent do not matter. It ends when its parent does, however
that ends (`_listen`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from traceback import format_exc
from typing import Any, Self

from cleft.errors import CleftError, WorkerError
from cleft.files import needed
from cleft.runtime.batches import always

AHEAD = 2
"""Tasks under way for each worker."""

WATCH = 1.0
"""Seconds after which a worker without tasks looks for its parent."""

SAFE_PATH = "PYTHONSAFEPATH"

Make = Callable[..., Callable[[Any], Any]]
Answer = tuple[int, Any, Exception | None]
"""The number of a task, its result, and the error that stands in the result's place."""


# ---------------------------------------------------------------- in the worker


def _live(connection: Connection, make: Make, args: tuple[Any, ...]) -> None:
    """The life of a worker: an answer for each task, a pair of a result and an error."""
    # An interrupt at the terminal reaches all processes; the parent's is enough.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(connection, tasks, os.getppid()), daemon=True).start()
    work: Callable[[Any], Any] | None = None
    while True:
        task = tasks.get()
        answer: tuple[Any, Exception | None]
        try:
            work = work or make(*args)
            answer = (work(task), None)
        except Exception as error:
            answer = (None, _portable(error))
        connection.send(answer)


def _portable(error: Exception) -> Exception:
    """An error that can be sent to another process; its traceback becomes a note."""
    found = error
    if not isinstance(error, CleftError):  # ours can all be sent; of others nobody knows
        found = RuntimeError(f"{type(error).__name__}: {error}")
    found.add_note(format_exc())
    return found


def _listen(connection: Connection, tasks: SimpleQueue[Any], parent: int) -> None:
    """Take tasks in as they come; end this process at once when there can be no more of them.

    The connection closes when the parent gives the worker up or ends, even by
    `kill -9`. A process that the parent has forked may hold it open: so the
    parent is looked for too. (The signal that Linux has for this comes when the
    parent's thread ends, which is too early.) Tasks are always taken in, so that
    the parent never waits for a worker that waits for it.
    """
    try:
        while True:
            while not connection.poll(WATCH):
                if os.getppid() != parent:
                    return
            tasks.put(connection.recv())
    except (EOFError, OSError):
        return
    finally:
        os._exit(0)


# ---------------------------------------------------------------- starting one


@contextmanager
def _safe_path() -> Iterator[None]:
    """A process that is started in this does not look for modules in the current folder.

    Python would, until it has been told the path of the parent: a `struct.py`
    beside a corpus would be run.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def _signals_held() -> Iterator[None]:
    """Signals wait till the end of this; a process that is started in it never gets Ctrl-C.

    It takes over the mask, so it is deaf to Ctrl-C even before `_live`, while
    it imports. The mask alone does not hold ours: another thread may get it.
    """
    held: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = {number: handler for number, handler in handlers.items() if main and callable(handler)}
    for number in ours:
        signal.signal(number, lambda number, _: held.append(number))
    try:
        with _masked():
            yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for each in held:
            signal.raise_signal(each)


@contextmanager
def _masked() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - Windows has no masks
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """One process, seen from its parent, and the tasks that it has not answered yet."""

    def __init__(self, make: Make, args: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.under_way: deque[tuple[int, Any]] = deque()
        self._parent = os.getpid()
        try:
            self.connection, theirs = context.Pipe()
            with theirs:
                self._process = context.Process(
                    target=_live, args=(theirs, make, args), daemon=True
                )
                with _safe_path(), _signals_held():
                    self._process.start()
        except (OSError, AssertionError) as error:  # no room, or no right to have children
            raise WorkerError(
                f"worker processes cannot be started: {getattr(error, 'strerror', '') or error}",
                hint="use one job, or raise the limits on open files and processes",
            ) from error

    def send(self, ticket: int, task: Any) -> None:
        """Give a task; an OSError if the process has ended."""
        self.under_way.append((ticket, task))
        self.connection.send(task)

    def receive(self) -> Answer:
        """The next answer; an EOFError or OSError if the process has ended."""
        result, error = self.connection.recv()
        return self.under_way.popleft()[0], result, error

    def end(self) -> None:
        self.connection.close()
        if self._parent == os.getpid():  # in a fork of the parent it is not ours to end
            self._process.terminate()
            self._process.join()


def _dead() -> WorkerError:
    return WorkerError(
        "a worker process ended before its results were there",
        hint="it may have run out of memory, or the program that started it lacks "
        "'if __name__ == \"__main__\":'; use fewer jobs",
    )


# ---------------------------------------------------------------- all of them


class Workers:
    """Processes of this machine that do tasks.

    `make(*args)` is called in each process and gives the function that does a
    task. There are at most `jobs` of them, each started when it is needed; all
    are ended with the block, at once and whatever they are doing. Answers come
    from `wait` as they are ready, or from `result` in the order of the tasks.

    >>> with Workers(2, str) as workers:
    ...     len(workers)
    0
    """

    def __init__(self, jobs: int, make: Make, *args: Any, ahead: int = AHEAD) -> None:
        self.jobs = jobs
        self._ahead = ahead
        self._make, self._args = make, args
        self._workers: list[_Worker] = []
        self._tickets = 0
        self._turns: deque[int] = deque()  # the tasks whose answers are still to be had
        self._answers: dict[int, Answer] = {}

    def __len__(self) -> int:
        """The tasks whose answers are still to be had."""
        return len(self._turns)

    @property
    def is_full(self) -> bool:
        """Whether an answer should be taken before the next task is given."""
        return len(self) >= self._ahead * self.jobs

    def submit(self, task: Any) -> int:
        """Give a task to the worker that has the fewest; the number that its answer will have."""
        self._gather(0)
        ticket = self._tickets
        self._tickets += 1
        self._turns.append(ticket)
        self._give(ticket, task)
        return ticket

    def _give(self, ticket: int, task: Any) -> None:
        worker = min(self._workers, key=lambda each: len(each.under_way), default=None)
        if worker is None or (worker.under_way and len(self._workers) < self.jobs):
            worker = _Worker(self._make, self._args)
            self._workers.append(worker)
        try:
            worker.send(ticket, task)
        except OSError:
            self._bury(worker)

    def _bury(self, worker: _Worker) -> None:
        """Tell the task that a worker ended at; others take what it had not begun."""
        self._workers.remove(worker)
        worker.end()
        if worker.under_way:
            ticket, _ = worker.under_way.popleft()
            self._answers[ticket] = (ticket, None, _dead())
        for ticket, task in worker.under_way:
            self._give(ticket, task)

    def wait(self, seconds: float | None) -> list[Answer]:
        """The answers that are there; so long is waited for the first."""
        if not self._answers:
            self._gather(seconds)
        found, self._answers = [*self._answers.values()], {}
        for ticket, *_ in found:
            self._turns.remove(ticket)
        return found

    def result(self) -> Any:
        """What became of the oldest task: its result, or its error raised."""
        ticket = self._turns.popleft()
        while ticket not in self._answers:
            self._gather(None)
        _, result, error = self._answers.pop(ticket)
        if error is not None:
            raise error
        return result

    def _gather(self, seconds: float | None) -> None:
        """Take in all answers there are; wait so long for the first."""
        known: dict[Any, _Worker] = {each.connection: each for each in self._workers}
        for connection in wait([*known], seconds):
            try:
                answer = known[connection].receive()
            except (EOFError, OSError):
                self._bury(known[connection])
            else:
                self._answers[answer[0]] = answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()


def in_order(
    workers: Workers, tasks: Iterable[Any], ready: Callable[[], bool] = always
) -> Iterator[Any]:
    """The results of all tasks, in order; all that there are before one waits for more tasks.

    `ready` tells whether the next task can be had without waiting for it. The
    workers are ended with the last result, or when no more are wanted.
    """
    with workers:
        for task in tasks:
            workers.submit(task)
            while workers.is_full or (len(workers) and not ready()):
                yield workers.result()
        while len(workers):
            yield workers.result()


# ---------------------------------------------------------------- Ray


class _Actor:
    """What works in a process of a Ray cluster."""

    def __init__(self, make: Make, args: tuple[Any, ...]) -> None:
        self._make, self._args = make, args

    def begin(self) -> Exception | None:
        """Load what it works with."""
        try:
            self._work = self._make(*self._args)
        except Exception as error:
            return _portable(error)
        return None

    def do(self, task: Any) -> tuple[Any, Exception | None]:
        """Do a task."""
        try:
            return self._work(task), None
        except Exception as error:
            return None, _portable(error)


class RayWorkers:
    """Actors of a Ray cluster that do tasks, one for each of `jobs` cores (all that it has).

    Without an address, Ray is started on this machine. An actor gets tasks when
    it has begun, one at a time. One that is lost, with its process or with its
    node, is replaced; the new one begins when the cluster has a core for it.
    """

    def __init__(self, jobs: int | None, address: str | None, make: Make, *args: Any) -> None:
        self._ray = needed("ray", "cluster", "Ray engines")
        self._connect(address)
        self.jobs = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._actor = self._ray.remote(num_cpus=1)(_Actor)
        self._args = (make, args)
        self._tickets = self._outstanding = self._lost = 0
        self._waiting: deque[tuple[int, Any]] = deque()
        self._idle: deque[Any] = deque()
        self._refs: dict[Any, tuple[Any, int | None]] = {}
        for _ in range(self.jobs):
            self._start()

    def _connect(self, address: str | None) -> None:
        self._ours = not self._ray.is_initialized()
        if not self._ours:
            return
        quiet = {"log_to_driver": False, "logging_level": "warning"}
        try:
            if address is None:
                self._ray.init(include_dashboard=False, **quiet)
            else:
                self._ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise WorkerError(
                f"no Ray cluster answers: {error}",
                where=address or "this machine",
                hint="'ray start --head' starts one, and shows its address",
            ) from error

    def _start(self) -> None:
        actor = self._actor.remote(*self._args)
        self._refs[actor.begin.remote()] = (actor, None)

    def __len__(self) -> int:
        """The tasks whose answers are still to be had."""
        return self._outstanding

    @property
    def is_full(self) -> bool:
        """Whether an answer should be taken before the next task is given."""
        return self._outstanding >= self.jobs

    def submit(self, task: Any) -> int:
        """Give a task to an actor that has none; the number that its answer will have."""
        ticket = self._tickets
        self._tickets += 1
        self._outstanding += 1
        self._waiting.append((ticket, task))
        self._give()
        return ticket

    def _give(self) -> None:
        while self._waiting and self._idle:
            (ticket, task), actor = self._waiting.popleft(), self._idle.popleft()
            self._refs[actor.do.remote(task)] = (actor, ticket)

    def wait(self, seconds: float) -> list[Answer]:
        """The answers that are there; so long is waited for the first."""
        refs = [*self._refs]
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=seconds)
        if ready:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        found = [answer for ref in ready if (answer := self._answer(ref)) is not None]
        self._outstanding -= len(found)
        self._give()
        return found

    def _answer(self, ref: Any) -> Answer | None:
        actor, ticket = self._refs.pop(ref)
        try:
            value = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._replace(actor, error)
            return None if ticket is None else (ticket, None, _dead())
        self._lost = 0
        self._idle.append(actor)
        if ticket is not None:
            return (ticket, *value)
        if value is not None:
            raise value
        return None

    def _replace(self, actor: Any, error: Exception) -> None:
        self._lost += 1
        if self._lost > 3 * self.jobs + 3:
            raise WorkerError(
                f"{self._lost} actors of the Ray cluster ended in a row", hint="see its logs"
            ) from error
        self._ray.kill(actor)
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for actor in {
            id(actor): actor for actor in (*self._idle, *(a for a, _ in self._refs.values()))
        }.values():
            self._ray.kill(actor)
        if self._ours:
            self._ray.shutdown()


def start(
    engine: str, jobs: int | None, address: str | None, make: Make, *args: Any
) -> Workers | RayWorkers:
    """The engine of a name, with so many workers, each with a task at a time.

    >>> with start("local", 2, None, str) as engine:
    ...     engine.is_full
    False
    """
    if engine == "ray":
        return RayWorkers(jobs, address, make, *args)
    return Workers(jobs or os.cpu_count() or 1, make, *args, ahead=1)
