"""Search for heads without history, to which a span is a span whatever was split before it.

So all open spans of all sentences are asked about in one call, level by level, none is asked
about twice, and the most probable tree can be found for certain: what is not known yet scores
0 at most, since log p ≤ 0; as long as the best tree by that bound has unknown spans, they are
asked about; when it has none, it is the best. So it is with labels, whose log p is ≤ 0 as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from cleft.search.beam import Decisions, Scores
from cleft.search.scorer import Floats, Ints

Ask = Callable[[Ints, Ints, Ints], Floats]
"""The log-probabilities of the boundaries of spans, from their sentences, left and right ends."""

Pair = tuple[int, int]
Triple = tuple[int, int, int]


class Prices(NamedTuple):
    """What the best labels of spans add, or of splits, from their sentences and a table."""

    ask: Callable[[Ints, Ints], Scores]
    of_splits: bool


def level_by_level(ask: Ask, sentences: Ints, lengths: Ints) -> list[Decisions]:
    """The best split of every span; one call a level for all sentences together."""
    place = np.flatnonzero(lengths > 1)
    left, right = np.zeros(len(place), np.intp), lengths[place]
    made = [np.zeros((0, 5))]
    while len(place):
        log_probs = ask(sentences[place], left, right)
        split = log_probs.argmax(axis=1)
        gain = log_probs[np.arange(len(split)), split]
        made.append(np.stack([place, left, split, right, gain], axis=1))
        one, two = split - left > 1, right - split > 1
        one &= split < right  # a stop has no halves
        place = np.concatenate([place[one], place[two]])
        left = np.concatenate([left[one], split[two]])
        right = np.concatenate([split[one], right[two]])
    table = np.concatenate(made)
    # Depth first, left before right: by left end, and of those that begin alike the wider first.
    table = table[np.lexsort((-table[:, 3], table[:, 1], table[:, 0]))]
    counts = np.bincount(table[:, 0].astype(np.intp), minlength=len(sentences))
    steps, gains = table[:, 1:4].astype(np.intp), table[:, 4]
    ends = accumulate(counts.tolist(), initial=0)
    return [Decisions(steps[a:b].copy(), gains[a:b].copy()) for a, b in pairwise(ends)]


class Recall:
    """The answers about the spans of a batch: none is asked about twice."""

    def __init__(self, ask: Ask, lengths: Ints) -> None:
        self.ask = ask
        width = int(lengths.max(initial=0)) + 1
        self.index = np.full((len(lengths), width, width), -1, np.intp)
        self.scores: Floats = np.zeros((0, width))

    def __call__(self, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The log-probabilities of the boundaries of spans."""
        unknown = self.index[sentence, left, right] < 0
        if unknown.any():
            rows = np.stack([sentence, left, right], axis=1)[unknown]
            new = np.unique(rows, axis=0).T
            self.index[tuple(new)] = len(self.scores) + np.arange(new.shape[1])
            self.scores = np.concatenate([self.scores, self.ask(*new)])
        return self.scores[self.index[sentence, left, right]]


