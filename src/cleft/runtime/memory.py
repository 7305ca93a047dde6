"""What a head knows of a batch's boundaries, and hypotheses grouped by sentence.

A pointer's product is made once for all hypotheses of a sentence, so a
sentence's keys are never copied for each. Sentences that are finished leave
the product when they are enough: leaving costs a copy of the keys that stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cleft.search.scorer import Floats, Ints

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
    """The results of a head's memory graph, by name, and where each sentence's rows begin.

    `left_gates` and `right_gates` (boundaries, decoder) are what boundaries give to the decoder
    as ends of a span, `keys` (sentences, pointer, n + 1) and `offsets` (sentences, 1, n + 1)
    what the pointer compares with; the rest is there as the head has it.
    """

    def __init__(
        self, parts: Mapping[str, Floats], *, lengths: Sequence[int], first: Ints | None = None
    ) -> None:
        self.parts = parts
        self.keys, self.offsets = parts["keys"], parts["offsets"]
        self.width = self.keys.shape[2]
        self.lengths = np.asarray(lengths)
        # Where each sentence's boundaries begin among the rows of gates and labels.
        self.first = np.arange(len(self.keys)) * self.width if first is None else first
        self._here = np.arange(len(self.keys))
        self._kept = self.keys, self.offsets
        self._last = Group(self.keys, self.offsets, self._here[:, None], self._here)

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
