"""Finished hypotheses become parses: choose the best trees, name their parts, build them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from math import isfinite

import numpy as np
import numpy.typing as npt

from cleft.scorer import Floats, Ints
from cleft.search.constraints import Constraints
from cleft.search.decode import Candidate, Decoder
from cleft.search.labels import Labels, choose_labels, runners_up
from cleft.search.options import SearchOptions
from cleft.search.results import Parse, Step, Tags, grow, tree_splits
from cleft.tasks import DiscourseTask, SyntaxTask
from cleft.tree import Evidence, is_dummy

__all__ = ["NO_TAG", "Batch", "assemble"]

NO_TAG = "X"
"""The part of speech of a word where none is given and the model has no head for them."""

Items = Sequence[tuple[int, ...]]


@dataclass(slots=True)
class Batch:
    """The sentences that can be parsed, by their row in the encoded batch.

    `index` is the place of each in the caller's list; constraints and tags are
    there for those that have them.
    """

    words: dict[int, Sequence[str]] = field(default_factory=dict)
    index: dict[int, int] = field(default_factory=dict)
    constraints: dict[int, Constraints] = field(default_factory=dict)
    tags: dict[int, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finalist:
    """A candidate with what carries a label in its tree, and the labels."""

    candidate: Candidate
    items: Items
    labels: Labels

    @property
    def log_prob(self) -> float:
        """The log-probability of the tree, labels included."""
        return self.candidate.score + sum(self.labels.log_probs)

    def signature(self) -> tuple[object, ...]:
        """The same for any two candidates that make the same n-ary tree."""
        pairs = zip(self.items, self.labels.names, strict=True)
        return tuple([pair for pair in pairs if not is_dummy(pair[1])])


def assemble(
    decoder: Decoder,
    task: SyntaxTask | DiscourseTask,
    batch: Batch,
    candidates: Sequence[Candidate],
    options: SearchOptions,
) -> dict[int, list[Parse]]:
    """The parses of each sentence (by its row), distinct and sorted by log-probability.

    A candidate without a usable one is left out, and so may be its sentence.
    """
    if options.n_best > 1:
        candidates = _without_repeats(candidates)
    items = [
        task.labelled(len(batch.words[candidate.sentence]), tree_splits(task, candidate))
        for candidate in candidates
    ]
    labels = _label(decoder, batch.constraints, candidates, items, options)
    finalists = [Finalist(*each) for each in zip(candidates, items, labels, strict=True)]
    finalists = [finalist for finalist in finalists if isfinite(finalist.log_prob)]
    if options.n_best > 1:
        finalists = _n_best(finalists, options.n_best)
    tags = _tags(decoder, batch, options.alternatives) if isinstance(task, SyntaxTask) else {}
    replays = _replay(decoder, finalists, options)
    parses: dict[int, list[Parse]] = {row: [] for row in batch.words}
    for finalist, (runners, steps) in zip(finalists, replays, strict=True):
        row = finalist.candidate.sentence
        parses[row].append(
            grow(
                task,
                candidate=finalist.candidate,
                words=batch.words[row],
                tags=tags.get(row),
                items=finalist.items,
                labels=finalist.labels,
                runners=runners,
                steps=steps,
            )
        )
    return {row: found for row, found in parses.items() if found}


def _without_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each derivation once: greedy's may be in the beam as well."""
    seen = {(each.sentence, each.decisions.splits): each for each in reversed(candidates)}
    return list(seen.values())[::-1]


def _n_best(finalists: Sequence[Finalist], count: int) -> list[Finalist]:
    """The best few of each sentence that are different trees, best first."""
    ranked = sorted(finalists, key=lambda each: (-each.log_prob, -each.candidate.score))
    trees: dict[int, dict[tuple[object, ...], Finalist]] = {}
    for finalist in ranked:
        found = trees.setdefault(finalist.candidate.sentence, {})
        if len(found) < count:  # and else not even compare
            found.setdefault(finalist.signature(), finalist)
    return [finalist for found in trees.values() for finalist in found.values()]


