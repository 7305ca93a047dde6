"""`cleft evaluate --model`: a model's trees are scored as a file of them would be."""

import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.cli.evaluate_sides import with_tags
from cleft.formats.jsonl import Record, format_record, parse_record
from cleft.metrics.calibration import observe, reliability
from cleft.parser import Parser, load
from cleft.tree import Tree
from tests.runtime.models import KINDS, model

TREEBANK = """\
( (S (NP-SBJ (DT the) (JJ grey) (NN heron)) (VP (VBZ waits) (NP (-NONE- *T*-1))) (. .)))

( (S (NP-SBJ (NN Rain)) (VP|x (VBD fell)) (, ,) (CC so) (NP (PRP she)) (VP (VBD left)) (. .)))
( (NP (-NONE- 0)))
( (NP (NN heron)))
"""
CLEAN = [
    "(S (NP (DT the) (JJ grey) (NN heron)) (VP (VBZ waits)) (. .))",
    "(S (NP (NN Rain)) (VP (VBD fell)) (, ,) (CC so) (NP (PRP she)) (VP (VBD left)) (. .))",
    "(NP (NN heron))",
]
WORDS = [Tree.from_brackets(text).words() for text in CLEAN]
SPLITS = [[0, 3, 7, "cause_SN"]]
LINES = [
    {"genre": "letter", "tokens": WORDS[0], "edus": [[0, 5]], "splits": []},
    {"genre": "diary", "tokens": WORDS[1], "edus": [[0, 3], [3, 7]], "splits": SPLITS},
    {"genre": "diary", "tokens": WORDS[1][::-1], "edus": [[0, 3], [3, 7]], "splits": SPLITS},
]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load(model("lstm"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main(["evaluate", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.mrg"
    path.write_text(TREEBANK)
    return path


@pytest.fixture
def discourse(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_syntax_is_scored_as_a_file_of_the_models_trees_would_be(run, gold, parser, tmp_path):
    clean, predicted = tmp_path / "clean.mrg", tmp_path / "predicted.mrg"
    clean.write_text("\n".join(CLEAN) + "\n")
    for beam in (1, 4):
        trees = [
            with_tags(result.syntax, Tree.from_brackets(text).tags())
            for result, text in zip(parser.parse_tokens(WORDS, beam=beam), CLEAN, strict=True)
        ]
        predicted.write_text("\n".join(map(str, trees)) + "\n")
        wanted = json.loads(run(clean, predicted, "--json", "--by-label")[1])
        code, out, err = run("--model", model("lstm"), gold, "--json", "--by-label", "--beam", beam)
        assert (code, err) == (0, "")
        found = json.loads(out)
        about = found.pop("model")
        assert found == wanted
        assert found["tagging"] == 100
        assert (about["beam"], about["failed"]) == (beam, 0)


def test_the_models_own_tags_are_counted_over_all_words(run, gold, parser):
    pairs = [
        pair
        for result, text in zip(parser.parse_tokens(WORDS), CLEAN, strict=True)
        for pair in zip(result.syntax.tags(), Tree.from_brackets(text).tags(), strict=True)
    ]
    right = Counter(one == two for one, two in pairs)[True]
    about = json.loads(run("--model", model("lstm"), gold, "--json")[1])["model"]
    assert about["tagging"] == pytest.approx(100 * right / len(pairs))
    out = run("--model", model("lstm"), gold)[1]
    assert f"right of its own tags: {about['tagging']:.2f} %" in out


def test_discourse_is_scored_end_to_end_and_with_gold_edus(run, discourse, parser, tmp_path):
    predicted = tmp_path / "predicted.jsonl"
    results = parser.parse_tokens([line["tokens"] for line in LINES])
    records = [Record(tokens=line["tokens"], discourse=result.discourse)
               for line, result in zip(LINES, results, strict=True)]  # fmt: skip
    predicted.write_text("".join(format_record(record) + "\n" for record in records))
    wanted = json.loads(run(discourse, predicted, "--json")[1])
    found = json.loads(run("--model", model("lstm"), discourse, "--json")[1])
    assert found.pop("model") == {"name": str(model("lstm")), "beam": 1, "failed": 0}
    assert found == wanted
    code, out, _ = run("--model", model("lstm"), discourse, "--json", "--edus", "gold")
    given = json.loads(out)
    assert (code, given["gold_edus"], given["segmentation"]) == (0, True, 100)
    assert given["detail"]["span"] == {"matched": 4, "gold": 4, "predicted": 4, "precision": 100,
                                       "recall": 100, "f1": 100}  # fmt: skip


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_calibration_is_what_the_models_trees_say_and_the_gold_ones_hold(
    run, gold, discourse, parser, tmp_path, task
):
    path, names = {
        "syntax": (gold, {"phrases": "nodes", "trees": "trees"}),
        "discourse": (discourse, {"relations": "nodes", "edus": "leaves", "trees": "trees"}),
    }[task]
    words = WORDS if task == "syntax" else [line["tokens"] for line in LINES]
    results = parser.parse_tokens(words)
    if task == "syntax":
        wanted = [Tree.from_brackets(text) for text in CLEAN]
    else:
        wanted = [parse_record(json.dumps(line)).discourse for line in LINES]
    seen = observe(wanted, [result.trees[task] for result in results])
    for jobs in (1, 2):
        command = ("--model", model("lstm"), path, "--calibration", "--jobs", jobs)
        found = json.loads(run(*command, "--json")[1])["calibration"]
        assert list(found) == [name for name, kind in names.items() if seen[kind]]
        for name, part in found.items():
            assert part["ece"] == pytest.approx(reliability(seen[names[name]]).ece)
            assert part["count"] == len(seen[names[name]])
    code, out, _ = run(*command)
    assert code == 0
    assert f"whole trees: ECE {found['trees']['ece']:.3f}; {len(wanted)} of probability" in out
    lines = "".join(f"{result.to_jsonl()}\n" for result in results)
    (tmp_path / "predicted.jsonl").write_text(lines)
    (tmp_path / "clean.mrg").write_text("\n".join(CLEAN))
    kept = ("--clean", "none") if task == "syntax" else ()
    gold_side = tmp_path / "clean.mrg" if task == "syntax" else path
    told = (gold_side, tmp_path / "predicted.jsonl", *kept, "--calibration", "--json")
    of_file = json.loads(run(*told)[1])["calibration"]
    assert {name: of_file[name] for name in found} == found


def test_trees_that_say_no_probability_cannot_be_calibrated(run, gold):
    code, _, err = run(gold, gold, "--calibration")
    assert code == 2
    assert "the predicted trees have no probabilities; give --model" in err
    assert run(gold, gold, "--calibration", "--evalb")[0] == 2


def test_jobs_do_not_change_the_scores(run, discourse):
    command = ("--model", model("lstm"), discourse, "--json", "--edus", "gold", "--beam", 3)
    assert run(*command, "--jobs", 2) == run(*command)


def test_a_model_without_tags_says_nothing_of_them(run, gold, monkeypatch):
    monkeypatch.setitem(KINDS, "untagged", {**KINDS["lstm"], "tags": False})
    about = json.loads(run("--model", model("untagged"), gold, "--json")[1])["model"]
    assert "tagging" not in about
    out = run("--model", model("untagged"), gold)[1]
    assert out.endswith(f"Parsed by the model {model('untagged')}, beam 1\n")


def test_genres_are_chosen_and_shown_one_by_one(run, discourse):
    code, out, _ = run("--model", model("lstm"), discourse, "--by-genre", "--edus", "gold")
    rows = [line.split() for line in out.splitlines()]
    assert code == 0
    assert ["diary", "2", "100.00"] in [row[:3] for row in rows]
    assert ["letter", "1", "0.00"] in [row[:3] for row in rows]
    data = json.loads(run("--model", model("lstm"), discourse, "--by-genre", "--json")[1])
    assert {name: part["sentences"] for name, part in data["by_genre"].items()} == {
        "diary": 2,
        "letter": 1,
    }
    for arguments in (("--model", model("lstm"), discourse), (discourse, discourse)):
        out = run(*arguments, "--genres", "diary, letter", "--json")[1]
        assert json.loads(out)["sentences"] == 3
        out = run(*arguments, "--genres", "diary", "--json")[1]
        assert json.loads(out)["sentences"] == 2


def test_a_file_is_compared_with_a_model(run, gold, tmp_path):
    clean = tmp_path / "clean.mrg"
    clean.write_text("\n".join(CLEAN) + "\n")
    data = json.loads(run("--model", model("lstm"), gold, "--against", clean, "--json")[1])
    assert data["against"]["f1"] == 100
    assert data["against"]["comparison"]["f1"]["difference"] == pytest.approx(100 - data["f1"])


def test_two_models_are_compared(run, gold, discourse, tmp_path, monkeypatch):
    one, two = model("lstm"), model("words")
    for path, key, value in ((gold, "f1", "f1"), (discourse, "span", "span")):
        alone = [json.loads(run("--model", each, path, "--json")[1]) for each in (one, two)]
        code, out, err = run("--model", one, path, "--against", two, "--json", "--beam", 1)
        found = json.loads(out)
        assert (code, err) == (0, "")
        assert found["model"] == alone[0]["model"]
        assert found["against"]["model"] == alone[1]["model"]
        assert [found[key], found["against"][key]] == [each[key] for each in alone]
        difference = found["against"]["comparison"][value]["difference"]
        assert difference == pytest.approx(alone[1][key] - alone[0][key])
    out = run("--model", one, gold, "--against", two)[1]
    assert f"Against {two}:" in out
    assert [line for line in out.splitlines() if line.startswith("Parsed by")] == [
        f"Parsed by the model {each}, beam 1" for each in (one, two)
    ]


def test_a_file_is_compared_with_a_model_by_its_name(run, gold, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = json.loads(run(gold, gold, "--against", "en-fast", "--json")[1])
    assert (data["f1"], data["against"]["model"]["name"]) == (100, "en-fast")
    Path("en-fast").write_text(TREEBANK)  # a file is what is meant where it is
    assert (
        "model" not in json.loads(run(gold, gold, "--against", "en-fast", "--json")[1])["against"]
    )
    code, _, err = run("--model", model("lstm"), gold, "--against", "nothing")
    assert (code, "cleft: nothing: no such file" in err) == (2, True)


def test_gold_may_be_left_as_it_is(run, tmp_path):
    path = tmp_path / "rooted.mrg"
    path.write_text("( (NP (NN heron)))\n")
    rooted = json.loads(run("--model", model("lstm"), path, "--clean", "none", "--json")[1])
    assert (
        rooted["gold"] == json.loads(run("--model", model("lstm"), path, "--json")[1])["gold"] + 1
    )


def test_gold_may_come_from_standard_input(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TREEBANK.encode())))
    assert json.loads(run("--model", model("lstm"), "-", "--json")[1])["valid"] == 3


def test_fine_relations_come_through_a_pipe(run, discourse, monkeypatch):
    fine = [{**line, "splits_fine": [[*s[:3], "cause-why_SN"] for s in line["splits"]]}
            for line in LINES]  # fmt: skip
    text = "".join(json.dumps(line) + "\n" for line in fine)
    discourse.write_text(text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, err = run(discourse, "-", "--format", "jsonl", "--relations", "fine", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["relation"] == 100


def test_what_cannot_be_parsed_is_told_and_counted(run, tmp_path):
    long = "x" * 10_001
    path = tmp_path / "long.mrg"
    path.write_text("(NP (NN heron))\n" + f"(NP (NN {long}))\n" * 12)
    code, out, err = run("--model", model("lstm"), path, "--json")
    data = json.loads(out)
    assert (code, data["skipped"], data["model"]["failed"]) == (0, 12, 12)
    told = err.splitlines()
    assert told[0].startswith(f"cleft: {path} sentence 2: no tree: token 1 has 10001 characters")
    assert told[-1] == "cleft: no tree for 2 more"
    lines = tmp_path / "long.jsonl"
    lines.write_text(json.dumps({"tokens": [long, "."], "edus": [[0, 2]], "splits": []}) + "\n")
    code, out, err = run("--model", model("lstm"), lines, "--json")
    assert (code, json.loads(out)["missing"]) == (0, 1)
    assert "sentence 1: no tree" in err


WITH = ["--model", "MODEL"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gold.mrg"], "nothing to compare the gold trees with"),
        (["gold.mrg", "gold.mrg", "--beam", "3"], "--beam is for parsing with a model"),
        ([*WITH, "gold.mrg", "gold.mrg"], "give one of them"),
        ([*WITH, "gold.mrg", "--beam", "0"], "beam"),
        ([*WITH, "gold.mrg", "--jobs", "0"], "jobs is 0"),
        ([*WITH, "gold.mrg", "--edus", "gold"], "--edus is for discourse"),
        ([*WITH, "gold.mrg", "--by-genre"], "--by-genre is for discourse"),
        ([*WITH, "gold.jsonl", "--clean", "ptb"], "--clean is for syntax"),
        ([*WITH, "gold.jsonl", "--genres", "ode"], "its genres are diary, letter"),
        ([*WITH, "bare.jsonl"], "sentence 1 has no tokens"),
        ([*WITH, "bare.jsonl", "--by-genre"], "as 'genre' of tree 1, found None"),
        (
            ["x.dis", "x.dis", "--by-genre"],
            "only JSON Lines, and names of files as in GUM, tell a genre",
        ),
        ([*WITH, "x.dis"], "the model has no head for documents"),
        (["--model", "nowhere/model", "gold.mrg"], "nowhere/model"),
        (["gold.mrg", "gold.mrg", "--bootstrap", "100001"], "from 1 to 100000"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    run, gold, discourse, monkeypatch, arguments, told
):
    monkeypatch.chdir(gold.parent)
    Path("x.dis").write_text("( Root (leaf 1) (text _!It rained_!) )\n")
    Path("bare.jsonl").write_text('{"edus": [[0, 1], [1, 2]], "splits": [[0, 1, 2, "x_NS"]]}\n')
    code, out, err = run(*(str(model("lstm")) if part == "MODEL" else part for part in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
