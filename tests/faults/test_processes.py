"""The processes of a command: what they import, how they end and what they leave."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.commands import (
    MODULE,
    SCRIPT,
    TREE,
    UNSAFE,
    cleft,
    hidden,
    ran,
    shadow,
    started,
    wait_for,
)
from tests.runtime.models import model
from tests.server.running import in_process

PARSE = ("parse", "notes.txt", "--format", "jsonl", "-o", "out.jsonl")
SEGMENT = ("segment", "notes.txt", "-o", "edus.txt")


@pytest.mark.parametrize(
    ("start", "arguments"), [(SCRIPT, PARSE), (MODULE, SEGMENT)], ids=["script", "module"]
)
def test_no_file_of_the_current_folder_is_run(
    start: list[str], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    shadow(tmp_path, start)
    (tmp_path / "notes.txt").write_text("Rain fell, so she left.\n" * 40)
    command = [*start, *arguments, "--jobs", "2", "--model", str(model("lstm"))]
    run = subprocess.run(
        command, cwd=tmp_path, env=UNSAFE, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr, ran(tmp_path)) == (0, "", [])


def test_the_server_runs_no_file_of_the_current_folder(tmp_path: Path) -> None:
    shadow(tmp_path, MODULE)
    with in_process("--model", model("lstm"), env=UNSAFE, cwd=tmp_path) as (server, process):
        assert server.post("/v1/parse", {"text": "Rain fell."}).status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert ran(tmp_path) == []


PROGRAM = """\
import neighbour, sys
from cleft.parser import load
if __name__ == "__main__":
    found = load(sys.argv[1]).stream([["Rain", "fell"]] * 3, jobs=2)
    print(len(list(found)), neighbour.VALUE)
"""


def test_workers_of_a_program_do_not_look_into_the_current_folder(tmp_path: Path) -> None:
    """The program's own folder is another: workers find what is in that, and nothing here."""
    shadow(tmp_path, SCRIPT)
    program = tmp_path / "program" / "program.py"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.with_name("neighbour.py").write_text("VALUE = 'mine'\n")
    command = [sys.executable, str(program), str(model("lstm"))]
    run = subprocess.run(
        command, cwd=tmp_path, env=UNSAFE, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr, ran(tmp_path)) == ("3 mine\n", "", [])


# ---------------------------------------------------------------- how they end


def parsing(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """A command with workers in the middle of its work: output is on the disk and counted."""
    process = started(
        *("parse", *arguments, "-", "--input", "tokens", "--model", model("lstm"), "--jobs", 2),
        *("--format", "jsonl"),
        stdin=subprocess.PIPE,
        cwd=folder,
    )
    assert process.stdin is not None
    process.stdin.write(b"Rain fell , so she left .\n" * 1000)
    process.stdin.flush()
    # A line is counted once it is written: with two on the disk, one has been counted.
    wait_for(lambda: any(path.read_bytes().count(b"\n") > 1 for path in hidden(folder)))
    return process


def test_a_kill_ends_the_workers_and_the_next_command_clears_up(tmp_path: Path) -> None:
    process = parsing(tmp_path, "-o", "out.jsonl")
    process.kill()
    process.communicate(timeout=60)  # workers hold standard error as long as they live
    assert process.returncode == -signal.SIGKILL
    (left,) = hidden(tmp_path)
    assert left.name.startswith(".out.jsonl.")
    assert left.name.endswith(".cleft-partial")
    (tmp_path / "trees.mrg").write_text(TREE)
    assert cleft("convert", "trees.mrg", "out.jsonl", cwd=tmp_path).returncode == 0
    assert hidden(tmp_path) == []


def test_what_another_command_is_writing_is_not_cleared_up(tmp_path: Path) -> None:
    process = parsing(tmp_path, "-o", "out.jsonl")
    (tmp_path / "trees.mrg").write_text(TREE)
    assert cleft("convert", "trees.mrg", "other.jsonl", cwd=tmp_path).returncode == 0
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1000


@pytest.mark.parametrize(
    ("number", "how"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "ended by SIGTERM")]
)
def test_who_stops_a_command_is_told_what_was_done(number: int, how: str, tmp_path: Path) -> None:
    process = parsing(tmp_path, "-o", "out.jsonl")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    told = rf"cleft: {how}; (1 sentence|(\d+) sentences) parsed, (.*)\n"
    found = re.fullmatch(told, said.decode())
    assert found, said
    assert 1 <= int(found[2] or 1) <= 1000
    assert found[3] == "nothing written: out.jsonl appears when it is complete"
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_who_stops_a_command_is_told_which_files_are_complete(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Rain fell .\n")
    (tmp_path / "trees").mkdir()
    process = started(
        *("parse", "notes.txt", "-", "--input", "tokens", "--model", model("lstm")),
        *("--format", "jsonl", "-o", "trees"),
        stdin=subprocess.PIPE,
        cwd=tmp_path,
    )
    assert process.stdin is not None
    process.stdin.write(b"She left .\n")
    process.stdin.flush()
    wait_for(lambda: hidden(tmp_path / "trees") and (tmp_path / "trees" / "notes.jsonl").exists())
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    told = rb"cleft: interrupted; [12] sentences? parsed, 1 of 2 inputs complete in trees\n"
    assert re.fullmatch(told, said)
    assert process.returncode == 130
    assert [path.name for path in (tmp_path / "trees").iterdir()] == ["notes.jsonl"]
