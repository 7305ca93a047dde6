"""Mending of quotation marks, as the C program does it."""

from dataclasses import replace

from cleft.metrics.evalb import score_syntax
from cleft.metrics.prm import NEW, parse_prm
from cleft.tree import Tree

POSSESSIVE = "(S (NP (NP (NNS dogs) (POS ')) (NNS tails)) (VP (VBP wag)))"
QUOTATION = "(S (NP (NP (NNS dogs) ('' ')) (NNS tails)) (VP (VBP wag)))"


def score(gold, predicted, setting=NEW):
    (row,) = score_syntax(
        [Tree.from_brackets(gold)], [Tree.from_brackets(predicted)], setting
    ).sentences
    return row


def test_a_mark_deleted_on_one_side_comes_back():
    for row in (score(POSSESSIVE, QUOTATION), score(QUOTATION, POSSESSIVE)):
        assert (row.status, row.matched, row.gold, row.predicted) == (0, 4, 4, 4)
        assert (row.words, row.correct_tags, row.length) == (4, 3, 4)


def test_without_quote_labels_it_is_an_error():
    assert score(POSSESSIVE, QUOTATION, replace(NEW, quotes=())).status == 1


def test_brackets_that_open_later_move_and_those_around_grow():
    gold = "(S (X ('' ') (NP (NN a))) (VP (VB b) (POS ')))"
    predicted = "(S (X (POS ') (NP (NN a))) (VP (VB b) ('' ')))"
    row = score(gold, predicted)
    # Gold lacks the first mark and predicted the last: 3 words each, so the
    # lengths agree, nothing is mended, and the words differ.
    assert row.status == 1
    row = score("(S (X ('' ') (NP (NN a))) (VB b))", "(S (X (POS ') (NP (NN a))) (VB b))")
    assert (row.matched, row.gold, row.predicted, row.words) == (3, 3, 3, 3)


def test_a_phrase_that_held_only_the_mark_is_back_with_it():
    row = score("(S (X ('' ')) (NN a))", "(S (X (NN ')) (NN a))")
    assert (row.matched, row.gold, row.predicted) == (2, 2, 2)


def test_two_marks_side_by_side_come_back_where_the_first_stood():
    # EVALB takes the first mark twice, so the phrase around the second does
    # not get it back: its bracket stays empty and vanishes.
    row = score("(S (NN a) ('' ') (X ('' ')))", "(S (NN a) (POS ') (X (POS ')))")
    assert (row.status, row.words, row.matched, row.gold, row.predicted) == (0, 3, 1, 1, 2)


def test_marks_that_do_not_help_leave_an_error():
    assert score("(S (NN a) ('' '))", "(S (NN a) (POS ') (NN b))").status == 1
    assert score("(S (NN a) ('' '))", "(S (NN a) (`` '))").status == 0
    # The same tag on both sides is no mistake to mend.
    assert score("(S (NN a) (POS ') (NN b))", "(S (NN a) (POS '))").status == 1
    # Both kept, or both deleted, though the tags differ.
    assert score("(S (NN ') (NN b))", "(S (POS '))").status == 1


def test_a_missing_gold_tree_has_nothing_to_mend():
    scores = score_syntax([None], [Tree.from_brackets(POSSESSIVE)], NEW)
    assert scores.errors == 1


def test_labels_are_deleted_and_cut_after_mending():
    setting = parse_prm(["DELETE_LABEL ''", "DELETE_LABEL TOP", "QUOTE_LABEL ''", "QUOTE_LABEL NN"])
    row = score("(TOP (NP-1 (NN ') (NN a)))", "(TOP (NP ('' ') (NN a)))", setting)
    assert (row.matched, row.gold, row.predicted, row.correct_tags) == (1, 1, 1, 1)
