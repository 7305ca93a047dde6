"""EVALB's counts: against a plain oracle, by property, and against the C program's output."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import MetricError
from cleft.formats.brackets import read_by_line
from cleft.metrics.evalb import score_syntax
from cleft.metrics.prm import COLLINS, NEW, SPMRL, Parameters, parse_prm, read_prm
from cleft.metrics.report import evalb_lines, stopped_lines
from cleft.tree import Tree
from tests.metrics.plain_evalb import plain_score

LABELS = ["S", "NP", "NP-SBJ", "VP", "PP=2", "ADVP", "PRT", "TOP", "", "X#a", "A", "B", "C"]
TAGS = ["NN", "VB", ",", ".", "-NONE-", "ADVP", "A", "B", "C"]


def tree(text):
    return Tree.from_brackets(text)


def random_tree(words, rng):
    """A random tree over (tag, word) pairs."""
    forest = [Tree(tag, (), word) for tag, word in words]
    while len(forest) > 1 or forest[0].word is not None or rng.random() < 0.3:
        left = rng.randrange(len(forest))
        right = rng.randint(left + 1, min(len(forest), left + 3))
        forest[left:right] = [Tree(rng.choice(LABELS), tuple(forest[left:right]))]
    return forest[0]


@st.composite
def pairs(draw, same_tags=False):
    """Two random trees over the same words."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    words = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
    first = [(rng.choice(TAGS), word) for word in words]
    second = first if same_tags else [(tag if rng.random() < 0.9 else "Z", w) for tag, w in first]
    return random_tree(first, rng), random_tree(second, rng)


def counts(scores):
    (row,) = scores.sentences
    return (row.matched, row.gold, row.predicted, row.crossing, row.words, row.correct_tags)


SETTINGS = [
    Parameters(),
    COLLINS,
    replace(COLLINS, labelled=False),
    Parameters(delete=("TOP", "NP"), equal_labels=(("A", "B"), ("B", "C"))),
    Parameters(delete=("A",), equal_labels=(("A", "B"), ("B", "C"), ("C", "A"), ("TOP", "VP"))),
]


@pytest.mark.parametrize("setting", SETTINGS)
@given(pair=pairs())
def test_counts_equal_those_of_a_plain_comparison_of_all_pairs(setting, pair):
    expected = plain_score(
        *pair, setting.delete, "-=", setting.equal_labels, labelled=setting.labelled
    )
    scores = score_syntax([pair[0]], [pair[1]], setting)
    if expected is None:
        assert scores.errors == 1
    elif expected[4] == 0:
        assert scores.skipped == 1
    else:
        assert counts(scores) == expected


@given(pairs(same_tags=True))
def test_a_tree_scores_100_against_itself(pair):
    gold = tree("(S (NP (NN x)))")
    scores = score_syntax([pair[0], gold], [pair[0], gold])
    assert (scores.recall, scores.precision, scores.f1, scores.complete) == (100,) * 4
    assert scores.tagging == 100
    assert scores.errors == 0


@given(pairs(same_tags=True))
def test_changing_sides_changes_recall_and_precision_about(pair):
    one, two = score_syntax([pair[0]], [pair[1]]), score_syntax([pair[1]], [pair[0]])
    assert (one.recall, one.precision) == (two.precision, two.recall)
    assert one.f1 == pytest.approx(two.f1)
    (row,) = one.sentences
    assert row.matched <= min(row.gold, row.predicted)


def test_deletion_takes_a_word_but_only_the_bracket_of_a_phrase():
    gold = tree("(TOP (S (NP (NN a) (, ,)) (VP (VB b)) (. .)))")
    predicted = tree("(TOP (S (NP (NN a)) (, ,) (VP (VB b) (. .))))")
    assert counts(score_syntax([gold], [predicted])) == (3, 3, 3, 0, 2, 2)
    assert score_syntax([gold], [predicted]).sentences[0].length == 4


def test_labels_are_cut_and_an_empty_root_counts():
    gold, predicted = tree("( (S-1 (NP-SBJ (NN a)) (VB b)))"), tree("( (S (NP=3 (NN a)) (VB b)))")
    assert counts(score_syntax([gold], [predicted])) == (3, 3, 3, 0, 2, 2)


def test_a_phrase_without_words_vanishes():
    gold, predicted = tree("(S (NP (-NONE- *)) (VB b))"), tree("(S (VB b))")
    assert counts(score_syntax([gold], [predicted])) == (1, 1, 1, 0, 1, 1)


def test_equal_brackets_are_matched_as_often_as_both_have_them():
    gold, predicted = tree("(NP (NP (NP (NN a))))"), tree("(NP (NP (NN a)))")
    assert counts(score_syntax([gold], [predicted])) == (2, 3, 2, 0, 1, 1)


def test_equal_words_are_a_setting():
    gold, predicted = tree("(NP (NN colour))"), tree("(NP (NN color))")
    assert score_syntax([gold], [predicted]).errors == 1
    setting = parse_prm(["EQ_WORD color colour"])
    assert score_syntax([gold], [predicted], setting).f1 == 100


