"""Tables of vectors in 8 bits: near the floats, and refused where they do not fit together."""

import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cleft.errors import ModelError
from cleft.runtime import ModelDirectory, write_checksums
from cleft.runtime.directory import Table, shrink
from tests.runtime.models import model

FLOATS = st.floats(-1000, 1000, width=32)


def test_a_row_too_small_for_a_scale_is_zeros():
    values, scales = shrink(np.array([[1e-45, 0.0]], np.float32))
    assert values.tolist() == [[0, 0]]
    assert scales[0, 0] > 0


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2), elements=FLOATS))
def test_no_number_is_off_by_more_than_half_a_step_of_its_row(matrix):
    table = Table(*shrink(matrix))
    step = np.abs(matrix).max(axis=1, keepdims=True) / 127
    found = table[np.arange(len(matrix))]
    assert found.dtype == np.float32
    assert (np.abs(found - matrix) <= 0.501 * step + 1e-30).all()


def test_the_large_tables_of_an_int8_model_are_8_bit():
    small, full = (ModelDirectory(model("bert", int8=int8)) for int8 in (True, False))
    assert small.table("pieces.npy").values.dtype == np.int8
    assert full.table("pieces.npy").values.dtype == np.float32
    rows = np.array([[3, 5], [7, 9]])
    one, two = small.table("pieces.npy")[rows], full.table("pieces.npy")[rows]
    assert one.shape == two.shape
    np.testing.assert_allclose(one, two, atol=np.abs(two).max() / 127)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("pieces-scales.npy", np.ones((3, 1), np.float32)),
        ("pieces.npy", np.ones((3, 1), np.int16)),
        ("pieces-scales.npy", np.ones((3, 1), np.int8)),
    ],
)
def test_a_table_that_does_not_fit_its_scales_is_refused(name, array, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model("bert", int8=True), copy)
    np.save(copy / name, array)
    write_checksums(copy)
    with pytest.raises(ModelError, match=r"pieces.*\.npy: expected"):
        ModelDirectory(copy).table("pieces.npy")
