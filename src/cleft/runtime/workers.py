"""Worker processes that each have a parser, and results that come back in order.

A process is started afresh (never forked), so threads and sessions of the
parent do not matter. Only a few windows are under way at a time: a slow reader
slows the workers down.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cleft.errors import WorkerError
from cleft.runtime.batches import always

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

    from cleft.given import Given
    from cleft.parser import Parser, Sentence

__all__ = ["parse_in_workers"]

AHEAD = 2
"""Windows under way for each worker."""

_parser: Parser | None = None
_given_up: Event | None = None


def _begin(path: str, threads: int, given_up: Event) -> None:
    """Load the model in a new worker."""
    global _parser, _given_up  # a worker has one parser for its life
    from cleft.parser import load

    # An interrupt at the terminal reaches all processes; the parent's is enough.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _parser, _given_up = load(path, threads=threads), given_up


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Interrupts wait till the end of this; a process that is started in it never gets one.

    It takes over the mask, so it is deaf to Ctrl-C even before `_begin`, while
    it imports. The mask alone does not hold ours: another thread may get it.
    """
    held: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    if handler is not None:
        signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        with _masked():
            yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        if held:
            signal.raise_signal(signal.SIGINT)


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


@contextmanager
def _startable() -> Iterator[None]:
    """Say so where the system has no room for more processes, pipes or semaphores."""
    try:
        yield
    except OSError as error:
        raise WorkerError(
            f"worker processes cannot be started: {error.strerror or error}",
            hint="use one job, or raise the limits on open files and processes",
        ) from error


def _parse(window: list[Given], options: dict[str, Any]) -> list[Sentence]:
    assert _parser is not None
    assert _given_up is not None
    if _given_up.is_set():  # windows that a worker has in its queue cannot be cancelled
        return []
    return _parser.parse_given(window, **options)


def parse_in_workers(
    path: str,
    windows: Iterable[list[Given]],
    options: dict[str, Any],
    *,
    jobs: int,
    threads: int,
    ready: Callable[[], bool] = always,
) -> Iterator[Sentence]:
    """The results of all windows, in order; all that there are before one waits for more."""
    with _startable():
        context = multiprocessing.get_context("spawn")
        given_up = context.Event()
        pool = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_begin, initargs=(path, threads, given_up)
        )
    waiting: deque[Future[list[Sentence]]] = deque()
    try:
        for window in windows:
            with _startable(), _interrupts_held():  # this is where workers are started
                waiting.append(pool.submit(_parse, window, options))
            while len(waiting) >= AHEAD * jobs or (waiting and not ready()):
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process ended before its results were there",
            hint="it may have run out of memory, or the program that started it lacks "
            "'if __name__ == \"__main__\":'; use fewer jobs",
        ) from error
    finally:
        given_up.set()
        pool.shutdown(cancel_futures=True)
