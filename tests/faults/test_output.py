"""Output that cannot be written: one line, an exit code that is no success, and no half file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cleft.cli import main
from tests.faults.commands import (
    TREE,
    as_nobody,
    cleft,
    hidden,
    locked_folder,
    small_files,
    started,
    wait_for,
)

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text(TREE * 2000)
    return path


OTHERS = [
    ("--version",),
    ("info",),
    ("completion", "bash"),
    ("evaluate", "trees.mrg", "trees.mrg"),
    ("draw", "trees.mrg", "--number", "1"),
]
SPEAKING = [
    ("--help",),
    ("convert", "trees.mrg", "-", "--to", "jsonl"),
    *(pytest.param(arguments, marks=pytest.mark.slow) for arguments in OTHERS),
]
every_command = pytest.mark.parametrize(
    "arguments", SPEAKING, ids=lambda arguments: arguments[0].strip("-")
)


@needs_full
@every_command
def test_a_full_standard_output_is_no_success(arguments: tuple[str, ...], trees: Path) -> None:
    with open("/dev/full", "w") as full:
        run = cleft(*arguments, stdout=full, cwd=trees.parent)
    assert (run.returncode, run.stderr) == (2, "cleft: standard output: No space left on device\n")


@every_command
def test_a_closed_standard_output_is_no_success(arguments: tuple[str, ...], trees: Path) -> None:
    line = " ".join([sys.executable, "-m", "cleft", *arguments, ">&-"])
    run = subprocess.run(
        ["sh", "-c", line], cwd=trees.parent, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
    assert run.stderr.startswith("cleft: standard output: ")


@needs_full
def test_messages_that_nobody_gets_do_not_change_the_exit_code(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        assert (
            cleft("convert", tmp_path / "none.mrg", "-", "--to", "jsonl", stderr=full).returncode
            == 2
        )


@needs_full
@pytest.mark.parametrize("form", ["jsonl", "brackets"])
def test_a_full_device_is_named(form: str, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(trees), "/dev/full", "--to", form]) == 2
    assert capsys.readouterr().err == (
        "cleft: /dev/full: cannot be written: No space left on device\n"
    )


def test_a_file_that_may_not_grow_is_not_left_half_written(trees: Path) -> None:
    target = trees.with_name("out.jsonl")
    target.write_text("old")
    run = cleft("convert", trees, target, preexec_fn=small_files(5000))
    assert run.returncode == 2
    assert run.stderr == f"cleft: {target}: cannot be written: File too large\n"
    assert target.read_text() == "old"
    assert hidden(trees.parent) == []


def test_a_folder_that_may_not_be_written_into_is_named() -> None:
    with locked_folder("trees.mrg") as folder:
        arguments = ["convert", str(folder / "trees.mrg"), str(folder / "out.jsonl")]
        code, said = as_nobody(lambda: main(arguments))
        assert (code, said) == (
            2,
            f"cleft: {folder / 'out.jsonl'}: cannot be written: Permission denied\n",
        )
        assert [path.name for path in folder.iterdir()] == ["trees.mrg"]


def writing(target: Path) -> subprocess.Popen[bytes]:
    """A conversion in the middle of its work: some of its output is on the disk."""
    process = started(
        *("convert", "-", target, "--from", "brackets"), stdin=subprocess.PIPE, cwd=target.parent
    )
    assert process.stdin is not None
    process.stdin.write((TREE * 5000).encode())
    process.stdin.flush()
    wait_for(lambda: any(path.stat().st_size for path in hidden(target.parent)))
    return process


def test_a_kill_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    process = writing(target)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert target.read_text() == "old"


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    process = writing(target)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"cleft: interrupted\n")
    assert target.read_text() == "old"
    assert hidden(tmp_path) == []


@every_command
def test_a_reader_that_is_gone_is_no_success(arguments: tuple[str, ...], trees: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = cleft(*arguments, stdout=writer, cwd=trees.parent)
    os.close(writer)
    assert (run.returncode, run.stderr) == (141, "")