class Chart:
    """The spans of one sentence that are known, and what each can score at most."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.said: dict[Pair, Scores] = {}
        self.known: dict[Pair, Scores] = {}  # the same with the labels
        self.split: dict[Pair, int] = {}
        self.done: set[Pair] = set()  # all below is known, by the best splits so far
        self.priced: set[Triple] = set()
        self.most = np.zeros((length + 1, length + 1))

    def learn(self, spans: Sequence[Pair], log_probs: Floats, prices: Scores) -> None:
        """Take in what was said of some spans and their labels."""
        for span, line, price in zip(spans, log_probs.astype(np.float64), prices, strict=True):
            self.said[span], self.known[span] = line, line + price
        self._bound_around(spans)

    def price(self, splits: Sequence[Triple], prices: Scores) -> None:
        """Take in what was said of the labels of some splits."""
        self.priced.update(splits)
        for (left, split, right), price in zip(splits, prices.tolist(), strict=True):
            self.known[left, right][split] += price
        self._bound_around([(left, right) for left, _, right in splits])

    def _bound_around(self, spans: Sequence[Pair]) -> None:
        """Bound anew some spans, and all that have as a half one that is bounded anew."""
        new, lefts, rights = set(spans), set[int](), set[int]()
        for left, right in sorted(self.known, key=lambda span: span[1] - span[0]):
            touched = left in lefts or right in rights or (left, right) in new
            if touched and self._bound(left, right):
                lefts.add(left)
                rights.add(right)

    def _bound(self, left: int, right: int) -> bool:
        """Bound a span; whether it is another bound, or all below is known now."""
        span, inner = (left, right), slice(left + 1, right)
        scores = self.known[span][left + 1 : right + 1].copy()  # the last is the stop's
        scores[:-1] += self.most[left, inner] + self.most[inner, right]
        best = int(scores.argmax())
        before = self.split.get(span), self.most[span], span in self.done
        split = self.split[span] = left + 1 + best
        self.most[span] = scores[best]
        halves = ((left, split), (split, right)) if split < right else ()
        if all(b - a < 2 or (a, b) in self.done for a, b in halves):
            self.done.add(span)
        else:
            self.done.discard(span)
        return before != (split, scores[best], span in self.done)

    def unknown(self) -> list[Pair]:
        """The unknown spans of the best tree by what is known."""
        found, stack = [], [(0, self.length)] if self.length > 1 else []
        while stack:
            left, right = span = stack.pop()
            if right - left < 2 or span in self.done:
                continue
            split = self.split.get(span)
            if split is None:
                found.append(span)
            elif split < right:
                stack += (split, right), (left, split)
        return found

    def splits(self) -> list[Triple]:
        """The splits of the best tree, of which all is known, depth first."""
        found, stack = [], [(0, self.length)]
        while stack:
            left, right = span = stack.pop()
            if right - left > 1:
                split = self.split[span]
                found.append((left, split, right))
                if split < right:
                    stack += (split, right), (left, split)
        return found


def best_trees(
    ask: Ask,
    sentences: Ints,
    lengths: Ints,
    prices: Prices | None = None,
    first: Sequence[Sequence[Pair]] | None = None,
) -> list[Decisions]:
    """The most probable splits of each sentence, for certain; each call is for all of them.

    With `prices` the splits that are the best together with the labels. The spans that are
    asked about `first` may be any; those of a good tree save the most calls.
    """
    charts = [Chart(length) for length in lengths.tolist()]
    unknown = first if first is not None else [chart.unknown() for chart in charts]
    while True:
        while any(unknown):
            rows, spans = _flat(sentences, unknown)
            log_probs = ask(rows, spans[:, 0], spans[:, 1])
            own = prices is not None and not prices.of_splits
            added = prices.ask(rows, spans) if prices and own else np.zeros(len(rows))
            for chart, new, (a, b) in _parts(charts, unknown):
                chart.learn(new, log_probs[a:b], added[a:b])
            unknown = [chart.unknown() for chart in charts]
        trees = [chart.splits() for chart in charts]
        open_ = [
            [each for each in splits if each[1] < each[2] and each not in chart.priced]
            for chart, splits in zip(charts, trees, strict=True)
        ]
        if prices is None or not prices.of_splits or not any(open_):
            break
        added = prices.ask(*_flat(sentences, open_))
        for chart, splits, (a, b) in _parts(charts, open_):
            chart.price(splits, added[a:b])
        unknown = [chart.unknown() for chart in charts]
    made = []
    for chart, splits in zip(charts, trees, strict=True):
        gains = [chart.said[left, right][split] for left, split, right in splits]
        made.append(Decisions(np.array(splits, np.intp).reshape(-1, 3), np.array(gains)))
    return made


def _flat(sentences: Ints, rows: Sequence[Sequence[tuple[int, ...]]]) -> tuple[Ints, Ints]:
    """The rows of all sentences in one table, and the sentence of each."""
    table = np.array([row for part in rows for row in part], np.intp)
    return np.repeat(sentences, [len(part) for part in rows]), table


def _parts(
    charts: Sequence[Chart], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[Chart, Any, Pair]]:
    """Each chart that has rows, with them and their place in the table of all."""
    ends = pairwise(accumulate(map(len, rows), initial=0))
    return (each for each in zip(charts, rows, ends, strict=True) if each[1])
