"""`cleft evaluate` on whole documents: files, folders, JSON Lines, and models that parse them."""

import json
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.convert import convert
from tests.nn.test_documents import made

RAIN = {
    "doc": "GUM_bio_rain",
    "genre": "bio",
    "sents": [
        {"tokens": ["Rain"], "text": "Rain", "newpar": True},
        {
            "tokens": ["Ann", "did", "n't", "leave", ",", "because", "it", "rained", "."],
            "text": "Ann didn't leave, because it rained.",
            "newpar": True,
        },
        {"tokens": ["But", "Ben", "left", "."], "text": "But Ben left.", "newpar": False},
    ],
    "edus": [[0, 1], [1, 6], [6, 10], [10, 14]],
    "splits_fine": [
        [0, 1, 14, "organization-heading_SN"],
        [1, 10, 14, "adversative-contrast_NN"],
        [1, 6, 10, "causal-cause_NS"],
    ],
}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [RAIN, made(3) | {"doc": "made"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    Path("gold.jsonl").write_text(text, encoding="utf-8")

    def call(*arguments):
        code = main(["evaluate", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def scores(run, *arguments) -> dict:
    code, out, err = run(*arguments, "--json", "--metric", "original")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_corpus_of_documents_is_scored_against_itself(run):
    found = scores(run, "gold.jsonl", "gold.jsonl")
    assert found["span"] == found["full"] == found["segmentation"] == found["edus"] == 100
    ends = {"matched": 1, "gold": 1, "predicted": 1}
    assert found["detail"]["segmentation"].items() >= ends.items()  # only one inside a sentence
    assert found["detail"]["edus"]["gold"] == 4 + len(made(3)["edus"])


def test_a_model_parses_documents_by_three_ways(run, document_model):
    given = scores(run, "gold.jsonl", "--model", document_model, "--edus", "gold")
    assert given["gold_edus"]
    assert given["edus"] == given["segmentation"] == 100
    assert given["span"] > 0
    for own in ("gold", "model"):
        found = scores(run, "gold.jsonl", "--model", document_model, "--sentences", own)
        assert not found["gold_edus"]
        assert found["edus"] > 50
        assert found["detail"]["edus"]["gold"] == given["detail"]["edus"]["gold"]


def test_scores_by_genre(run, document_model):
    found = scores(run, "gold.jsonl", "--model", document_model, "--by-genre")
    assert set(found["by_genre"]) == {"bio", "made"}
    code, out, _ = run("gold.jsonl", "--model", document_model, "--by-genre")
    assert code == 0
    assert any(line.split()[:2] == ["genre", "trees"] for line in out.splitlines())


def lone(run, form: str) -> Path:
    """The first document in a file of RST, its relations as they are named there."""
    Path("one.jsonl").write_text(json.dumps(RAIN), encoding="utf-8")
    path = Path(f"rain.{form}")
    convert("one.jsonl", path, relations="fine")
    return path


@pytest.mark.parametrize("form", ["rs3", "rs4", "dis"])
def test_files_of_rst_are_parsed_as_documents_with_the_classes_of_their_relations(
    run, document_model, form
):
    path = lone(run, form)
    code, out, err = run(path, "--model", document_model, "--edus", "gold", "--json")
    assert code == 0
    assert err == f"cleft: relations of {path}: classes of 'gum'\n"
    assert json.loads(out)["edus"] == 100
    assert run(path, "--model", document_model, "--relations", "fine")[2] == ""


def test_folders_are_compared_file_by_file(run):
    path = lone(run, "rs3")
    for folder in ("gold", "found"):
        Path(folder).mkdir()
        (Path(folder) / "GUM_bio_rain.rs3").write_bytes(path.read_bytes())
    found = scores(run, "gold", "found", "--by-genre")
    assert found["full"] == found["by_genre"]["bio"]["full"] == 100
    (Path("found") / "other.rs3").write_bytes(path.read_bytes())
    code, _, err = run("gold", "found")
    assert code == 2
    assert "found has other documents than gold, such as other" in err


def test_documents_whose_tokens_differ_are_compared_by_characters(run):
    """The rs3 file has the tokens that spaces part, the line of JSON its own."""
    Path("one.jsonl").write_text(json.dumps(RAIN), encoding="utf-8")
    text = lone(run, "rs3").read_text(encoding="utf-8").replace("did n't leave ,", "didn't leave,")
    Path("rain.rs3").write_text(text, encoding="utf-8")
    found = scores(run, "rain.rs3", "one.jsonl", "--relations", "fine")
    assert found["full"] == 100


def test_sentences_are_an_option_of_documents(run, document_model):
    Path("line.jsonl").write_text(
        '{"tokens": ["a", "b"], "edus": [[0, 2]], "splits": []}\n', encoding="utf-8"
    )
    code, _, err = run("line.jsonl", "--model", document_model, "--sentences", "gold")
    assert code == 2
    assert "--sentences is for documents" in err
    code, _, err = run("gold.jsonl", "gold.jsonl", "--sentences", "gold")
    assert "--sentences is for parsing with a model" in err


def test_a_folder_of_something_else_and_a_forest_are_refused(run):
    Path("empty").mkdir()
    assert "found a directory without them" in run("empty", "gold.jsonl")[2]
    forest = '<rst><body><segment id="1">a</segment><segment id="2">b</segment></body></rst>'
    (Path("empty") / "a.rs3").write_text(forest, encoding="utf-8")
    assert "expected one tree over the document, found 2" in run("empty", "gold.jsonl")[2]
