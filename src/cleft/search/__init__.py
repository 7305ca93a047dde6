"""Search over a Scorer: greedy and beam, both tasks, in NumPy.

`search` parses a batch. Hypotheses split their spans depth-first, left first;
each step scores all of them at once and keeps the best of each sentence
(`advance`). Scores are never renormalised over the legal splits, so the
probabilities of all trees of a sentence sum to at most 1, and a finished tree
is a bound: what has fallen below it can never win.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log
from typing import Any, TypeVar

import numpy as np

from cleft.errors import CleftError, InputError, ModelError, UsageError
from cleft.search.assemble import Namer, Structure, assemble
from cleft.search.beam import Beam, History, Scores, advance
from cleft.search.decode import Decoder, Marks, Statistics
from cleft.search.naming import NO_TAG, Batch, Leaf
from cleft.search.results import Parse, Step
from cleft.search.scorer import Encoded, Ints, Masks, Scorer, SearchOptions
from cleft.span import Constraints
from cleft.tasks import Task

__all__ = [
    "NO_TAG", "Beam", "Constraints", "Decoder", "History", "Masks", "Parse", "SearchOptions",
    "Statistics", "Step", "advance", "find", "search",
]  # fmt: skip

T = TypeVar("T")

HALF = log(0.5)
"""A tree more probable than this is the most probable: all together have at most 1."""


def search(
    scorer: Scorer,
    sentences: Sequence[Sequence[Any]],
    task: Task[Any],
    options: SearchOptions | None = None,
    *,
    constraints: Sequence[Constraints | None] | None = None,
    tags: Sequence[Sequence[str] | None] | None = None,
    leaves: Sequence[Leaf | None] | None = None,
    encoded: Encoded | None = None,
    statistics: Statistics | None = None,
) -> list[list[Parse] | CleftError]:
    """Parse a batch: for each sentence its best trees, best first, or its error.

    `encoded` is the scorer's encoding of all sentences that have tokens, for a
    caller that wants several tasks of one encoding. Tags are the caller's, else
    the model's, else `X`. `leaves` make the leaves of trees whose splits carry the labels.
    `statistics` are added to.
    """
    options = options or SearchOptions()
    batch, results = _check(
        sentences,
        _fill(constraints, sentences, "constraints"),
        _fill(tags, sentences, "lists of tags"),
        stops=task.stops,
    )
    if leaves is not None:
        kept = ((row, leaves[index]) for row, index in batch.index.items())
        batch.leaves = {row: leaf for row, leaf in kept if leaf is not None}
    if batch.index:
        full = [sentence for sentence in sentences if sentence]
        encoded = scorer.encode(full) if encoded is None else encoded
        _check_encoded(encoded, full)
        decoder = Decoder(
            scorer,
            encoded,
            task.name,
            masks=Masks(encoded.lengths, stops=task.stops, constraints=batch.constraints),
            statistics=statistics if statistics is not None else Statistics(),
            marks=_marks(scorer, encoded, task, batch) if task.stops else None,
        )
        namer = Namer(decoder, task, batch, options)
        find(namer, np.array(list(batch.index), np.intp))
        for row, parses in assemble(namer).items():
            results[batch.index[row]] = parses
        for index in batch.index.values():
            if index not in results:
                results[index] = _no_tree(index)
    return [results[index] for index in range(len(sentences))]


def _marks(scorer: Scorer, encoded: Encoded, task: Task[Any], batch: Batch) -> Marks | None:
    chances = scorer.marks(encoded, task.name)
    if chances is None:
        return None
    given = [row for row, limits in batch.constraints.items() if limits.edus is not None]
    return Marks(chances, np.array(given, np.intp) if given else None)


def _fill(
    given: Sequence[T | None] | None, sentences: Sequence[object], what: str
) -> Sequence[T | None]:
    if given is None:
        return [None] * len(sentences)
    if len(given) != len(sentences):
        raise UsageError(
            f"{len(given)} {what} for {len(sentences)} sentences",
            hint="give one a sentence, None where there is none",
        )
    return given


def _check(
    sentences: Sequence[Sequence[str]],
    constraints: Sequence[Constraints | None],
    tags: Sequence[Sequence[str] | None],
    *,
    stops: bool,
) -> tuple[Batch, dict[int, list[Parse] | CleftError]]:
    """Sort the sentences that can be parsed from those whose result is an error already."""
    batch, errors = Batch(), dict[int, list[Parse] | CleftError]()
    row = -1
    for index, (words, given, parts) in enumerate(zip(sentences, constraints, tags, strict=True)):
        row += bool(words)
        where = f"sentence {index + 1}"
        try:
            if not words:
                raise InputError("there are no tokens", where=where, hint="give at least one")
            if parts is not None:
                if len(parts) != len(words):
                    raise UsageError(
                        f"{len(parts)} tags for {len(words)} tokens",
                        where=where,
                        hint="give one each",
                    )
                batch.tags[row] = parts
            if given is not None:
                given.check(len(words), stops=stops, where=where)
                batch.constraints[row] = given
        except CleftError as error:
            errors[index] = error
        else:
            batch.index[row], batch.words[row] = index, words
    return batch, errors


def _check_encoded(encoded: Encoded, sentences: Sequence[Sequence[str]]) -> None:
    lengths = [len(sentence) for sentence in sentences]
    if list(encoded.lengths) != lengths:
        raise UsageError(
            f"the encoding has sentences of {list(encoded.lengths)} tokens, not {lengths}",
            hint="encode just the sentences that have tokens, in order",
        )


def _no_tree(index: int) -> ModelError:
    return ModelError(
        "the model gave no usable probability to any tree",
        where=f"sentence {index + 1}",
        hint="its weights may be damaged or its numbers overflow: verify the model",
    )


def find(namer: Namer, rows: Ints) -> None:
    """Find hypotheses of these sentences: by greedy search, exact search, a beam.

    The namer is given those that may be wanted; none without a usable score.
    """
    decoder, options = namer.decoder, namer.options
    decoder.statistics.sentences += len(rows)
    floor = np.full(len(decoder.lengths), -np.inf)
    if options.prune or options.width == 1:
        greedy = decoder.greedy(rows, keep_answers=options.width > 1)
        found = [each for each in greedy if isfinite(each.score)]
        rows = np.array([each.sentence for each in found], np.intp)
        structures = namer.add(found)
        if options.width == 1:
            return
        if options.n_best == 1:
            floor[rows] = [_rank(namer, each) for each in structures]
            rows = rows[~(floor[rows] > HALF)]
    decoder.statistics.searched += len(rows)
    if decoder.stateless and len(rows):
        rows = _exact(namer, rows, floor)
    if len(rows):
        by_splits = options.n_best == 1 and not options.joint
        found = decoder.beam(
            rows,
            options.width,
            floor=floor if options.prune and options.n_best == 1 else None,
            margin=np.inf if options.margin is None else options.margin,
            best_only=by_splits,
            early=options.prune and by_splits,
        )
        namer.add(found)


def _rank(namer: Namer, greedy: Structure) -> float:
    """The rank of greedy's tree, or the least there is if a better one is to be found anyway."""
    joint, stateless = namer.options.joint, namer.decoder.stateless
    if joint and stateless and greedy.cost and not greedy.bound > HALF:
        return -np.inf
    return namer.rank(greedy)


