"""Processes that work for this one: started with care, answering in order, ending with it.

A worker is started afresh (never forked), so threads and sessions of the
parent do not matter. It ends when its parent does, however that ends
(`_listen`). Only a few tasks are under way at a time: a slow reader slows the
workers down.
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
from types import TracebackType
from typing import Any

from cleft.errors import WorkerError
from cleft.runtime.batches import always

AHEAD = 2
"""Tasks under way for each worker."""

WATCH = 1.0
"""Seconds after which a worker without tasks looks for its parent."""

SAFE_PATH = "PYTHONSAFEPATH"

Make = Callable[..., Callable[[Any], Any]]


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
            error.add_note(format_exc())
            answer = (None, error)
        connection.send(answer)


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
    """One process, seen from its parent: `under_way` tasks, and answers to earlier ones."""

    def __init__(self, make: Make, args: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.under_way = 0
        self.answers: deque[tuple[Any, Exception | None]] = deque()
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

    def send(self, task: Any) -> None:
        with _told_if_dead():
            self.connection.send(task)
        self.under_way += 1

    def receive(self) -> None:
        with _told_if_dead():
            self.answers.append(self.connection.recv())
        self.under_way -= 1

    def end(self) -> None:
        self.connection.close()
        if self._parent == os.getpid():  # in a fork of the parent it is not ours to end
            self._process.terminate()
            self._process.join()


@contextmanager
def _told_if_dead() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise WorkerError(
            "a worker process ended before its results were there",
            hint="it may have run out of memory, or the program that started it lacks "
            "'if __name__ == \"__main__\":'; use fewer jobs",
        ) from error


# ---------------------------------------------------------------- all of them


class Workers:
    """Processes that do tasks; what becomes of each comes back in the order of the tasks.

    `make(*args)` is called in each process and gives the function that does a
    task. There are at most `jobs` of them, each started when it is needed; all
    are ended with the block, at once and whatever they are doing.

    >>> with Workers(2, str) as workers:
    ...     len(workers)
    0
    """

    def __init__(self, jobs: int, make: Make, *args: Any) -> None:
        self.jobs = jobs
        self._make, self._args = make, args
        self._workers: list[_Worker] = []
        self._turns: deque[_Worker] = deque()  # whose answer is next

    def __len__(self) -> int:
        """The tasks whose results are still to be had."""
        return len(self._turns)

    @property
    def is_full(self) -> bool:
        """Whether a result should be taken before the next task is given."""
        return len(self) >= AHEAD * self.jobs

    def submit(self, task: Any) -> None:
        """Give a task to the worker that has the fewest."""
        self._gather(0)
        worker = min(self._workers, key=lambda each: each.under_way, default=None)
        if worker is None or (worker.under_way and len(self._workers) < self.jobs):
            worker = _Worker(self._make, self._args)
            self._workers.append(worker)
        worker.send(task)
        self._turns.append(worker)

    def result(self) -> Any:
        """What became of the oldest task: its result, or its error raised."""
        worker = self._turns.popleft()
        while not worker.answers:
            self._gather(None)
        result, error = worker.answers.popleft()
        if error is not None:
            raise error
        return result

    def _gather(self, seconds: float | None) -> None:
        """Take in all answers there are; wait so long for the first."""
        known: dict[Any, _Worker] = {each.connection: each for each in self._workers}
        for connection in wait([*known], seconds):
            known[connection].receive()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