def test_length_leaves_out_what_the_setting_says():
    sentence = tree("(S (NN a) (-NONE- *) (, ,) (NN b))")
    assert score_syntax([sentence], [sentence]).sentences[0].length == 3
    setting = Parameters(delete_for_length=("NN",))
    assert score_syntax([sentence], [sentence], setting).sentences[0].length == 2


def test_errors_and_skipped_sentences_leave_the_totals():
    good, other = tree("(S (NN a) (VB b))"), tree("(S (NN a) (VB c))")
    short, nothing = tree("(S (NN a))"), tree("(S (. .))")
    scores = score_syntax(
        [good, good, good, good, good, None], [good, other, short, None, nothing, good]
    )
    assert [row.status for row in scores.sentences] == [0, 1, 1, 2, 2, 1]
    assert (scores.errors, scores.skipped, scores.total.valid) == (3, 2, 1)
    assert (scores.f1, scores.complete) == (100, 100)
    assert [row.problem for row in scores.problems] == [
        "'b' expected, 'c' found",
        "2 words expected, 1 found",
        "no predicted words",
        "no predicted words",
        "0 words expected, 2 found",
    ]


def test_different_numbers_of_trees_are_an_error_that_names_both():
    with pytest.raises(MetricError, match="2 gold trees but 1 predicted"):
        score_syntax([None, None], [None])


def test_nothing_matched_is_no_division_by_zero():
    gold, predicted = tree("(S (NN a))"), tree("(X (NN a))")
    scores = score_syntax([gold], [predicted])
    assert (scores.recall, scores.precision, scores.f1) == (0, 0, 0)
    assert "Bracketing FMeasure       =   -nan" in list(evalb_lines(scores))
    assert score_syntax([], []).total.crossing == 0


def test_the_total_line_has_no_brackets_where_there_are_none():
    lines = list(evalb_lines(score_syntax([], [])))
    assert lines[4] == "      0     0     0.00"


# ------------------------------------------------------------ the variant


def test_the_variant_keeps_words_and_cuts_tags():
    gold, predicted = tree("(VROOT (S (NN-a a) (. .)))"), tree("(VROOT (S (NN#b a) (. .)))")
    assert counts(score_syntax([gold], [predicted], SPMRL)) == (1, 1, 1, 0, 2, 2)


def test_the_variant_deletes_the_bracket_without_a_label():
    gold, predicted = tree("( (S (NN a) (NN b)))"), tree("(S (NN a) (NN b))")
    assert counts(score_syntax([gold], [predicted], SPMRL)) == (1, 1, 1, 0, 2, 2)


def test_the_variant_counts_a_wrong_length_as_a_sentence_without_brackets():
    gold, predicted = tree("(S (NN a) (NN b))"), tree("(S (NN a))")
    scores = score_syntax([gold], [predicted], SPMRL)
    assert (scores.errors, scores.total.valid, scores.complete) == (0, 1, 100)
    assert [row.problem for row in scores.problems] == ["2 words expected, 1 found"]


def test_the_variant_scores_a_single_gold_word_twice():
    gold, longer, other = tree("(S (NN a))"), tree("(S (NN a) (NN b))"), tree("(S (NN b) (NN c))")
    scores = score_syntax([gold, gold], [longer, other], SPMRL)
    assert [(row.number, row.status, row.gold) for row in scores.sentences] == [
        (1, 0, 0),
        (1, 0, 1),
        (2, 0, 0),
        (2, 1, 0),
    ]


# ------------------------------------------------------------ depth, giving up, reference


def deep(grow):
    current = Tree("NN", word="a")
    for _ in range(5000):
        current = Tree("NP", grow(current, Tree("NN", word="a")))
    return current


@pytest.mark.no_cover
def test_trees_5000_deep_are_scored():
    right, left = deep(lambda t, leaf: (leaf, t)), deep(lambda t, leaf: (t, leaf))
    assert score_syntax([right], [right], NEW).f1 == 100
    scores = score_syntax([right], [left], NEW)
    assert (scores.total.matched, scores.total.crossing_brackets) == (1, 4999)


def test_evalb_gives_up_at_the_second_error_beyond_its_limit():
    good, bad = tree("(S (NN a) (NN b))"), tree("(S (NN a))")
    setting = replace(COLLINS, max_error=1)
    three = score_syntax([good] * 5, [good, bad, bad, None, bad], setting)
    assert [line[:4] for line in stopped_lines(three)[3:]] == ["   1", "   2", "   3", "   4"]
    assert stopped_lines(score_syntax([good] * 2, [bad] * 2, setting)) is None
    variant = score_syntax([good] * 4, [bad] * 4, replace(SPMRL, max_error=1))
    assert len(stopped_lines(variant)) == 3 + 3


@pytest.mark.parametrize("name", ["collins", "new", "spmrl"])
def test_every_character_is_that_of_the_c_program(shared, name):
    folder = shared / "reference" / "evalb" / name
    gold, predicted = (read_by_line(folder / f"{side}.mrg") for side in ("gold", "pred"))
    scores = score_syntax(gold, predicted, read_prm(folder / "params.prm"))
    expected = (folder / "expected.txt").read_text("utf-8")
    assert "\n".join(evalb_lines(scores)) + "\n" == expected
