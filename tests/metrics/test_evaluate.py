"""The one evaluation: what pairs with what, and what is done to trees before they are scored."""

import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import CleftError, InputError, MetricError, TreeFormatError
from cleft.files import Text
from cleft.formats.brackets import FOREST, read_by_line
from cleft.formats.jsonl import Record, format_record
from cleft.metrics.bracketing import Rules, bracketing
from cleft.metrics.evalb import score_syntax
from cleft.metrics.evaluate import Settings, Trees, common_task, evaluate, pair_up, read_trees
from cleft.metrics.prm import COLLINS, Parameters
from cleft.tree import Tree
from tests.metrics.test_parseval import GOLD

ONE = Tree.from_brackets("(NP (NN rain))")
TWO = Tree.from_brackets("(S (NN rain) (VBD fell))")


def read(tmp_path, text):
    path = tmp_path / "trees.mrg"
    path.write_text(text)
    return read_by_line(path)


@pytest.mark.parametrize("nothing", ["", "  ", "(())", "()", "( )", "(TOP)", "(TOP ())"])
def test_a_line_without_a_word_is_a_missing_parse(tmp_path, nothing):
    assert read(tmp_path, f"{ONE}\n{nothing}\n{TWO}\n") == [ONE, None, TWO]


def test_blank_lines_mean_nothing_between_trees_of_many_lines(tmp_path):
    text = "(NP\n  (NN rain))\n\n(())\n\n(S (NN rain)\n\n   (VBD fell))\n\n"
    assert read(tmp_path, text) == [ONE, None, TWO]


def test_several_trees_on_a_line_are_one_sentence_as_for_evalb(tmp_path):
    forest = Tree(FOREST, [ONE, TWO])
    trees = read(tmp_path, f"{ONE} {TWO}\n\n{ONE}\n")
    assert trees == [forest, None, ONE]
    assert bracketing(forest, Rules(COLLINS)).brackets == [(0, 1, "NP"), (1, 3, "S")]
    # Unless a tree of the file goes on over several lines.
    assert read(tmp_path, f"{ONE} {TWO}\n\n(NP\n(NN rain))\n") == [ONE, TWO, ONE]


def test_a_line_of_tagged_words_has_no_bracket(tmp_path):
    (words,) = read(tmp_path, "(NN rain) (VBD fell)\n")
    found = bracketing(words, Rules(COLLINS))
    assert (found.words, found.tags, found.brackets) == (["rain", "fell"], ["NN", "VBD"], [])
    (row,) = score_syntax([TWO], [words]).sentences
    assert (row.status, row.gold, row.predicted, row.correct_tags) == (0, 1, 0, 2)


@pytest.mark.parametrize(
    "line", ["rain", "(NN rain) fell", "(NN rain))", "(NN rain)) ((VBD fell)", ") (NN rain)"]
)
def test_a_line_that_is_no_row_of_brackets_is_an_error(tmp_path, line):
    with pytest.raises(TreeFormatError, match="line 2"):
        read(tmp_path, f"{ONE}\n{line}\n")


@given(st.text(alphabet="() \nab\0é", max_size=40))
def test_any_text_gives_trees_or_cleft_s_own_error(text):
    with tempfile.NamedTemporaryFile("w", suffix=".mrg", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        try:
            trees = read_by_line(file.name)
        except CleftError:
            return
    assert score_syntax(trees, trees, Parameters()).errors == 0


@pytest.mark.parametrize("text", ["", "\n\n", "(())\n"])
def test_a_file_without_a_tree_is_an_error(tmp_path, text):
    with pytest.raises(InputError, match="expected at least one tree"):
        read(tmp_path, text)


def test_an_error_names_the_line_though_blank_ones_came_before(tmp_path):
    with pytest.raises(TreeFormatError, match="line 3 column 1"):
        read(tmp_path, f"\n\n) {ONE}\n")
    with pytest.raises(TreeFormatError, match=r"line 2 column 1.*1 open bracket"):
        read(tmp_path, f"{ONE}\n(S (NN a)\n")


NAMES = ("gold.mrg", "predicted.mrg")


def test_trees_are_paired_by_line_where_the_counts_agree():
    assert pair_up([ONE, None], [None, TWO], NAMES) == ([ONE, None], [None, TWO])


def test_blank_lines_at_the_end_go_where_the_counts_differ():
    assert pair_up([ONE, TWO, None], [ONE, TWO], NAMES) == ([ONE, TWO], [ONE, TWO])
    assert pair_up([ONE], [TWO, None, None], NAMES) == ([ONE], [TWO])


def test_blank_lines_between_the_trees_of_one_file_go():
    assert pair_up([ONE, None, TWO], [ONE, TWO], NAMES) == ([ONE, TWO], [ONE, TWO])
    assert pair_up([ONE, TWO], [ONE, None, TWO], NAMES) == ([ONE, TWO], [ONE, TWO])


def test_different_counts_are_an_error_that_names_both():
    with pytest.raises(MetricError, match=r"3 trees in gold.mrg, 2 in predicted.mrg"):
        pair_up([ONE, TWO, ONE], [ONE, TWO], NAMES)
    with pytest.raises(MetricError, match=r"3 trees in gold.mrg, 2 in predicted.mrg"):
        pair_up([ONE, None, TWO], [None, ONE], NAMES)
    with pytest.raises(MetricError, match=r"4 trees in gold.mrg, 3 in predicted.mrg"):
        pair_up([ONE, None, None, TWO], [ONE, None, TWO], NAMES)


def test_a_forest_pairs_tree_by_tree_where_the_counts_differ():
    assert pair_up([Tree(FOREST, [ONE, TWO])], [ONE, TWO], NAMES) == ([ONE, TWO], [ONE, TWO])


def test_the_ending_tells_the_format_and_the_trees_the_task(tmp_path):
    for name, text, tasks in (
        ("x.mrg", f"{ONE}\n", {"syntax"}),
        ("x", f"{ONE}\n", {"syntax"}),
        ("x.dis", "( Root (leaf 1) (text _!It rained_!) )\n", {"discourse"}),
        ("a.jsonl", format_record(Record(syntax=ONE)), {"syntax"}),
        ("b.jsonl", format_record(Record(discourse=GOLD, tokens=("a",) * 16)), {"discourse"}),
        ("c.jsonl", format_record(Record(syntax=ONE, error="too long")), {"syntax"}),
        ("d.jsonl", format_record(Record(tokens=("a",), error="too long")), set()),
    ):
        path = tmp_path / name
        path.write_text(text)
        assert read_trees(path).tasks == tasks
        assert read_trees(Text(name, text)).tasks == tasks
    assert read_trees(tmp_path / "x", "brackets").format == "brackets"
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="found a directory"):
        read_trees(tmp_path / "empty")


