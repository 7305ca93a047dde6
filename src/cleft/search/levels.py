"""Search for heads without history, to which a span is a span whatever was split before it.

So all open spans of all sentences are asked about in one call, level by level, none is asked
about twice, and the most probable tree can be found for certain: what is not known yet scores
0 at most, since log p ≤ 0, and so do labels. Another tree than greedy's must split some span
otherwise. A span where no other split scores what greedy's does with all below it, stays as it
is (`Forest`). Of the rest (`Charts`) all that may be in a better tree than the best that is
known is asked about at once, until there is nothing (`Sweep`): a call of many rows costs little
more than one of few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from cleft.search.beam import Decisions, Scores
from cleft.search.scorer import Ask, Ints, Recall

Pair = tuple[int, int]

UNKNOWN, NONE, TREE = -1, -2, -3
"""A span without a row is not known yet, or one word, or in a known tree: then TREE - its step."""

ROUNDING = 1e-9
"""What sums of the same numbers may differ by."""

UNUSABLE = -1e9
"""What stands for a score that is no number, or infinite."""

MOST = 100
"""So many spans of a sentence are asked about in a round at most."""


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


class Forest:
    """The trees that others are held against: of each step what it scores with all below it."""

    def __init__(self, trees: Sequence[Decisions]) -> None:
        counts = [len(each.table) for each in trees]
        self.owner = np.repeat(np.arange(len(trees)), counts)
        self.table = np.concatenate([each.table for each in trees])
        self.scores = np.concatenate([each.scores for each in trees])
        left, right = self.table[:, 0], self.table[:, 2]
        base = self.owner * (int(right.max(initial=0)) + 1)
        # Depth first, left before right: what begins before a span's end is below it.
        self.ends = np.searchsorted(base + left, base + right)
        self.below = np.zeros(len(left))
        self.open = np.zeros(len(left), bool)

    def judge(self, lines: Scores, slack: Scores) -> None:
        """Find the spans at or below which another split may lose no more than the slack.

        What is below another split scores 0 at most.
        """
        steps, split = np.arange(len(lines)), self.table[:, 1]
        self.below = self._sums(np.maximum(lines[steps, split], UNUSABLE))
        others = lines.copy()
        others[steps, split] = -np.inf
        doubtful = others.max(axis=1, initial=-np.inf) > self.below - slack[self.owner] - ROUNDING
        self.open = self._sums(doubtful.astype(np.float64)) > 0

    def _sums(self, each: Scores) -> Scores:
        """The sum of a number of each step over the step and all below it."""
        sums = np.append(0.0, np.cumsum(each))
        found: Scores = sums[self.ends] - sums[:-1]
        return found


class Charts:
    """What is known of the spans of some sentences, and what each scores at most and at least.

    There is a known tree of each. A span of it at or below which no other split can do as well
    is as it is, and not looked into. A `place` is the row of a span here, or says why it has none.
    With a `slack` the trees must be the best, and all that lose less are looked for.
    """

    def __init__(
        self,
        recall: Recall,
        prices: Prices | None,
        sentences: Ints,
        trees: Sequence[Decisions],
        slack: Scores,
    ) -> None:
        self.recall, self.prices, self.sentences, self.slack = recall, prices, sentences, slack
        self.lengths = recall.lengths[sentences]
        self.width = width = int(self.lengths.max(initial=0)) + 1
        self.forest = forest = Forest(trees)
        self.owner = self.left = self.right = self.number = np.zeros(0, np.intp)
        self.values = np.zeros((1 + self._by_splits, 0, width))
        ends = np.arange(width)
        wide = ends - ends[:, None] > 1
        self.place = np.where(wide, UNKNOWN, NONE) + np.zeros((len(trees), 1, 1), np.intp)
        # What spans score at most and at least before their rows are looked at, both ways round.
        self.start = np.zeros((2, len(trees), width, width))
        self.start[1, :, wide | wide.T] = -np.inf
        self._add(forest.owner, forest.table[:, 0], forest.table[:, 2])
        if self._by_splits:
            real = np.flatnonzero(forest.table[:, 1] < forest.table[:, 2])
            self._price(real, forest.table[real, 1])
        forest.judge(self.values[0], slack)
        self._settle()

    @property
    def _by_splits(self) -> bool:
        return self.prices is not None and self.prices.of_splits

    def _settle(self) -> None:
        """Keep no rows of spans that are as they are, and take in all else that is known."""
        forest = self.forest
        left, _, right = forest.table.T
        shut = np.flatnonzero(~forest.open)
        where = forest.owner[shut], left[shut], right[shut]
        self.start[:, *where] = self.start[:, where[0], where[2], where[1]] = forest.below[shut]
        kept = np.flatnonzero(forest.open)
        self.owner, self.left, self.right = self.owner[kept], self.left[kept], self.right[kept]
        self.number, self.values = self.number[kept], self.values[:, kept]
        self.place[self.owner, self.left, self.right] = np.arange(len(kept))
        self.place[where] = TREE - shut
        self.alive = np.unique(self.owner)
        position = np.full(len(self.recall.lengths), -1)
        position[self.sentences[self.alive]] = self.alive
        owner = position[self.recall.spans[:, 0]]
        _, left, right = self.recall.spans[owner >= 0].T
        owner = owner[owner >= 0]
        new = self.place[owner, left, right] == UNKNOWN
        self._add(owner[new], left[new], right[new])

    def _add(self, owner: Ints, left: Ints, right: Ints) -> None:
        """Ask about spans, and give them rows."""
        if not len(owner):
            return
        sentence, rows = self.sentences[owner], np.arange(len(owner))
        number = self.recall.number(sentence, left, right)
        lines = self.recall.scores[number, : self.width].astype(np.float64)
        if self.prices is not None and not self._by_splits:
            lines += self.prices.ask(sentence, np.stack([left, right], axis=1))[:, None]
        lines[~np.isfinite(lines)] = -np.inf
        values = lines[None]
        if self._by_splits:  # a split has no least before it has a price, but a stop has none
            least = np.full_like(lines, -np.inf)
            least[rows, right] = lines[rows, right]
            values = np.stack([lines, least])
        self.place[owner, left, right] = len(self.owner) + rows
        self.start[:, owner, left, right] = self.start[:, owner, right, left] = 0
        self.owner, self.number = np.append(self.owner, owner), np.append(self.number, number)
        self.left, self.right = np.append(self.left, left), np.append(self.right, right)
        self.values = np.concatenate([self.values, values], axis=1)

    def _price(self, rows: Ints, splits: Ints) -> None:
        """Ask about the labels of splits."""
        if self.prices is not None and len(rows):
            table = np.stack([self.left[rows], splits, self.right[rows]], axis=1)
            self.values[0, rows, splits] += self.prices.ask(self.sentences[self.owner[rows]], table)
            self.values[1, rows, splits] = self.values[0, rows, splits]

    def closed(self) -> Iterator[tuple[int, Scores]]:
        """Each sentence in doubt, once all is known that matters, and what its spans score.

        A round asks about all that may be in a better tree than the best that is known.
        """
        while len(self.alive):
            alive, lengths = self.alive, self.lengths[self.alive]
            sweep = Sweep(self)
            each = np.arange(len(alive))
            most, least = sweep.inside[:, each * self.width, lengths]
            floor = least - self.slack[alive]
            spans, splits = sweep.wanted(np.where(most > floor, floor, np.inf))
            busy = np.zeros(len(self.sentences), bool)
            busy[spans[0]] = busy[self.owner[splits[0]]] = True
            for slot in np.flatnonzero(~busy[alive]).tolist():
                tables = sweep.inside.reshape(2, len(alive), self.width, self.width)
                yield int(alive[slot]), tables[:, slot]
            self.alive = alive[busy[alive]]
            self._price(*splits)
            self._add(*spans)

    def best(self, position: int, table: Scores) -> Decisions | None:
        """The best tree of a sentence of which all is known, unless none is usable."""
        least, length = table[1], int(self.lengths[position])
        found, stack = [], [(0, length)]
        if not np.isfinite(least[0, length]):
            return None
        while stack:
            left, right = stack.pop()
            if right - left < 2:
                continue
            place = int(self.place[position, left, right])
            if place >= 0:
                scores = self.values[-1, place, left + 1 : right + 1].copy()
                scores[:-1] += least[left, left + 1 : right] + least[right, left + 1 : right]
                split = left + 1 + int(scores.argmax())
                stack += [(split, right), (left, split)] if split < right else []
                found.append((place, split))
            else:
                found.append((place, right))
        return self._decisions(found)

    def within(self, position: int, table: Scores, count: int) -> list[Decisions] | None:
        """All trees that lose less than the slack, best first; none if there are more than so many.

        Open trees wait by what they score at most, so that each that is taken gets finished.
        """
        most, length = table[0], int(self.lengths[position])
        floor, found = most[0, length] - self.slack[position], list[Decisions]()
        queue: list[Any] = [(-most[0, length], 0, ((0, length), None), None)]
        pushed = 0
        while queue:
            score, _, stack, made = heappop(queue)
            while stack is not None and (place := int(self.place[position, *stack[0]])) < 0:
                made = made if place == NONE else ((place, 0), made)
                stack = stack[1]
            if stack is None:
                found.append(self._decisions(_unlinked(made)))
                if len(found) > count:
                    return None
                continue
            (left, right), rest = stack
            scores = self.values[0, place, left + 1 : right + 1] - score - most[left, right]
            scores[:-1] += most[left, left + 1 : right] + most[right, left + 1 : right]
            for number in np.flatnonzero(scores > floor).tolist():
                split = left + 1 + number
                after = ((left, split), ((split, right), rest)) if split < right else rest
                step = ((place, split), made)
                heappush(queue, (-scores[number], pushed := pushed + 1, after, step))
        return found

    def _decisions(self, steps: Sequence[Pair]) -> Decisions:
        """Splits of rows, and parts of the known tree, by their places."""
        table, scores = list[list[int]](), list[float]()
        for place, split in steps:
            if place >= 0:
                table.append([int(self.left[place]), split, int(self.right[place])])
                scores.append(float(self.recall.scores[self.number[place], split]))
            else:
                first = TREE - place
                part = slice(first, self.forest.ends[first])
                table += self.forest.table[part].tolist()
                scores += self.forest.scores[part].tolist()
        return Decisions(np.array(table, np.intp), np.array(scores))


class Sweep:
    """What the spans of the sentences in doubt score at most and at least, from the words up.

    Tables have a row for each boundary of each sentence. The span from `left` to `right` stands
    in the row of either end, so that what both halves of all its splits score are two rows.
    """

    def __init__(self, charts: Charts) -> None:
        self.charts, self.alive, self.width = charts, charts.alive, charts.width
        slot = np.full(len(charts.sentences), -1)
        slot[self.alive] = np.arange(len(self.alive))
        rows = np.flatnonzero(slot[charts.owner] >= 0)
        widths = charts.right[rows] - charts.left[rows]
        self.rows = rows[np.argsort(widths, kind="stable")]
        self.slot = slot[charts.owner[self.rows]]
        self.left, self.right = charts.left[self.rows], charts.right[self.rows]
        self.inside = charts.start[:, self.alive].reshape(2, -1, self.width)
        self._values = charts.values[:, self.rows]
        self._climb()

    def _groups(self, left: Ints, right: Ints) -> list[slice]:
        """The rows of each width, which have no halves among each other."""
        ends = np.flatnonzero(np.diff(right - left, prepend=0, append=0)).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def _climb(self) -> None:
        base, inside = self.slot * self.width, self.inside
        starts, ends = base + self.left, base + self.right
        flat = inside.reshape(2, -1)
        above, beside = starts * self.width + self.right, ends * self.width + self.left
        for part in self._groups(self.left, self.right):
            scores = inside[:, starts[part]]
            scores += inside[:, ends[part]]
            scores += self._values[:, part]
            flat[:, above[part]] = flat[:, beside[part]] = scores.max(axis=2)

    def wanted(self, floor: Scores) -> tuple[tuple[Ints, Ints, Ints], tuple[Ints, Ints]]:
        """What may be in a tree above its sentence's floor: unknown spans, and splits of rows.

        Of very many spans of a sentence only the best.
        """
        kept = np.flatnonzero(floor[self.slot] < np.inf)
        outside, splits = self._descend(kept, floor)
        size = len(self.alive), self.width, self.width
        table = outside.reshape(size)
        table = np.maximum(table, table.transpose(0, 2, 1))
        table[self.charts.place[self.alive] != UNKNOWN] = -np.inf
        slot, left, right = np.nonzero(table > floor[:, None, None])
        if len(slot) > MOST:
            order = np.lexsort((-table[slot, left, right], slot))
            rank = np.arange(len(slot)) - np.searchsorted(slot, slot)
            chosen = order[rank < MOST]
            slot, left, right = slot[chosen], left[chosen], right[chosen]
        return (self.alive[slot], left, right), splits

    def _descend(self, kept: Ints, floor: Scores) -> tuple[Scores, tuple[Ints, Ints]]:
        """What all but a span scores at most, by the end that it shares with the span above it.

        And the splits without a price that may be in a tree above the floor.
        """
        most = self.inside[0]
        outside = np.full_like(most, -np.inf)
        outside[np.arange(len(self.alive)) * self.width, self.charts.lengths[self.alive]] = 0
        left, right, base = self.left[kept], self.right[kept], self.slot[kept] * self.width
        starts, ends, values = base + left, base + right, self._values[:, kept]
        through = np.full_like(values[0], -np.inf)
        for part in reversed(self._groups(left, right)):
            start, end = starts[part], ends[part]
            over = np.maximum(outside[start, right[part]], outside[end, left[part]])
            scores = values[0, part] + over[:, None]
            one, two = most[start], most[end]
            outside[start] = np.maximum(outside[start], scores + two)
            outside[end] = np.maximum(outside[end], scores + one)
            if len(values) > 1:
                through[part] = scores + one + two
        unpriced = (through > floor[self.slot[kept], None]) & (values[-1] == -np.inf)
        row, split = np.nonzero(unpriced)
        return outside, (self.rows[kept[row]], split)


def _unlinked(made: Any) -> list[Pair]:
    """The steps of a linked list, first to last."""
    found = []
    while made is not None:
        step, made = made
        found.append(step)
    return found[::-1]


def best_trees(
    recall: Recall,
    sentences: Ints,
    trees: Sequence[Decisions],
    prices: Prices | None = None,
) -> list[Decisions]:
    """The most probable splits of each sentence, for certain; each call is for all of them.

    With `prices` the splits that are the best together with the labels. Any known `trees` of
    the sentences will do; good ones save the most.
    """
    found = list(trees)
    charts = Charts(recall, prices, sentences, trees, np.zeros(len(trees)))
    for position, table in charts.closed():
        found[position] = charts.best(position, table) or trees[position]
    return found


def trees_within(
    recall: Recall,
    sentences: Ints,
    trees: Sequence[Decisions],
    prices: Prices | None,
    slack: Scores,
    count: int,
) -> list[list[Decisions] | None]:
    """The best tree of each sentence, which is given, and all that lose less than its slack.

    None where they are more than so many.
    """
    found: list[list[Decisions] | None] = [[each] for each in trees]
    charts = Charts(recall, prices, sentences, trees, slack)
    for position, table in charts.closed():
        found[position] = charts.within(position, table, count)
    return found
