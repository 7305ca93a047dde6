"""A pipe whose writer rests gives the results of what has been said."""

import json
import os
import subprocess
import sys
import threading

import pytest

from cleft.cli import main
from cleft.cli.reading import Live, is_live
from cleft.runtime.batches import windows
from tests.runtime.models import model

MAIN = "import sys; from cleft.cli import main; sys.exit(main())"


@pytest.fixture
def talk():
    """A command that reads a pipe: `say` writes to it, `hear` gives its next line."""
    running = []

    def start(command, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, command, "-", "--model", model("words"), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)

        def say(text):
            process.stdin.write(text)
            process.stdin.flush()

        return process, say, process.stdout.readline

    yield start
    for process in running:
        process.stdin.close()
        assert process.wait(60) == 0, process.stderr.read()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_each_line_is_answered_before_the_next_is_written(talk, jobs):
    _, say, hear = talk("parse", "--format", "jsonl", "--input", "lines", "--jobs", jobs)
    for text in ("She left.", "Rain fell.", "The heron waits."):
        say(f"{text}\n")
        assert json.loads(hear())["text"] == text


def test_raw_text_is_answered_at_the_end_of_a_paragraph_whenever_it_comes(talk):
    """A rest inside a sentence changes nothing: results do not depend on time."""
    process, say, hear = talk("segment", "--format", "jsonl")
    say("She left. Rain fell\n\nThe old")
    assert [json.loads(hear())["text"] for _ in range(2)] == ["She left.", "Rain fell"]
    say(" heron\n")
    say("waits.\n")
    process.stdin.close()
    assert json.loads(hear())["text"] == "The old heron\nwaits."


def test_what_is_at_hand_is_parsed_in_windows_as_large_as_without_a_pipe():
    said, go_on = threading.Event(), threading.Event()

    def slow():
        yield from range(40)
        said.set()
        go_on.wait(60)
        yield from range(40, 100)

    live = Live(slow())
    assert said.wait(60)
    found = windows(live, size=64, ready=live.ready)
    assert len(next(found)) == 32
    assert len(next(found)) == 8  # the writer rests
    go_on.set()
    assert [item for window in found for item in window] == list(range(40, 100))


def test_what_goes_wrong_in_reading_is_raised_after_what_was_read():
    def failing():
        yield "a"
        raise ValueError("no more")

    live = Live(failing())
    items = iter(live)
    assert next(items) == "a"
    assert live.ready()
    with pytest.raises(ValueError, match="no more"):
        next(items)


def test_no_more_than_so_many_are_read_ahead():
    taken = []

    def counting():
        for number in range(100):
            taken.append(number)
            yield number

    live = Live(counting(), ahead=3)
    items = iter(live)
    assert next(items) == 0
    assert live.ready()
    assert len(taken) <= 6
    assert [0, *items] == list(range(100))


def test_a_file_is_not_live_and_neither_is_what_a_program_puts_in_the_place(
    tmp_path, monkeypatch, capsys
):
    path = tmp_path / "notes.txt"
    path.write_text("Rain fell.\n")
    with path.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert not is_live()
        arguments = ["parse", "-", "--model", str(model("words")), "--format", "jsonl"]
        assert main(arguments) == 0
        assert json.loads(capsys.readouterr().out)["text"] == "Rain fell."
    monkeypatch.setattr(sys, "stdin", None)
    assert not is_live()
    read, write = os.pipe()
    with os.fdopen(write), os.fdopen(read) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert is_live()