def _label(
    decoder: Decoder,
    constraints: Mapping[int, Constraints],
    candidates: Sequence[Candidate],
    items: Sequence[Items],
    options: SearchOptions,
) -> list[Labels]:
    """The labels of each candidate, all from one question."""
    ends = list(accumulate(map(len, items), initial=0))
    if not ends[-1]:
        return [Labels(names=[], log_probs=[], others=[]) for _ in items]
    arity = len(next(chain.from_iterable(items)))
    numbers = chain.from_iterable(chain.from_iterable(items))
    table = np.fromiter(numbers, np.intp, ends[-1] * arity).reshape(-1, arity)
    sentences = [candidate.sentence for candidate in candidates]
    rows = np.repeat(np.array(sentences, np.intp), np.diff(ends))
    named = _must_be_named(decoder.lengths, constraints, rows, table)
    places: Ints | None = None
    if options.n_best > 1:  # hypotheses of a sentence share most of their spans
        size = int(decoder.lengths.max()) + 1
        keys = np.ravel_multi_index((rows, *table.T), (len(decoder.lengths), *[size] * arity))
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
    slices = [slice(start, end) for start, end in pairwise(ends)]
    if places is None:
        return [labels.of(part) for part in slices]
    flat = places.tolist()
    return [labels.of(flat[part]) for part in slices]


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


def _tags(decoder: Decoder, batch: Batch, alternatives: int) -> dict[int, Tags]:
    """The parts of speech of each sentence: the caller's, the model's, or none."""
    tags = {row: Tags(names=names) for row, names in batch.tags.items()}
    missing = [row for row in batch.words if row not in tags]
    log_probs = decoder.scorer.tags(decoder.encoded) if missing else None
    if log_probs is None:
        return tags | {row: Tags(names=[NO_TAG] * len(batch.words[row])) for row in missing}
    names = decoder.scorer.tag_names()
    best = log_probs.argmax(axis=1)
    chances = np.exp(log_probs[np.arange(len(best)), best]).tolist()
    others: list[list[tuple[int, float]]] = [[]] * len(best)
    if alternatives:
        others = runners_up(log_probs, best, alternatives)
    chosen = best.tolist()
    ends = list(accumulate(decoder.lengths.tolist(), initial=0))
    for row in missing:
        part = slice(ends[row], ends[row + 1])
        evidence = [
            Evidence(label=chance, labels=tuple([(names[tag], share) for tag, share in rest]))
            for chance, rest in zip(chances[part], others[part], strict=True)
        ]
        tags[row] = Tags(names=[names[tag] for tag in chosen[part]], evidence=evidence)
    return tags


Runners = list[tuple[tuple[int, float], ...]]


def _replay(
    decoder: Decoder, finalists: Sequence[Finalist], options: SearchOptions
) -> list[tuple[Runners, tuple[Step, ...]]]:
    """The runner-up boundaries and the steps of each tree, as far as they are asked for.

    Of a step's distribution no more is kept than that: all of them together
    are as many numbers as a sentence has tokens, squared.
    """
    if not (options.alternatives or options.trace):
        return [([], ())] * len(finalists)
    candidates = [finalist.candidate for finalist in finalists]
    runners: list[Runners] = [[] for _ in candidates]
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
    splits = np.array([candidate.decisions.splits[step] for candidate in candidates], np.intp)
    left, split, right = splits.T
    sentence = np.array([candidate.sentence for candidate in candidates], np.intp)
    return runners_up(decoder.masks.apply(said, sentence, left, right), split, count)


def _step(decoder: Decoder, candidate: Candidate, step: int, said: Floats) -> Step:
    made = candidate.decisions
    boundaries = int(decoder.lengths[candidate.sentence]) + 1
    return Step(
        split=made.splits[step],
        probability=float(np.exp(made.log_probs[step])),
        distribution=np.exp(said[:boundaries]),
    )
