"""Kills in the middle of real work: training, exporting, parsing with workers. `make faults`."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from cleft.cli import main
from cleft.nn.checkpoint import load_checkpoint
from tests.faults.commands import hidden, small_files, started, wait_for
from tests.runtime.models import model

ROOT = Path(__file__).parents[2]
KILLS = 4
SETTINGS = ["training.epochs=3", "training.checkpoint_minutes=0", "training.batch_tokens=40"]

pytestmark = pytest.mark.slow


def train(output: Path, *more: str, **options: object) -> "subprocess.Popen[bytes]":
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    command = ("train", "recipes/tiny-joint.toml", "--output", output, *settings, *more)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return started(*command, cwd=ROOT, env=environment, **options)


def is_larger(path: Path, size: int, process: "subprocess.Popen[bytes]") -> bool:
    grown = path.exists() and path.stat().st_size > size
    return grown or process.poll() is not None


def end_of(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    _, said = process.communicate(timeout=600)
    return process.returncode, said.decode()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert end_of(train(folder))[0] == 0
    return folder


def test_a_run_killed_again_and_again_is_the_run_that_was_not(whole: Path, tmp_path: Path) -> None:
    """A checkpoint is written after every step, so that many kills fall into one."""
    folder, seen, kills = tmp_path / "run", 0, 0
    chance = random.Random(5)
    for _ in range(KILLS):
        process = train(folder, "--resume")
        path = folder / "metrics.jsonl"
        wait_for(partial(is_larger, path, seen, process))
        time.sleep(chance.random() / 20)
        process.kill()
        process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0)
        kills += process.returncode == -signal.SIGKILL
        seen = path.stat().st_size
        if (folder / "checkpoint.json").exists():
            load_checkpoint(folder)
    assert kills >= 2  # it may have been quicker than we were
    assert end_of(train(folder, "--resume"))[0] == 0
    one, two = load_checkpoint(folder), load_checkpoint(whole)
    assert one[1]["step"] == two[1]["step"]
    assert all(torch.equal(one[0][name], two[0][name]) for name in two[0])


def test_a_run_on_a_full_disk_ends_with_2_and_its_last_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code, said = end_of(train(folder, preexec_fn=small_files(3000)))
    assert code == 2
    assert said.splitlines()[-1].startswith(f"cleft: {folder}")
    assert "Traceback" not in said
    assert not (folder / "best").exists() or not (folder / "best" / "model.safetensors").exists()
    assert end_of(train(folder, "--resume"))[0] == 0


def test_a_damaged_checkpoint_ends_the_run_with_2(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for path in whole.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (tensors,) = folder.glob("checkpoint-*.safetensors")
    tensors.write_bytes(tensors.read_bytes()[:-1])
    code, said = end_of(train(folder, "--resume", "--set", "training.epochs=4"))
    assert code == 2
    assert f"cleft: {tensors}: not the bytes that were written" in said


def test_sigterm_saves_a_checkpoint_and_ends_with_143(tmp_path: Path) -> None:
    process = train(tmp_path / "run")
    wait_for((tmp_path / "run" / "checkpoint.json").exists)
    process.terminate()
    code, said = end_of(process)
    assert code == 143
    assert said.splitlines()[-1] == (
        f"cleft: ended by SIGTERM; {tmp_path / 'run'} has a checkpoint: "
        "the same command with --resume goes on"
    )
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "interrupted"
    load_checkpoint(tmp_path / "run")


def test_a_killed_export_leaves_no_model_and_can_be_done_again(whole: Path, tmp_path: Path) -> None:
    target = tmp_path / "model"
    process = started("export", whole, target)
    wait_for(lambda: any(list(folder.glob("*.onnx")) for folder in hidden(tmp_path)))
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not target.exists()
    assert len(hidden(tmp_path)) == 1
    assert main(["export", str(whole), str(target)]) == 0
    assert hidden(tmp_path) == []
    assert main(["check", str(target)]) == 0


def test_an_export_on_a_full_disk_leaves_nothing(whole: Path, tmp_path: Path) -> None:
    process = started("export", whole, tmp_path / "model", preexec_fn=small_files(2000))
    code, said = end_of(process)
    assert (code, said.count("\n")) == (2, 1)
    assert list(tmp_path.iterdir()) == []


def children(parent: int) -> list[int]:
    """The worker processes of a process (not the one that tracks its resources)."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    lines = {int(each): Path(f"/proc/{each}/cmdline").read_bytes() for each in found}
    return [each for each, line in lines.items() if b"spawn_main" in line]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers in /proc")
def test_a_worker_that_is_killed_ends_the_command_with_2_and_no_file(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    process = started(
        *("parse", "-", "--input", "tokens", "--model", model("lstm"), "--jobs", 2),
        *("--format", "jsonl", "-o", target),
        stdin=subprocess.PIPE,
    )
    assert process.stdin is not None
    wait_for(lambda: process.poll() is None)
    process.stdin.write(b"Rain fell , so she left .\n" * 2000)
    process.stdin.flush()
    wait_for(lambda: len(children(process.pid)) == 2)
    wait_for(lambda: hidden(tmp_path))
    os.kill(children(process.pid)[0], signal.SIGKILL)
    process.stdin.close()
    assert process.stderr is not None
    said = process.stderr.read().decode()
    assert process.wait(120) == 2
    assert "a worker process ended before its results were there" in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
