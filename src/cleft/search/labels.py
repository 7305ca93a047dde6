"""The labels of chosen spans or splits, and what training trees allow of them.

A beam scores thousands of spans; only those of the finished trees are labelled, in
one call of the scorer (or a few, where there are very many).

What training trees allow is counted at export and kept in the model as data. A
`Grammar` says what a pair costs: nothing unless trees have it far less often than its
two halves let one expect, and then the more the rarer it is. So a tree hardly ever has
what no treebank has, such as a bare noun right below S.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cleft.errors import ModelError
from cleft.search.beam import Scores
from cleft.search.scorer import LOWEST, Encoded, Floats, Ints, Scorer
from cleft.search.trees import upward
from cleft.span import Constraints
from cleft.tasks import Task
from cleft.tree import is_dummy, split_chain

FEW = 3
"""A pair that training trees have less often than this is rare."""

LEAST = 0.03
"""A pair costs something if they have it less often than this part of what chance would give."""

STRICT = 4.0
"""What a rare pair costs besides, in log-probability."""

Table = Mapping[str, Mapping[str, int]]
Costs = npt.NDArray[np.float64]
KINDS = ("labels", "tags", "words")


def governors(
    lengths: Sequence[int], splits: Sequence[Ints], dummies: npt.NDArray[np.bool_]
) -> Ints:
    """The place of the nearest phrase above each span; above roots, and last, the number of all.

    >>> one = [np.array([[0, 2, 3], [0, 1, 2]])]
    >>> governors([3], one, np.array([False, True, False, True, True])).tolist()
    [5, 0, 0, 0, 0, 5]
    """
    over = upward(lengths, splits)
    phrase = np.append(~dummies, True)
    lost = np.flatnonzero(~phrase[over])
    while lost.size:  # each time the way up is twice as long
        over[lost] = over[over[lost]]
        lost = lost[~phrase[over[lost]]]
    return over


def _innermost(label: str) -> str:
    return "" if is_dummy(label) else split_chain(label)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How often trees have labels below phrases, tags below phrases, tags in labels of one word.

    A label may be a unary chain. Above it is the innermost phrase, or "" if it is the root's.

    >>> from cleft.tasks import SYNTAX
    >>> from cleft.tree import Tree
    >>> counts = Counts.of(SYNTAX, [Tree.from_brackets("(S (NP (NNS Dogs)) (VBP bark))")])
    >>> dict(counts.labels["S"]), dict(counts.tags["S"]), dict(counts.words["NP"])
    ({'NP': 1}, {'VBP': 1}, {'NNS': 1})
    """

    labels: Table
    tags: Table
    words: Table

    @classmethod
    def of(cls, task: Task[Any], trees: Iterable[Any]) -> Counts:
        """The counts of trees whose spans carry the labels."""
        found: dict[str, dict[str, Counter[str]]] = {kind: {} for kind in KINDS}

        def add(kind: str, parent: str, child: str) -> None:
            found[kind].setdefault(parent, Counter())[child] += 1

        for tree in trees:
            made = task.derive(tree)
            names = made.labels
            dummies = np.array([is_dummy(name) for name in names], bool)
            splits = np.array(made.splits, np.intp).reshape(-1, 3)
            over = governors([made.length], [splits], dummies)[:-1].tolist()
            inner = [*map(_innermost, names), ""]
            for name, place in zip(names, over, strict=True):
                if not is_dummy(name):
                    add("labels", inner[place], name)
            if task.tags is None:
                continue
            spans = task.labelled(made.length, made.splits)
            words = [place for place, span in enumerate(spans) if span[1] - span[0] == 1]
            for place, tag in zip(words, task.tags(tree), strict=True):
                add("tags", inner[place] or inner[over[place]], tag)
                if inner[place]:
                    add("words", names[place], tag)
        return cls(**found)

    def known(self, labels: Sequence[str], tags: Sequence[str]) -> Counts:
        """The counts of these labels and tags only."""
        columns = {"labels": set(labels), "tags": set(tags), "words": set(tags)}
        parents = {"", *map(_innermost, labels)}
        rows = {"labels": parents, "tags": parents, "words": set(labels)}
        return Counts(
            **{
                kind: {
                    parent: {name: line[name] for name in sorted(line) if name in columns[kind]}
                    for parent, line in sorted(getattr(self, kind).items())
                    if parent in rows[kind]
                }
                for kind in KINDS
            }
        )

    def to_table(self) -> dict[str, Table]:
        """The counts as plain values, for a file."""
        return {kind: getattr(self, kind) for kind in KINDS}

    @classmethod
    def from_table(cls, table: Any, where: str) -> Counts:
        """The counts of a parsed file; a ModelError if they are none."""
        for kind in KINDS:
            rows = table.get(kind) if isinstance(table, dict) else None
            if not isinstance(rows, dict) or not all(map(_is_row, rows.values())):
                raise ModelError(
                    f"expected counts by name under {kind!r}",
                    where=where,
                    hint="export the model again",
                )
        return cls(**{kind: table[kind] for kind in KINDS})


