"""/v1/document: one tree over a text, with offsets, levels, a summary and other formats."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cleft
from cleft.document import Document
from cleft.formats.rs3 import read_rs3
from cleft.server.app import EXAMPLES
from tests.server.running import Running

TEXT = "The Day\n\nAnn slept because it rained. But Ben left.\n\nEva won. So Tom smiled."


@pytest.fixture(scope="module")
def wanted(document_model: str) -> Document:
    return cleft.load(document_model).parse_document(TEXT)


def test_the_tree_is_the_librarys(documents: Running, wanted: Document) -> None:
    answer = documents.post("/v1/document", {"text": TEXT})
    found = answer.json
    assert (answer.status, found["text"], found["error"]) == (200, TEXT, None)
    assert found["paragraphs"] == [0, 1, 3]
    assert len(found["sentences"]) == 5
    assert wanted.tree is not None
    tree = found["tree"]
    assert tree["texts"] == [edu.text for edu in wanted.edus]
    assert [tuple(pair) for pair in tree["edus"]] == [tuple(edu.span) for edu in wanted.edus]
    assert tree["levels"] == list(wanted.tree.salience())
    for text, (start, end) in zip(tree["texts"], tree["characters"], strict=True):
        assert TEXT[start:end] == text
    splits = [(split.left, split.right, split.nuclearity) for split in wanted.tree.splits()]
    assert [(left, right, letters) for left, right, letters, _ in tree["nodes"]] == splits
    assert "summary" not in found
    assert "formats" not in found


def test_tokens_stand_on_lines_of_their_own(documents: Running) -> None:
    tokens = [["Ann", "slept", "."], ["But", "Ben", "left", "."]]
    body = {"tokens": tokens, "paragraphs": [0, 1], "summary": 1, "task": "discourse"}
    found = documents.post("/v1/document", body).json
    assert found["text"] == "Ann slept .\nBut Ben left ."
    assert found["tokens"] == tokens[0] + tokens[1]
    assert found["paragraphs"] == [0, 1]
    for text, (start, end) in zip(found["tree"]["texts"], found["tree"]["characters"], strict=True):
        assert found["text"][start:end] == text
    for sentence in found["sentences"]:
        assert found["text"][sentence["start"] : sentence["end"]] == sentence["text"]
    chosen = found["summary"]
    assert sorted(chosen["sentences"] + chosen["left_out"]) == [0, 1]


def test_every_format_holds_the_document(documents: Running, tmp_path: Path) -> None:
    names = ["jsonl", "rs3", "rs4", "dis", "svg", "html"]
    found = documents.post("/v1/document", {"text": TEXT, "formats": names}).json
    assert list(found["formats"]) == names
    assert Document.from_jsonl(found["formats"]["jsonl"]).text == TEXT
    path = tmp_path / "day.rs3"
    path.write_text(found["formats"]["rs3"], encoding="utf-8")
    (tree,) = read_rs3(path).trees
    assert [edu.text for edu in tree.edus] == found["tree"]["texts"]
    assert found["formats"]["html"].startswith("<!DOCTYPE html>")


def test_texts_of_one_sentence_of_none_and_of_no_word(documents: Running) -> None:
    title = documents.post("/v1/document", {"text": "Rain", "summary": 3}).json
    assert (title["tree"]["texts"], title["summary"]["text"]) == (["Rain"], "Rain")
    empty = documents.post("/v1/document", {"text": " ", "formats": ["rs3", "jsonl"]}).json
    assert (empty["tree"], list(empty["formats"])) == (None, ["jsonl"])
    assert "there is no sentence" in empty["error"]["message"]
    assert documents.post("/v1/document", {"tokens": []}).json["tree"] is None


def test_documents_asked_for_at_once_never_mix(documents: Running) -> None:
    texts = [f"Day {number}.\n\nAnn slept. So Tom smiled {number} times." for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: documents.post("/v1/document", {"text": text}), texts))
    for text, answer in zip(texts, found, strict=True):
        assert answer.json["text"] == text
        assert "".join(answer.json["tree"]["texts"]).replace(" ", "") == "".join(text.split())
        alone = documents.post("/v1/document", {"text": text}).json
        assert answer.json["tree"]["nodes"] == alone["tree"]["nodes"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"text": TEXT, "paragraphs": [1]}, "body.paragraphs"),
        ({"tokens": [["a"]], "paragraphs": [1]}, "body.paragraphs"),
        ({"tokens": [["a"]], "paragraphs": [-1]}, "body.paragraphs[0]"),
        ({"text": TEXT, "formats": ["brackets"]}, "body.formats[0]"),
        ({"text": TEXT, "summary": -1}, "body.summary"),
        ({"text": TEXT, "task": "document"}, "body.task"),
        ({"text": TEXT, "n_best": 0}, "body.n_best"),
    ],
)
def test_what_is_wrong_is_named(documents: Running, body: dict[str, object], where: str) -> None:
    answer = documents.post("/v1/document", body)
    assert (answer.status, answer.json["error"]["where"]) == (422, where)


def test_the_best_few_trees_of_a_document_are_distinct_and_in_order(documents: Running) -> None:
    tree = documents.post("/v1/document", {"text": TEXT, "n_best": 3}).json["tree"]
    trees = [tree, *tree["others"]]
    assert len({json.dumps(each["nodes"]) for each in trees}) == len(trees) == 3
    scores = [each["log_prob"] for each in trees]
    assert scores == sorted(scores, reverse=True)


def test_a_model_without_the_head_says_so(server: Running) -> None:
    answer = server.post("/v1/document", {"text": TEXT})
    assert answer.status == 422
    assert "has no head for documents" in json.dumps(answer.json)


@pytest.mark.parametrize("name", EXAMPLES["document"])
def test_the_documented_examples_run(documents: Running, name: str) -> None:
    assert documents.post("/v1/document", EXAMPLES["document"][name]).status == 200
