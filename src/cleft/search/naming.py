"""The labels of a tree's spans or splits and the tags of its words, chosen together.

Each item of a tree has a score for every label. Where the best of each make a pair that
training trees hardly have, the labels and tags of the whole tree are chosen together; and
all other choices follow in the order of their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cleft.discourse import Edu
from cleft.search.decode import Decoder
from cleft.search.labels import Grammar, runners_up
from cleft.search.results import TagNotes
from cleft.search.scorer import Floats, Ints
from cleft.search.trees import spans_of, upward
from cleft.span import Constraints, Span

Leaf = Callable[[Span], Edu]
"""What makes the leaf over a span, such as an EDU with its place in a source text."""

NO_TAG = "X"
"""The part of speech of a word where none is given and the model has no head for them."""


@dataclass(slots=True)
class Batch:
    """The sentences that can be parsed, by their row in the encoded batch.

    `index` is the place of each in the caller's list; constraints, tags and what
    makes the leaves of a tree are there for those that have them.
    """

    words: dict[int, Sequence[str]] = field(default_factory=dict)
    index: dict[int, int] = field(default_factory=dict)
    constraints: dict[int, Constraints] = field(default_factory=dict)
    tags: dict[int, Sequence[str]] = field(default_factory=dict)
    leaves: dict[int, Leaf] = field(default_factory=dict)

    def has_edus(self, row: int) -> bool:
        """Whether the EDUs of a sentence are given."""
        return row in self.constraints and self.constraints[row].edus is not None


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What carries a label in the trees of some candidates, tree by tree and in preorder.

    Spans for syntax; for discourse splits, in a table of three columns.
    """

    table: Ints
    ends: list[int]  # where each tree's items begin, and the last's end

    @property
    def counts(self) -> Ints:
        """How many items each tree has."""
        return np.diff(self.ends)


class Tags(NamedTuple):
    """The parts of speech of one sentence, and their probabilities."""

    names: Sequence[str]
    notes: TagNotes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tagging:
    """The parts of speech of a batch: the caller's, the model's, or none.

    `log_probs` has one column more than `names`: a tag that the model does not know.
    """

    names: Sequence[str]
    log_probs: Floats  # (tokens, tags + 1)
    best: Ints
    ends: list[int]
    given: Mapping[int, Sequence[str]]
    known: bool  # whether the model has a head for them

    @classmethod
    def of(cls, decoder: Decoder, batch: Batch) -> Tagging:
        """What is known of the tags of all sentences."""
        scorer, names = decoder.scorer, tuple(decoder.scorer.tag_names())
        ends = list(accumulate(decoder.lengths.tolist(), initial=0))
        asked = any(row not in batch.tags for row in batch.words)
        said = scorer.tags(decoder.encoded) if asked else None
        log_probs = np.full((ends[-1], len(names) + 1), -np.inf)
        if said is not None:
            log_probs[:, :-1] = said
        else:
            log_probs[:, -1] = 0
        numbers = {name: number for number, name in enumerate(names)}
        for row, tags in batch.tags.items():
            chosen = [numbers.get(tag, len(names)) for tag in tags]
            log_probs[ends[row] : ends[row + 1]] = -np.inf
            log_probs[np.arange(ends[row], ends[row + 1]), chosen] = 0
        best = log_probs.argmax(axis=1)
        return cls(names, log_probs, best, ends, batch.tags, said is not None)

    def part(self, row: int) -> slice:
        """Where a sentence's tokens are."""
        return slice(self.ends[row], self.ends[row + 1])

    def tokens(self, row: int) -> Ints:
        """The numbers of a sentence's tokens."""
        return np.arange(self.ends[row], self.ends[row + 1])

    def named(self, row: int, chosen: Ints | None, alternatives: int) -> Tags:
        """A sentence's tags: the chosen ones, or else the best."""
        part = self.part(row)
        if row in self.given or not self.known:
            return Tags(self.given.get(row, [NO_TAG] * (part.stop - part.start)))
        numbers = self.best[part] if chosen is None else chosen
        log_probs = self.log_probs[part]
        notes = log_probs[np.arange(len(numbers)), numbers]
        lines = runners_up(log_probs, numbers, alternatives) if alternatives else []
        others = [tuple([(self.names[tag], share) for tag, share in line]) for line in lines]
        return Tags([self.names[number] for number in numbers.tolist()], TagNotes(notes, others))


