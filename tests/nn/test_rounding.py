"""Whole numbers for weights: never beyond seven bits, and near where it counts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cleft.nn.export.graph import STEPS, compensated, nearest

FLOATS = st.floats(-100, 100, width=32)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2), elements=FLOATS))
def test_the_nearest_is_off_by_half_a_step_at_most(weight):
    whole, scales = nearest(weight)
    assert whole.dtype == np.int8
    assert np.abs(whole).max() <= STEPS
    assert (np.abs(whole * scales[:, None] - weight) <= 0.501 * scales[:, None]).all()


@given(arrays(np.float32, (3, 5), elements=FLOATS), arrays(np.float32, (4, 5), elements=FLOATS))
def test_no_compensation_leaves_seven_bits(weight, rows):
    whole, _ = compensated(weight, rows.T @ rows)
    assert whole.dtype == np.int8
    assert np.abs(whole.astype(int)).max() <= STEPS


def test_products_with_inputs_as_were_seen_are_nearer_than_those_of_the_nearest():
    random = np.random.default_rng(0)
    mixing = random.standard_normal((20, 150))  # inputs that go together
    seen, later = (random.standard_normal((500, 20)) @ mixing for _ in range(2))
    weight = random.standard_normal((30, 150)) * 0.1

    def off(found):
        whole, scales = found
        return np.abs(later @ (whole * scales[:, None] - weight).T).mean()

    assert off(compensated(weight, seen.T @ seen)) < 0.5 * off(nearest(weight))


def test_inputs_that_were_never_there_do_no_harm():
    weight = np.array([[0.63, 0.1], [0.2, -0.63]])
    np.testing.assert_array_equal(compensated(weight, np.zeros((2, 2)))[0], nearest(weight)[0])
