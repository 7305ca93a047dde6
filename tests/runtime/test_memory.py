"""Hypotheses grouped by sentence, against a plain loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime.batches import Memory

LENGTHS = (7, 5, 5, 4, 2)
WIDTH, SIZE = 8, 3


def memory() -> Memory:
    rng = np.random.default_rng(0)
    keys = rng.standard_normal((len(LENGTHS), SIZE, WIDTH))
    offsets = rng.standard_normal((len(LENGTHS), 1, WIDTH))
    for row, length in enumerate(LENGTHS):
        offsets[row, :, length + 1 :] = -np.inf
    return Memory({"keys": keys, "offsets": offsets}, lengths=LENGTHS)


def scores(group, queries):
    """What the step's graph makes of a group."""
    product = queries[group.slots] @ group.keys + group.offsets
    return product.reshape(-1, product.shape[-1])[group.places]


rows = st.lists(st.integers(0, len(LENGTHS) - 1), min_size=1, max_size=12)


@given(st.lists(rows, min_size=1, max_size=6))
def test_grouped_products_equal_those_of_each_hypothesis(steps):
    known = memory()
    for step, chosen in enumerate(steps):
        where = np.array(chosen)
        queries = np.random.default_rng(step).standard_normal((len(chosen), SIZE))
        found = scores(known.group(where), queries)
        for row, sentence in enumerate(chosen):
            expected = queries[row] @ known.keys[sentence] + known.offsets[sentence, 0]
            width = LENGTHS[sentence] + 1
            np.testing.assert_allclose(found[row, :width], expected[:width])
            assert not np.isfinite(found[row, width:]).any()


def test_keys_are_not_copied_while_sentences_stay():
    known = memory()
    every = np.arange(len(LENGTHS))
    assert known.group(every).keys is known.keys
    twice = known.group(np.repeat(every, 2))
    assert twice.keys is known.keys
    assert twice.slots.shape == (len(LENGTHS), 2)


def test_neighbouring_sentences_of_full_width_are_a_view():
    known = memory()
    group = known.group(np.array([0, 1]))
    assert np.shares_memory(group.keys, known.keys)


def test_keys_of_sentences_that_left_are_dropped_and_trimmed():
    known = memory()
    group = known.group(np.array([3, 4]))
    assert group.keys.shape == (2, SIZE, LENGTHS[3] + 1)
    assert known.group(np.array([3, 4])).keys is group.keys
