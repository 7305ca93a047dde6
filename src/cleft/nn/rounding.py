"""Matrices of whole numbers: each weight rounded, and what that costs made up for by the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["STEPS", "compensated", "nearest"]

Array = npt.NDArray[Any]

STEPS = 63
"""Weights are whole numbers up to this. Two products of an unsigned byte with seven bits fit in
the sixteen bits that AVX2 adds them in; with eight bits they would saturate, silently."""

DAMPING = 0.01
"""What is added to the moments' diagonal, as a share of its mean: few rows were seen."""

BLOCK = 64
"""Columns after which what is left to round is brought up to date all at once."""


def nearest(weight: Array) -> tuple[Array, Array]:
    """The nearest whole numbers (out, in) and the scale of each output.

    >>> whole, scales = nearest(np.array([[0.63, -0.3149]]))
    >>> whole.tolist(), scales.round(3).tolist()
    ([[63, -31]], [0.01])
    """
    scales = _scales(weight)
    return np.round(weight / scales[:, None]).astype(np.int8), scales


def _scales(weight: Array) -> Array:
    return np.maximum(np.abs(weight).max(axis=1), 1e-12) / STEPS  # type: ignore[no-any-return]


def compensated(weight: Array, moments: Array) -> tuple[Array, Array]:
    """Whole numbers (out, in) whose products with inputs of these moments XᵀX are near, and scales.

    A column after the other is rounded, and what its rounding does to the products is taken
    back, as far as inputs go together, by the columns still to come (GPTQ, Frantar et al. 2023).

    >>> together = np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> compensated(np.array([[0.63, 0.004, 0.0]]), np.pad(together, (0, 1)))[0].tolist()
    [[63, 0, 0]]
    >>> compensated(np.array([[0.004, 0.004, 0.63]]), np.pad(together, (0, 1)))[0].tolist()
    [[0, 1, 63]]
    """
    scales = _scales(weight)
    order = np.argsort(-np.diag(moments), kind="stable")  # what weighs most is rounded first
    factor = _factor(moments[np.ix_(order, order)])
    left = (weight / scales[:, None])[:, order].astype(np.float32)
    whole = np.empty_like(left)
    for start in range(0, len(order), BLOCK):
        end = min(start + BLOCK, len(order))
        errors = np.empty((len(left), end - start), np.float32)
        for column in range(start, end):
            whole[:, column] = np.clip(np.round(left[:, column]), -STEPS, STEPS)
            error = (left[:, column] - whole[:, column]) / factor[column, column]
            left[:, column:end] -= np.outer(error, factor[column, column:end])
            errors[:, column - start] = error
        left[:, end:] -= errors @ factor[start:end, end:]
    found = np.empty(left.shape, np.int8)
    found[:, order] = whole
    return found, scales


def _factor(moments: Array) -> Array:
    """The upper Cholesky factor of the moments' inverse."""
    moments = moments.astype(np.float64)
    damping = max(DAMPING * float(np.diag(moments).mean()), 1e-12)
    inverse = np.linalg.inv(moments + damping * np.eye(len(moments)))
    factor: Array = np.linalg.cholesky((inverse + inverse.T) / 2).T.astype(np.float32)
    return factor
