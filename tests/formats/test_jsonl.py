import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, FormatError, InputError
from cleft.evidence import Evidence
from cleft.formats.jsonl import Record, format_record, parse_record, read_jsonl, write_jsonl
from cleft.span import Span
from cleft.tree import Tree
from tests.strategies import discourse_trees, trees

CORPUS = {
    "doc": "made_up",
    "tokens": ["It", "rained", ",", "so", "we", "left", "."],
    "edus": [[0, 3], [3, 7]],
    "splits": [[0, 3, 7, "causal_SN"]],
    "splits_fine": [[0, 3, 7, "causal-cause_SN"]],
    "tree": ["causal", "causal-cause", "SN", [0, 3], [3, 7]],
}


@given(trees(), discourse_trees())
def test_both_trees_of_a_sentence_come_back(syntax: Tree, discourse: DiscourseTree) -> None:
    for record in (Record(syntax=syntax), Record(discourse=discourse)):
        back = parse_record(format_record(record))
        assert (back.syntax, back.discourse) == (record.syntax, record.discourse)
        assert back.tokens == record.tokens


def test_evidence_fields_texts_and_offsets_come_back() -> None:
    evidence = Evidence(
        probability=0.7,
        label=0.9,
        split=0.5,
        labels=(("NP", 0.1),),
        splits=((1, 0.25),),
        log_prob=-1.5,
        split_log_prob=-1.0,
        tree_probability=0.2,
    )
    syntax = Tree("S", [Tree("NN", (), "a", evidence), Tree("NN", (), "b")], None, evidence)
    edus = [Edu("a,", Span(0, 1), 0, 2), Edu("b", Span(1, 2), 3, 4)]
    leaves = [DiscourseTree(edu=edus[0], evidence=evidence), DiscourseTree.leaf(edus[1])]
    discourse = DiscourseTree(leaves, "NS", ["span", "cause"], None, evidence)
    record = Record(syntax=syntax, discourse=discourse, fields={"doc": "d1", "tokens": "ignored"})
    back = parse_record(format_record(record))
    assert back.syntax is not None
    assert back.discourse is not None
    assert back.syntax.evidence == back.syntax.leaves()[0].evidence == evidence
    assert [node.evidence for node in back.discourse.preorder()] == [evidence, evidence, None]
    assert back.discourse.edus == edus
    assert back.fields == {"doc": "d1"}
    assert (back.task, back.tree) == ("both", syntax)
    short = parse_record(format_record(record, compact=True))
    for tree in short.trees.values():
        assert (tree.log_prob, tree.tree_probability, tree.probability) == (-1.5, 0.2, None)


def test_the_compact_form_keeps_the_probabilities_of_a_tree_that_is_one_leaf() -> None:
    evidence = Evidence(probability=0.9, split=0.9, log_prob=-0.25, tree_probability=0.75)
    whole = DiscourseTree(edu=Edu("Go !", Span(0, 2)), evidence=evidence)
    tag = Tree("UH", (), "Oh", Evidence(label=0.9, log_prob=-0.25, tree_probability=0.75))
    for record in (Record(discourse=whole), Record(syntax=tag)):
        tree = parse_record(format_record(record, compact=True)).tree
        assert tree is not None
        assert (tree.log_prob, tree.tree_probability, tree.probability) == (-0.25, 0.75, None)


def test_a_line_that_ends_too_soon_is_told_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"cleft": 1, "tokens": ["a"]\n')
    with pytest.raises(FormatError, match=r"cut\.jsonl line 1 column 29: not JSON"):
        list(read_jsonl(tmp_path / "cut.jsonl"))


def test_a_no_break_space_does_not_part_tokens() -> None:
    edus = [Edu("5\u00a0km away", Span(0, 2)), Edu("we met", Span(2, 4))]
    tree = DiscourseTree.join([DiscourseTree.leaf(edu) for edu in edus], "NS", "cause")
    assert Record(discourse=tree).tokens == ("5\u00a0km", "away", "we", "met")


def test_an_error_stands_in_place_of_trees() -> None:
    back = parse_record(format_record(Record(tokens=("x",), error="too long")))
    assert (back.error, back.task, back.tree, back.tokens) == ("too long", None, None, ("x",))


def test_a_discourse_corpus_line_is_read_with_coarse_or_fine_relations() -> None:
    line = json.dumps(CORPUS)
    coarse, fine = parse_record(line), parse_record(line, relations="fine")
    assert coarse.discourse is not None
    assert fine.discourse is not None
    assert (coarse.discourse.relation, fine.discourse.relation) == ("causal", "causal-cause")
    assert [edu.text for edu in coarse.discourse.edus] == ["It rained ,", "so we left ."]
    assert coarse.fields == {"doc": "made_up"}
    only = parse_record('{"edus": [[0, 2], [2, 5]], "splits": [[0, 2, 5, "x_NS"]]}')
    assert only.discourse is not None
    assert (only.tokens, only.discourse.span) == ((), Span(0, 5))


def test_two_halves_of_a_pair_do_not_become_one_character() -> None:
    words = ("It", "\ud83d\ude42", "rained", "a\udc00")
    line = format_record(Record(tokens=words))
    assert line.encode("utf-8")
    assert parse_record(line).tokens == ("It", "\ufffd\ufffd", "rained", "a\udc00")


def test_odd_characters_come_back_and_lone_surrogates_are_escaped() -> None:
    for word in ("\u2028", "\x00", "👩‍👩‍👧", "\ud800", '"\\'):
        line = format_record(Record(tokens=(word,)))
        assert "\n" not in line
        line.encode()
        assert parse_record(line).tokens == (word,)


