"""Finished hypotheses become parses: choose the best trees, name their parts, build them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cleft.discourse import Edu
from cleft.search.decode import Candidate, Decoder
from cleft.search.labels import Labels, Naming, dummies_of, governors, label_scores, runners_up
from cleft.search.results import Parse, Record, Step, TagNotes
from cleft.search.scorer import Floats, Ints, SearchOptions
from cleft.search.trees import Plan, build_tree, spans_of
from cleft.span import Constraints, Span, Split
from cleft.tasks import Task

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


def assemble(
    decoder: Decoder,
    task: Task[Any],
    batch: Batch,
    candidates: Sequence[Candidate],
    options: SearchOptions,
) -> dict[int, list[Parse]]:
    """The parses of each sentence (by its row), distinct and sorted by log-probability.

    A candidate without a usable one is left out, and so may be its sentence.
    """
    if options.n_best > 1:
        candidates = _without_repeats(candidates)
    items = _items(decoder, task, candidates)
    tagging = Tagging.of(decoder, batch) if task.tags is not None else None
    names, scores, places = _score(decoder, batch.constraints, candidates, items, options)
    named = _name(decoder, names, scores, places, candidates, items, tagging)
    totals = [each.score + line.gain for each, line in zip(candidates, named, strict=True)]
    kept = [number for number, total in enumerate(totals) if isfinite(total)]
    if options.n_best > 1:
        kept = _n_best(candidates, items, dummies_of(names), named, totals, kept, options.n_best)
    chosen = [candidates[number] for number in kept]
    replays = _replay(decoder, chosen, options)
    lines: list[Tags | None] = []
    records = []
    for number, candidate, (runners, _) in zip(kept, chosen, replays, strict=True):
        part = places[items.ends[number] : items.ends[number + 1]]
        line = named[number]
        row = candidate.sentence
        tags = tagging.named(row, line.tags, options.alternatives) if tagging is not None else None
        lines.append(tags)
        records.append(
            Record(
                length=len(batch.words[row]),
                splits_labelled=task.labels == "splits",
                decisions=candidate.decisions,
                labels=Labels.of(names, scores[part], line.labels, options.alternatives),
                score=candidate.score,
                log_prob=totals[number],
                runners=runners,
                tags=tags.notes if tags else None,
                calibration=decoder.scorer.calibration(task.name),
                given_leaves=not task.stops or batch.has_edus(row),
            )
        )
    trees = _build(task, batch, lines, chosen, records)
    parses: dict[int, list[Parse]] = {}
    for candidate, record, tree, (_, steps) in zip(chosen, records, trees, replays, strict=True):
        parse = Parse(
            tree=tree,
            log_prob=record.log_prob,
            split_log_prob=record.score,
            record=record,
            steps=steps,
        )
        parses.setdefault(candidate.sentence, []).append(parse)
    return parses


def _items(decoder: Decoder, task: Task[Any], candidates: Sequence[Candidate]) -> Items:
    made = [each.decisions.table for each in candidates]
    if task.labels == "spans":
        lengths = [int(decoder.lengths[each.sentence]) for each in candidates]
        spans = spans_of(lengths, made)
        return Items(np.stack([spans.left, spans.right], axis=1), spans.ends)
    splits = [table[table[:, 1] < table[:, 2]] for table in made]
    table = np.concatenate(splits) if splits else np.zeros((0, 3), np.intp)
    return Items(table, list(accumulate(map(len, splits), initial=0)))


def _build(
    task: Task[Any],
    batch: Batch,
    tags: Sequence[Tags | None],
    candidates: Sequence[Candidate],
    records: list[Record],
) -> list[Any]:
    """The tree of each record. Labelled spans make n-ary trees, all of a batch at once."""
    if not records:
        return []
    if task.labels == "splits":
        return [
            task.build(
                record.derivation,
                batch.words[candidate.sentence],
                leaf=batch.leaves.get(candidate.sentence),
                evidence=record.evidence,
            )
            for candidate, record in zip(candidates, records, strict=True)
        ]
    lengths = [record.length for record in records]
    spans = spans_of(lengths, [record.decisions.table for record in records])
    labels = np.concatenate([record.labels.numbers for record in records])
    plan = Plan.of(lengths, spans, labels, records[0].labels.names)
    return [
        build_tree(plan, number, batch.words[candidate.sentence], line.names, record)
        for number, (candidate, line, record) in enumerate(
            zip(candidates, tags, records, strict=True)
        )
        if line is not None
    ]


def _without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each derivation once: greedy's may be in the beam as well."""
    seen = {(each.sentence, each.decisions.table.tobytes()): each for each in reversed(candidates)}
    return list(seen.values())[::-1]


def _n_best(
    candidates: Sequence[Candidate],
    items: Items,
    dummies: npt.NDArray[np.bool_],
    named: Sequence[Named],
    totals: Sequence[float],
    numbers: Sequence[int],
    count: int,
) -> list[int]:
    """The best few of each sentence that are different trees, best first."""
    ranked = sorted(numbers, key=lambda each: (-totals[each], -candidates[each].score))
    trees: dict[int, dict[tuple[bytes, bytes], int]] = {}
    for number in ranked:
        found = trees.setdefault(candidates[number].sentence, {})
        if len(found) < count:  # and else not even compare
            labels = named[number].labels
            phrases = ~dummies[labels]
            table = items.table[items.ends[number] : items.ends[number + 1]]
            # The same for any two candidates that make the same n-ary tree.
            key = table[phrases].tobytes(), labels[phrases].tobytes()
            found.setdefault(key, number)
    return [number for found in trees.values() for number in found.values()]


