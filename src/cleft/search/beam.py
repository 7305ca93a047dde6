"""The beam: every decision written once, and the step that keeps the best hypotheses.

A decision splits a span at a boundary and knows the decision before it, so a
hypothesis is no more than the number of its last decision. It also serves as
the stack of open spans: the right half of a decision waits until its left half
is finished, and `below` names the decision whose right half waits next. So
hypotheses that share a past share its memory, and nothing is copied when a
beam is reordered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from cleft.search.scorer import Floats, Ints
from cleft.span import Split

Scores = npt.NDArray[np.float64]

NONE = 0
"""The decision that stands for no decision: its right half is the empty span (0, 0)."""


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The decisions of one hypothesis, first to last, with their log-probabilities."""

    table: Ints  # (decisions, 3): left, split, right
    scores: Scores

    @property
    def splits(self) -> tuple[Split, ...]:
        """The decisions as splits."""
        return tuple([Split(*row) for row in self.table.tolist()])

    @property
    def log_probs(self) -> tuple[float, ...]:
        """The log-probability of each."""
        return tuple(self.scores.tolist())


class History:
    """An append-only table of decisions; row 0 is `NONE`.

    >>> history = History(8)
    >>> one = np.array([1])
    >>> ids, left, right, waiting = history.split(
    ...     0 * one, 2 * one, 5 * one, log_prob=-0.1 * one, parent=0 * one, waiting=0 * one)
    >>> int(left[0]), int(right[0]), int(waiting[0])  # (0, 2) is next, then the right half of 1
    (0, 2, 1)
    >>> history.decisions(ids)[0].splits
    (Split(left=0, split=2, right=5),)
    """

    __slots__ = ("_below", "_left", "_log_prob", "_parent", "_right", "_size", "_split")

    def __init__(self, capacity: int) -> None:
        self._size = 1
        shape = max(capacity, 1) + 1
        self._left, self._split, self._right, self._parent, self._below = (
            np.zeros(shape, np.intp) for _ in range(5)
        )
        self._log_prob: Scores = np.zeros(shape)

    def split(
        self,
        left: Ints,
        split: Ints,
        right: Ints,
        *,
        log_prob: Floats,
        parent: Ints,
        waiting: Ints,
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Record one decision a hypothesis; return their numbers, the next spans, what waits.

        The next span is the left half, else the right half, else the right half
        that has waited least; halves of one token are never visited, nor are
        those of a stop. A hypothesis with nothing left to split gets (0, 0).
        """
        start, end = self._size, self._size + len(left)
        if end > len(self._left):
            self._grow(end)
        self._left[start:end] = left
        self._split[start:end] = split
        self._right[start:end] = right
        self._log_prob[start:end] = log_prob
        self._parent[start:end] = parent
        self._below[start:end] = waiting
        self._size = end
        ids = np.arange(start, end)
        wide_left = (split - left > 1) & (split != right)
        wide_right = right - split > 1  # a stop's right half is empty
        next_left = np.where(wide_left, left, split)
        next_right = np.where(wide_left, split, right)
        after = np.where(wide_left & wide_right, ids, waiting)
        (ended,) = (~(wide_left | wide_right)).nonzero()
        if ended.size:
            due = waiting[ended]
            next_left[ended] = self._split[due]
            next_right[ended] = self._right[due]
            after[ended] = self._below[due]
        return ids, next_left, next_right, after

    def _grow(self, needed: int) -> None:
        more = max(needed, 2 * self._size) - len(self._left)
        for name in ("_left", "_split", "_right", "_parent", "_below", "_log_prob"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros(more, old.dtype)]))

    def decisions(self, last: Ints) -> list[Decisions]:
        """All decisions of the hypotheses that end in these."""
        steps, current = [], last
        while (current != NONE).any():
            steps.append(current)
            current = self._parent[current]
        if not steps:
            return self.paths(last[:0], [0] * len(last))
        table = np.stack(steps[::-1], axis=1)  # (hypotheses, steps), NONE before the first
        made = table != NONE
        return self.paths(table[made], made.sum(axis=1).tolist())

    def shared(self, owners: Ints, count: int) -> list[Decisions]:
        """All decisions by owner, below `count`: the owner of each is given in the order made."""
        order = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=count)[:count].tolist()
        return self.paths(order[: sum(counts)] + 1, counts)

    def paths(self, numbers: Ints, counts: Sequence[int]) -> list[Decisions]:
        """The decisions with these numbers, so many for each hypothesis."""
        table = np.stack([self._left[numbers], self._split[numbers], self._right[numbers]], axis=1)
        scores = self._log_prob[numbers]
        # Copies, for a tree that is kept is not to keep a whole batch.
        return [
            Decisions(table[start:end].copy(), scores[start:end].copy())
            for start, end in pairwise(accumulate(counts, initial=0))
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beam:
    """Hypotheses of a batch of sentences, ordered by sentence and then best first.

    A finished hypothesis has the span (0, 0). All arrays are (hypotheses,).

    >>> beam = Beam.start(History(8), np.array([0, 3]), np.array([2, 5]))
    >>> beam.spans.tolist()
    [[0, 2], [0, 5]]
    >>> no = -np.inf  # illegal
    >>> scores = np.array([[no, -0.1, no, no, no, no], [no, -3.0, -0.5, -2.0, -4.0, no]])
    >>> beam, parents = advance(beam, scores, 2)
    >>> beam.sentence.tolist(), parents.tolist()
    ([0, 3, 3], [1, 1])
    >>> beam.spans.tolist(), beam.score.tolist()
    ([[0, 2], [0, 3]], [-0.1, -0.5, -2.0])
    """

    history: History
    sentence: Ints
    score: Scores
    left: Ints
    right: Ints
    waiting: Ints
    last: Ints

    @classmethod
    def start(cls, history: History, sentence: Ints, lengths: Ints) -> Beam:
        """One hypothesis a sentence, which has decided nothing yet."""
        nothing = np.full(len(sentence), NONE, np.intp)
        return cls(
            history=history,
            sentence=sentence,
            score=np.zeros(len(sentence)),
            left=np.zeros(len(sentence), np.intp),
            right=lengths,
            waiting=nothing,
            last=nothing,
        )

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def live(self) -> Ints:
        """The hypotheses that have a span to split."""
        return np.flatnonzero(self.right)

    @property
    def spans(self) -> Ints:
        """The spans to split next, (live, 2)."""
        live = self.live
        return np.stack([self.left[live], self.right[live]], axis=1)

    def take(self, rows: Ints) -> Beam:
        """These hypotheses only."""
        return Beam(
            history=self.history,
            sentence=self.sentence[rows],
            score=self.score[rows],
            left=self.left[rows],
            right=self.right[rows],
            waiting=self.waiting[rows],
            last=self.last[rows],
        )


def first_of_sentence(sentence: Ints) -> Ints:
    """Where each sentence's hypotheses begin.

    >>> first_of_sentence(np.array([0, 0, 2, 2, 2, 5])).tolist()
    [0, 2, 5]
    """
    new = np.ones(len(sentence), bool)
    np.not_equal(sentence[1:], sentence[:-1], out=new[1:])
    return np.flatnonzero(new)


def advance(
    beam: Beam,
    log_probs: Floats,
    width: int,
    floor: Scores | None = None,
    margin: float = np.inf,
) -> tuple[Beam, Ints]:
    """Split the next span of every live hypothesis; keep the best `width` a sentence.

    `log_probs` is (live hypotheses, boundaries), -inf where a split is illegal.
    A finished hypothesis competes as it is. Children that do not exceed their
    sentence's `floor` (indexed by sentence) are dropped, as are those more than
    `margin` below the sentence's best. Returns the new beam, and for each of
    its live hypotheses the row of `log_probs` that it comes from. The old beam
    is left as it was.
    """
    live = beam.live
    parent, split, score = _children(beam, live, log_probs, width, floor)
    done = np.flatnonzero(beam.right == 0)
    if done.size:
        row = np.concatenate([np.full(len(done), -1), parent])
        score = np.concatenate([beam.score[done], score])
        split = np.concatenate([np.zeros(len(done), np.intp), split])
        parent = np.concatenate([done, live[parent]])
    else:
        row, parent = parent, live[parent] if len(live) < len(beam) else parent
    kept = _best(beam.sentence[parent], score, width, margin)
    row, parent, split = row[kept], parent[kept], split[kept]
    new = beam.take(parent)
    new.score[:] = score[kept]
    moved = np.flatnonzero(row >= 0)
    old = new if len(moved) == len(new) else new.take(moved)
    row, split = row[moved], split[moved]
    ids, left, right, waiting = beam.history.split(
        old.left,
        split,
        old.right,
        log_prob=log_probs[row, split],
        parent=old.last,
        waiting=old.waiting,
    )
    new.left[moved], new.right[moved] = left, right
    new.waiting[moved], new.last[moved] = waiting, ids
    return new, row[right > 0]


def _children(
    beam: Beam, live: Ints, log_probs: Floats, width: int, floor: Scores | None
) -> tuple[Ints, Ints, Scores]:
    """The row, boundary and score of every child that could be kept."""
    scores: Scores = beam.score[live][:, None] + log_probs  # (live, boundaries)
    if floor is not None:
        good = scores > floor[beam.sentence[live]][:, None]
    elif scores.shape[1] > 2 * width:
        # No child beyond the best `width` of its own parent can be kept.
        least = np.partition(scores, -width, axis=1)[:, -width]
        good = (scores >= least[:, None]) & (scores > -np.inf)
    else:
        good = scores > -np.inf
    row, split = np.nonzero(good)
    return row, split, scores[row, split]


def _best(sentence: Ints, score: Scores, width: int, margin: float) -> Ints:
    """The best `width` of each sentence, by sentence and then best first; ties by position."""
    order = np.lexsort((-score, sentence))
    if not order.size:
        return order
    group = sentence[order]
    first = first_of_sentence(group)
    counts = np.diff(first, append=len(order))
    start = np.repeat(first, counts)
    keep = np.arange(len(order)) - start < width
    if margin < np.inf:
        best = score[order[start]]
        keep &= score[order] >= best - margin
    return order[keep]
