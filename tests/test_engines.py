"""Worker processes: results in order, errors in their place, and an end for every one of them."""

import fcntl
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cleft import engines
from cleft.engines import Workers
from cleft.errors import InputError, WorkerError
from cleft.parser import load
from tests.runtime.models import model
from tests.runtime.tasks import doubling, failing, nesting, sleeping


def test_results_come_in_order_and_an_error_in_its_place() -> None:
    with Workers(2, doubling, 1) as crew:
        for task in (0, 1, "two", 3):
            crew.submit(task)
        assert len(crew) == 4
        assert crew.is_full
        assert [crew.result(), crew.result()] == [1, 3]
        with pytest.raises(InputError, match="expected a number, found 'two'"):
            crew.result()
        assert crew.result() == 7
        assert len(crew) == 0


def test_a_worker_that_cannot_begin_says_why() -> None:
    with Workers(1, failing) as crew:
        crew.submit(1)
        with pytest.raises(InputError, match="the model is gone"):
            crew.result()


def test_workers_are_ended_whatever_they_are_doing() -> None:
    with Workers(2, sleeping) as crew:
        crew.submit(1000)
        crew.submit(1000)
        processes = multiprocessing.active_children()
        assert len(processes) == 2
    assert not any(process.is_alive() for process in processes)


def test_a_worker_that_is_killed_is_told_and_replaced() -> None:
    with Workers(1, sleeping) as crew:
        crew.submit(1000)
        (process,) = multiprocessing.active_children()
        process.kill()
        with pytest.raises(WorkerError, match="a worker process ended"):
            crew.result()
        crew.submit(0)
        assert crew.result() is None


def test_what_a_killed_worker_had_not_begun_is_done_by_another() -> None:
    with Workers(1, doubling, 1) as crew:
        killed, kept = crew.submit("kill"), crew.submit(3)
        found = {}
        while len(crew):
            found.update({ticket: (result, error) for ticket, result, error in crew.wait(None)})
        assert isinstance(found[killed][1], WorkerError)
        assert found[kept] == (7, None)


def test_answers_can_be_had_as_they_are_ready() -> None:
    with Workers(2, doubling, 1) as crew:
        slow, fast = crew.submit(0), crew.submit(1)
        assert crew.wait(0) == []
        found = []
        while len(crew):
            found += crew.wait(1)
        assert sorted(found) == [(slow, 1, None), (fast, 3, None)]


def test_an_error_that_cannot_be_sent_is_told_by_its_name() -> None:
    with Workers(1, doubling, 1) as crew:
        crew.submit("odd")
        with pytest.raises(RuntimeError, match="OddError: 1 and 2"):
            crew.result()


def test_a_fork_does_not_end_the_workers_of_its_parent() -> None:
    with Workers(1, doubling, 0) as crew:
        crew.submit(1)
        child = os.fork()
        if child == 0:
            crew.__exit__(None, None, None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert crew.result() == 2


PROGRAM = """\
import fcntl, os, sys, time
from cleft.engines import Workers

def make():
    lock = open(f"worker-{os.getpid()}", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.write(1, b"ready\\n")
    return lambda seconds: (time.sleep(seconds), lock)

if __name__ == "__main__":
    with Workers(2, make) as workers:
        workers.submit(1000)
        workers.submit(1000)
        if sys.argv[1:] and os.fork() == 0:
            sys.stdin.read()  # a process that holds the connections, and outlives its parent
            os._exit(0)
        workers.result()
"""


def program(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """A program whose workers are at work."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", *arguments]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
    return process


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number: int, tmp_path: Path) -> None:
    """Whatever a program has started holds its standard output, the resource tracker too."""
    process = program(tmp_path)
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == -number


def is_free(path: Path) -> bool:
    with open(path) as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def test_workers_end_even_if_another_process_holds_their_connections(tmp_path: Path) -> None:
    process = program(tmp_path, "fork")
    process.kill()
    process.wait(60)
    end = time.monotonic() + 60
    while not all(map(is_free, tmp_path.glob("worker-*"))):
        assert time.monotonic() < end, "a worker is still there"
        time.sleep(0.05)
    process.communicate(timeout=60)  # the other process ends with its standard input


def test_a_system_without_room_for_workers_is_told() -> None:
    parser = load(model("lstm"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = parser.stream(["The heron waits.", "Rain fell."], jobs=2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(WorkerError, match=r"cannot be started: Too many open files"):
            next(found)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_worker_without_the_right_to_workers_is_told() -> None:
    with Workers(1, nesting) as crew:
        crew.submit(1)
        assert "daemonic processes are not allowed to have children" in crew.result()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_worker_is_started(number: int) -> None:
    before = signal.signal(number, signal.default_int_handler)
    reached = []

    def interrupted() -> None:
        with engines._signals_held():
            os.kill(os.getpid(), number)
            reached.append(True)

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert reached == [True]


def test_another_thread_leaves_the_handler_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def hold() -> None:
        with engines._signals_held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    assert seen == [before]
