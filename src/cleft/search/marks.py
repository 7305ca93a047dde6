"""Whether to stop is known best from the marks of EDU boundaries, where to split from the pointer.

A head may mark each boundary with the chance that an EDU ends there. A span
is then an EDU with the chance that none of its inner boundaries is one; if it
is none, the pointer's choice among them is weighed with their marks:

    p(stop)  = Π (1 - mark(k))                              for k inside the span
    p(k)     = (1 - p(stop)) · pointer(k) · mark(k) / Σ …

These are the probabilities of a step: they sum to 1 over the legal boundaries.
Where a caller gives the EDUs there is nothing to find, and the pointer is
asked alone.
"""

from __future__ import annotations

import numpy as np

from cleft.scorer import Floats, Ints

__all__ = ["Marks"]

SURE = 1e-6
"""No mark is surer than this, so that every tree has some probability."""


class Marks:
    """The marks of a batch: (sentences, 1 + longest), chances; `given` have their EDUs given.

    >>> marks = Marks(np.array([[0.0, 0.1, 0.8, 0.0]]))
    >>> one = np.zeros(1, np.intp)
    >>> said = marks.apply(np.log([[0.25, 0.5, 0.125, 0.125]]), one, one, one + 3)
    >>> np.exp(said).round(3).tolist()  # of 0.05 and 0.1, with 1 - 0.18 for both together
    [[0.0, 0.273, 0.547, 0.18]]
    """

    __slots__ = ("_columns", "_free", "_log", "_none")

    def __init__(self, chances: Floats, given: Ints | None = None) -> None:
        chances = np.clip(chances.astype(np.float64), SURE, 1 - SURE)
        self._log = np.log(chances)
        self._none = np.cumsum(np.log1p(-chances), axis=1)  # none up to and at a boundary
        self._columns = np.arange(chances.shape[1], dtype=np.int32)[None, :]
        self._free = np.ones((len(chances), 1), bool)
        if given is not None:
            self._free[given] = False

    def apply(self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The log-probabilities of a step's boundaries, from the pointer's, (rows, boundaries)."""
        none = self._none
        stop = np.minimum(none[sentence, right - 1] - none[sentence, left], -SURE)
        inside = self._columns > left[:, None].astype(np.int32)
        inside &= self._columns < right[:, None].astype(np.int32)
        found = np.where(inside, log_probs + self._log[sentence], -np.inf)
        best = found.max(axis=1, keepdims=True, initial=np.finfo(np.float32).min)
        # One after the other, so that padding does not change the order of the sum. A span of
        # one token has no inner boundary: all its chance is the stop's.
        sums = np.cumsum(np.exp(found - best), axis=1)[:, -1:]
        found += np.log(-np.expm1(stop))[:, None] - (best + np.log(np.maximum(sums, SURE)))
        found[np.arange(len(left)), right] = stop
        free = self._free[sentence]
        return found if free.all() else np.where(free, found, log_probs)
