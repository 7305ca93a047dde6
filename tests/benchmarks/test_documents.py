"""documents.py: the record of a model's trees of documents, and the tables that are made of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

documents = pytest.importorskip("documents")

SENTENCES = ["Rain fell all day .", "So the old road was closed .", "Ann stayed at home ."]
MEASURES = 4


def line(name: str, genre: str, splits: list[list[object]]) -> str:
    sents = [
        {"tokens": text.split(), "text": text, "newpar": number != 1}
        for number, text in enumerate(SENTENCES)
    ]
    edus = [[0, 5], [5, 12], [12, 17]]
    found = {"doc": name, "genre": genre, "sents": sents, "edus": edus}
    return json.dumps({**found, "splits": splits, "splits_fine": splits}) + "\n"


@pytest.fixture(scope="module")
def record(document_model: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script writes of two invented documents."""
    folder = tmp_path_factory.mktemp("gum")
    left = [[0, 12, 17, "joint_NN"], [0, 5, 12, "causal_SN"]]
    right = [[0, 5, 17, "causal_SN"], [5, 12, 17, "joint_NN"]]
    path = folder / "docs-dev.jsonl"
    path.write_text(line("a", "news", left) + line("b", "essay", right), encoding="utf-8")
    words = [str(path), "--model", document_model, "-o", str(folder / "record.json")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["documents.py", *words])
        documents.main()
    found: dict[str, Any] = json.loads((folder / "record.json").read_text())
    return found


def test_a_record_has_every_way_and_every_baseline(
    record: dict[str, Any], document_model: str
) -> None:
    assert (record["set"].split()[1], record["documents"], record["edus"]) == ("dev", 2, 6)
    assert record["gold"]["original"] == [100.0] * MEASURES
    ways = record["models"][document_model]["ways"]
    assert list(ways) == list(documents.WAYS)
    given = ways[documents.GIVEN]["trees"]
    assert given["the model's"]["edus"] == 100.0
    # One of the two gold trees branches to the right: 3 of its 4 nodes' spans are in both.
    assert given["right-branching over its sentences"]["original"][0] == 75.0
    assert given["paragraph-wise over its sentences"]["original"][0] == 75.0
    assert given["gold over its sentences"]["original"] == [100.0] * MEASURES
    for way in ways.values():
        assert {name: row["documents"] for name, row in way["genres"].items()} == {
            "essay": 1,
            "news": 1,
        }


def test_the_tables_tell_what_was_missed_and_who_was_not_trained_on(
    record: dict[str, Any], document_model: str
) -> None:
    aims = [{"way": documents.GIVEN, "least": {"span": 101.0, "edus": 0.0}, "note": "Of course."}]
    page = "\n".join(documents.document_blocks(record, aims))
    span = record["models"][document_model]["ways"][documents.GIVEN]["trees"]["the model's"]
    short = 101 - span["original"][0]
    assert f"| {documents.GIVEN} | span | 101 | {101 - short:.1f} | missed by {short:.1f} |" in page
    assert f"| {documents.GIVEN} | edus | 0 | 100.0 | yes |" in page
    assert "- given EDUs: Of course." in page
    assert "| essay (not trained on) | 1 | " in page
    assert "| news | 1 | " in page
    assert "| isanlp_rst (GUM 9.1) | end to end, from text | reported | 67.4 / " in page
    card = "\n".join(documents.card_lines(record, document_model))
    assert "isanlp" not in card
    assert "| essay (not trained on) | 1 | " in card


def test_time_is_told_by_length(
    document_model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "docs-dev.jsonl"
    path.write_text(line("a", "news", [[0, 5, 17, "joint_NN"], [5, 12, 17, "joint_NN"]]))
    with pytest.MonkeyPatch.context() as patch:
        words = [str(path), "--model", document_model, "--time", "10", "40", "--rounds", "1"]
        patch.setattr(sys, "argv", ["documents.py", *words])
        documents.main()
    rows = [row.split(" | ")[1:3] for row in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [["12", "2"], ["46", "8"]]
