"""Discourse scores: the worked examples, and properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import MetricError, UsageError
from cleft.metrics import Counts
from cleft.metrics.parseval import MEASURES, score_discourse
from cleft.span import Span
from tests.strategies import discourse_trees


def leaves(*ends):
    starts = (0, *ends[:-1])
    return [
        DiscourseTree.leaf(Edu("", Span(start, end)))
        for start, end in zip(starts, ends, strict=True)
    ]


def join(one, two, nuclearity, relation):
    return DiscourseTree.join([one, two], nuclearity, relation)


def gold_tree(*ends):
    a, b, c, d = leaves(*ends)
    joint = join(c, d, "NN", "Joint")
    return join(a, join(b, joint, "NS", "Elaboration"), "SN", "Attribution")


def predicted_tree():
    a, b, c, d = leaves(1, 2, 3, 4)
    inner = join(b, c, "NS", "Elaboration")
    return join(a, join(inner, d, "NS", "Cause"), "SN", "Attribution")


def end_to_end_tree():
    a, b, c = leaves(4, 9, 16)
    return join(a, join(b, c, "NS", "Elaboration"), "SN", "Attribution")


GOLD = gold_tree(4, 8, 12, 16)  # EDU ends 3, 7, 11, 15, counted inclusively


def matched(scores):
    return {name: getattr(scores, name).matched for name in MEASURES[:4]}


def rounded(scores):
    return [round(getattr(scores, name).f1, 2) for name in ("span", "nuclearity", "relation")]


def test_rst_parseval_of_the_worked_example():
    scores = score_discourse([gold_tree(1, 2, 3, 4)], [predicted_tree()], gold_edus=True)
    assert matched(scores) == {"span": 5, "nuclearity": 3, "relation": 3, "full": 3}
    assert (scores.span.gold, scores.span.predicted) == (6, 6)
    assert rounded(scores) == [83.33, 50.0, 50.0]
    assert scores.segmentation == Counts(3, 3, 3)


def test_original_parseval_of_the_worked_example():
    scores = score_discourse([gold_tree(1, 2, 3, 4)], [predicted_tree()], "original")
    assert matched(scores) == {"span": 2, "nuclearity": 2, "relation": 1, "full": 1}
    assert (scores.span.gold, scores.span.predicted) == (3, 3)


def test_end_to_end_of_the_worked_example():
    scores = score_discourse([GOLD], [end_to_end_tree()])
    assert rounded(scores) == [40.0, 40.0, 40.0]
    assert scores.segmentation == Counts(1, 3, 2)


def test_no_predicted_split_of_the_worked_example():
    whole = DiscourseTree.leaf(Edu("", Span(0, 16)))
    assert score_discourse([GOLD], [whole]).span == Counts(0, 6, 0)
    missing = score_discourse([GOLD], [None])
    assert (missing.span, missing.segmentation, missing.missing) == (
        Counts(0, 6, 0),
        Counts(0, 3, 0),
        1,
    )


def test_the_three_worked_sentences_together():
    whole = DiscourseTree.leaf(Edu("", Span(0, 16)))
    gold = [gold_tree(1, 2, 3, 4), GOLD, GOLD]
    scores = score_discourse(gold, [predicted_tree(), end_to_end_tree(), whole])
    assert rounded(scores) == [50.0, 35.71, 35.71]


def test_one_edu_counts_nothing_unless_it_is_split():
    (one,) = leaves(4)
    first, second = leaves(2, 4)
    assert score_discourse([one], [one]).span == Counts(0, 0, 0)
    assert score_discourse([one], [join(first, second, "NN", "Joint")]).span == Counts(0, 0, 2)


def test_n_ary_nodes_are_binarised_to_the_right():
    a, b, c = leaves(1, 2, 3)
    flat = DiscourseTree.join([a, b, c], "NNN", "Joint")
    binary = join(a, join(b, c, "NN", "Joint"), "NN", "Joint")
    for metric, size in (("rst", 4), ("original", 2)):
        assert score_discourse([flat], [binary], metric).full == Counts(size, size, size)


def test_what_cannot_be_compared_is_an_error():
    with pytest.raises(MetricError, match="1 gold trees but 0 predicted"):
        score_discourse([GOLD], [])
    with pytest.raises(MetricError, match="tree 1: gold has the tokens"):
        score_discourse([GOLD], [predicted_tree()])
    with pytest.raises(MetricError, match="tree 1: 4 gold EDUs and 3 predicted"):
        score_discourse([GOLD], [end_to_end_tree()], gold_edus=True)
    with pytest.raises(UsageError, match="no metric is called 'f'"):
        score_discourse([], [], "f")


@given(discourse_trees(), st.sampled_from(["rst", "original"]))
def test_a_tree_scores_100_against_itself(tree, metric):
    scores = score_discourse([tree], [tree], metric, gold_edus=True)
    edus = len(tree.edus)
    expected = 2 * (edus - 1) if metric == "rst" else edus - 1
    for name in MEASURES[:4]:
        assert getattr(scores, name) == Counts(expected, expected, expected)
    assert scores.segmentation == Counts(edus - 1, edus - 1, edus - 1)


def random_tree(tokens, rng):
    inner = sorted(rng.sample(range(1, tokens), rng.randrange(tokens)))
    forest = leaves(*inner, tokens)
    while len(forest) > 1:
        left = rng.randrange(len(forest) - 1)
        nuclearity, relation = rng.choice(["NS", "SN", "NN"]), rng.choice(["Joint", "Cause"])
        forest[left : left + 2] = [join(*forest[left : left + 2], nuclearity, relation)]
    return forest[0]


@given(st.integers(1, 12), st.randoms(use_true_random=False), st.sampled_from(["rst", "original"]))
def test_changing_sides_changes_recall_and_precision_about(tokens, rng, metric):
    one, two = random_tree(tokens, rng), random_tree(tokens, rng)
    there, back = score_discourse([one], [two], metric), score_discourse([two], [one], metric)
    for name in MEASURES:
        a, b = getattr(there, name), getattr(back, name)
        assert (a.matched, a.gold, a.predicted) == (b.matched, b.predicted, b.gold)
        assert a.matched <= min(a.gold, a.predicted)
    assert there.full.matched <= min(there.nuclearity.matched, there.relation.matched)
    assert max(there.nuclearity.matched, there.relation.matched) <= there.span.matched


@pytest.mark.no_cover
def test_trees_5000_deep_are_scored():
    first, *others = leaves(*range(1, 5001))
    tree = first
    for leaf in others:
        tree = join(tree, leaf, "NS", "Elaboration")
    assert score_discourse([tree], [tree]).full == Counts(9998, 9998, 9998)


def texts(tree: DiscourseTree, *parts: str) -> DiscourseTree:
    """The tree over other tokens: those of these texts."""
    edus, position = [], 0
    for part in parts:
        width = len(part.split())
        edus.append(Edu(part, Span(position, position + width)))
        position += width
    return tree.with_edus(edus)


def test_other_tokens_of_the_same_text_are_compared_by_their_characters():
    gold = texts(
        gold_tree(1, 2, 3, 4), "It rained ,", "so we did n't go ,", "we slept", "all day ."
    )
    found = texts(predicted_tree(), "It rained,", "so we didn't go,", "we slept", "all day.")
    assert (
        score_discourse([gold], [found]).values
        == score_discourse([gold_tree(1, 2, 3, 4)], [predicted_tree()]).values
    )
    with pytest.raises(MetricError, match=r"'day\.' where predicted has 'night\.'"):
        score_discourse(
            [gold], [texts(found, "It rained,", "so we didn't go,", "we slept", "all night.")]
        )


def test_segmentation_is_inside_sentences_and_edus_everywhere():
    """Gold sentences end at 3 and 6; the predicted EDUs miss one of them and the one inside."""
    a, b, c, d = leaves(1, 3, 6, 8)
    gold = join(join(a, b, "NS", "x"), join(c, d, "NN", "y"), "NS", "z")
    one, two, three = leaves(2, 6, 8)
    found = join(join(one, two, "NS", "x"), three, "NS", "z")
    scores = score_discourse([gold], [found], sentence_ends=[(3, 6, 8)])
    assert scores.edus == Counts(2, 4, 3)
    assert scores.segmentation == Counts(0, 1, 1)
    assert score_discourse([gold], [found]).segmentation == Counts(1, 3, 2)
    missing = score_discourse([gold], [None], sentence_ends=[(3, 6, 8)])
    assert (missing.edus, missing.segmentation) == (Counts(0, 4, 0), Counts(0, 1, 0))
