"""One step of the beam: from hypotheses and their scores to the best of their children.

A hypothesis is its sentence, its log-probability, the span it splits next,
what waits after that, and its last decision in the `History`. `advance` is all
the search there is; the loops around it are in `decode`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cleft.scorer import Floats, Ints
from cleft.search.history import NONE, History, Scores

__all__ = ["Beam", "advance", "first_of_sentence"]


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