def _is_row(row: Any) -> bool:
    return isinstance(row, dict) and all(type(count) is int and count > 0 for count in row.values())


class Rules(NamedTuple):
    """A grammar in lists, from which single numbers are taken faster than from arrays."""

    dummies: list[bool]
    inner: list[int]
    above: list[list[float]]
    below: list[list[float]]
    alone: list[list[float]]


class Grammar:
    """What each pair costs, for the labels and tags of a model; 0 where trees have it.

    The parents are numbered; 0 is outside the tree, `inner` has each label's innermost phrase.
    There is one column more than tags: for a tag that the model does not know, which costs
    nothing, nor do dummies.

    >>> counts = Counts(labels={"": {"S": 900}, "S": {"NP": 900, "VP": 900}},
    ...                 tags={"NP": {"NN": 900}, "VP": {"VB": 900}}, words={})
    >>> grammar = Grammar(counts, ("S", "NP", "VP", "∅"), ("NN", "VB"))
    >>> grammar.above[0].round(1).tolist()  # a tree is an S
    [0.0, -6.9, -6.9, 0.0]
    """

    def __init__(self, counts: Counts, labels: Sequence[str], tags: Sequence[str]) -> None:
        inner = [_innermost(label) for label in labels]
        parents = ["", *sorted({*inner} - {""})]
        self.dummies = np.array([is_dummy(label) for label in labels], bool)
        self.inner = np.array([parents.index(name) for name in inner], np.intp)
        self.above = _costs(counts.labels, parents, labels)  # (parents, labels)
        self.above[:, self.dummies] = 0
        below = _costs(counts.tags, parents, tags)
        self.below = np.pad(below, ((0, 0), (0, 1)))  # (parents, tags + 1)
        alone = np.pad(_costs(counts.words, labels, tags), ((0, 0), (0, 1)))
        self.alone = self.below[self.inner] + alone  # (labels, tags + 1), of a phrase of one word

    def costs(self, over: Ints, labels: Ints, words: Ints, tags: Ints) -> Costs:
        """What each span costs, for its label and for its word's tag.

        `over` is as `governors` gives it; `words` are the places of words in the labels.
        """
        under = np.append(self.inner[labels], 0)
        found: Costs = self.above[under[over[:-1]], labels]
        own = labels[words]
        bare = self.below[under[over[words]], tags]
        found[words] += np.where(self.dummies[own], bare, self.alone[own, tags])
        return found

    @cached_property
    def tables(self) -> Rules:
        """The same as plain numbers."""
        parts = self.dummies, self.inner, self.above, self.below, self.alone
        return Rules(*[part.tolist() for part in parts])


def _costs(table: Table, rows: Sequence[str], columns: Sequence[str]) -> Costs:
    """How much rarer each pair is than `LEAST` times chance, as a logarithm; 0 where it is not."""
    none: Mapping[str, int] = {}
    lines = [[table.get(row, none).get(name, 0) for name in columns] for row in rows]
    counts = np.array(lines, np.float64).reshape(len(rows), len(columns))
    total = counts.sum()
    if not total:
        return counts
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / total
    ratio = (counts + 0.5) / (np.maximum(expected, FEW) + 0.5)
    costs: Costs = np.minimum(np.log(ratio / LEAST), 0) - np.where(counts < FEW, STRICT, 0)
    return costs


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
) -> Floats:
    """The log-probabilities of every item's labels, (items, labels).

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
    return found


def must_be_named(
    lengths: Ints, constraints: Mapping[int, Constraints], rows: Ints, table: Ints
) -> npt.NDArray[np.bool_]:
    """Which items are roots or required spans, whose label may not be the dummy."""
    left, right = table[:, 0], table[:, -1]
    named: npt.NDArray[np.bool_] = (left == 0) & (right == lengths[rows])
    for row, given in constraints.items():
        for span in given.required():
            named |= (rows == row) & (left == span.left) & (right == span.right)
    return named


def margins(scores: Floats, places: Ints, which: Ints | slice = slice(None)) -> Scores:
    """What the second best of each place loses to the best."""
    if scores.shape[1] < 2:
        return np.full(len(places[which]), np.inf)
    two = np.partition(scores[places[which]].astype(np.float64), -2, axis=1)[:, -2:]
    found: Scores = two[:, 1] - two[:, 0]
    return found


def way_up(places: Ints, over: Ints, above: Ints, margin: Callable[[Ints], Scores]) -> Scores:
    """The least margin of each place and those above it, up to what governs it."""
    found = margin(places)
    here, going = places, np.arange(len(places))
    while len(going):
        here = above[here]
        inside = here < len(above) - 1
        here, going = here[inside], going[inside]
        found[going] = np.minimum(found[going], margin(here))
        on = here != over[places[going]]
        here, going = here[on], going[on]
    return found


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
