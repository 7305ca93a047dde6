"""`cleft info`: what a model is, for people and as JSON."""

import json
import shutil
from pathlib import Path

import pytest

from cleft import models
from cleft.cli import main
from cleft.runtime import FORMAT, write_checksums
from tests.runtime.models import model

ABOUT = {
    "language": "en",
    "training_data": ["letters", "diaries"],
    "scores": {
        "dev": {"syntax": {"f1": 91.25, "tagging": 97}, "discourse": {"span": 80.5}},
        "test": {"syntax": {"f1": 90.5, "tagging": 96.5}},
    },
    "motto": "wait\x1b[31m",
}


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the terminal that the tests run in."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A model with all that a manifest can say."""
    folder = tmp_path / "described"
    shutil.copytree(model("lstm"), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **ABOUT}))
    write_checksums(folder)
    return folder


@pytest.fixture
def built_in(tmp_path: Path, described: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, installed as the model `en`."""
    monkeypatch.setattr(models, "_folder", lambda: tmp_path)
    return described.rename(tmp_path / "en")


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_the_network_of_documents_is_not_printed(described, capsys):
    config = json.loads((described / "config.json").read_text())
    (described / "config.json").write_text(json.dumps({**config, "document_network": {"size": 9}}))
    write_checksums(described)
    assert main(["info", str(described)]) == 0
    assert "document_network" not in capsys.readouterr().out


def test_a_model_is_described(described, capsys):
    assert main(["info", str(described)]) == 0
    out = capsys.readouterr().out
    size = sum(path.stat().st_size for path in described.iterdir())
    for row in (
        "name lstm",
        "language en",
        "licence CC0-1.0",
        "training data letters, diaries",
        "tasks syntax, discourse",
        "syntax labels 6",
        "discourse labels 3",
        "parts of speech 3",
        "precision fp32",
        f"size {size / 1e6:.1f} MB in {len(list(described.iterdir()))} files",
        f"format {FORMAT}",
        f"path {described}",
    ):
        assert row.split() in rows(out)
    assert "built in" not in out


def test_scores_of_the_same_measures_share_a_table(described, capsys):
    main(["info", str(described)])
    found = rows(capsys.readouterr().out)
    at = found.index(["scores", "f1", "tagging"])
    assert found[at + 1 : at + 3] == [
        ["dev", "syntax", "91.25", "97"],
        ["test", "syntax", "90.50", "96.50"],
    ]
    assert found[found.index(["scores", "span"]) + 1] == ["dev", "discourse", "80.50"]


def test_a_narrow_terminal_gets_short_lines(described, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    main(["info", str(described), "--labels"])
    out = capsys.readouterr().out.splitlines()
    # The second column has as much room as the first; a path stays in one piece.
    assert [line for line in out if len(line) > 36 and not line.startswith("path")] == []
    at = next(number for number, line in enumerate(out) if line.startswith("discourse labels"))
    assert [line[:18].strip() for line in out[at : at + 3]] == ["discourse labels", "", ""]
    assert " ".join(line[18:] for line in out[at : at + 3]) == "cause_NS, concession_SN, joint_NN"


def test_a_table_of_scores_that_is_too_wide_lies_on_its_side(described, capsys, monkeypatch):
    config = json.loads((described / "config.json").read_text())
    config["scores"] = {"dev": {"span": 80.5, "nuclearity": 71.25, "segmentation": 90}}
    (described / "config.json").write_text(json.dumps(config))
    write_checksums(described)
    monkeypatch.setenv("COLUMNS", "40")
    main(["info", str(described)])
    assert rows(capsys.readouterr().out)[-4:] == [
        ["scores", "dev"],
        ["span", "80.50"],
        ["nuclearity", "71.25"],
        ["segmentation", "90"],
    ]


def test_what_a_model_says_cannot_steer_the_terminal(described, capsys):
    main(["info", str(described)])
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert ["motto", "wait\\x1b[31m"] in rows(out)


def test_labels_are_listed_if_asked_for(described, capsys):
    main(["info", str(described), "--labels"])
    found = rows(capsys.readouterr().out)
    assert ["discourse", "labels", "cause_NS,", "concession_SN,", "joint_NN"] in found
    assert ["parts", "of", "speech", "DT,", "NN,", "VB"] in found


def test_json_has_it_all(described, capsys):
    assert main(["info", str(described), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {key: data[key] for key in ABOUT} == ABOUT
    assert data["labels"] == {"syntax": 6, "discourse": 3}
    assert (data["tags"], data["format"], data["path"]) == (3, FORMAT, str(described))
    assert data["bytes"] == sum(path.stat().st_size for path in described.iterdir())
    assert "built_in_models" not in data
    main(["info", str(described), "--json", "--labels"])
    data = json.loads(capsys.readouterr().out)
    assert data["labels"]["discourse"] == ["cause_NS", "concession_SN", "joint_NN"]


def test_a_bare_model_says_what_it_can(tmp_path, capsys):
    folder = tmp_path / "bare"
    shutil.copytree(model("lstm"), folder)
    config = json.loads((folder / "config.json").read_text())
    for key in ("name", "licence", "cleft"):
        del config[key]
    (folder / "config.json").write_text(json.dumps({**config, "scores": "good"}))
    write_checksums(folder)
    assert main(["info", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "licence" not in out
    assert "made by" not in out
    assert "scores" not in out


def test_without_a_model_the_built_in_ones_are_listed(built_in, capsys):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert ["built", "in", "en"] in rows(out)
    assert ["path", str(built_in)] in rows(out)
    main(["info", "--json"])
    assert json.loads(capsys.readouterr().out)["built_in_models"] == ["en"]
    main(["info", "en", "--json"])
    assert "built_in_models" not in json.loads(capsys.readouterr().out)


def test_an_unknown_name_is_told_what_there_is(built_in, capsys):
    assert main(["info", "no-such-model"]) == 2
    err = capsys.readouterr().err
    assert "cleft: no-such-model: expected a model's name or directory, found nothing" in err
    assert "en" in err
    assert main(["info", "no/model"]) == 2
    assert (
        "no/model: expected a model's name or directory, found nothing" in capsys.readouterr().err
    )
