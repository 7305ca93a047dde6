"""Pieces in windows: nothing lost, nothing beyond the limit, context on both sides."""

from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cleft.nn.features import make_windows as make_tensors
from cleft.runtime.wordpiece import make_windows, mean_of_pieces


class Marks:
    begin, end, pad, limit = 1, 2, 0, 8


pieces = st.lists(st.integers(3, 99), min_size=1, max_size=9)
batches = st.lists(st.lists(pieces, min_size=1, max_size=12), min_size=1, max_size=4)


@given(batches)
def test_every_piece_and_mark_is_found_once_and_in_order(batch):
    found = make_windows(batch, begin=1, end=2, pad=0, limit=8)
    flat = [[1, *(piece for word in sentence for piece in word), 2] for sentence in batch]
    assert found.ids.ravel()[found.source].tolist() == list(chain.from_iterable(flat))
    sizes = [[1, *map(len, sentence), 1] for sentence in batch]
    assert found.sizes.tolist() == list(chain.from_iterable(sizes))


@given(batches)
def test_every_window_is_framed_and_within_the_limit(batch):
    found = make_windows(batch, begin=1, end=2, pad=0, limit=8)
    assert found.ids.shape[1] <= 8
    for row, length in zip(found.ids, found.lengths, strict=True):
        assert (row[0], row[length - 1]) == (1, 2)
        assert (row[length:] == 0).all()


def test_a_piece_inside_a_long_sentence_has_context_on_both_sides():
    found = make_windows([[[7]] * 100], begin=1, end=2, pad=0, limit=18)
    offsets = found.source[1:-1] % found.ids.shape[1]
    assert offsets[10:-10].min() > 4
    assert offsets[10:-10].max() < 13


@given(batches)
def test_the_tensors_of_training_are_these_windows(batch):
    lengths = np.array([len(sentence) for sentence in batch])
    kinds = np.zeros((len(batch), lengths.max() + 2), np.int64)
    table = [[], [], []]
    for row, sentence in enumerate(batch):
        kinds[row, 1 : len(sentence) + 1] = np.arange(len(sentence)) + len(table)
        table += sentence
    tensors = make_tensors(kinds, lengths, table, Marks())
    width = kinds.shape[1]
    # The mean over a word's pieces stands at the word's place.
    sums = np.zeros(kinds.size)
    values = tensors.ids.numpy().ravel()[tensors.source.numpy()]
    np.add.at(sums, tensors.target.numpy(), values * tensors.share.numpy())
    for row, sentence in enumerate(batch):
        place = row * width
        means = [np.mean(word) for word in sentence]
        np.testing.assert_allclose(sums[place : place + len(sentence) + 2], [1, *means, 2])


def test_the_mean_of_pieces_is_that_of_each_word():
    rng = np.random.default_rng(0)
    sizes = np.array([1, 3, 1, 2, 5, 1])
    vectors = rng.standard_normal((sizes.sum(), 4)).astype(np.float32)
    ends = np.cumsum(sizes)
    expected = [vectors[end - size : end].mean(0) for size, end in zip(sizes, ends, strict=True)]
    np.testing.assert_allclose(mean_of_pieces(vectors, sizes), expected, atol=1e-6)
    ones = mean_of_pieces(vectors, np.ones(len(vectors), np.int64))
    assert (ones == vectors).all()
