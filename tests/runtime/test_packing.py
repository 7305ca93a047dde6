"""Boundaries without padding, against the padded grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime.batches import firsts, grid_of_keys, pack, portions, real_boundaries, spread
from cleft.search import search
from cleft.tasks import DISCOURSE
from tests.runtime.models import onnx_scorer, sentences

LENGTHS = [7, 5, 5, 2, 1]


def test_packed_rows_are_the_grids_and_go_back_to_it():
    real = real_boundaries(LENGTHS)
    grid = np.arange(real.size, dtype=np.float32)[:, None] * [1.0, -1.0]
    rows = pack(grid, real)
    assert len(rows) == sum(LENGTHS) + len(LENGTHS)
    width = max(LENGTHS) + 1
    assert rows[firsts(LENGTHS), 0].tolist() == [width * n for n in range(len(LENGTHS))]
    assert (spread(rows, real) == grid * real.ravel()[:, None]).all()
    even = real_boundaries([3, 3])
    part = grid[:8]
    assert pack(part, even) is part  # nothing to take out, nothing to copy
    assert spread(part, even) is part


def test_keys_go_into_a_grid_whose_padding_has_no_chance():
    rng = np.random.default_rng(0)
    count = sum(LENGTHS) + len(LENGTHS)
    keys, offsets = rng.standard_normal((1, 3, count)), rng.standard_normal((1, 1, count))
    grid, edge = grid_of_keys(keys, offsets, LENGTHS)
    assert grid.shape == (5, 3, 8)
    for row, (first, length) in enumerate(zip(firsts(LENGTHS), LENGTHS, strict=True)):
        here = slice(first, first + length + 1)
        assert (grid[row, :, : length + 1] == keys[0, :, here]).all()
        assert (edge[row, 0, : length + 1] == offsets[0, 0, here]).all()
        assert not grid[row, :, length + 1 :].any()
        assert (edge[row, 0, length + 1 :] == -np.inf).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 120))
def test_portions_are_all_sentences_in_order_and_none_too_large(lengths, tokens):
    found = portions(lengths, tokens)
    assert [n for part in found for n in range(len(lengths))[part]] == list(range(len(lengths)))
    for part in found:
        here = lengths[part]
        assert len(here) == 1 or len(here) * (max(here) + 1) <= tokens


@pytest.mark.parametrize("kind", ["lstm", "bert", "words"])
def test_what_is_encoded_in_portions_is_answered_the_same(monkeypatch, kind):
    scorer = onnx_scorer(kind)
    batch = sentences(9, 8, 8, 4, 3, 1)
    whole = scorer.encode(batch)
    monkeypatch.setattr("cleft.runtime.scorer.TOKENS", 20)
    parts = scorer.encode(batch)
    assert list(parts.lengths) == list(whole.lengths)
    np.testing.assert_allclose(scorer.tags(parts), scorer.tags(whole), atol=1e-5)
    for task in (scorer.manifest.task("syntax"), DISCOURSE):
        one, two = (search(scorer, batch, task, encoded=each) for each in (whole, parts))
        for before, after in zip(one, two, strict=True):
            assert after[0].tree == before[0].tree
            assert after[0].log_prob == pytest.approx(before[0].log_prob, abs=1e-4)