def _exact(namer: Namer, rows: Ints, floor: Scores) -> Ints:
    """Add the best tree of each of these sentences; return those that need a beam as well.

    For one tree it is certain, unless rare pairs leave more trees to compare than a beam holds.
    """
    one = namer.options.n_best == 1
    prices = namer.prices if namer.options.joint else None
    pool = [namer.pool[row] for row in rows.tolist() if row in namer.pool]
    known = [each[0].candidate.decisions for each in pool]  # greedy's, if it was asked for
    structures = namer.add(namer.decoder.best(rows, prices, known))
    if not one:
        return rows
    unsure = [each for each in structures if each.cost and isfinite(each.bound)]
    rows = np.array([each.candidate.sentence for each in unsure], np.intp)
    floor[rows] = [namer.n_best(row)[0].log_prob for row in rows.tolist()]
    return rows[_add_rivals(namer, unsure, floor)] if unsure else rows


def _add_rivals(namer: Namer, unsure: Sequence[Structure], floor: Scores) -> list[bool]:
    """Add all trees that may be better than the best without the costs of rare pairs.

    They are few. Whether they are more than the beam is wide, so that a beam must do.
    """
    best = [each.candidate for each in unsure]
    slack = np.array([each.bound - floor[each.candidate.sentence] for each in unsure])
    within = namer.decoder.within(best, namer.prices, slack, namer.options.width)
    namer.add([each for found in within if found for each in found])
    return [found is None for found in within]
