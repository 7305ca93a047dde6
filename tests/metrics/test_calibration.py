"""Calibration: what was said against what is right, the numbers that mend it, and their plot."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import MetricError
from cleft.evidence import Calibration, Evidence, logit
from cleft.metrics.calibration import (
    LEAST,
    by_kind,
    calibration_data,
    calibration_report,
    fit,
    observe,
    reliability,
)
from cleft.span import Span
from cleft.tree import Tree

SLOPES = st.floats(0.01, 20)
SHIFTS = st.floats(-20, 20)
LOG_PROBS = st.floats(-1e4, 0)


@given(SLOPES, SHIFTS, LOG_PROBS, LOG_PROBS)
def test_a_calibrated_probability_is_one_and_keeps_the_order(slope, shift, one, two) -> None:
    calibrated = Calibration(slope, shift)
    low, high = sorted([one, two])
    assert 0 <= calibrated(low) <= calibrated(high) <= 1


@given(st.floats(1e-5, 0.9999))
def test_plain_numbers_change_nothing_and_others_the_logit_alone(share: float) -> None:
    assert Calibration()(log(share)) == pytest.approx(share)
    changed = Calibration(0.5, 0.25)(log(share))
    assert logit(log(changed)) == pytest.approx(0.5 * logit(log(share)) + 0.25, abs=1e-6)


def test_a_probability_above_one_by_rounding_is_one() -> None:
    assert Calibration()(1e-7) == 1.0
    assert Calibration(0.5, 0.0)(1e-7) == Calibration(0.5, 0.0)(0.0) < 1


def test_the_error_is_what_a_pencil_finds() -> None:
    # In the bin up to 0.2: 0.1 and 0.2 said of three, one right. From 0.8 on: four, three right.
    seen = [(0.1, False), (0.12, True), (0.14, False)]
    seen += [(0.85, True), (0.8, True), (0.95, True), (1.0, False)]
    found = reliability(seen, bins=5)
    low, high = found.bins
    assert (low.count, high.count, found.count) == (3, 4, 7)
    assert (low.said, low.right) == pytest.approx((0.12, 1 / 3))
    assert (high.said, high.right) == pytest.approx((0.9, 0.75))
    assert found.ece == pytest.approx((3 * (1 / 3 - 0.12) + 4 * (0.9 - 0.75)) / 7)
    assert found.right == pytest.approx(4 / 7)
    assert found.said == pytest.approx((0.36 + 3.6) / 7)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1), st.integers(1, 20))
def test_bins_hold_everything_once_and_the_error_is_a_mean_distance(seen, bins) -> None:
    found = reliability(seen, bins)
    assert found.count == len(seen)
    assert found.right == pytest.approx(np.mean([right for _, right in seen]))
    assert found.said == pytest.approx(np.mean([said for said, _ in seen]))
    assert abs(found.said - found.right) - 1e-9 <= found.ece <= 1
    assert all(low - 1e-9 <= said <= high + 1e-9 for low, high, said in map(ends, found.bins))


def ends(each) -> tuple[float, float, float]:
    return each.low, each.high, each.said


def drawn(slope: float, shift: float, count: int = 20_000) -> list[tuple[float, bool]]:
    """What a model says that is right as often as these numbers tell."""
    random = np.random.default_rng(3)
    said = random.beta(2, 0.7, count)
    right = random.random(count) < [Calibration(slope, shift)(log(each)) for each in said]
    return list(zip(said.tolist(), right.tolist(), strict=True))


@pytest.mark.parametrize(("slope", "shift"), [(0.4, 0.3), (1.0, 0.0), (2.0, -1.0)])
def test_fitting_finds_the_numbers_that_made_the_data(slope: float, shift: float) -> None:
    seen = drawn(slope, shift)
    found = fit(seen)
    assert found == pytest.approx((slope, shift), abs=0.1)
    after = reliability([(found(log(said)), right) for said, right in seen])
    assert after.ece < 0.012


def loss(calibrated: Calibration, seen: list[tuple[float, bool]]) -> float:
    shares = np.array([calibrated(log(said)) for said, _ in seen])
    right = np.array([right for _, right in seen])
    return -float(np.log(np.where(right, shares, 1 - shares)).sum())


def test_no_numbers_beside_the_fitted_ones_are_better() -> None:
    seen = drawn(0.6, -0.4, 2000)
    best = fit(seen)
    for slope in (-0.05, 0.0, 0.05):
        for shift in (-0.05, 0.0, 0.05):
            other = Calibration(best.slope + slope, best.shift + shift)
            assert loss(best, seen) <= loss(other, seen) + 0.1


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [(0.9, True)],
        [(0.0, False), (1.0, True)] * 5,
        [(1.0, True)] * 1000,
        [(0.3, False)] * 1000,
        [(0.1, True), (0.9, False)] * 1000,  # the surer, the wronger
    ],
)
def test_fitting_always_gives_numbers_that_keep_the_order(seen) -> None:
    found = fit(seen)
    assert LEAST <= found.slope < 100
    assert abs(found.shift) < 100
    if not seen:
        assert found == Calibration()


# ---------------------------------------------------------------- trees


def said(tree: Tree, **by_label: float) -> Tree:
    for node in tree.preorder():
        if node.label in by_label:
            node.evidence = Evidence(probability=by_label[node.label])
    return tree


def test_a_phrase_is_right_by_label_and_words_each_gold_one_once() -> None:
    gold = Tree.from_brackets("(S (NP (NP (NN rain)) (CC and) (NN wind)) (VP (VBD fell)))")
    found = said(
        Tree.from_brackets("(S (NP (NP (NP (NN rain))) (IN and) (NN wind)) (ADJP (VBD fell)))"),
        **{"S": 0.9, "NP": 0.7, "ADJP": 0.2, "IN": 0.4, "NN": 0.8},
    )
    seen = observe([gold], [found])
    assert seen["nodes"] == [(0.9, True), (0.7, True), (0.7, True), (0.7, False), (0.2, False)]
    assert seen["leaves"] == [(0.8, True), (0.4, False), (0.8, True)]
    assert seen["trees"] == []


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("(S (NP (NN rain)) (VP (VBD fell)))", True),
        ("(S (NP (JJ rain)) (VP (NN fell)))", True),  # tags do not count
        ("(S (NP (NN rain)) (VBD fell))", False),  # one is missing
        ("(S (NP (NN rain)) (VP (VP (VBD fell))))", False),  # one too many
        ("(S (NP (NN rain)) (NP (VBD fell)))", False),
    ],
)
def test_a_tree_is_right_if_its_phrases_are_the_gold_ones(text: str, right: bool) -> None:
    gold = Tree.from_brackets("(S (NP (NN rain)) (VP (VBD fell)))")
    found = Tree.from_brackets(text)
    found.evidence = Evidence(tree_probability=0.5)
    assert observe([gold], [found])["trees"] == [(0.5, right)]


def edus(*ends_: int) -> list[DiscourseTree]:
    starts = (0, *ends_)
    return [
        DiscourseTree(edu=Edu("", Span(*pair)), evidence=Evidence(probability=0.5 + pair[1] / 100))
        for pair in zip(starts, ends_, strict=False)
    ]


def joined(parts: list[DiscourseTree], relation: str, probability: float) -> DiscourseTree:
    tree = DiscourseTree.join(parts, "N" * len(parts), relation)
    tree.evidence = Evidence(probability=probability, tree_probability=0.25)
    return tree


def test_relations_and_edus_are_right_over_the_same_words() -> None:
    one, two, three = edus(2, 5, 9)
    gold = joined([one, two, three], "list", 1.0)  # binary: (0, 9) and (2, 9)
    first, second, third = edus(2, 6, 9)
    found = joined([first, joined([second, third], "list", 0.6)], "joint", 0.3)
    seen = observe([gold, gold, None], [found, gold, found])
    assert seen["nodes"][:2] == [(0.3, False), (0.6, True)]
    assert seen["leaves"][:3] == [(0.52, True), (0.56, False), (0.59, False)]
    assert seen["trees"] == [(0.25, False), (0.25, True)]
    assert observe([gold], [None]) == {"nodes": [], "leaves": [], "trees": []}


def test_other_edus_make_another_tree_even_under_the_same_relation() -> None:
    gold, found = joined(edus(2, 9), "list", 0.5), joined(edus(3, 9), "list", 0.5)
    assert observe([gold], [found])["trees"] == [(0.25, False)]


def test_the_report_has_a_bar_for_each_bin() -> None:
    gold = Tree.from_brackets("(S (NP (NN rain)) (VP (VBD fell)))")
    found = said(
        Tree.from_brackets("(S (NP (NN rain)) (ADJP (VBD fell)))"), S=0.9, NP=0.9, ADJP=0.9
    )
    kinds = by_kind("syntax", [gold, gold], [found, Tree.from_brackets("(S (NN other))")])
    assert list(kinds) == ["phrases"]
    *_, title, line = calibration_report(kinds)
    assert title == "phrases: ECE 0.233; 3 of probability 0.900, 0.667 of them right"
    assert line == f"  0.9–1.0  {'█' * 27}{'·' * 9}│{'·' * 3}      3  0.900  0.667"
    (data,) = calibration_data(kinds).values()
    assert data["ece"] == pytest.approx(0.9 - 2 / 3)
    assert data["bins"][0]["count"] == data["count"] == 3


def test_trees_without_probabilities_are_refused() -> None:
    gold = Tree.from_brackets("(S (NN rain))")
    with pytest.raises(MetricError, match="have no probabilities"):
        by_kind("syntax", [gold], [gold])


def test_a_logit_is_that_of_the_probability() -> None:
    for share in (1e-9, 0.01, 0.5, 0.99):
        assert exp(logit(log(share))) == pytest.approx(share / (1 - share))
