"""`cleft train` from the command line."""

import subprocess
import sys

import pytest

from cleft.cli import main
from tests.cli import without_torch
from tests.nn.conftest import ROOT


@pytest.fixture(autouse=True)
def _at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_it_trains_where_it_is_told_to_and_goes_on(tmp_path, capsys):
    command = ["train", "recipes/tiny-syntax.toml", "--output", str(tmp_path / "run")]
    assert main([*command, "--set", "training.epochs=1"]) == 0
    assert (tmp_path / "run" / "best" / "model.safetensors").exists()
    assert "epoch 1/1 loss" in capsys.readouterr().err
    assert main([*command, "--set", "training.epochs=1"]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*command, "--set", "training.epochs=2", "--resume"]) == 0
    assert "resumed at epoch 2" in capsys.readouterr().err


def test_without_an_output_directory_it_says_so(capsys):
    assert main(["train", "recipes/tiny-syntax.toml"]) == 2
    assert "no output directory; give --output" in capsys.readouterr().err


def test_a_bad_recipe_is_one_clear_line(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text("[network]\nencoder_layers = 'three'\n[data.syntax]\ntrain = 'a.mrg'\n")
    assert main(["train", str(path), "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "network.encoder_layers: expected a whole number, found 'three'" in error
    assert error.count("\n") == 1


def test_a_missing_treebank_is_one_clear_line(tmp_path, capsys):
    path = tmp_path / "some.toml"
    path.write_text("[data.syntax]\ntrain = 'no-such.mrg'\n")
    assert main(["train", str(path), "-o", str(tmp_path / "run")]) == 2
    assert "no-such.mrg: no such file" in capsys.readouterr().err


def test_without_pytorch_it_says_what_to_install(tmp_path):
    run = without_torch.run("train", "recipes/tiny-syntax.toml", "-o", str(tmp_path / "run"))
    assert run.returncode == 2
    assert "'.[train]'" in run.stderr


def test_help_does_not_load_pytorch():
    code = "import sys, cleft.cli; cleft.cli.build_parser(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_data_that_changed_since_the_run_began_is_refused(tmp_path, capsys):
    data = tmp_path / "train.mrg"
    data.write_text((ROOT / "tests/data/invented-train.mrg").read_text())
    command = ["train", "recipes/tiny-syntax.toml", "-o", str(tmp_path / "run")]
    command += ["--set", f"data.syntax.train={data}", "--set", "training.epochs=1"]
    assert main(command) == 0
    data.write_text(data.read_text().replace("(NP", "(ZP"))
    assert main([*command, "--resume"]) == 2
    assert "train.mrg: the file has changed since the run began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.accelerator=abacus", "training.accelerator, training.devices: "),
        ("data.syntax.metric=parseval", "expected collins or spmrl, found 'parseval'"),
        ("training.patience=1", "training.patience: expected 0, or at least dev_every"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(setting, message, tmp_path, capsys):
    command = ["train", "recipes/tiny-syntax.toml", "-o", str(tmp_path / "run")]
    assert main([*command, "--set", "training.dev_every=5", "--set", setting]) == 2
    assert message in capsys.readouterr().err
