"""Intervals and tests: seeded, bounded in memory, and right where the answer is known."""

import numpy as np
import pytest

from cleft.errors import MetricError, UsageError
from cleft.metrics import significance
from cleft.metrics.evalb import score_syntax
from cleft.metrics.parseval import score_discourse
from cleft.metrics.prm import SPMRL
from cleft.metrics.significance import bootstrap, compare, count_rows
from cleft.tree import Tree
from tests.metrics.test_parseval import GOLD, end_to_end_tree


def rows(seed, share, count=200):
    random = np.random.default_rng(seed)
    gold = random.integers(5, 40, size=count)
    return np.stack([random.binomial(gold, share), gold, gold], axis=1)


def test_an_interval_holds_the_score_and_narrows_with_more_sentences():
    few, many = rows(1, 0.9, 50), rows(1, 0.9, 5000)
    wide, narrow = bootstrap(few, 500), bootstrap(many, 500)
    for interval, counts in ((wide, few), (narrow, many)):
        score = 200 * counts[:, 0].sum() / counts[:, 1:].sum()
        assert interval.low < score < interval.high
    assert narrow.high - narrow.low < (wide.high - wide.low) / 5


def test_a_wider_level_gives_a_wider_interval():
    some, more = (bootstrap(rows(1, 0.9), 500, level) for level in (0.5, 0.99))
    assert more.low < some.low < some.high < more.high


def test_the_same_seed_gives_the_same_answer_whatever_the_chunk(monkeypatch):
    one, two = rows(1, 0.9), rows(2, 0.9)
    first = compare(one, two, 300, seed=3)
    assert compare(one, two, 300, seed=3) == first
    assert compare(one, two, 300, seed=4) != first
    monkeypatch.setattr(significance, "CHUNK", 2000)
    assert compare(one, two, 300, seed=3) == first


def test_a_clear_gain_is_significant_and_noise_is_not():
    base = rows(1, 0.7)
    better = base + np.array([1, 0, 0]) * (base[:, :1] < base[:, 1:2])
    gain = compare(base, better, 500)
    assert gain.difference > 0
    assert gain.interval.low > 0
    assert gain.p_value == 1 / 501
    noise = compare(rows(1, 0.8), rows(1, 0.8)[::-1], 500)
    assert noise.p_value > 0.05


@pytest.mark.parametrize("count", [1, 4, 6, 8, 30, 100])
@pytest.mark.parametrize("share", [0.71, 0.76, 0.85])
def test_the_interval_leaves_zero_out_exactly_where_the_p_value_is_small(count, share):
    for seed in range(20):
        found = compare(rows(seed, 0.7, count), rows(seed + 1, share, count), 99, seed=seed)
        assert (found.p_value <= 0.05) == (not found.interval.low <= 0 <= found.interval.high)
        assert found.interval.low <= found.difference <= found.interval.high
        assert compare(rows(seed, 0.7, count), rows(seed, 0.7, count), 99).p_value == 1


def test_what_chance_makes_of_few_sentences_is_no_gain():
    """Four gains of four are made by chance in one case of eight."""
    worse = np.array([[2, 9, 9]] * 4)
    found = compare(worse, worse + np.array([3, 0, 0]), 2000)
    assert found.p_value == pytest.approx(1 / 8, abs=0.03)
    assert found.interval.low <= 0
    with pytest.raises(UsageError, match="take at least 19"):
        compare(worse, worse, 18)
    assert compare(worse, worse, 19).p_value == 1


def test_changing_sides_changes_the_sign():
    there, back = compare(rows(1, 0.7), rows(2, 0.8)), compare(rows(2, 0.8), rows(1, 0.7))
    assert there.difference == -back.difference
    assert there.interval.low == pytest.approx(-back.interval.high)


def test_what_cannot_be_resampled_is_an_error():
    with pytest.raises(UsageError, match="0 samples"):
        bootstrap(rows(1, 0.5), 0)
    with pytest.raises(UsageError, match="level"):
        bootstrap(rows(1, 0.5), 10, level=1.0)
    with pytest.raises(MetricError, match="no sentence"):
        bootstrap(rows(1, 0.5)[:0])
    with pytest.raises(MetricError, match="200 sentences of one system, 100 of the other"):
        compare(rows(1, 0.5), rows(1, 0.5, 100))


def test_rows_come_from_either_task():
    discourse = score_discourse([GOLD], [end_to_end_tree()])
    assert count_rows(discourse, "span").tolist() == [[2, 6, 4]]
    assert count_rows(discourse, "segmentation").tolist() == [[1, 3, 2]]
    assert count_rows(score_syntax([], [])).shape == (0, 3)
    # Two rows of the variant are one sentence.
    gold, longer = (Tree.from_brackets(t) for t in ("(S (NN a))", "(S (X (NN a)) (NN b))"))
    assert count_rows(score_syntax([gold], [longer], SPMRL)).tolist() == [[0, 1, 2]]