def test_a_deep_tree_needs_no_deep_json() -> None:
    tree = Tree("NN", (), "w")
    for _ in range(5000):
        tree = Tree("S", (tree,))
    assert parse_record(format_record(Record(syntax=tree))).syntax == tree
    with pytest.raises(FormatError, match="nested too deeply"):
        parse_record('{"cleft": 1, "x": ' + "[" * 100_000 + "]" * 100_000 + "}")


SYNTAX = {"cleft": 1, "tokens": ["a", "b"], "syntax": {"tags": ["X", "Y"], "nodes": [["S", 0, 2]]}}
DISCOURSE = {
    "cleft": 1,
    "tokens": ["a", "b"],
    "discourse": {"edus": [[0, 1], [1, 2]], "nodes": [[0, 2, "NS", ["span", "x"]]]},
}


def changed(record: dict, task: str, **values: object) -> str:
    return json.dumps({**record, task: {**record[task], **values}})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "expected a JSON object, found list"),
        ("{}", "expected the key 'cleft' .* found no key"),
        ('{"a": 1}', "found 'a'"),
        ('{"cleft": 2}', "expected format version 1, found 2"),
        ('{"cleft": 1, "tokens": [1]}', "'tokens': expected a list of strings"),
        ('{"cleft": 1, "error": 5}', "'error': expected a string"),
        ('{"cleft": 1, "tokens": ["a"], "syntax": 1}', "'syntax': expected an object, found int"),
        (changed(SYNTAX, "syntax", tags=["X"]), "2 tokens but 1 tags"),
        (changed(SYNTAX, "syntax", nodes=5), "'nodes': expected a list"),
        (changed(SYNTAX, "syntax", nodes=[]), "leave 2 separate trees"),
        (changed(SYNTAX, "syntax", nodes=[["S", 0, 9]]), "does not fit"),
        (changed(SYNTAX, "syntax", nodes=[["S", 1, 0]]), "expected a span"),
        (changed(SYNTAX, "syntax", nodes=[["S", True, 2]]), "expected a span"),
        (changed(SYNTAX, "syntax", nodes=[[1, 0, 2]]), "expected a label, found 1"),
        (changed(SYNTAX, "syntax", nodes=[["S", 0]]), "expected a list of 3"),
        (changed(SYNTAX, "syntax", nodes=[["A", 0, 1], ["S", 0, 2]]), "does not fit"),
        (changed(SYNTAX, "syntax", evidence=[]), "'evidence': expected 1 entries, found 0"),
        (changed(SYNTAX, "syntax", evidence=[{"label": "x"}]), "'evidence': expected numbers"),
        (changed(DISCOURSE, "discourse", edus=[[0, 1]]), "don't cover all tokens"),
        (changed(DISCOURSE, "discourse", edus=[]), "don't cover all tokens"),
        (changed(DISCOURSE, "discourse", edus=[[0, 1], [0, 2]]), "does not start where"),
        (changed(DISCOURSE, "discourse", texts=["a"]), "differ in length"),
        (changed(DISCOURSE, "discourse", characters=[["a", 1], [2, 3]]), "expected two numbers"),
        (
            changed(DISCOURSE, "discourse", nodes=[[0, 2, 5, ["span", "x"]]]),
            "expected a nuclearity",
        ),
        (changed(DISCOURSE, "discourse", nodes=[[0, 2, "S", ["x"]]]), "2 children, but"),
        (changed(DISCOURSE, "discourse", nodes=[]), "leave 2 separate trees"),
        (json.dumps({**CORPUS, "edus": [[0, 4], [4, 7]]}), r"EDU \[0, 4\] does not follow"),
        (json.dumps({**CORPUS, "splits": [[0, 3, 7, "x_NS"], [1, 2, 3, "x_NS"]]}), "not reached"),
        (json.dumps({**CORPUS, "splits": [[0, 9, 7, "x_NS"]]}), "is no split of that span"),
        (json.dumps({**CORPUS, "splits": [[0, "3", 7, "x_NS"]]}), r"expected \[left, split"),
        (json.dumps({**CORPUS, "splits": [[0, 3, 7, "x"]]}), "does not end in _NS"),
        (json.dumps({**CORPUS, "splits": [[0, 3, 7, ""]]}), "is no split of that span"),
        (json.dumps({**CORPUS, "splits": [[0, 3, 7, "a_NS"], [0, 2, 7, "b_NS"]]}), "given twice"),
        (changed(SYNTAX, "syntax", evidence=[{"label": 7.5}]), "expected probabilities"),
        ('{"cleft": 1, "x": NaN}', "NaN is no number that JSON knows"),
        ('{"splits": []}', "neither tokens nor EDUs"),
    ],
)
def test_a_malformed_record_is_told_by_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text(json.dumps(SYNTAX) + "\n\n" + line + "\n")
    with pytest.raises(FormatError, match=message) as caught:
        list(read_jsonl(path))
    assert f"{path} line 3" in str(caught.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trees.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError, match="at least one line of JSON"):
        list(read_jsonl(path))


def test_records_are_written_one_a_line() -> None:
    stream = io.StringIO()
    write_jsonl([Record(tokens=("a",)), Record(tokens=("b",))], stream)
    assert [json.loads(line)["tokens"] for line in stream.getvalue().splitlines()] == [["a"], ["b"]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
KEYS = ["cleft", "tokens", "syntax", "discourse", "edus", "splits", "tags", "nodes", "evidence"]


@given(st.dictionaries(st.sampled_from(KEYS), json_values | st.just(1) | st.just(["a", "b"])))
def test_any_json_gives_a_record_or_our_own_error(data: dict) -> None:
    try:
        parse_record(json.dumps(data))
    except CleftError:
        return
