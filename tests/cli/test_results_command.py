"""`cleft ablate` and `cleft results` from the command line."""

from pathlib import Path

import pytest

from cleft.cli import main
from tests.cli import without_torch
from tests.nn.conftest import ROOT


@pytest.fixture(autouse=True)
def _at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    text = Path("recipes/tiny-syntax.toml").read_text()
    variants = 'variants = { baseline = [], bare = ["network.history=false"] }\n'
    path.write_text(text.replace("seed = 1\n", f"seed = 1\n{variants}"))
    return str(path)


QUICK = ["--set", "training.epochs=1", "--set", "training.dev_every=1"]


def test_variants_are_trained_and_become_a_table(recipe, tmp_path, capsys):
    runs, page = str(tmp_path / "runs"), tmp_path / "page.md"
    command = ["ablate", recipe, "--output", runs, "--seeds", "1, 2", *QUICK]
    assert main([*command, "--only", "baseline,bare"]) == 0
    assert "4/4 bare-2" in capsys.readouterr().err
    assert main(command) == 0
    assert "epoch" not in capsys.readouterr().err
    assert main(["results", runs, "-o", str(page)]) == 0
    assert "| mine | bare | `network.history=false` | 1, 2 | data dev |" in page.read_text()
    assert main(["results", runs]) == 0
    assert capsys.readouterr().out == page.read_text()


@pytest.mark.parametrize("seeds", ["one", "1,", "-1"])
def test_seeds_that_are_no_numbers_are_refused(seeds, recipe, tmp_path, capsys):
    assert main(["ablate", recipe, "-o", str(tmp_path), f"--seeds={seeds}"]) == 2
    assert "expected seeds as whole numbers" in capsys.readouterr().err


def test_a_directory_without_runs_is_one_clear_line(tmp_path, capsys):
    assert main(["results", str(tmp_path)]) == 2
    assert "no run.json is in it" in capsys.readouterr().err


def test_without_pytorch_ablation_says_what_to_install(recipe, tmp_path):
    ablation = without_torch.run("ablate", recipe, "-o", str(tmp_path / "runs"))
    assert ablation.returncode == 2
    assert "'.[train]'" in ablation.stderr
    results = without_torch.run("results", str(tmp_path))  # needs none of it
    assert results.returncode == 2
    assert "no run.json" in results.stderr
