"""Ablation: all variants with all seeds, as runs that become a table."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra cleft[train]")

import ablate
import results

from cleft.errors import RecipeError

ROOT = Path(__file__).parents[2]
VARIANTS = 'variants = { baseline = [], bare = ["network.history=true"] }\n'
QUICK = ["training.epochs=1", "training.dev_every=1"]


@pytest.fixture(autouse=True)
def _at_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    text = Path("recipes/tiny-syntax.toml").read_text()
    path.write_text(text.replace("seed = 1\n", f"seed = 1\n{VARIANTS}"))
    return str(path)


def test_all_variants_are_trained_with_all_seeds_and_finished_ones_passed_over(
    recipe, tmp_path, monkeypatch
):
    said: list[str] = []
    runs = ablate.ablate(recipe, tmp_path, seeds=[1, 2], settings=QUICK, say=said.append)
    names = ["baseline-1", "bare-1", "baseline-2", "bare-2"]
    assert said == [f"{number}/4 {name}" for number, name in enumerate(names, 1)]
    assert sorted(path.parent.name for path in tmp_path.glob("*/run.json")) == sorted(names)
    assert [run["seed"] for run in runs] == [1, 1, 2, 2]
    assert [run["recipe"]["ablation"] for run in runs] == ["baseline", "bare"] * 2
    assert [run["recipe"]["network"]["history"] for run in runs] == [False, True] * 2
    assert runs[1]["recipe"]["settings"][-2:] == ["ablation=bare", "seed=1"]
    # One was stopped before its scores: only that one is taken up.
    stopped = tmp_path / "bare-2" / "run.json"
    stopped.write_text(stopped.read_text().replace('"final"', '"partial"'))
    taken = []
    monkeypatch.setattr(
        ablate, "train", lambda recipe, output, resume: taken.append(output.name) or {}
    )
    ablate.ablate(recipe, tmp_path, seeds=[1, 2], settings=QUICK, say=said.append)
    assert taken == ["bare-2"]
    ablate.ablate(recipe, tmp_path, seeds=[3], settings=QUICK, only=["bare"], say=said.append)
    assert taken == ["bare-2", "bare-3"]
    for setting in ("training.epochs=2", "network.word_size=16", "data.syntax.limit=9"):
        with pytest.raises(RecipeError, match=r"baseline-1: a finished run of another recipe"):
            ablate.ablate(recipe, tmp_path, settings=[*QUICK, setting], say=said.append)


def test_variants_that_are_not_there_are_refused(recipe, tmp_path):
    with pytest.raises(RecipeError, match="no variant is called 'x'; variants: baseline, bare"):
        ablate.ablate(recipe, tmp_path, only=["x"])
    with pytest.raises(RecipeError, match="expected a table of variants, found none"):
        ablate.ablate("recipes/tiny-syntax.toml", tmp_path)


def test_the_runs_of_the_command_become_a_table(recipe, tmp_path, capsys):
    runs, page = str(tmp_path / "runs"), tmp_path / "page.md"
    command = [recipe, "--output", runs, "--seeds", "1, 2", "--only", "baseline,bare"]
    for setting in QUICK:
        command += ["--set", setting]
    ablate.main(command)
    assert "4/4 bare-2" in capsys.readouterr().err
    ablate.main(command)
    assert "epoch" not in capsys.readouterr().err
    results.main([runs, "-o", str(page)])
    assert "| mine | bare | `network.history=true` | 1, 2 | data dev |" in page.read_text()
    results.main([runs])
    assert capsys.readouterr().out == page.read_text()


@pytest.mark.parametrize("seeds", ["one", "1,", "-1"])
def test_seeds_that_are_no_numbers_are_refused(seeds, recipe, tmp_path, capsys):
    with pytest.raises(SystemExit):
        ablate.main([recipe, "-o", str(tmp_path), f"--seeds={seeds}"])
    assert "expected seeds as whole numbers" in capsys.readouterr().err


def test_a_bad_recipe_is_one_clear_line(tmp_path):
    with pytest.raises(SystemExit, match=r"^ablate.py: .*no-such.toml: no such file"):
        ablate.main(["no-such.toml", "-o", str(tmp_path)])


def test_an_interrupted_ablation_ends_as_an_interrupted_training_does(
    recipe, tmp_path, monkeypatch
):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ablate, "train", interrupted)
    with pytest.raises(SystemExit) as ended:
        ablate.main([recipe, "-o", str(tmp_path)])
    assert ended.value.code == 130
