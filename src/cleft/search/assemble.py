"""Finished hypotheses become parses: choose the best trees, name their parts, build them.

The trees of a sentence come one after the other, over all its hypotheses and all their
labels, best first; none is made before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import accumulate, islice, pairwise
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from cleft.search.beam import Scores
from cleft.search.decode import Candidate, Decoder
from cleft.search.labels import (
    Labels,
    dummies_of,
    governors,
    label_scores,
    margins,
    must_be_named,
    runners_up,
    way_up,
)
from cleft.search.levels import Prices
from cleft.search.naming import (
    SLACK,
    Apart,
    Batch,
    Items,
    Naming,
    Tagging,
    Tags,
    Unnamed,
    named_together,
)
from cleft.search.results import Parse, Record, Step
from cleft.search.scorer import Floats, Ints, Recall, SearchOptions
from cleft.search.trees import Plan, Spans, build_tree, spans_of, upward
from cleft.span import Split
from cleft.tasks import Task


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure:
    """A finished hypothesis with what each label of its items would score.

    `labels` are the best of each item by itself. With them it scores `bound`: no others
    score more, and they less by what their rare pairs `cost`. With either it scores `most`.
    """

    candidate: Candidate
    items: Ints
    scores: Floats  # of the items of many hypotheses; the own are at `places`
    places: Ints
    labels: Ints
    bound: float
    cost: float  # 0 or below
    most: float

    @property
    def log_probs(self) -> Floats:
        """The log-probabilities of the labels, (items, labels)."""
        return self.scores[self.places]


class Named(NamedTuple):
    """One tree: a structure, the labels of its items, the tags of its words, the joint score."""

    structure: Structure
    labels: Ints
    tags: Ints | None  # none if they are the best by themselves
    log_prob: float


class Namer:
    """The hypotheses found for a batch, and the trees that they make."""

    def __init__(
        self, decoder: Decoder, task: Task[Any], batch: Batch, options: SearchOptions
    ) -> None:
        self.decoder, self.task, self.batch, self.options = decoder, task, batch, options
        self.names = tuple(decoder.scorer.labels(decoder.task))
        self.tagging = Tagging.of(decoder, batch) if task.tags is not None else None
        known = options.joint and self.tagging is not None
        self.grammar = decoder.scorer.grammar(decoder.task) if known else None
        self.pool: dict[int, list[Structure]] = {}
        # Trees of a beam share most of their spans.
        shared = options.width > 1 and task.labels == "spans" and decoder.is_short
        self._recall = Recall(self._ask_spans, decoder.lengths) if shared else None
        self._made: dict[tuple[int, bytes], Structure] = {}
        self._best: dict[Structure, Named] = {}

    def add(self, candidates: Sequence[Candidate]) -> list[Structure]:
        """The structures of hypotheses, among which the best trees are chosen."""
        found = self.structures(candidates)
        for structure in found:
            pool = self.pool.setdefault(structure.candidate.sentence, [])
            if structure not in pool:
                pool.append(structure)
        return found

    def structures(self, candidates: Sequence[Candidate]) -> list[Structure]:
        """The structures of hypotheses; the labels of those that are new are scored in one call."""
        keys = [(each.sentence, each.decisions.table.tobytes()) for each in candidates]
        new = {
            key: each for key, each in zip(keys, candidates, strict=True) if key not in self._made
        }
        self._made.update(zip(new, self._structures(list(new.values())), strict=True))
        return [self._made[key] for key in keys]

    def _structures(self, candidates: Sequence[Candidate]) -> list[Structure]:
        items = _items(self.decoder, self.task, candidates)
        owner = np.repeat(np.arange(len(candidates)), items.counts)
        rows = np.array([each.sentence for each in candidates], np.intp)[owner]
        scores, places = self._score(rows, items.table)
        labels = scores.argmax(axis=1)[places]
        gains = scores[places, labels]
        sums = np.bincount(owner, weights=gains, minlength=len(candidates)).tolist()
        margin = partial(margins, scores, places)
        costs, losses = self._costs(candidates, items, labels, owner, margin)
        return [
            Structure(
                candidate=each,
                items=items.table[a:b],
                scores=scores,
                places=places[a:b],
                labels=labels[a:b],
                bound=each.score + sums[number],
                cost=costs[number],
                most=each.score + sums[number] - losses[number],
            )
            for number, (each, (a, b)) in enumerate(
                zip(candidates, pairwise(items.ends), strict=True)
            )
        ]

    def _score(self, rows: Ints, table: Ints) -> tuple[Floats, Ints]:
        """The log-probabilities of all items' labels, each item's once, and each item's place."""
        if self._recall is not None:
            places = self._recall.number(rows, *table.T)
            return self._recall.scores, places
        places = np.arange(len(table))
        if self.options.width > 1 and len(table):  # hypotheses of a sentence share most splits
            lengths = self.decoder.lengths
            sides = (len(lengths), *[int(lengths.max()) + 1] * table.shape[1])
            keys = np.ravel_multi_index((rows, *table.T), sides)
            _, first, places = np.unique(keys, return_index=True, return_inverse=True)
            rows, table = rows[first], table[first]
        return self._ask(rows, table), places

    def _ask_spans(self, rows: Ints, left: Ints, right: Ints) -> Floats:
        return self._ask(rows, np.stack([left, right], axis=1))

    def _ask(self, rows: Ints, table: Ints) -> Floats:
        decoder = self.decoder
        named = must_be_named(decoder.lengths, self.batch.constraints, rows, table)
        return label_scores(decoder.scorer, decoder.encoded, decoder.task, rows, table, named=named)

    @property
    def prices(self) -> Prices:
        """What the best label of each item adds, whatever the others are."""
        return Prices(self._price, of_splits=self.task.labels == "splits")

    def _price(self, rows: Ints, table: Ints) -> Scores:
        ask = self._recall
        scores = self._ask(rows, table) if ask is None else ask(rows, *table.T)
        found: Scores = scores.max(axis=1).astype(np.float64)
        return found

    def _costs(
        self,
        candidates: Sequence[Candidate],
        items: Items,
        labels: Ints,
        owner: Ints,
        margin: Callable[[Ints], Scores],
    ) -> tuple[list[float], list[float]]:
        """What the rare pairs of each hypothesis cost with its best labels and tags.

        And what it loses at least if others may take their place.
        """
        grammar, tagging = self.grammar, self.tagging
        if grammar is None or tagging is None or not candidates:
            return [0.0] * len(candidates), [0.0] * len(candidates)
        tables = [each.decisions.table for each in candidates]
        lengths = [int(self.decoder.lengths[each.sentence]) for each in candidates]
        over = governors(lengths, tables, grammar.dummies[labels])
        words = np.flatnonzero(items.table[:, 1] - items.table[:, 0] == 1)
        tokens = np.concatenate([tagging.tokens(each.sentence) for each in candidates])
        costs = grammar.costs(over, labels, words, tagging.best[tokens])
        rare = np.flatnonzero(costs)
        losses = np.zeros(len(candidates))
        if self.options.width > 1 and len(rare):
            # Whoever escapes a cost takes another tag, or another label between the pair's two.
            least = np.minimum(-costs[rare], way_up(rare, over, upward(lengths, tables), margin))
            alone = np.isin(rare, words)
            token = tokens[np.searchsorted(words, rare[alone])]
            least[alone] = np.minimum(least[alone], margins(tagging.log_probs, token))
            np.maximum.at(losses, owner[rare], least - SLACK)
        sums = np.bincount(owner, weights=costs, minlength=len(candidates))
        return sums.tolist(), losses.tolist()

    def _order(self, structure: Structure) -> Apart:
        """What orders the labels of a structure."""
        if self.grammar is None or self.tagging is None:
            return Apart(structure.log_probs, dummies_of(self.names))
        known = self._unnamed(structure, self.tagging)
        return Naming(self.grammar, known.splits, known.log_probs, known.tags)

    def _unnamed(self, structure: Structure, tagging: Tagging) -> Unnamed:
        """The splits of a structure, the log-probabilities of its labels and tags."""
        made = structure.candidate
        tags = tagging.log_probs[tagging.part(made.sentence)]
        return Unnamed(made.decisions.table, structure.log_probs, tags, structure.cost)

    def best_of(self, structure: Structure) -> Named:
        """A structure with its best labels and tags."""
        found = self._best.get(structure)
        if found is None:
            found = Named(structure, structure.labels, None, structure.bound)
            rare = structure.cost and isfinite(structure.bound)
            if rare and self.grammar and self.tagging:
                known = self._unnamed(structure, self.tagging)
                labels, tags, gain = named_together(self.grammar, known)
                found = Named(structure, labels, tags, structure.candidate.score + gain)
            self._best[structure] = found
        return found

    def rank(self, structure: Structure) -> float:
        """By what structures are compared: the best joint score, or that of the splits."""
        joint = self.options.joint
        return self.best_of(structure).log_prob if joint else structure.candidate.score

    def in_order(self, row: int) -> Iterator[Named]:
        """The trees of a sentence, best first; those with labels in place of dummies repeat."""
        pool = [each for each in self.pool.get(row, ()) if isfinite(each.bound)]
        if not self.options.joint:
            yield from map(self.best_of, sorted(pool, key=lambda each: -each.candidate.score))
            return
        waiting: list[tuple[float, float, int, Any]] = [
            (-each.most, -each.candidate.score, number, None) for number, each in enumerate(pool)
        ]
        heapify(waiting)
        while waiting:
            *_, number, held = heappop(waiting)
            structure = pool[number]
            if held is None:
                source = self._named(structure)
            else:
                named, source = held
                yield named
            following = next(source, None)
            if following is not None:
                key = -following.log_prob, -structure.candidate.score
                heappush(waiting, (*key, number, (following, source)))

    def _named(self, structure: Structure) -> Iterator[Named]:
        """A structure with its best labels and, where several trees are asked for, with others."""
        if self.options.n_best == 1:
            yield self.best_of(structure)
            return
        for labels, tags, gain in self._order(structure).in_order():
            yield Named(structure, labels, tags, structure.candidate.score + gain)

    def n_best(self, row: int) -> list[Named]:
        """The best few trees of a sentence that differ, best first."""
        if self.options.n_best == 1:
            return list(islice(self.in_order(row), 1))
        dummies = dummies_of(self.names)
        found: dict[tuple[bytes, bytes], Named] = {}
        for named in self.in_order(row):
            phrases = ~dummies[named.labels]
            # The same for any two structures that make the same n-ary tree.
            key = named.structure.items[phrases].tobytes(), named.labels[phrases].tobytes()
            found.setdefault(key, named)
            if len(found) == self.options.n_best:
                break
        if not self.options.joint:
            return list(found.values())
        return sorted(found.values(), key=lambda each: -each.log_prob)