class Apart:
    """The labels of one tree's items, each scored by itself, (items, labels).

    Of several dummies the best stands for all: they make the same tree.
    """

    def __init__(self, log_probs: Floats, dummies: npt.NDArray[np.bool_]) -> None:
        self.log_probs = log_probs.astype(np.float64)
        if dummies.sum() > 1:
            several = np.flatnonzero(dummies)
            best = several[self.log_probs[:, several].argmax(axis=1)]
            kept = self.log_probs[np.arange(len(best)), best]
            self.log_probs[:, several] = -np.inf
            self.log_probs[np.arange(len(best)), best] = kept

    def choose(self) -> tuple[Ints, Ints | None, float]:
        """The best labels, the best tags below them (none if they are so anyway), the score."""
        labels = self.log_probs.argmax(axis=1)
        return labels, None, float(self.log_probs.max(axis=1).sum())

    def options(self, labels: Ints, place: int | slice = slice(None)) -> Floats:
        """What an item's labels score with the best below them, if those above are these."""
        return self.log_probs[place]

    def follow(self, labels: Ints, before: Ints, place: int) -> None:
        """Choose the best labels below an item anew, which had another label before."""

    def tags(self, labels: Ints) -> Ints | None:
        """The best tags under these labels."""
        return None

    def in_order(self) -> Iterator[tuple[Ints, Ints | None, float]]:
        """All labels that the items can have, the best first, each made when it is asked for.

        From the best on, one item after the other takes its next best label, and what comes
        after it the best that then goes. What that loses is known before it is made.
        """
        labels, tags, score = self.choose()
        yield labels, tags, score
        queue: list[tuple[float, int, int, int, Ints]] = []
        made = count()

        def branch(first: int, loss: float, labels: Ints) -> None:
            """Let each item from the first on take its second best label."""
            two = np.partition(self.options(labels)[first:], -2, axis=1)[:, -2:]
            for place, (second, best) in enumerate(two.tolist(), first):
                if second > -np.inf:
                    heappush(queue, (loss + best - second, next(made), place, 1, labels))

        if self.log_probs.shape[1] > 1:
            branch(0, 0.0, labels)
        while queue:
            loss, _, place, rank, before = heappop(queue)
            options = self.options(before, place)
            order = np.argsort(-options, kind="stable")
            labels = before.copy()
            labels[place] = order[rank]
            self.follow(labels, before, place)
            yield labels, self.tags(labels), score - loss
            if rank + 1 < len(order) and options[order[rank + 1]] > -np.inf:
                more = float(options[order[rank]] - options[order[rank + 1]])
                heappush(queue, (loss + more, next(made), place, rank + 1, before))
            branch(place + 1, loss, labels)


