"""`cleft evaluate`: layouts, tasks, options, exit codes."""

import io
import json
import sys
from pathlib import Path

import pytest

from cleft.cli import main
from cleft.formats.jsonl import Record, format_record
from cleft.tree import Tree
from tests.metrics.test_parseval import GOLD, end_to_end_tree

SENTENCES = [
    "( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD slept)) (. .)))",
    "( (S (NP (PRP it)) (VP (VBD rained) (ADVP (RB again))) (. .)))",
    "( (NP (NN rain)))",
]
PREDICTED = [
    "( (S (NP (DT the) (NN cat)) (X (VBD slept)) (. .)))",
    "( (S (NP (PRP it)) (VP (VBD rained) (PRT (RP again))) (. .)))",
    "",
]


def rows(text):
    """The lines of a table as lists of columns."""
    return [line.split() for line in text.splitlines()]


@pytest.fixture
def run(capsys):
    """Run the command; return its exit code, output and messages."""

    def call(*arguments):
        code = main(["evaluate", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.mrg"
    path.write_text("\n".join(SENTENCES) + "\n")
    return path


@pytest.fixture
def predicted(tmp_path):
    path = tmp_path / "predicted.mrg"
    path.write_text("\n".join(PREDICTED) + "\n")
    return path


@pytest.fixture
def discourse(tmp_path):
    paths = []
    for name, trees in (("gold", [GOLD, GOLD]), ("predicted", [end_to_end_tree(), GOLD])):
        path = tmp_path / f"{name}.jsonl"
        lines = [format_record(Record(discourse=tree, tokens=("w",) * 16)) for tree in trees]
        path.write_text("\n".join(lines) + "\n")
        paths.append(path)
    return paths


def test_json_has_the_promised_keys(run, gold, predicted):
    code, out, _ = run(gold, predicted, "--json")
    data = json.loads(out)
    assert code == 0
    assert {
        key: data[key] for key in ("recall", "precision", "f1", "complete", "errors", "skipped")
    } == {
        "recall": 100 * 6 / 7,
        "precision": 100 * 6 / 7,
        "f1": pytest.approx(100 * 6 / 7),
        "complete": 50.0,
        "errors": 0,
        "skipped": 1,
    }
    assert data["tagging"] == pytest.approx(100 * 5 / 6)
    assert data["problems"] == [{"sentence": 3, "status": 2, "problem": "no predicted words"}]
    assert data["short"]["cutoff"] == 40


def test_evalb_s_layout_is_printed(run, gold, predicted, tmp_path):
    prm = tmp_path / "x.prm"
    prm.write_text("DELETE_LABEL .\nSPEED 3\nCUTOFF_LEN 3\n")
    code, out, err = run(gold, predicted, "--prm", prm, "--evalb", "--clean", "none")
    lines = out.splitlines()
    assert code == 0
    assert (
        lines[3] == "   1    4    0   75.00  75.00     3      4    4      0      3     3   100.00"
    )
    assert (
        lines[5] == "   3    1    2    0.00   0.00     0      0    0      0      0     0     0.00"
    )
    assert "-- len<=3 --" in lines
    assert err == f"cleft: ignored: {prm} line 2: unknown keyword 'SPEED'\n"


def test_the_default_is_a_table_with_errors_and_skipped_sentences(run, gold, predicted):
    code, out, _ = run(gold, predicted)
    assert code == 0
    assert out.startswith("Syntax (EVALB): 3 sentences, 2 scored, 0 errors, 1 skipped\n")
    assert ["F1", "85.71", "85.71"] in rows(out)
    assert "  sentence 3: no predicted words\n" in out


TREEBANK = [
    "( (S (NP-SBJ (DT the) (NN cat)) (VP|x (VBD slept) (NP (-NONE- *T*-1))) (. .)))",
    "( (NP (-NONE- 0)))",
    "( (S=2 (NP (PRP it)) (VP (VBD rained)) (. .))) ( (NP (NN rain)))",
]
PLAIN = [
    "(S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .))",
    "(())",
    "(S (NP (PRP it)) (VP (VBD rained)) (. .)) (NP (NN rain))",
]


def test_all_sides_are_cleaned_and_the_output_says_so(run, tmp_path):
    gold, plain = tmp_path / "gold.mrg", tmp_path / "plain.mrg"
    gold.write_text("\n".join(TREEBANK) + "\n")
    plain.write_text("\n".join(PLAIN) + "\n")
    said = "all trees cleaned by 'ptb'; --clean none scores them as they stand"
    for one, two in ((gold, plain), (plain, gold), (gold, gold)):
        code, out, _ = run(one, two, "--against", plain)
        assert (code, said in out.splitlines()) == (0, True)
        data = json.loads(run(one, two, "--json", "--against", gold)[1])
        found = (data["clean"], data["f1"], data["errors"], data["against"]["f1"])
        assert found == ("ptb", 100, 0, 100)
    assert json.loads(run(gold, plain, "--json")[1])["sentences"] == 2  # none of nothing
    _, out, err = run(gold, plain, "--evalb")
    assert (said in out, err) == (False, f"cleft: {said}\n")


def test_trees_are_left_as_they_stand_if_that_is_asked_for(run, tmp_path):
    gold, plain = tmp_path / "gold.mrg", tmp_path / "plain.mrg"
    gold.write_text("\n".join(TREEBANK) + "\n")
    plain.write_text("\n".join(PLAIN) + "\n")
    data = json.loads(run(gold, plain, "--json", "--clean", "none")[1])
    assert (data["clean"], data["gold"], data["predicted"]) == ("none", 10, 7)
    assert "cleaned" not in run(gold, plain, "--clean", "none")[1]


def test_breakdowns_in_a_table_and_in_json(run, gold, predicted):
    options = ("--by-label", "--by-length", "--confusion")
    _, out, _ = run(gold, predicted, *options)
    assert ["ADVP", "1", "1", "1", "100.00", "100.00", "100.00"] in rows(out)
    assert ["VP", "X", "1"] in rows(out)
    assert ["1-10", "3", "2", "85.71", "85.71", "85.71", "50.00"] in rows(out)
    data = json.loads(run(gold, predicted, "--json", *options)[1])
    assert data["by_label"]["VP"]["recall"] == 50
    assert data["by_length"]["1-10"]["skipped"] == 1
    assert data["confusion"] == [{"gold": "VP", "predicted": "X", "times": 1}]
    assert "by_label" not in json.loads(run(gold, predicted, "--json", "--confusion")[1])
    assert "by_label" in json.loads(run(gold, predicted, "--json", "--by-label")[1])
    assert ["VP", "X", "1"] not in rows(run(gold, predicted, "--by-label")[1])
    assert ["VP", "X", "1"] in rows(run(gold, predicted, "--confusion")[1])


def test_long_lists_are_cut_and_say_so(run, tmp_path):
    gold, predicted = tmp_path / "g.mrg", tmp_path / "p.mrg"
    sentences = [f"(S{n} (A (B b) (B b)) (B b))" for n in range(30)]
    gold.write_text("\n".join([*sentences, *["(S (A a))"] * 12]))
    predicted.write_text(
        "\n".join([*[s.replace("(S", "(T") for s in sentences], *["(S (A b))"] * 12])
    )
    code, out, err = run(gold, predicted, "--confusion")
    assert code == 0
    assert "  … and 2 more (--json lists them all)" in out
    assert "… and 10 more kinds (--json lists them all)" in out
    assert "12 sentences whose words differ, more than EVALB's MAX_ERROR 10 allows" in err


def test_stopping_at_max_error_is_an_option(run, gold, tmp_path):
    predicted = tmp_path / "p.mrg"
    predicted.write_text("(S (NN x))\n" * 3)
    prm = tmp_path / "x.prm"
    prm.write_text("MAX_ERROR 0\n")
    code, out, err = run(gold, predicted, "--prm", prm, "--evalb", "--stop")
    assert code == 1
    assert len(out.splitlines()) == 3 + 1
    assert "stopped there" in err
    assert run(gold, predicted, "--prm", prm, "--stop")[:2] == (1, "")
    code, out, err = run(gold, predicted, "--prm", prm, "--evalb")
    assert code == 0
    assert "Number of Error sentence  =      3" in out
    assert "scored all the same" in err


def test_the_dialect_can_be_chosen(run, gold, tmp_path):
    predicted = tmp_path / "p.mrg"
    predicted.write_text("(S (NN x))\n" * 3)
    evalb = json.loads(run(gold, predicted, "--prm", "new", "--json")[1])
    variant = json.loads(run(gold, predicted, "--prm", "new", "--dialect", "spmrl", "--json")[1])
    assert (evalb["errors"], evalb["mismatched"]) == (3, 3)
    assert (variant["errors"], variant["mismatched"]) == (1, 3)


def test_two_predictions_are_compared(run, gold, predicted):
    code, out, _ = run(gold, predicted, "--against", gold, "--bootstrap", 50)
    assert code == 0
    assert f"Against {gold}:" in out
    assert any(row[:4] == ["F1", "85.71", "100.00", "+14.29"] for row in rows(out))
    assert "95 % interval" in out
    data = json.loads(run(gold, predicted, "--against", gold, "--json", "--bootstrap", 50)[1])
    assert data["against"]["f1"] == 100
    comparison = data["against"]["comparison"]["f1"]
    assert comparison["difference"] == pytest.approx(100 / 7)
    assert data["interval"]["f1"][0] <= data["f1"] <= data["interval"]["f1"][1]
    assert 0 < comparison["p_value"] <= 1


def test_discourse_json_has_the_promised_keys(run, discourse):
    code, out, _ = run(*discourse, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["span"] == pytest.approx(100 * 16 / 22)
    assert {"span", "nuclearity", "relation", "full", "segmentation"} <= data.keys()
    assert data["detail"]["segmentation"] == {
        "precision": 80.0,
        "recall": pytest.approx(200 / 3),
        "f1": pytest.approx(800 / 11),
        "matched": 4,
        "gold": 6,
        "predicted": 5,
    }
    original = json.loads(run(*discourse, "--metric", "original", "--json")[1])
    assert original["detail"]["span"]["gold"] == 6


def test_discourse_table_intervals_and_comparison(run, discourse):
    gold, predicted = discourse
    code, out, _ = run(gold, predicted, "--against", gold, "--bootstrap", 20)
    assert code == 0
    assert out.startswith("Discourse (RST Parseval, end to end): 2 trees, 0 without")
    found = rows(out)
    assert ["segmentation", "80.00", "66.67", "72.73", "4", "6", "5"] in found
    assert any(row[:4] == ["segmentation", "72.73", "100.00", "+27.27"] for row in found)
    data = json.loads(run(gold, predicted, "--against", gold, "--bootstrap", 20, "--json")[1])
    assert data["against"]["comparison"]["full"]["difference"] > 0
    assert len(data["interval"]["span"]) == 2
    assert (
        "original Parseval, gold EDUs" in run(gold, gold, "--gold-edus", "--metric", "original")[1]
    )


def test_gold_edus_must_be_the_same(run, discourse):
    code, out, err = run(*discourse, "--gold-edus")
    assert (code, out) == (2, "")
    assert "tree 1: 4 gold EDUs and 3 predicted" in err


def test_fine_relations_can_be_taken(run, tmp_path):
    line = {
        "tokens": ["a", "b"],
        "edus": [[0, 1], [1, 2]],
        "splits": [[0, 1, 2, "cause_NS"]],
        "splits_fine": [[0, 1, 2, "cause-result_NS"]],
    }
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(json.dumps(line))
    two.write_text(json.dumps({**line, "splits_fine": [[0, 1, 2, "cause-reason_NS"]]}))
    assert json.loads(run(one, two, "--json")[1])["relation"] == 100
    assert json.loads(run(one, two, "--json", "--relations", "fine")[1])["relation"] == 50


def test_documents_are_scored(run, tmp_path):
    texts = {
        "dis": "( Root (span 1 2)\n"
        "  ( Nucleus (leaf 1) (rel2par span) (text _!It rained_!) )\n"
        "  ( Satellite (leaf 2) (rel2par cause) (text _!so we left_!) )\n)\n",
        "rsd": "1\tIt rained\t_\t_\t_\t_\t0\tROOT\t_\t_\n"
        "2\tso we left\t_\t_\t_\t_\t1\tcause_r\t_\t_\n",
        "rs3": '<rst><header><relations><rel name="cause" type="rst"/></relations></header><body>'
        '<segment id="1">It rained</segment>'
        '<segment id="2" parent="1" relname="cause">so we left</segment></body></rst>',
    }
    for ending, text in texts.items():
        path = tmp_path / f"x.{ending}"
        path.write_text(text)
        code, out, err = run(path, path, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["detail"]["full"]["gold"] == 2


def test_json_lines_of_both_tasks_need_only_be_told_which(run, tmp_path):
    syntax = Tree("S", [Tree("NN", word="w")] * 16)
    path = tmp_path / "both.jsonl"
    path.write_text(format_record(Record(syntax=syntax, discourse=GOLD)))
    assert json.loads(run(path, path, "--json")[1])["task"] == "syntax"
    assert json.loads(run(path, path, "--json", "--task", "discourse")[1])["task"] == "discourse"


def test_failed_parses_in_json_lines_are_skipped(run, tmp_path, gold, discourse):
    failed = tmp_path / "failed.jsonl"
    failed.write_text((format_record(Record(tokens=("a",), error="too long")) + "\n") * 3)
    assert json.loads(run(gold, failed, "--json")[1])["skipped"] == 3
    failed.write_text((format_record(Record(tokens=("a",), error="too long")) + "\n") * 2)
    assert json.loads(run(discourse[0], failed, "--json")[1])["missing"] == 2
    code, _, err = run(failed, discourse[0])
    assert code == 2
    assert "sentence 1 has no discourse tree" in err


def test_predictions_come_from_standard_input(run, gold, predicted, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(predicted.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert json.loads(run(gold, "-", "--json")[1])["skipped"] == 1


def test_trees_of_many_lines_are_paired_with_trees_of_one(run, gold, tmp_path):
    many = tmp_path / "many.mrg"
    many.write_text("\n\n".join(s.replace(" (VP", "\n  (VP") for s in SENTENCES) + "\n")
    assert json.loads(run(gold, many, "--json")[1])["f1"] == 100


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["gold.mrg", "absent.mrg"], "absent.mrg: no such file"),
        (["gold.mrg", "nothing"], "found a directory"),
        (["gold.mrg", "short.mrg"], "3 trees in gold.mrg, 1 in short.mrg"),
        (["gold.mrg", "open.mrg"], "open.mrg line 1 column 1"),
        (["gold.mrg", "empty.mrg"], "expected at least one tree"),
        (["gold.mrg", "latin.mrg"], "expected UTF-8"),
        (["gold.mrg", "gold.mrg", "--prm", "nothing"], "no parameters are called 'nothing'"),
        (["gold.mrg", "gold.mrg", "--metric", "rst"], "--metric is for discourse"),
        (["gold.mrg", "gold.mrg", "--task", "discourse"], "it has no discourse trees"),
        (["gold.mrg", "gold.mrg", "--bootstrap", "0"], "--bootstrap 0"),
        (["gold.mrg", "gold.mrg", "--seed", "3"], "--seed is for resampling"),
        (["x.dis", "x.dis", "--relations", "fine"], "--relations is for JSON Lines"),
        (["gold.mrg", "gold.mrg", "--evalb", "--bootstrap", "9"], "no place for --bootstrap"),
        (["gold.mrg", "gold.mrg", "--evalb", "--by-label"], "no place for --by-label"),
        (["both.jsonl", "both.jsonl", "--metric", "rst"], "and syntax is scored; add --task"),
        (["gold.mrg", "x.dis"], "different tasks"),
        (["x.dis", "x.dis", "--evalb"], "--evalb is for syntax"),
        (["x.dis", "x.dis", "--by-label"], "--by-label is for syntax"),
        (["-", "-"], "only one file can be standard input"),
    ],
)
def test_wrong_use_and_bad_input_are_one_message_and_exit_code_2(
    run, gold, monkeypatch, arguments, told
):
    monkeypatch.chdir(gold.parent)
    Path("nothing").mkdir()
    Path("short.mrg").write_text("(NP (NN rain))\n")
    Path("open.mrg").write_text("(NP (NN rain)\n")
    Path("empty.mrg").write_text("")
    Path("latin.mrg").write_bytes(b"(NP (NN caf\xe9))\n")
    Path("x.dis").write_text("( Root (leaf 1) (text _!It rained_!) )\n")
    Path("both.jsonl").write_text(
        '{"cleft": 1, "tokens": ["x"], "syntax": {"tags": ["NN"], "nodes": [["NP", 0, 1]]}, '
        '"discourse": {"edus": [[0, 1]], "splits": []}}\n'
    )
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_layouts_exclude_each_other(run, gold, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(gold, gold, "--json", "--evalb")
    assert stopped.value.code == 2


@pytest.mark.parametrize("name", ["collins", "new", "spmrl"])
def test_the_reference_sets_come_out_character_for_character(run, shared, name):
    folder = shared / "reference" / "evalb" / name
    files = (folder / "gold.mrg", folder / "pred.mrg", "--prm", folder / "params.prm")
    code, out, err = run(*files, "--evalb", "--clean", "none")
    assert (code, "cleaned" in err) == (0, False)
    assert out == (folder / "expected.txt").read_text("utf-8")


def test_a_negative_seed_is_refused(tmp_path, capsys):
    path = tmp_path / "a.mrg"
    path.write_text("(S (NN a) (NN b))\n")
    assert main(["evaluate", str(path), str(path), "--bootstrap", "5", "--seed", "-1"]) == 2
    assert "give a number of at least 0" in capsys.readouterr().err


def test_discourse_trees_of_other_words_are_not_scored(tmp_path, capsys):
    line = '{"tokens": ["%s", "b"], "edus": [[0, 1], [1, 2]], "splits": [[0, 1, 2, "x_NS"]]}\n'
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl"
    gold.write_text(line % "a")
    predicted.write_text(line % "q")
    assert main(["evaluate", str(gold), str(predicted), "--json"]) == 2
    assert "gold has the text 'ab' where predicted has 'qb'" in capsys.readouterr().err


def test_json_lines_from_a_pipe_are_asked_for_by_name(run, discourse, gold, monkeypatch):
    line = Path(discourse[0]).read_bytes()

    def piped():
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))

    for other in (discourse[0], gold):
        piped()
        code, _, said = run(other, "-", "--relations", "fine")
        assert (code, said.count("\n")) == (2, 1)
        assert said.startswith("cleft: standard input line 1")
        assert "say with --format what standard input holds" in said
    dis = b"( Root (leaf 1) (text _!rained_!) )\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(dis)))
    code, _, said = run(discourse[0], "-")
    assert (code, "different tasks" in said, "--format" in said) == (2, True, True)
    piped()
    assert run(discourse[0], "-", "--relations", "fine", "--format", "jsonl")[0] == 0
