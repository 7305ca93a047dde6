"""The labels of chosen spans or splits, and nothing else's, with the tags of the words below.

A beam scores thousands of spans; only those of the finished trees are ever
named, in one question to the scorer (or a few, where there are very many).
Each gets its best label. Where that makes a pair that training trees hardly
have, the labels and tags of the whole tree are chosen together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cleft.errors import ModelError
from cleft.search.grammar import Grammar
from cleft.search.options import LOWEST
from cleft.search.scorer import Encoded, Floats, Ints, Scorer
from cleft.search.trees import spans_of, upward
from cleft.tree import is_dummy

CHUNK = 16_384
"""How many items one question holds at most."""


Others = list[tuple[tuple[str, float], ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """One label an item: its number among `names`, its log-probability, and the next best.

    `others` is empty if none were asked for.
    """

    names: tuple[str, ...]
    numbers: Ints
    log_probs: Floats
    others: Others

    @classmethod
    def of(
        cls, names: tuple[str, ...], log_probs: Floats, numbers: Ints, alternatives: int
    ) -> Labels:
        """These labels of some items, of whose log-probabilities no more is kept."""
        lines = runners_up(log_probs, numbers, alternatives) if alternatives else []
        return cls(
            names=names,
            numbers=numbers,
            log_probs=log_probs[np.arange(len(numbers)), numbers],
            others=[tuple((names[index], chance) for index, chance in line) for line in lines],
        )


@lru_cache(maxsize=64)
def dummies_of(names: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Which labels are dummies."""
    return np.array([is_dummy(name) for name in names], bool)


def label_scores(
    scorer: Scorer,
    encoded: Encoded,
    task: str,
    rows: Ints,
    items: Ints,
    *,
    named: npt.NDArray[np.bool_],
) -> tuple[tuple[str, ...], Floats]:
    """The names of the labels, and the log-probabilities of every item's, (items, labels).

    Where `named` is true the item must be a phrase: dummy labels are masked.
    """
    names = tuple(scorer.labels(task))
    dummies = dummies_of(names)
    if len(rows) and dummies.all():
        raise ModelError(
            f"the model has no label for {task} but the dummy", hint="use a model trained for it"
        )
    parts = [
        scorer.label(encoded, task, rows[start : start + CHUNK], items[start : start + CHUNK])
        for start in range(0, len(rows), CHUNK)
    ]
    found = np.concatenate(parts) if parts else np.zeros((0, len(names)))
    found = np.maximum(found, LOWEST)
    if dummies.any():
        found[np.ix_(named, dummies)] = -np.inf
    return names, found


class Naming:
    """The best labels and tags of one tree's spans together, by the model and a grammar.

    From the words up, `best` is what the spans below and at each can score at most, by the
    phrase that stands above it: (spans, parents).
    """

    def __init__(self, grammar: Grammar, splits: Ints, log_probs: Floats, tags: Floats) -> None:
        self.grammar, self.log_probs = grammar, log_probs.astype(np.float64)
        self.tags = tags - tags.max(axis=1, keepdims=True)  # what another tag would cost
        length = len(tags)
        spans = spans_of([length], [splits])
        self.above = upward([length], [splits])[:-1]
        self.words = np.flatnonzero(spans.right - spans.left == 1)
        count, labels = self.log_probs.shape
        dummies = np.flatnonzero(grammar.dummies)
        if dummies.size:  # the best of each span stands for all: they make the same tree
            self.dummy = dummies[self.log_probs[:, dummies].argmax(axis=1)]
        # What each span scores below itself: as a dummy, by parent; as a phrase, by label.
        self.bare = np.zeros((count, len(grammar.above)))
        self.named = np.zeros((count, labels))
        self.best = np.zeros((count, len(grammar.above)))
        self._climb()

    def _climb(self) -> None:
        grammar, place = self.grammar, len(self.log_probs)
        self.bare[self.words] = (self.tags[:, None, :] + grammar.below).max(axis=2)
        self.named[self.words] = (self.tags[:, None, :] + grammar.alone).max(axis=2)
        sums = np.zeros_like(self.bare)
        is_word = np.zeros(place, bool)
        is_word[self.words] = True
        while place:
            place -= 1  # children stand behind their parents
            if not is_word[place]:
                self.bare[place] = sums[place]
                self.named[place] = sums[place, grammar.inner]
            self.best[place] = self.options(place, slice(None)).max(axis=1)
            if place:
                sums[self.above[place]] += self.best[place]

    def options(self, place: int, parent: int | slice) -> Floats:
        """What a span's labels score with all below them, under a parent or under each."""
        grammar = self.grammar
        found: Floats = grammar.phrases[parent] + (self.log_probs[place] + self.named[place])
        if grammar.dummies.any():
            dummy = self.dummy[place]
            found[..., dummy] = self.log_probs[place, dummy] + self.bare[place, parent]
        return found

    def choose(self) -> tuple[Ints, Ints, float]:
        """The best labels and tags, and what they score together."""
        grammar, count = self.grammar, len(self.log_probs)
        labels, under = np.zeros(count, np.intp), np.zeros(count + 1, np.intp)
        for place in range(count):
            parent = under[self.above[place]]
            label = labels[place] = self.options(place, parent).argmax()
            under[place] = parent if grammar.dummies[label] else grammar.inner[label]
        return labels, self.tags_below(labels, under), float(self.best[0, 0])

    def tags_below(self, labels: Ints, under: Ints) -> Ints:
        """The best tag of each word under these labels."""
        grammar, own = self.grammar, labels[self.words]
        bare = grammar.dummies[own][:, None]
        costs = np.where(bare, grammar.below[under[self.words]], grammar.alone[own])
        chosen: Ints = (self.tags + costs).argmax(axis=1)
        return chosen


def runners_up(log_probs: Floats, chosen: Ints, count: int) -> list[list[tuple[int, float]]]:
    """For each row the best columns but the chosen one, with probabilities, best first.

    Impossible columns (-inf) are left out.

    >>> log_probs = np.array([[-1.5, -1.0, 0.0, -np.inf]])
    >>> [[column for column, _ in line] for line in runners_up(log_probs, np.array([1]), 5)]
    [[2, 0]]
    """
    rest = np.array(log_probs, np.float64)
    rest[np.arange(len(rest)), chosen] = -np.inf
    order = np.argsort(-rest, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(rest, order, axis=1)
    chances = np.exp(kept)
    return [
        [(index, chance) for index, chance, log in zip(*line, strict=True) if log > -np.inf]
        for line in zip(order.tolist(), chances.tolist(), kept.tolist(), strict=True)
    ]