class Naming(Apart):
    """The best labels and tags of one tree's spans together, by the model and a grammar.

    From the words up, `best` is what the spans below and at each can score at most, by the
    phrase that stands above it: (spans, parents). All spans of a depth are done at once.
    """

    def __init__(self, grammar: Grammar, splits: Ints, log_probs: Floats, tags: Floats) -> None:
        super().__init__(log_probs, grammar.dummies)
        self.grammar = grammar
        self.loss = tags - tags.max(axis=1, keepdims=True)  # of another tag
        length = len(tags)
        spans = spans_of([length], [splits])
        self.above = upward([length], [splits])[:-1]
        self.ends = np.arange(len(self.above)) + 2 * (spans.right - spans.left) - 1
        self.words = np.flatnonzero(spans.right - spans.left == 1)
        depths: list[int] = []
        for place in self.above.tolist():  # parents stand before their children
            depths.append(depths[place] + 1 if depths else 0)
        ends = np.cumsum(np.bincount(depths))
        self.levels = np.split(np.argsort(depths, kind="stable"), ends[:-1])
        # What each span scores below itself: as a dummy, by parent; as a phrase, by label.
        self.bare = np.zeros((len(self.above), len(grammar.above)))
        self.named = np.zeros_like(self.log_probs)
        self.best = np.zeros_like(self.bare)
        self._climb()

    def _climb(self) -> None:
        grammar, parents = self.grammar, np.arange(len(self.grammar.above))
        self.bare[self.words] = (self.loss[:, None, :] + grammar.below).max(axis=2)
        self.named[self.words] = (self.loss[:, None, :] + grammar.alone).max(axis=2)
        self.named[:, grammar.dummies] = 0
        for level in reversed(self.levels):
            split = level[self.ends[level] > level + 1]
            sums = self.best[split + 1] + self.best[self.ends[split + 1]]  # of both halves
            self.bare[split] = sums
            self.named[split] = np.where(grammar.dummies, 0, sums[:, grammar.inner])
            self.best[level] = self._under(level[:, None], parents).max(axis=2)

    def _under(self, place: Ints, parent: Ints) -> Floats:
        """What a span's labels score with all below them, under a parent."""
        found: Floats = self.grammar.above[parent] + (self.log_probs[place] + self.named[place])
        found[..., self.grammar.dummies] += self.bare[place, parent][..., None]
        return found

    def choose(self) -> tuple[Ints, Ints, float]:
        """The best labels and tags, and what they score together."""
        count = len(self.log_probs)
        labels, states = np.zeros(count, np.intp), np.zeros(count + 1, np.intp)
        self._descend(labels, states, 0, count)
        return labels, self.tags(labels), float(self.best[0, 0])

    def options(self, labels: Ints, place: int | slice = slice(None)) -> Floats:
        """What a span's labels score with the best below them, if those above are these."""
        places = np.arange(len(labels), dtype=np.intp)[place]
        return self._under(places, self._states(labels)[self.above[places]])

    def follow(self, labels: Ints, before: Ints, place: int) -> None:
        """Choose the best labels below a span anew, which had another label before."""
        states = self._states(before)
        new = self._state(labels[place], states[self.above[place]])
        if new != states[place]:
            states[place] = new
            self._descend(labels, states, place + 1, int(self.ends[place]))

    def _descend(self, labels: Ints, states: Ints, first: int, end: int) -> None:
        """Choose the best labels of the spans at these places, below what is chosen already."""
        for level in self.levels:
            places = level[(level >= first) & (level < end)]
            if places.size:
                parents = states[self.above[places]]
                labels[places] = self._under(places, parents).argmax(axis=1)
                states[places] = self._state(labels[places], parents)

    def _state(self, label: Ints, parent: Ints) -> Ints:
        """The phrase above what is below a span of this label."""
        return np.where(self.grammar.dummies[label], parent, self.grammar.inner[label])

    def _states(self, labels: Ints) -> Ints:
        """The same for all spans, and last the outside."""
        states = np.append(self.grammar.inner[labels], 0)
        for place in np.flatnonzero(self.grammar.dummies[labels]).tolist():
            states[place] = states[self.above[place]]
        return states

    def tags(self, labels: Ints) -> Ints:
        """The best tag of each word under these labels."""
        grammar, own = self.grammar, labels[self.words]
        states = self._states(labels)[self.words]
        costs = np.where(grammar.dummies[own][:, None], grammar.below[states], grammar.alone[own])
        chosen: Ints = (self.loss + costs).argmax(axis=1)
        return chosen


SLACK = 1e-3
"""What rounding may add to a loss."""

NEAR = 2.0
"""The loss that is tried first: most trees lose less by the labels and tags that go together."""

MANY = 8
"""With more labels a span than this, arrays are faster than numbers."""

Option = tuple[int, float]


class Unnamed(NamedTuple):
    """A tree's splits, the log-probabilities of its labels and tags, what the best of each cost."""

    splits: Ints
    log_probs: Floats
    tags: Floats
    cost: float


