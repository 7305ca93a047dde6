"""What a head knows of a batch's boundaries, and hypotheses grouped by sentence.

A pointer's product is made once for all hypotheses of a sentence, so a
sentence's keys are never copied for each. Sentences that are finished leave
the product when they are enough: leaving costs a copy of the keys that stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cleft.scorer import Floats, Ints

__all__ = ["Group", "Memory"]

SPARE = 8
"""Keys are copied when one in so many sentences has left."""


@dataclass(frozen=True, slots=True)
class Group:
    """Hypotheses as the step's graph wants them.

    `slots` (sentences, most hypotheses) are the rows of each sentence, 0 where
    there are fewer; `places` (rows) say where in `slots` a row stands.
    """

    keys: Floats  # (sentences, pointer, n + 1)
    offsets: Floats  # (sentences, 1, n + 1)
    slots: Ints
    places: Ints


class Memory:
    """The results of a head's memory graph, in its order."""

    def __init__(
        self,
        left_gates: Floats,
        right_gates: Floats,
        keys: Floats,
        offsets: Floats,
        cell: Floats,
        hidden: Floats,
        label_left: Floats,
        label_right: Floats,
        marks: Floats | None = None,
        *,
        lengths: Sequence[int],
        first: Ints | None = None,
    ) -> None:
        self.left_gates, self.right_gates = left_gates, right_gates  # (boundaries, 4 · hidden)
        self.keys, self.offsets = keys, offsets
        self.cell, self.hidden = cell, hidden  # (sentences, hidden)
        self.label_left, self.label_right = label_left, label_right  # (boundaries, label)
        self.marks = marks  # (sentences, n + 1), of a head that has them
        self.width = keys.shape[2]
        self.lengths = np.asarray(lengths)
        # Where each sentence's boundaries begin among the rows of gates and labels.
        self.first = np.arange(len(keys)) * self.width if first is None else first
        self._here = np.arange(len(keys))
        self._kept = keys, offsets
        self._last = Group(keys, offsets, self._here[:, None], self._here)

    def group(self, rows: Ints) -> Group:
        """The hypotheses of these sentences, one a row, in any order."""
        here = self._here
        if len(rows) == len(here) and bool((rows == here).all()):
            if len(self._last.places) != len(rows) or self._last.keys is not self._kept[0]:
                every = np.arange(len(rows))
                self._last = Group(*self._kept, every[:, None], every)
            return self._last
        order = np.arange(len(rows))
        if bool((rows[1:] < rows[:-1]).any()):
            order = np.argsort(rows, kind="stable")
            rows = rows[order]
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        counts = np.diff(first, append=len(rows))
        self._keep(rows[first])
        slot = np.repeat(np.searchsorted(self._here, rows[first]), counts)
        rank = np.arange(len(rows)) - np.repeat(first, counts)
        most = int(counts.max())
        slots = np.zeros((len(self._here), most), np.intp)
        slots[slot, rank] = order
        places = np.empty(len(rows), np.intp)
        places[order] = slot * most + rank
        return Group(*self._kept, slots, places)

    def _keep(self, sentences: Ints) -> None:
        """Have the keys of these sentences at hand, and of few others."""
        here = self._here
        found = np.searchsorted(here, sentences)
        known = bool((found < len(here)).all()) and bool((here[found] == sentences).all())
        if known and SPARE * len(sentences) > (SPARE - 1) * len(here):
            return
        self._here = sentences
        width = int(self.lengths[sentences].max()) + 1
        first, last = int(sentences[0]), int(sentences[-1]) + 1
        # A run of neighbours needs no copy.
        chosen = slice(first, last) if last - first == len(sentences) else sentences
        keys, offsets = self.keys[chosen], self.offsets[chosen]
        if width < self.width:
            keys, offsets = keys[:, :, :width], offsets[:, :, :width]
        self._kept = np.ascontiguousarray(keys), np.ascontiguousarray(offsets)