def test_the_task_is_one_that_all_sides_have():
    syntax, discourse = Trees.of("syntax", [ONE]), Trees.of("discourse", [GOLD])
    both = Trees(name="both", records=[Record(syntax=ONE), Record(discourse=GOLD)])
    failed = Trees(name="failed", records=[Record(tokens=("a",), error="too long")])
    assert common_task(None, [both, both]) == "syntax"
    assert common_task(None, [both, discourse, failed]) == "discourse"
    assert common_task("discourse", [both, discourse]) == "discourse"
    with pytest.raises(MetricError, match="different tasks"):
        common_task(None, [syntax, discourse])
    with pytest.raises(MetricError, match="it has no discourse trees"):
        common_task("discourse", [both, syntax])


class Echo:
    """A model that gives back the gold trees, and none of the last."""

    name, tasks = "echo", frozenset({"syntax", "discourse"})

    def predict(self, task, gold):
        self.asked = [record.tokens for record in gold]
        return [*[getattr(record, task) for record in gold[:-1]], None]


def test_a_model_is_given_the_cleaned_sentences_that_are_to_be_scored():
    text = (
        "( (S-X (NN rain) (VBD fell) (-NONE- *)))\n\n( (-NONE- 0))\n(NP (NN rain)) (NP (NN hail))\n"
    )
    model = Echo()
    found = evaluate("syntax", read_trees(Text("gold", text)), model)
    assert model.asked == [("rain", "fell"), ("rain",), ("hail",)]
    assert (found.values["recall"], found.scores.skipped) == (100, 1)
    records = [Record(discourse=GOLD, tokens=tuple(f"w{n}" for n in range(16)))] * 3
    gold = Trees(name="gold", records=records)
    found = evaluate("discourse", gold, model, Settings(gold_edus=True), places=[0, 2])
    assert len(model.asked) == 2
    assert (found.scores.missing, found.main) == (1, pytest.approx(200 / 3))
    assert found.part([0]).main == 100
    bare = Trees(name="gold", records=[records[0], Record(discourse=GOLD)])
    object.__setattr__(bare.records[1], "tokens", ())
    with pytest.raises(InputError, match="gold: sentence 2 has no tokens"):
        evaluate("discourse", bare, model)


def test_sentences_are_chosen_on_both_sides_of_files_of_one_length():
    gold = Trees.of("syntax", [ONE, TWO, ONE], "gold")
    found = evaluate("syntax", gold, Trees.of("syntax", [None, TWO, ONE], "p"), places=[1, 2])
    assert (found.main, found.scores.skipped) == (100, 0)
    with pytest.raises(MetricError, match="3 trees in gold, 1 in p"):
        evaluate("syntax", gold, Trees.of("syntax", [TWO], "p"), places=[1])


def test_gold_trees_must_be_there():
    nothing = Trees.of("syntax", [None, None], "gold")
    with pytest.raises(MetricError, match="gold: it has no syntax trees"):
        evaluate("syntax", nothing, nothing)
    with pytest.raises(MetricError, match="gold: sentence 1 has no discourse tree"):
        evaluate("discourse", nothing, nothing)
