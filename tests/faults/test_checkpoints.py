"""Training that is killed, and checkpoints that are damaged: whole or refused, never half."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cleft.errors import InputError, OutputError
from cleft.nn import checkpoint
from cleft.nn.checkpoint import load_checkpoint, save_checkpoint
from cleft.nn.train.rundir import RunDirectory
from tests.faults.commands import forked, hidden, small_files

COUNTERS = {"epoch": 1, "done": 2, "best": {}, "seconds": 0.5, "recipe": {}}


def save(folder: Path, step: int) -> None:
    tensors = {"model.weight": torch.full((20, 3), float(step))}
    save_checkpoint(folder, tensors, {**COUNTERS, "step": step})


def killed_at(name: str, folder: Path) -> None:
    """Save step 2 in another process, which is killed when it comes to this function."""

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> int:
        owner, _, attribute = name.rpartition(".")
        setattr(getattr(checkpoint, owner) if owner else checkpoint, attribute, die)
        save(folder, 2)
        return 0

    assert forked(work)[0] == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("save_file", 1),  # before a byte is written
        ("os.fsync", 1),  # the tensors are there, but not under their name
        ("files.sha256", 1),  # the tensors are whole, nothing says so yet
        ("write_json", 1),
        ("Path.glob", 2),  # the new one counts, the old one is still there
    ],
)
def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(
    name: str, step: int, tmp_path: Path
) -> None:
    save(tmp_path, 1)
    killed_at(name, tmp_path)
    tensors, counters = load_checkpoint(tmp_path)
    assert counters["step"] == step
    assert bool((tensors["model.weight"] == step).all())
    save(tmp_path, 3)  # and the next one clears up
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-3.safetensors"]
    assert load_checkpoint(tmp_path)[1]["step"] == 3


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": cut,
    "altered": flip,
    "emptied": lambda path: path.write_bytes(b""),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_tensors_are_refused_by_name(damage: str, tmp_path: Path) -> None:
    save(tmp_path, 1)
    DAMAGES[damage](tmp_path / "checkpoint-1.safetensors")
    with pytest.raises(InputError, match=r"checkpoint-1\.safetensors: "):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"step": 1',
        "[" * 100_000,
        json.dumps({**COUNTERS, "step": 1}),
        json.dumps({**COUNTERS, "step": "1", "tensors": "checkpoint-1.safetensors"}),
        json.dumps({**COUNTERS, "step": 1, "tensors": "../checkpoint-1.safetensors"}),
        json.dumps({**COUNTERS, "step": 1, "tensors": "/dev/zero"}),
    ],
)
def test_a_damaged_record_of_a_checkpoint_is_refused(text: str, tmp_path: Path) -> None:
    save(tmp_path, 1)
    (tmp_path / "checkpoint.json").write_text(text)
    with pytest.raises(InputError, match=r"checkpoint\.json: expected"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_of_an_older_release_has_no_sum(tmp_path: Path) -> None:
    save(tmp_path, 1)
    path = tmp_path / "checkpoint.json"
    known = json.loads(path.read_text())
    del known["sha256"]
    path.write_text(json.dumps(known))
    assert load_checkpoint(tmp_path)[1]["step"] == 1


def test_damaged_metrics_are_told_by_line(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.record({"kind": "step", "step": 1, "epoch": 1})
    for line in ("{", "[]", '{"kind": "step"}', '{"kind": "step", "step": "1", "epoch": 1}'):
        run.metrics.write_text(f'{{"kind": "step", "step": 1, "epoch": 1}}\n{line}\n')
        with pytest.raises(InputError, match=r"metrics\.jsonl line 2: expected"):
            list(run.lines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_metrics_that_cannot_be_written_end_the_run(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.metrics.symlink_to("/dev/full")
    with pytest.raises(OutputError, match=r"metrics\.jsonl: cannot be written: No space left"):
        run.record({"kind": "step", "step": 1, "epoch": 1})


def test_a_checkpoint_that_may_not_grow_leaves_the_old_one(tmp_path: Path) -> None:
    save(tmp_path, 1)

    def limited() -> int:
        small_files(100)()
        try:
            save(tmp_path, 2)
        except OutputError as error:
            return 2 if "checkpoint-2.safetensors: cannot be written" in str(error) else 3
        return 0

    assert forked(limited)[0] == 2
    assert load_checkpoint(tmp_path)[1]["step"] == 1
    assert hidden(tmp_path) == []
