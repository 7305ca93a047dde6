"""Spans grouped by their right end."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime import batches as module
from cleft.runtime.batches import by_end

pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(10, 16)), min_size=1, max_size=40)


@given(pairs, st.integers(1, 5), st.sampled_from([1, 4, 2_048]))
def test_every_span_is_in_one_group_with_its_own_ends(items, most, slots):
    left, right = np.array(items).T
    module.SLOTS, before = slots, module.SLOTS
    try:
        groups = list(by_end(left, right, most))
    finally:
        module.SLOTS = before
    assert sorted(np.concatenate([group.items for group in groups])) == list(range(len(items)))
    ends = np.concatenate([group.ends for group in groups])
    assert sorted(ends) == sorted(set(right.tolist()))
    for group in groups:
        assert len(group.ends) <= most
        assert len(group.ends) == 1 or group.slots.size <= slots
        assert (group.slots.ravel()[group.places] == left[group.items]).all()
        assert (group.ends[group.places // group.slots.shape[1]] == right[group.items]).all()


def test_no_spans_have_no_groups():
    none = np.zeros(0, np.intp)
    assert list(by_end(none, none, 4)) == []