def _items(decoder: Decoder, task: Task[Any], candidates: Sequence[Candidate]) -> Items:
    made = [each.decisions.table for each in candidates]
    if task.labels == "spans":
        lengths = [int(decoder.lengths[each.sentence]) for each in candidates]
        spans = spans_of(lengths, made)
        return Items(np.stack([spans.left, spans.right], axis=1), spans.ends)
    splits = [table[table[:, 1] < table[:, 2]] for table in made]
    table = np.concatenate(splits) if splits else np.zeros((0, 3), np.intp)
    return Items(table, list(accumulate(map(len, splits), initial=0)))


def assemble(namer: Namer) -> dict[int, list[Parse]]:
    """The parses of each sentence (by its row), best first; none of one without a usable tree."""
    batch, task, tagging, options = namer.batch, namer.task, namer.tagging, namer.options
    chosen = [named for row in batch.index for named in namer.n_best(row)]
    # Trees that differ in labels alone share their steps.
    made = {id(named.structure): named.structure.candidate for named in chosen}
    told = dict(zip(made, _replay(namer.decoder, list(made.values()), options), strict=True))
    replays = [told[id(named.structure)] for named in chosen]
    lines: list[Tags | None] = []
    records = []
    for named, (runners, _) in zip(chosen, replays, strict=True):
        structure, row = named.structure, named.structure.candidate.sentence
        tags = tagging.named(row, named.tags, options.alternatives) if tagging is not None else None
        lines.append(tags)
        log_probs = structure.log_probs
        records.append(
            Record(
                length=len(batch.words[row]),
                splits_labelled=task.labels == "splits",
                decisions=structure.candidate.decisions,
                labels=Labels.of(namer.names, log_probs, named.labels, options.alternatives),
                score=structure.candidate.score,
                log_prob=named.log_prob,
                runners=runners,
                tags=tags.notes if tags else None,
                calibration=namer.decoder.scorer.calibration(task.name),
                given_leaves=not task.stops or batch.has_edus(row),
            )
        )
    rows = [named.structure.candidate.sentence for named in chosen]
    spans = [named.structure.items for named in chosen]
    trees = _build(task, batch, lines, rows, records, spans)
    parses: dict[int, list[Parse]] = {}
    for row, record, tree, (_, steps) in zip(rows, records, trees, replays, strict=True):
        parse = Parse(
            tree=tree,
            log_prob=record.log_prob,
            split_log_prob=record.score,
            record=record,
            steps=steps,
        )
        parses.setdefault(row, []).append(parse)
    return parses


def _build(
    task: Task[Any],
    batch: Batch,
    tags: Sequence[Tags | None],
    rows: Sequence[int],
    records: list[Record],
    items: Sequence[Ints],
) -> list[Any]:
    """The tree of each record. Labelled spans make n-ary trees, all of a batch at once."""
    if not records:
        return []
    if task.labels == "splits":
        return [
            task.build(
                record.derivation,
                batch.words[row],
                leaf=batch.leaves.get(row),
                evidence=record.evidence,
            )
            for row, record in zip(rows, records, strict=True)
        ]
    lengths = [record.length for record in records]
    labels = np.concatenate([record.labels.numbers for record in records])
    plan = Plan.of(lengths, Spans.of(items), labels, records[0].labels.names)
    return [
        build_tree(plan, number, batch.words[row], line.names, record)
        for number, (row, line, record) in enumerate(zip(rows, tags, records, strict=True))
        if line is not None
    ]


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
