"""What the API answers: trees as the library makes them, scores as the command prints them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

import cleft
from cleft.draw import lay_out
from cleft.formats.jsonl import parse_record
from cleft.formats.rs3 import document_from
from cleft.formats.rs3_xml import parse as parse_rs3
from cleft.server.app import EXAMPLES, STREAMED
from cleft.server.settings import Settings
from tests.runtime.models import model
from tests.server.running import ENGLISH, GERMAN, SENTENCE, TEXT, Running, in_thread

NDJSON = {"Content-Type": "application/x-ndjson"}
GOLD = "(S (NP (PRP She)) (VP (VBD waved)) (. .))"
EVERYTHING = {
    "beam": 4,
    "n_best": 3,
    "alternatives": 2,
    "trace": True,
    "formats": ["brackets", "jsonl", "rs3", "svg"],
}


@pytest.fixture(scope="module")
def parser() -> cleft.Parser:
    return cleft.load(model("lstm"))


def test_a_text_has_the_librarys_trees(server: Running, parser: cleft.Parser) -> None:
    answer = server.post("/v1/parse", {"text": TEXT}).json
    assert (answer["model"], answer["task"]) == ("lstm", "both")
    wanted = parser.parse(TEXT)
    assert len(answer["sentences"]) == len(wanted) == 2
    for found, sentence in zip(answer["sentences"], wanted, strict=True):
        assert found["error"] is None
        assert TEXT[found["start"] : found["end"]] == found["text"] == sentence.text
        assert found["syntax"]["brackets"] == str(sentence.syntax)
        assert [token["tag"] for token in found["tokens"]] == sentence.syntax.tags()
        for token in found["tokens"]:
            assert TEXT[token["start"] : token["end"]] == token["text"]
        # A tree is the value that JSON Lines have, and so can be read as one.
        line = {"cleft": 1, "tokens": [token["text"] for token in found["tokens"]]}
        record = parse_record(
            json.dumps({**line, **{k: found[k] for k in ("syntax", "discourse")}})
        )
        assert record.syntax == sentence.syntax
        assert record.discourse == sentence.discourse
        for task in ("syntax", "discourse"):
            pairs = zip(record.trees[task].preorder(), sentence.trees[task].preorder(), strict=True)
            assert all(one.evidence == two.evidence for one, two in pairs)
            assert found[task]["probability"] == sentence.trees[task].tree_probability


def test_everything_asked_for_is_there(server: Running, parser: cleft.Parser) -> None:
    answer = server.post("/v1/parse", {"text": TEXT, **EVERYTHING}).json
    wanted = parser.parse(TEXT, beam=4, n_best=3, alternatives=2, trace=True)
    for found, sentence in zip(answer["sentences"], wanted, strict=True):
        for task in ("syntax", "discourse"):
            parses = sentence.parses[task]
            trees = [found[task], *found[task]["others"]]
            assert [tree["log_prob"] for tree in trees] == pytest.approx(
                [parse.log_prob for parse in parses], abs=1e-4
            )
            assert all(one["log_prob"] >= two["log_prob"] for one, two in pairwise(trees))
            for tree, parse in zip(trees, parses, strict=True):
                check_steps(tree["steps"], parse, len(sentence.tokens))
                assert len(tree["offsets"]) == len(tree["nodes"])
                assert tree["formats"]["svg"].startswith("<svg")
                assert parse_record(tree["formats"]["jsonl"]).task == task
        root = found["syntax"]["offsets"][0]
        assert root == [found["start"], found["end"]]
        for tree in (found["discourse"], *found["discourse"]["others"]):
            edus = [TEXT[start:end] for start, end in tree["characters"]]
            assert edus == tree["texts"]
            assert "<rst>" in tree["formats"]["rs3"]


def check_steps(steps: list[dict], parse: object, length: int) -> None:
    assert [tuple(step["span"]) for step in steps] == [
        (made.left, made.right) for made in parse.derivation.splits
    ]
    labelled = [step["label"] for step in steps if step["label"] is not None]
    assert set(labelled) <= set(parse.derivation.labels)
    for step, made in zip(steps, parse.steps, strict=True):
        assert step["split"] == made.split.split
        assert len(step["distribution"]) == length + 1
        assert step["distribution"] == pytest.approx(made.distribution.tolist(), abs=1e-4)
        assert step["distribution"][step["split"]] == pytest.approx(step["probability"], abs=1e-4)


def test_files_of_a_whole_text(server: Running, parser: cleft.Parser) -> None:
    formats = server.post("/v1/parse", {"text": TEXT, **EVERYTHING}).json["formats"]
    assert set(formats) == {"brackets", "jsonl", "rs3"}
    plain = parser.parse(TEXT, beam=4, n_best=3)
    assert formats["brackets"] == "".join(f"{sentence.syntax}\n" for sentence in plain)
    records = [parse_record(line) for line in formats["jsonl"].splitlines()]
    assert [record.discourse for record in records] == [each.discourse for each in plain]
    document = document_from(parse_rs3([formats["rs3"]], "answer"))
    assert len(document.edus) == sum(len(sentence.edus) for sentence in plain)


def test_formats_that_hold_no_such_tree_are_left_out(server: Running) -> None:
    asked = {"tokens": [SENTENCE, []], "task": "syntax", "formats": EVERYTHING["formats"]}
    answer = server.post("/v1/parse", asked).json
    assert set(answer["formats"]) == {"brackets", "jsonl"}
    assert answer["formats"]["brackets"].endswith(")\n\n")
    assert set(answer["sentences"][0]["syntax"]["formats"]) == {"brackets", "jsonl", "svg"}


def test_tokens_have_places_in_the_text_that_they_make(server: Running) -> None:
    rows = [SENTENCE, [], ["wait", ""], ["She", "left"]]
    answer = server.post("/v1/parse", {"tokens": rows}).json
    text = "\n".join(" ".join(row) for row in rows)
    assert len(answer["sentences"]) == 4
    for found, row in zip(answer["sentences"], rows, strict=True):
        assert text[found["start"] : found["end"]] == " ".join(row)
        for token in found["tokens"]:
            assert text[token["start"] : token["end"]] == token["text"]
    errors = [found["error"] for found in answer["sentences"]]
    assert [error and error["where"] for error in errors] == [
        None,
        "sentence 2",
        "sentence 3",
        None,
    ]
    assert errors[1]["code"] == "sentence"


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "\x00", "\ud800 x", "🦆" * 50, "e\u0301 " * 20, "﷽"]
)
def test_odd_texts_have_an_answer(server: Running, text: str) -> None:
    answer = server.post("/v1/parse", {"text": text, **EVERYTHING})
    assert answer.status == 200
    (found, *_) = answer.json["sentences"]
    assert (found["error"] is None) is bool(found["tokens"])


def test_the_other_model_is_asked_by_name(server: Running) -> None:
    other = cleft.load(model("words")).parse_tokens([SENTENCE])[0]
    answer = server.post("/v1/parse", {"tokens": [SENTENCE], "model": "words"}).json
    assert answer["model"] == "words"
    assert answer["sentences"][0]["syntax"]["brackets"] == str(other.syntax)


def test_segments_are_the_librarys(server: Running, parser: cleft.Parser) -> None:
    answer = server.post("/v1/segment", {"text": TEXT, "beam": 2}).json
    wanted = parser.segment(TEXT, beam=2)
    for found, edus in zip(answer["sentences"], wanted, strict=True):
        assert [(edu["text"], edu["start"], edu["end"]) for edu in found["edus"]] == [
            (edu.text, edu.start, edu.end) for edu in edus
        ]
        assert found["edus"][0]["span"][0] == 0


def test_models_and_health(server: Running) -> None:
    found = server.ask("GET", "/v1/models").json
    assert found["default"] == "lstm"
    assert [each["name"] for each in found["models"]] == ["lstm", "words"]
    assert found["models"][0]["licence"] == "CC0-1.0"
    assert found["limits"]["beam"] == 64
    assert server.ask("GET", "/healthz").json["version"] == cleft.__version__
    assert server.ask("HEAD", "/healthz").body == b""


def test_a_task_that_the_model_has_not_is_refused() -> None:
    with in_thread() as server:
        scorer = server.services[0].parser.scorer
        scorer.manifest = replace(scorer.manifest, tasks=("syntax",))
        answer = server.post("/v1/segment", {"text": TEXT})
        assert (answer.status, answer.json["error"]["where"]) == (422, "body.model")
        answer = server.post("/v1/parse", {"text": TEXT, "task": "discourse"})
        assert (answer.status, answer.json["error"]["where"]) == (422, "body.task")
        assert server.post("/v1/parse", {"text": TEXT}).json["sentences"][0]["discourse"] is None


# ---------------------------------------------------------------- warnings

SAID = ["the text looks like German, but the model was trained on English: its trees make no sense"]


@pytest.fixture(scope="module")
def english() -> Iterator[Running]:
    """A server whose first model is of English, and whose second names no language."""
    with in_thread(None, "lstm", "words") as running:
        running.declare("en")
        yield running


@pytest.mark.parametrize("path", ["/v1/parse", "/v1/segment"])
def test_a_text_in_another_language_has_trees_and_a_warning(english: Running, path: str) -> None:
    for body in ({"text": GERMAN}, {"tokens": [GERMAN.split()] * 9}):
        answer = english.post(path, body).json
        assert answer["warnings"] == SAID
        assert all(sentence["error"] is None for sentence in answer["sentences"])
    long = f"{ENGLISH} " * 20
    assert english.post(path, {"text": long + f"{GERMAN} " * 20}).json["warnings"] == SAID
    for text in (ENGLISH, long, "Der Hund", ""):
        assert english.post(path, {"text": text}).json["warnings"] == []


@pytest.mark.parametrize("path", ["/v1/parse", "/v1/segment"])
def test_a_model_that_names_no_language_has_no_warning(english: Running, path: str) -> None:
    assert english.post(path, {"text": GERMAN, "model": "words"}).json["warnings"] == []


def test_each_line_of_a_stream_has_its_own_warnings(english: Running) -> None:
    body = "\n".join(map(json.dumps, [ENGLISH, GERMAN, 3, GERMAN.split(), ENGLISH])).encode()
    answer = english.post("/v1/parse", body, **NDJSON)
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line.get("warnings") for line in lines] == [[], SAID, None, SAID, []]


# ---------------------------------------------------------------- drawings


def drawable(tree: dict) -> dict:
    """What of a tree of an answer a record holds."""
    kept = ("tags", "nodes", "evidence", "tag_evidence", "edus", "texts", "characters")
    return {key: value for key, value in tree.items() if key in kept}


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_a_drawing_has_the_librarys_places(
    server: Running, parser: cleft.Parser, task: str
) -> None:
    asked = {"tokens": [SENTENCE], "n_best": 3, "beam": 4, "alternatives": 2}
    best = server.post("/v1/parse", asked).json["sentences"][0][task]
    wanted = parser.parse_tokens([SENTENCE], n_best=3, beam=4, alternatives=2)[0].parses[task]
    for tree, parse in zip([best, *best["others"]], wanted, strict=True):
        found = server.post("/v1/draw", {"tokens": SENTENCE, task: drawable(tree)}).json
        layout = lay_out(parse.tree)
        assert found["width"] == pytest.approx(layout.width, abs=0.1)
        assert found["height"] == pytest.approx(layout.height, abs=0.1)
        for text, box in zip(found["texts"], layout.texts, strict=True):
            assert (text["lines"], text["role"], text["node"]) == (
                list(box.lines),
                box.role,
                box.node,
            )
            assert (text["tone"], text["doubt"]) == (box.tone, box.doubt)
            assert (text["x"], text["y"]) == pytest.approx((box.x, box.y), abs=0.1)
        for line, stroke in zip(found["lines"], layout.strokes, strict=True):
            assert line["path"].startswith("M")
            assert line["weight"] == pytest.approx(stroke.weight, abs=0.02)
            assert (line["role"], line["node"]) == (stroke.role, stroke.node)
            assert line.get("to", -1) == stroke.to


def test_a_drawing_may_run_from_right_to_left(server: Running) -> None:
    tree = {"tags": ["X", "X"], "nodes": [["S", 0, 2]]}
    for tokens, rightward in ((["שלום", "עולם"], False), (["good", "day"], True)):
        found = server.post("/v1/draw", {"tokens": tokens, "syntax": tree}).json
        one, two = (text["x"] for text in found["texts"] if text["role"] == "word")
        assert (one < two) is rightward
        assert found["right_to_left"] is not rightward


SLEPT = {"tags": ["X"], "nodes": [["S", 0, 1]]}


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ({"tokens": ["a"]}, "body", "neither"),
        ({"tokens": ["a"], "syntax": SLEPT, "discourse": SLEPT}, "body", "both"),
        ({"syntax": SLEPT}, "body.tokens", "found nothing"),
        ({"tokens": ["a"], "syntax": []}, "body.syntax", "expected an object"),
        ({"tokens": ["a"], "syntax": {**SLEPT, "nodes": 3}}, "body", "nodes"),
        ({"tokens": ["a", "b"], "syntax": SLEPT}, "body", "2 tokens but 1 tags"),
        ({"tokens": ["a"], "discourse": {"edus": [[0, 2]]}}, "body", "cover all tokens"),
    ],
)
def test_what_cannot_be_drawn_says_why(server: Running, body: dict, where: str, said: str) -> None:
    answer = server.post("/v1/draw", body)
    assert (answer.status, answer.code) == (422, "invalid")
    assert answer.json["error"]["where"] == where
    assert said in answer.json["error"]["message"]


def test_a_tree_of_too_many_nodes_is_not_drawn() -> None:
    with in_thread(Settings(max_tokens=5)) as server:
        for count, status in ((19, 200), (20, 413)):
            tree = {"tags": ["X"], "nodes": [["S", 0, 1]] * count}
            assert server.post("/v1/draw", {"tokens": ["a"], "syntax": tree}).status == status


# ---------------------------------------------------------------- evaluation


def test_scores_of_brackets(server: Running) -> None:
    wrong = "(S (NP (PRP She)) (VBD waved) (. .))"
    body = {"gold": f"{GOLD}\n{GOLD}\n", "predicted": f"{wrong}\n\n"}
    scores = server.post("/v1/evaluate", body).json
    assert scores["task"] == "syntax"
    assert scores["precision"] == 100.0
    assert scores["recall"] == pytest.approx(200 / 3)
    assert scores["skipped"] == 1
    named = server.post("/v1/evaluate", {**body, "prm": "spmrl", "format": "brackets"}).json
    assert named["short"]["cutoff"] == 70


def test_trees_of_a_request_are_cleaned_unless_it_says_otherwise(server: Running) -> None:
    body = {"gold": f"( {GOLD})".replace("(NP", "(NP-SBJ"), "predicted": GOLD}
    scores = server.post("/v1/evaluate", body).json
    assert (scores["f1"], scores["clean"]) == (100.0, "ptb")
    assert server.post("/v1/evaluate", {**body, "clean": "none"}).json["recall"] < 100


def test_parsed_trees_can_be_scored_at_once(server: Running) -> None:
    formats = server.post("/v1/parse", {"text": TEXT, "formats": ["jsonl", "rs3"]}).json["formats"]
    records = [json.loads(line) for line in formats["jsonl"].splitlines()]
    for gold in (records, formats["jsonl"]):
        for task, key in (("syntax", "f1"), ("discourse", "span")):
            body = {"gold": gold, "predicted": records, "task": task}
            assert server.post("/v1/evaluate", body).json[key] == 100.0
    body = {"gold": formats["rs3"], "predicted": formats["rs3"], "metric": "original"}
    scores = server.post("/v1/evaluate", {**body, "gold_edus": True}).json
    assert (scores["task"], scores["metric"], scores["full"]) == ("discourse", "original", 100.0)


EDU = {"tokens": ["Rain"], "edus": [[0, 1]], "splits": []}
BAD_SCORES = [
    ({"gold": GOLD}, "body.predicted"),
    ({"gold": [1], "predicted": GOLD}, "body.gold[0]"),
    ({"gold": "(S (NP", "predicted": GOLD}, "gold line 1 column 1"),
    ({"gold": "", "predicted": GOLD}, "gold"),
    ({"gold": [], "predicted": []}, "gold"),
    ({"gold": "{}", "predicted": "{}"}, "gold line 1"),
    ({"gold": "<rst>", "predicted": "<rst>"}, "gold line 1 column 6"),
    ({"gold": "<\ud800>", "predicted": "<rst>"}, "gold"),
    ({"gold": GOLD, "predicted": f"{GOLD}\n{GOLD}"}, ""),
    ({"gold": GOLD, "predicted": [EDU]}, ""),
    ({"gold": GOLD, "predicted": GOLD, "task": "discourse"}, "gold"),
    ({"gold": GOLD, "predicted": GOLD, "prm": "/etc/hostname"}, "body.prm"),
    ({"gold": GOLD, "predicted": GOLD, "gold_edus": 1}, "body.gold_edus"),
    ({"gold": GOLD, "predicted": GOLD, "metric": "original"}, "body.metric"),
    ({"gold": [EDU], "predicted": [EDU], "prm": "collins"}, "body.prm"),
    ({"gold": [{"cleft": 1}, EDU], "predicted": [EDU, EDU]}, "gold"),
]


@pytest.mark.parametrize(("body", "where"), BAD_SCORES)
def test_what_cannot_be_scored_says_where(server: Running, body: dict, where: str) -> None:
    answer = server.post("/v1/evaluate", body)
    assert answer.status == 422
    assert answer.json["error"]["where"] == where
    assert answer.json["error"]["message"]


@pytest.mark.parametrize("path", ["parse", "segment", "document", "evaluate"])
def test_options_in_the_address_are_not_passed_over(server: Running, path: str) -> None:
    answer = server.post(f"/v1/{path}?beam=8", {"text": TEXT})
    assert (answer.status, answer.json["error"]["where"]) == (422, "query")


# ---------------------------------------------------------------- bad requests

WRONG = [
    ([], "body"),
    ({}, "body"),
    ({"text": "a", "tokens": []}, "body"),
    ({"text": 3}, "body.text"),
    ({"tokens": "a b"}, "body.tokens"),
    ({"tokens": [["a"], "b"]}, "body.tokens[1]"),
    ({"tokens": [[1]]}, "body.tokens[0][0]"),
    ({"text": "a", "beam": 0}, "body.beam"),
    ({"text": "a", "beam": True}, "body.beam"),
    ({"text": "a", "beam": 1.5}, "body.beam"),
    ({"text": "a", "n_best": 65}, "body.n_best"),
    ({"text": "a", "alternatives": "2"}, "body.alternatives"),
    ({"text": "a", "trace": 1}, "body.trace"),
    ({"text": "a", "task": "poetry"}, "body.task"),
    ({"text": "a", "task": "\ud800"}, "body.task"),
    ({"text": "a", "model": ["lstm"]}, "body.model"),
    ({"text": "a", "formats": "svg"}, "body.formats"),
    ({"text": "a", "formats": ["pdf"]}, "body.formats[0]"),
    ({"text": "a", "theme": None}, "body.theme"),
    ({"text": "a", "colour": "red"}, "body.colour"),
    ({"text": "a", "x" * 99: 1}, f"body.{'x' * 37}..."),
]


@pytest.mark.parametrize(("body", "where"), WRONG)
def test_a_wrong_key_is_named(server: Running, body: object, where: str) -> None:
    answer = server.post("/v1/parse", body)
    assert (answer.status, answer.code) == (422, "invalid")
    assert answer.json["error"]["where"] == where


def test_a_whole_number_may_be_written_with_a_point(server: Running) -> None:
    assert server.post("/v1/parse", b'{"text": "a", "beam": 2.0}').status == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"beam": NaN}', b"1" * 5000],
    ids=["empty", "open", "no UTF-8", "deep", "NaN", "digits"],
)
def test_what_is_no_json_is_told_so(server: Running, body: bytes) -> None:
    answer = server.post("/v1/parse", body)
    assert (answer.status, answer.code) == (400, "bad_json")


def test_wrong_addresses_methods_and_types_have_the_one_shape(server: Running) -> None:
    asked = {
        "not_found": server.ask("GET", "/v2/parse"),
        "method_not_allowed": server.ask("GET", "/v1/parse"),
        "unsupported_media_type": server.ask("POST", "/v1/parse", b"a", {"Content-Type": "text/x"}),
    }
    for code, answer in asked.items():
        assert set(answer.json["error"]) == {"code", "where", "message", "hint"}
        assert answer.code == code
        assert answer.headers["content-type"] == "application/json"
    assert asked["method_not_allowed"].headers["allow"] == "POST"
    assert server.ask("GET", "/v1/parse/").status == 404
    packed = server.post("/v1/parse", b"x", **{"Content-Encoding": "gzip"})
    assert packed.status == 415
    assert server.ask("POST", "/v1/parse", headers={"Content-Length": "0"}).status == 415
    moved = server.post("/v1/parse?beam=2", {"text": "a"})
    assert (moved.status, moved.json["error"]["where"]) == (422, "query")


# ---------------------------------------------------------------- the documented examples


def test_the_documented_examples_run(server: Running) -> None:
    api = server.ask("GET", "/openapi.json").json
    for name, examples in EXAMPLES.items():
        shown = api["paths"][f"/v1/{name}"]["post"]["requestBody"]["content"]["application/json"]
        assert shown["examples"] == {key: {"value": value} for key, value in examples.items()}
        if name == "document":  # these models have no head for it; test_documents.py runs them
            continue
        for body in examples.values():
            assert server.post(f"/v1/{name}", body).status == 200
    answer = server.ask("POST", "/v1/parse", STREAMED.encode(), NDJSON)
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [len(line["sentences"]) for line in lines] == [1, 1, 2]


def test_a_drawing_fits_a_width_and_takes_a_view(server: Running) -> None:
    tokens = [f"w{at}" for at in range(40)]
    tree = {"tags": ["X"] * 40, "nodes": [["S", at, 40] for at in range(39)]}
    body = {"tokens": tokens, "syntax": tree}
    narrow = server.post("/v1/draw", {**body, "width": 320}).json
    assert (narrow["view"], narrow["width"] <= 320) == ("outline", True)
    assert len(narrow["folds"]) == 39
    assert all(fold["y"] <= fold["floor"] <= narrow["height"] for fold in narrow["folds"])
    rows = server.post("/v1/draw", {**body, "width": 320, "view": "rows"}).json
    assert (rows["view"], rows["folds"]) == ("rows", [])


def test_a_drawing_marks_what_differs_from_gold(server: Running) -> None:
    tree = {"tags": ["PRP", "VBD"], "nodes": [["S", 0, 2], ["X", 0, 1]]}
    body = {"tokens": ["She", "waved"], "syntax": tree}
    gold = "(S (NP (PRP She)) (VP (VBD waved)))"
    found = server.post("/v1/draw", {**body, "gold": gold}).json
    marks = [(text["lines"], text["mark"]) for text in found["texts"] if text["mark"]]
    assert marks == [(["≠ NP"], "changed"), (["− VP"], "missed"), (["≠ X"], "changed")]
    assert found["summary"] == "1 of 3 phrases agree"
    for wrong in ("(S (PRP He))", "(S", ""):
        answer = server.post("/v1/draw", {**body, "gold": wrong})
        assert (answer.status, answer.json["error"]["where"]) == (422, "body.gold")
    edus = {"edus": [[0, 2]], "texts": ["She waved"], "nodes": []}
    answer = server.post("/v1/draw", {"tokens": ["She", "waved"], "discourse": edus, "gold": gold})
    assert answer.status == 422
