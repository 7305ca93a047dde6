"""Models by name: in folders, in installed packages, by the language of a text."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import cleft
from cleft.cli import main
from cleft.errors import ModelError
from cleft.models import find_models, languages
from cleft.runtime import write_checksums
from tests.runtime.models import model

WHEEL = Path(__file__).parents[1] / "recipes" / "wheel.py"
FRENCH = "Le chat dort sur le lit, mais il ne mange pas."


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty current folder; `tmp_path / "shelf"` is that of CLEFT_MODELS."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("CLEFT_MODELS", os.pathsep.join([str(tmp_path / "shelf"), "", "/nowhere"]))
    return tmp_path


def place(path: Path, language: str) -> Path:
    """A copy of a small model that says it is of a language."""
    shutil.copytree(model("lstm"), path)
    config = json.loads((path / "config.json").read_text(encoding="utf-8"))
    config["language"] = language
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_checksums(path)
    return path


def homes() -> dict[str, str]:
    return {each.name: each.home for each in find_models()}


def test_models_are_found_in_folders_and_the_first_of_a_name_is_meant(folder):
    place(folder / "shelf" / "fr", "fr")
    place(folder / "here" / "models" / "fr", "fr")
    place(folder / "here" / "models" / "en", "fr")
    place(folder / "here" / "models" / "mine", "is")
    found = homes()
    assert (found["en"], found["fr"]) == ("built in", str(folder / "shelf"))
    assert found["mine"] == "models"
    assert cleft.load("mine").language == "is"
    assert cleft.load("fr").directory.path == folder / "shelf" / "fr"
    assert {"en": "en", "fr": "fr", "is": "mine"}.items() <= languages().items()


def test_a_directory_of_that_name_comes_before_a_model_found_elsewhere(folder):
    place(folder / "shelf" / "fr", "fr")
    Path("fr").mkdir()
    assert cleft.load("fr").language == "fr"
    Path("fr").rmdir()
    place(Path("fr"), "is")
    assert cleft.load("fr").language == "is"


def test_the_command_lists_models_with_their_languages_and_faults(folder, capsys):
    place(folder / "shelf" / "fr", "fr")
    broken = place(folder / "shelf" / "broken", "de")
    (broken / "config.json").write_text("[]")
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["model", "language", "tasks", "size", "where"]
    assert any(line.split()[:2] == ["fr", "fr"] for line in lines)
    assert any("unreadable" in line and "config.json" in line for line in lines)
    assert main(["models", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["name"]: each["error"] is None for each in listed}["broken"] is False


def test_a_wheel_of_a_model_is_found_by_its_name_and_runs_no_code(folder):
    source = place(folder / "my-model", "is")
    built = subprocess.run(
        [sys.executable, str(WHEEL), str(source), "--output", str(folder / "dist")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (wheel,) = (folder / "dist").glob("cleft_model_my_model-*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    assert not list(site.rglob("*.py"))
    code = (
        "import sys, cleft; from cleft.models import find_models; p = cleft.load('my-model'); "
        "print(p.language, p.parse('Rain.')[0].error, [m.home for m in find_models()][-1])"
    )
    where = {**os.environ, "PYTHONPATH": str(site), "CLEFT_MODELS": ""}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=where
    )
    assert run.stdout == "is None package cleft-model-my-model\n", run.stderr


def test_a_package_without_a_model_is_passed_over(folder, monkeypatch):
    info = folder / "site" / "gone-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gone\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cleft.models]\ngone = no_such_package\njs = json\n")
    monkeypatch.syspath_prepend(str(folder / "site"))
    assert not {"gone", "js"} & set(homes())
    with pytest.raises(ModelError, match="found nothing"):
        cleft.load("gone")


# ---------------------------------------------------------------- --language auto


def test_the_model_of_the_texts_language_is_taken(folder, capsys):
    place(folder / "shelf" / "fr", "fr")
    Path("texte.txt").write_text(FRENCH, encoding="utf-8")
    for argument in (FRENCH, "texte.txt"):
        assert main(["parse", argument, "--language", "auto", "--format", "brackets"]) == 0
        (expected,) = cleft.load("fr").parse(FRENCH)
        assert capsys.readouterr().out == f"{expected.syntax}\n"


def test_standard_input_is_read_from_its_beginning(folder):
    place(folder / "shelf" / "fr", "fr")
    text = "\n\n".join([FRENCH] * 20)
    command = [sys.executable, "-m", "cleft", "parse", "-", "--language", "auto"]
    run = subprocess.run(
        [*command, "--format", "brackets"], input=text.encode(), capture_output=True, check=False
    )
    assert len(run.stdout.splitlines()) == 20, run.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([FRENCH], "seems to be 'fr', and no model of it is here; there are models of en"),
        (["Xyz xyz."], "the language of the text is unknown"),
        (["It is.", "--model", "en"], "--language auto chooses the model, and --model names one"),
    ],
)
def test_a_language_without_a_model_is_told(folder, capsys, words, problem):
    assert main(["parse", *words, "--language", "auto"]) == 2
    assert problem in capsys.readouterr().err.replace("--language auto: ", "", 1)
