"""Scores by label and by length, and confusions."""

from hypothesis import given

from cleft.metrics import Counts
from cleft.metrics.evalb import by_length, label_scores, score_syntax
from cleft.metrics.prm import COLLINS, Parameters
from cleft.tree import Tree
from tests.metrics.test_evalb import pairs

GOLD = "(TOP (S (NP (NN a)) (VP (VB b) (NP (NN c)))))"
PREDICTED = "(TOP (S (NP (X (NN a))) (PP (VB b) (NN c))))"


def breakdown(gold, predicted, setting=COLLINS):
    trees = [Tree.from_brackets(gold)], [Tree.from_brackets(predicted)]
    return label_scores(*trees, score_syntax(*trees, setting))


def test_labels_and_confusions_of_a_small_pair():
    found = breakdown(GOLD, PREDICTED)
    assert found.labels == {
        "NP": Counts(1, 2, 1),
        "S": Counts(1, 1, 1),
        "VP": Counts(0, 1, 0),
        "PP": Counts(0, 0, 1),
        "X": Counts(0, 0, 1),
    }
    assert found.confusions == {("VP", "PP"): 1, (None, "X"): 1, ("NP", None): 1}


def test_unscored_pairs_are_left_out():
    trees = [Tree.from_brackets(GOLD)] * 2
    scores = score_syntax(trees, [trees[0], None])
    assert label_scores(trees, [trees[0], None], scores).labels["NP"] == Counts(2, 2, 2)


@given(pairs())
def test_the_labels_sum_to_the_totals(pair):
    for setting in (COLLINS, Parameters(equal_labels=(("A", "B"), ("B", "C")))):
        scores = score_syntax([pair[0]], [pair[1]], setting)
        found = label_scores([pair[0]], [pair[1]], scores)
        total = Counts.total(found.labels.values())
        assert (total.matched, total.gold, total.predicted) == (
            scores.total.matched,
            scores.total.gold,
            scores.total.predicted,
        )
        missed = sum(n for (gold, _), n in found.confusions.items() if gold is not None)
        assert missed == total.gold - total.matched


def test_lengths_fall_into_ranges_and_sum_to_all():
    def flat(length):
        return Tree("S", [Tree("NN", word="a")] * length)

    trees = [flat(n) for n in (1, 10, 11, 50, 51, 300)]
    ranges = by_length(score_syntax([*trees, None], [*trees, None]))
    assert {name: total.sentences for name, total in ranges.items()} == {
        "1-10": 3,
        "11-20": 1,
        "41-50": 1,
        "51+": 2,
    }
    assert ranges["1-10"].skipped == 1
