"""What a worker does with a window that nobody waits for any more."""

import errno
import multiprocessing
import os
import signal
import threading

import pytest

from cleft.errors import WorkerError
from cleft.given import Reading
from cleft.parser import load
from cleft.runtime import workers
from cleft.search import SearchOptions
from tests.runtime.models import model


def test_windows_are_dropped_once_results_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up = multiprocessing.get_context("spawn").Event()
    monkeypatch.setattr(workers, "_parser", load(model("lstm")))
    monkeypatch.setattr(workers, "_given_up", given_up)
    window = list(Reading().sentences(["The heron waits.", "Rain fell."]))
    options = {"task": "both", "options": SearchOptions()}
    assert len(workers._parse(window, options)) == 2
    given_up.set()
    assert workers._parse(window, options) == []


def test_a_system_without_room_for_workers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    items = ["The heron waits.", "Rain fell."]
    parser = load(model("lstm"))
    for place in ("ProcessPoolExecutor", "ProcessPoolExecutor.submit"):
        with monkeypatch.context() as patch:
            patch.setattr(f"cleft.runtime.workers.{place}", full)
            with pytest.raises(WorkerError, match=r"cannot be started: Too many open files"):
                list(parser.stream(items, jobs=2))


def test_an_interrupt_waits_until_a_worker_is_started() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    reached = []

    def interrupted() -> None:
        with workers._interrupts_held():
            os.kill(os.getpid(), signal.SIGINT)
            reached.append(True)

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached == [True]


def test_another_thread_leaves_the_handler_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def hold() -> None:
        with workers._interrupts_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [before]
