"""What a worker does with a window that nobody waits for any more."""

import multiprocessing
import os
import signal
import threading

import pytest

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
