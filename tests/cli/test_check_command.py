"""`cleft check`: a model is whole and parses as it did, or the message says what differs."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cleft import models
from cleft.cli import main
from cleft.runtime import write_checksums
from tests.runtime.models import model


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "en"
    shutil.copytree(model("lstm"), folder)
    return folder


def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["check", str(folder)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_whole_model_is_ok(copy, capsys):
    count = len(json.loads((copy / "config.json").read_text())["self_test"])
    assert count > 1
    assert check(copy, capsys) == (0, f"ok, {count} sentences\n", "")


def test_the_default_is_the_built_in_model(copy, capsys, monkeypatch):
    monkeypatch.setattr(models, "_folder", lambda: copy.parent)
    assert main(["check"]) == 0
    (copy / "tags.onnx").unlink()
    assert main(["check"]) == 1
    assert str(copy / "tags.onnx") in capsys.readouterr().err


def test_an_altered_file_is_named(copy, capsys):
    data = bytearray((copy / "encoder.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (copy / "encoder.onnx").write_bytes(data)
    code, out, err = check(copy, capsys)
    assert (code, out) == (1, "")
    assert err.startswith(f"cleft: {copy / 'encoder.onnx'}: expected the SHA-256")
    assert err.count("\n") == 1


def test_a_file_that_is_cut_short_or_missing_is_named(copy, capsys):
    (copy / "words.npy").write_bytes((copy / "words.npy").read_bytes()[:-8])
    code, _, err = check(copy, capsys)
    assert (code, "words.npy" in err, "cut short" in err) == (1, True, True)
    (copy / "words.npy").unlink()
    code, _, err = check(copy, capsys)
    assert (code, "words.npy: no such file" in err) == (1, True)
    (copy / "config.json").write_text("{")
    code, _, err = check(copy, capsys)
    assert (code, "config.json: expected JSON" in err) == (1, True)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("syntax", "(S (VP (VB no)))", "expected the syntax tree (S (VP (VB no)))"),
        ("log_probs", {"syntax": -1e3}, "expected the log-probability -1000.0000 of syntax"),
    ],
)
def test_a_tree_that_differs_is_told(copy, capsys, key, value, told):
    config = json.loads((copy / "config.json").read_text())
    config["self_test"][1][key] = value
    (copy / "config.json").write_text(json.dumps(config))
    write_checksums(copy)
    code, out, err = check(copy, capsys)
    assert (code, out) == (1, "")
    assert err.startswith("cleft: self-test sentence 2: ")
    assert told in err


def test_no_model_at_all_is_wrong_use(tmp_path, capsys):
    code, out, err = check(tmp_path / "nowhere", capsys)
    assert (code, out) == (2, "")
    assert "nowhere" in err
    (tmp_path / "file").write_text("")
    assert check(tmp_path / "file", capsys)[0] == 2


def test_it_runs_as_a_module_of_python(copy):
    command = [sys.executable, "-m", "cleft", "check", str(copy)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, run.stdout[:4], run.stderr) == (0, "ok, ", "")