def _score(
    decoder: Decoder,
    constraints: Mapping[int, Constraints],
    candidates: Sequence[Candidate],
    items: Items,
    options: SearchOptions,
) -> tuple[tuple[str, ...], Floats, Ints]:
    """The labels' names, the log-probabilities of all items, each once, and each item's place."""
    table = items.table
    sentences = [candidate.sentence for candidate in candidates]
    rows = np.repeat(np.array(sentences, np.intp), items.counts)
    named = _must_be_named(decoder.lengths, constraints, rows, table)
    places = np.arange(len(table))
    if options.n_best > 1 and len(table):  # hypotheses of a sentence share most of their spans
        size = int(decoder.lengths.max()) + 1
        sides = (len(decoder.lengths), *[size] * table.shape[1])
        keys = np.ravel_multi_index((rows, *table.T), sides)
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
        rows, table, named = rows[first], table[first], named[first]
    names, scores = label_scores(
        decoder.scorer, decoder.encoded, decoder.task, rows, table, named=named
    )
    return names, scores, places


class Named(NamedTuple):
    """The labels of one candidate's items and the tags of its words, and what they add."""

    labels: Ints
    tags: Ints | None  # none if they are the best by themselves
    gain: float


def _name(
    decoder: Decoder,
    names: tuple[str, ...],
    scores: Floats,
    places: Ints,
    candidates: Sequence[Candidate],
    items: Items,
    tagging: Tagging | None,
) -> list[Named]:
    """Each item's best label; in trees with a rare pair those that are best together."""
    labels = scores.argmax(axis=1)
    gains = scores[np.arange(len(labels)), labels][places]
    labels = labels[places]
    owner = np.repeat(np.arange(len(candidates)), items.counts)
    sums = np.bincount(owner, weights=gains, minlength=len(candidates)).tolist()
    parts = [slice(*pair) for pair in pairwise(items.ends)]
    named = [Named(labels[part], None, sum_) for part, sum_ in zip(parts, sums, strict=True)]
    grammar = decoder.scorer.grammar(decoder.task)
    if grammar is None or tagging is None or not candidates:
        return named
    tables = [each.decisions.table for each in candidates]
    lengths = [int(decoder.lengths[each.sentence]) for each in candidates]
    rare = grammar.rare(
        governors(lengths, tables, grammar.dummies[labels]),
        labels,
        np.flatnonzero(items.table[:, 1] - items.table[:, 0] == 1),
        np.concatenate([tagging.best[tagging.part(each.sentence)] for each in candidates]),
    )
    for number in np.unique(owner[rare]).tolist():
        own = scores[places[parts[number]]]
        if isfinite(sums[number]):
            tags = tagging.log_probs[tagging.part(candidates[number].sentence)]
            named[number] = Named(*Naming(grammar, tables[number], own, tags).choose())
    return named


def _must_be_named(
    lengths: Ints, constraints: Mapping[int, Constraints], rows: Ints, table: Ints
) -> npt.NDArray[np.bool_]:
    """Which items are roots or required spans, whose label may not be the dummy."""
    left, right = table[:, 0], table[:, -1]
    named: npt.NDArray[np.bool_] = (left == 0) & (right == lengths[rows])
    for row, given in constraints.items():
        for span in given.required():
            named |= (rows == row) & (left == span.left) & (right == span.right)
    return named


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


Found = list[tuple[tuple[int, float], ...]]


def _replay(
    decoder: Decoder, candidates: Sequence[Candidate], options: SearchOptions
) -> list[tuple[Found, tuple[Step, ...]]]:
    """The runner-up boundaries and the steps of each tree, as far as they are asked for.

    Of a step's distribution no more is kept than that: all of them together
    are as many numbers as a sentence has tokens, squared.
    """
    if not (options.alternatives or options.trace):
        return [([], ())] * len(candidates)
    runners: list[Found] = [[] for _ in candidates]
    steps: list[list[Step]] = [[] for _ in candidates]
    for numbers, step, said in decoder.replay(candidates):
        here = [candidates[number] for number in numbers]
        if options.alternatives:
            lines = _runners(decoder, here, step, said, options.alternatives)
            for number, line in zip(numbers, lines, strict=True):
                runners[number].append(tuple(line))
        if options.trace:
            for number, candidate, line in zip(numbers, here, said, strict=True):
                steps[number].append(_step(decoder, candidate, step, line))
    return [(line, tuple(taken)) for line, taken in zip(runners, steps, strict=True)]


def _runners(
    decoder: Decoder, candidates: Sequence[Candidate], step: int, said: Floats, count: int
) -> list[list[tuple[int, float]]]:
    """The next best boundaries of one step of some candidates."""
    left, split, right = np.stack([each.decisions.table[step] for each in candidates], axis=1)
    sentence = np.array([candidate.sentence for candidate in candidates], np.intp)
    return runners_up(decoder.masks.apply(said, sentence, left, right), split, count)


def _step(decoder: Decoder, candidate: Candidate, step: int, said: Floats) -> Step:
    made = candidate.decisions
    boundaries = int(decoder.lengths[candidate.sentence]) + 1
    return Step(
        split=Split(*made.table[step].tolist()),
        probability=float(np.exp(made.scores[step])),
        distribution=np.exp(said[:boundaries]),
    )
