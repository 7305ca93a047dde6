"""What the linear maps of a network get to see: for scales that are fixed at export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from torch import Tensor, nn

from cleft.nn.onnx_build import Array, array
from cleft.nn.scorer import TorchScorer

__all__ = ["MOST", "Seen", "calibrate", "some"]

T = TypeVar("T")

MOST = 256
"""Sentences that are looked at; more hardly raise a peak."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The inputs of a linear map.

    >>> seen = Seen.of(np.array([[1.0, -2.0], [0.0, 1.0]]))
    >>> seen.peaks.tolist(), seen.moments.tolist()
    ([1.0, 2.0], [[1.0, -2.0], [-2.0, 5.0]])
    >>> seen.divided(np.array([1.0, 2.0])).peaks.tolist()
    [1.0, 1.0]
    """

    peaks: Array  # (in): the largest |x| of each input
    moments: Array  # (in, in): the sum of x · xᵀ

    @classmethod
    def of(cls, rows: Array) -> Seen:
        """What is seen in some rows (rows, in)."""
        return cls(np.abs(rows).max(axis=0), rows.T @ rows)

    def __add__(self, other: Seen) -> Seen:
        return Seen(np.maximum(self.peaks, other.peaks), self.moments + other.moments)

    def divided(self, by: Array) -> Seen:
        """The same inputs, each divided by a number of its own."""
        return Seen(self.peaks / by, self.moments / np.outer(by, by))


def some(sentences: Sequence[T], most: int = MOST) -> list[T]:
    """At most so many of the sentences, from all parts of them.

    >>> some(["a", "b", "c", "d"], 2)
    ['a', 'c']
    """
    count = min(len(sentences), most)
    return [sentences[number * len(sentences) // count] for number in range(count)]


def calibrate(
    scorer: TorchScorer, part: nn.Module, names: Sequence[str], sentences: Sequence[Sequence[str]]
) -> Mapping[str, Seen]:
    """What the linear maps of these names in a part of the network see in sentences."""
    found: dict[str, Seen] = {}

    def look(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def see(_: nn.Module, inputs: tuple[Any, ...]) -> None:
            values: Tensor = inputs[0]
            rows = Seen.of(array(values.reshape(-1, values.shape[-1])))
            found[name] = found[name] + rows if name in found else rows

        return see

    with ExitStack() as watched:
        for name in names:
            hook = part.get_submodule(name).register_forward_pre_hook(look(name))
            watched.callback(hook.remove)
        for sentence in sentences:  # one at a time: no padding
            scorer.encode([sentence])
    return found