def named_together(grammar: Grammar, tree: Unnamed) -> tuple[Ints, Ints, float]:
    """The best labels and tags of a tree and their score.

    What loses more by itself than a choice that is known is in no better one, and left out. So
    a few labels of a few spans are left, for which numbers are faster than arrays.
    """
    splits, log_probs, tags, cost = tree
    scores = Apart(log_probs, grammar.dummies).log_probs
    best, losses = float(scores.max(axis=1).sum()), tags - tags.max(axis=1, keepdims=True)
    most = min(NEAR, -cost)
    while True:
        near = _near(scores, most)
        if sum(map(len, near)) > MANY * len(near):
            return Naming(grammar, splits, log_probs, tags).choose()
        few = _Few(grammar, splits, near, _near(losses, most))
        if best - few.score <= most + SLACK:
            return *few.choose(), few.score
        most = best - few.score


def _near(scores: Floats, most: float) -> list[list[Option]]:
    """Of each row the columns that lose at most so much against its best, and their scores."""
    rows, columns = np.nonzero(scores >= scores.max(axis=1, keepdims=True) - (most + SLACK))
    found: list[list[Option]] = [[] for _ in scores]
    values = scores[rows, columns].tolist()
    for row, column, value in zip(rows.tolist(), columns.tolist(), values, strict=True):
        found[row].append((column, value))
    return found


class _Few:
    """What `Naming` is for all labels and tags, for a few of each span and word.

    `score` is that of the best choice. `_best` has, for every span and every phrase that can
    stand above it, the best label; a phrase is its number among the grammar's parents.
    """

    def __init__(
        self, grammar: Grammar, splits: Ints, labels: list[list[Option]], tags: list[list[Option]]
    ) -> None:
        length = len(tags)
        self._rules, self._labels = grammar.tables, labels
        self._above = upward([length], [splits])[:-1].tolist()
        spans = spans_of([length], [splits])
        words = np.flatnonzero(spans.right - spans.left == 1).tolist()
        self._tags = dict(zip(words, tags, strict=True))
        self._best: list[dict[int, int]] = [{} for _ in labels]
        self.score = self._climb(self._parents())

    def _parents(self) -> list[Collection[int]]:
        """The phrases that can stand above what is below each span; last, above the root."""
        dummies, inner = self._rules.dummies, self._rules.inner
        found: list[Collection[int]] = [()] * len(self._labels) + [(0,)]
        for place, (options, above) in enumerate(zip(self._labels, self._above, strict=True)):
            over: set[int] = set()
            for label, _ in options:
                if dummies[label]:
                    over.update(found[above])
                else:
                    over.add(inner[label])
            found[place] = over
        return found

    def _climb(self, parents: list[Collection[int]]) -> float:
        """Find the best label of each span below each phrase, from the words up."""
        rules = self._rules
        below: list[dict[int, float]] = [dict.fromkeys(each, 0.0) for each in parents]
        for place in reversed(range(len(self._labels))):
            above, word = self._above[place], self._tags.get(place)
            for parent in parents[above]:
                most, chosen = -np.inf, -1
                for label, score in self._labels[place]:
                    bare = rules.dummies[label]
                    if word is None:
                        score += below[place][parent if bare else rules.inner[label]]
                    else:
                        score += _tag(word, rules.below[parent] if bare else rules.alone[label])[1]
                    score += rules.above[parent][label]
                    if score > most:
                        most, chosen = score, label
                below[above][parent] += most
                self._best[place][parent] = chosen
        return below[-1][0]

    def choose(self) -> tuple[Ints, Ints]:
        """The best labels and tags."""
        rules, count = self._rules, len(self._labels)
        states, labels, tags = [0] * (count + 1), [0] * count, []
        for place, above in enumerate(self._above):
            parent = states[above]
            label = labels[place] = self._best[place][parent]
            bare = rules.dummies[label]
            states[place] = parent if bare else rules.inner[label]
            if place in self._tags:
                costs = rules.below[parent] if bare else rules.alone[label]
                tags.append(_tag(self._tags[place], costs)[0])
        return np.array(labels, np.intp), np.array(tags, np.intp)


def _tag(options: list[Option], costs: Sequence[float]) -> Option:
    """The best tag and what it scores, if each costs so much."""
    most, chosen = -np.inf, -1
    for tag, score in options:
        if score + costs[tag] > most:
            most, chosen = score + costs[tag], tag
    return chosen, most
