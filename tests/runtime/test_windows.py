"""Windows without PyTorch against those of training."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cleft.nn.windows import make_windows as make_tensors
from cleft.runtime.windows import make_windows


class Marks:
    begin, end, pad, limit = 1, 2, 0, 8


pieces = st.lists(st.integers(3, 99), min_size=1, max_size=9)
batches = st.lists(st.lists(pieces, min_size=1, max_size=12), min_size=1, max_size=4)


@given(batches)
def test_windows_equal_those_of_training(batch):
    lengths = np.array([len(sentence) for sentence in batch])
    kinds = np.zeros((len(batch), lengths.max() + 2), np.int64)
    table = [[], [], []]
    for row, sentence in enumerate(batch):
        kinds[row, 1 : len(sentence) + 1] = np.arange(len(sentence)) + len(table)
        table += sentence
    expected = make_tensors(kinds, lengths, table, Marks())
    found = make_windows(batch, begin=1, end=2, pad=0, limit=8)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.source.tolist() == expected.source.tolist()
    assert found.lengths.tolist() == expected.mask.sum(1).tolist()
    unit = np.repeat(np.arange(len(found.sizes)), found.sizes)
    share = 1 / found.sizes[unit]
    np.testing.assert_allclose(share, expected.share.numpy())
    assert (np.diff(expected.target.numpy()) >= 0).all()
