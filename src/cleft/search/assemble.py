"""Finished hypotheses become parses: choose the best trees, name their parts, build them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from cleft.discourse import Edu
from cleft.search.decode import Candidate, Decoder
from cleft.search.labels import Labels, choose_labels, runners_up
from cleft.search.options import SearchOptions
from cleft.search.results import Parse, Record, Step, TagNotes
from cleft.search.scorer import Floats, Ints
from cleft.search.trees import Plan, build_tree, spans_of
from cleft.span import Constraints, Span, Split
from cleft.tasks import Task

__all__ = ["NO_TAG", "Batch", "Leaf", "assemble"]

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
    labels = _label(decoder, batch.constraints, candidates, items, options)
    owner = np.repeat(np.arange(len(candidates)), items.counts)
    sums = np.bincount(owner, weights=labels.log_probs, minlength=len(candidates)).tolist()
    totals = [each.score + gained for each, gained in zip(candidates, sums, strict=True)]
    kept = [number for number, total in enumerate(totals) if isfinite(total)]
    if options.n_best > 1:
        kept = _n_best(candidates, items, labels, totals, kept, options.n_best)
    chosen = [candidates[number] for number in kept]
    replays = _replay(decoder, chosen, options)
    tags = _tags(decoder, batch, options.alternatives) if task.tags is not None else {}
    records = [
        Record(
            length=len(batch.words[candidate.sentence]),
            splits_labelled=task.labels == "splits",
            decisions=candidate.decisions,
            labels=labels.of(items.ends[number], items.ends[number + 1]),
            score=candidate.score,
            log_prob=totals[number],
            runners=runners,
            tags=tags[candidate.sentence].notes if tags else None,
        )
        for number, candidate, (runners, _) in zip(kept, chosen, replays, strict=True)
    ]
    trees = _build(task, batch, tags, chosen, records)
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
    tags: Mapping[int, Tags],
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
        build_tree(plan, number, batch.words[row], tags[row].names, record)
        for number, (row, record) in enumerate(
            zip([candidate.sentence for candidate in candidates], records, strict=True)
        )
    ]


def _without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each derivation once: greedy's may be in the beam as well."""
    seen = {(each.sentence, each.decisions.table.tobytes()): each for each in reversed(candidates)}
    return list(seen.values())[::-1]


def _n_best(
    candidates: Sequence[Candidate],
    items: Items,
    labels: Labels,
    totals: Sequence[float],
    numbers: Sequence[int],
    count: int,
) -> list[int]:
    """The best few of each sentence that are different trees, best first."""
    phrases = labels.phrases()
    ranked = sorted(numbers, key=lambda each: (-totals[each], -candidates[each].score))
    trees: dict[int, dict[tuple[bytes, bytes], int]] = {}
    for number in ranked:
        found = trees.setdefault(candidates[number].sentence, {})
        if len(found) < count:  # and else not even compare
            part = slice(items.ends[number], items.ends[number + 1])
            named = phrases[part]
            # The same for any two candidates that make the same n-ary tree.
            key = items.table[part][named].tobytes(), labels.numbers[part][named].tobytes()
            found.setdefault(key, number)
    return [number for found in trees.values() for number in found.values()]


def _label(
    decoder: Decoder,
    constraints: Mapping[int, Constraints],
    candidates: Sequence[Candidate],
    items: Items,
    options: SearchOptions,
) -> Labels:
    """The labels of all items, from one question."""
    table = items.table
    sentences = [candidate.sentence for candidate in candidates]
    rows = np.repeat(np.array(sentences, np.intp), items.counts)
    named = _must_be_named(decoder.lengths, constraints, rows, table)
    places: Ints | None = None
    if options.n_best > 1 and len(table):  # hypotheses of a sentence share most of their spans
        size = int(decoder.lengths.max()) + 1
        sides = (len(decoder.lengths), *[size] * table.shape[1])
        keys = np.ravel_multi_index((rows, *table.T), sides)
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
        rows, table, named = rows[first], table[first], named[first]
    labels = choose_labels(
        decoder.scorer,
        decoder.encoded,
        decoder.task,
        rows,
        table,
        named=named,
        alternatives=options.alternatives,
    )
    return labels if places is None else labels.at(places)


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


@dataclass(frozen=True, slots=True)
class Tags:
    """The parts of speech of one sentence, and what a model thought of them."""

    names: Sequence[str]
    notes: TagNotes | None = None


def _tags(decoder: Decoder, batch: Batch, alternatives: int) -> dict[int, Tags]:
    """The parts of speech of each sentence: the caller's, the model's, or none."""
    tags = {row: Tags(names) for row, names in batch.tags.items()}
    missing = [row for row in batch.words if row not in tags]
    log_probs = decoder.scorer.tags(decoder.encoded) if missing else None
    if log_probs is None:
        return tags | {row: Tags([NO_TAG] * len(batch.words[row])) for row in missing}
    names = decoder.scorer.tag_names()
    best = log_probs.argmax(axis=1)
    chances = np.exp(log_probs[np.arange(len(best)), best])
    others = runners_up(log_probs, best, alternatives) if alternatives else []
    chosen = [names[number] for number in best.tolist()]
    ends = list(accumulate(decoder.lengths.tolist(), initial=0))
    for row in missing:
        part = slice(ends[row], ends[row + 1])
        rest = [tuple([(names[tag], share) for tag, share in line]) for line in others[part]]
        tags[row] = Tags(chosen[part], TagNotes(chances[part].copy(), rest))
    return tags


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
