"""The loops: greedy, beam, and the replay of decisions already made; exact without history.

All ask the scorer about every open hypothesis of every sentence at once, and
differ only in what they keep of its answer. A scorer answers with the
pointer's log-probabilities; `Marks` adds what a head knows of EDU boundaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from cleft.search.beam import Beam, Decisions, History, Scores, advance, first_of_sentence
from cleft.search.levels import Prices, best_trees, level_by_level, trees_within
from cleft.search.scorer import LOWEST, Ask, Encoded, Floats, Ints, Masks, Recall, Scorer, State
from cleft.span import Span

WIDEST = 1_000
"""The longest sentence whose spans are all kept in mind: that takes the square of its length."""

NARROW = 24
"""A span of one sentence that is no wider is asked about with all spans below it: a few hundred
rows of one call cost less than a call for each level."""

SURE = 1e-6
"""No mark is surer than this, so that every tree has some probability."""


class Marks:
    """The marks of a batch: (sentences, 1 + longest), chances; `given` have their EDUs given.

    >>> marks = Marks(np.array([[0.0, 0.1, 0.8, 0.0]]))
    >>> one = np.zeros(1, np.intp)
    >>> said = marks.apply(np.log([[0.25, 0.5, 0.125, 0.125]]), one, one, one + 3)
    >>> np.exp(said).round(3).tolist()  # of 0.05 and 0.1, with 1 - 0.18 for both together
    [[0.0, 0.273, 0.547, 0.18]]
    """

    __slots__ = ("_columns", "_free", "_log", "_none")

    def __init__(self, chances: Floats, given: Ints | None = None) -> None:
        chances = np.clip(chances.astype(np.float64), SURE, 1 - SURE)
        self._log = np.log(chances)
        self._none = np.cumsum(np.log1p(-chances), axis=1)  # none up to and at a boundary
        self._columns = np.arange(chances.shape[1], dtype=np.int32)[None, :]
        self._free = np.ones((len(chances), 1), bool)
        if given is not None:
            self._free[given] = False

    def apply(self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The log-probabilities of a step's boundaries, from the pointer's, (rows, boundaries)."""
        none = self._none
        stop = np.minimum(none[sentence, right - 1] - none[sentence, left], -SURE)
        inside = self._columns > left[:, None].astype(np.int32)
        inside &= self._columns < right[:, None].astype(np.int32)
        found = np.where(inside, log_probs + self._log[sentence], -np.inf)
        best = found.max(axis=1, keepdims=True, initial=np.finfo(np.float32).min)
        # One after the other, so that padding does not change the order of the sum. A span of
        # one token has no inner boundary: all its chance is the stop's.
        sums = np.cumsum(np.exp(found - best), axis=1)[:, -1:]
        found += np.log(-np.expm1(stop))[:, None] - (best + np.log(np.maximum(sums, SURE)))
        found[np.arange(len(left)), right] = stop
        free = self._free[sentence]
        return found if free.all() else np.where(free, found, log_probs)


SPARE = 8
"""Finished sentences leave a greedy batch when they are one in so many: leaving costs a copy."""


@dataclass(slots=True, kw_only=True)
class Statistics:
    """What searches cost: calls of the scorer's `split`, and hypotheses scored by them.

    >>> Statistics(greedy_rows=100, beam_rows=50).cost
    1.5
    """

    sentences: int = 0
    searched: int = 0
    greedy_calls: int = 0
    greedy_rows: int = 0
    beam_calls: int = 0
    beam_rows: int = 0
    replay_calls: int = 0
    replay_rows: int = 0

    @property
    def cost(self) -> float | None:
        """All hypotheses scored in the search as a multiple of greedy's, where greedy ran."""
        if not self.greedy_rows:
            return None
        return (self.greedy_rows + self.beam_rows) / self.greedy_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A finished hypothesis: the sentence's index in the batch, its score, its decisions."""

    sentence: int
    score: float
    decisions: Decisions


class Decoder:
    """A scorer, a batch that it has encoded, and the task to decode."""

    def __init__(
        self,
        scorer: Scorer,
        encoded: Encoded,
        task: str,
        *,
        masks: Masks,
        statistics: Statistics,
        marks: Marks | None = None,
    ) -> None:
        self.scorer = scorer
        self.encoded = encoded
        self.task = task
        self.masks = masks
        self.marks = marks
        self.statistics = statistics
        self.lengths = np.asarray(encoded.lengths, np.intp)

    def greedy(self, sentences: Ints, *, keep_answers: bool = False) -> list[Candidate]:
        """The best split of every span, one candidate a sentence, in order.

        With `keep_answers` what a head without history said is there for another search.
        """
        alone = len(sentences) == 1 and not self.masks.constrained
        if self.stateless:
            if alone and not keep_answers:
                return [self._at_once(int(sentences[0]))]
            ask = self._asker("greedy")
            ask = self.recall.kept(ask) if keep_answers else ask
            return _candidates(sentences, level_by_level(ask, sentences, self.lengths[sentences]))
        if alone:
            return [self._greedy_alone(int(sentences[0]))]
        count = len(sentences)
        lengths = self.lengths[sentences]
        history = History(int(lengths.sum()) + 2 * count)
        place = np.flatnonzero(lengths > 1)
        sentence, right = sentences[place], lengths[place]
        left, waiting, last = np.zeros((3, len(place)), np.intp)
        state = self._start(sentence)
        made: list[Ints] = [place[:0]]  # whose decisions the history has, step by step
        while len(place):
            log_probs, state = self._split(sentence, left, right, state)
            self._count("greedy", int(np.count_nonzero(place < count)))
            split = log_probs.argmax(axis=1)
            gain = log_probs[np.arange(len(split)), split]
            before = left, right
            made.append(place)
            last, left, right, waiting = history.split(
                left, split, right, log_prob=gain, parent=last, waiting=waiting
            )
            if right.all():
                continue
            # A finished row repeats its last step until it is dropped, and is ignored.
            done = np.flatnonzero(right == 0)
            place = place.copy()
            place[done] = count
            left[done], right[done] = before[0][done], before[1][done]
            keep = np.flatnonzero(place < count)
            if SPARE * (len(place) - len(keep)) >= len(place):
                place, sentence, left, right = place[keep], sentence[keep], left[keep], right[keep]
                waiting, last = waiting[keep], last[keep]
                if len(place):
                    state = self.scorer.select(state, keep)
        return _candidates(sentences, history.shared(np.concatenate(made), count))

    def _greedy_alone(self, sentence: int) -> Candidate:
        """The same for one free sentence: numbers are faster than arrays of one."""
        rows = np.array([sentence], np.intp)
        stack = [Span(0, int(self.lengths[sentence]))] if self.lengths[sentence] > 1 else []
        state = self._start(rows)
        splits, log_probs, score = [], [], 0.0
        while stack:
            left, right = span = stack.pop()
            answer, state = self._ask(rows, np.array([span], np.intp), state)
            self._count("greedy", 1)
            legal = answer[0, left + 1 : right + self.masks.stops]
            best = int(legal.argmax())
            boundary = left + 1 + best
            splits.append((left, boundary, right))
            log_probs.append(max(float(legal[best]), LOWEST))
            score += log_probs[-1]
            if boundary < right:
                stack += [half for half in reversed(span.at(boundary)) if half.width > 1]
        made = Decisions(np.array(splits, np.intp).reshape(-1, 3), np.array(log_probs))
        return Candidate(sentence=sentence, score=score, decisions=made)

    def _at_once(self, sentence: int) -> Candidate:
        """The same for a head without history, which is asked about narrow spans in advance."""
        state = self.scorer.start(self.encoded, self.task)
        length = int(self.lengths[sentence])
        made: list[tuple[int, int, int, float]] = []
        waiting = [(0, length)] if length > 1 else []
        while waiting:
            parts = [_with_all_below(*span) for span in waiting]
            spans = parts[0] if len(parts) == 1 else np.concatenate(parts)
            answer, _ = self._ask(np.full(len(spans), sentence, np.intp), spans, state)
            self._count("greedy", len(spans))
            asked, waiting, first = waiting, [], 0
            for span, part in zip(asked, parts, strict=True):
                own = answer[first : first + len(part)]
                waiting += _take(span, own, self.masks.stops, made)
                first += len(part)
        made.sort(key=lambda each: (each[0], -each[2]))  # depth first, left before right
        table = np.array([each[:3] for each in made], np.intp).reshape(-1, 3)
        scores = [each[3] for each in made]
        decisions = Decisions(table, np.array(scores))
        return Candidate(sentence=sentence, score=sum(scores, 0.0), decisions=decisions)

    def beam(
        self,
        sentences: Ints,
        width: int,
        *,
        floor: Scores | None = None,
        margin: float = np.inf,
        best_only: bool = False,
        early: bool = False,
    ) -> list[Candidate]:
        """The finished hypotheses of each sentence's beam (or the best only), best first.

        None is there that does not exceed its sentence's `floor` (indexed by
        sentence). With `early` a sentence ends when its best hypothesis is
        finished: those below it can only fall.
        """
        lengths = self.lengths[sentences]
        history = History(2 * int(lengths.sum()))
        beam = Beam.start(history, sentences[lengths > 1], lengths[lengths > 1])
        finished = [Beam.start(history, sentences[lengths == 1], 0 * lengths[lengths == 1])]
        state = self._start(beam.sentence)
        recall = self.recall if self.stateless else None
        while len(beam):
            live = beam.live
            spans = beam.sentence[live], beam.left[live], beam.right[live]
            if recall is not None:
                log_probs = recall(*spans)
            else:
                log_probs, state = self._split(*spans, state)
                self._count("beam", len(live))
            beam, parents = advance(beam, log_probs, width, floor, margin)
            ended, beam, parents = _settle(beam, parents, best_only, early)
            finished.append(ended)
            if len(beam) and recall is None and not _identity(parents, len(live)):
                state = self.scorer.select(state, parents)
        sentence = np.concatenate([part.sentence for part in finished])
        last = np.concatenate([part.last for part in finished])
        return _candidates(sentence, history.decisions(last))

    def best(
        self,
        sentences: Ints,
        prices: Prices | None = None,
        known: Sequence[Decisions] | None = None,
    ) -> list[Candidate]:
        """The most probable splits of each sentence, by themselves or with the prices of labels.

        A `known` tree of each saves time. Only for a head without history.
        """
        if not known:
            known = level_by_level(self.recall, sentences, self.lengths[sentences])
        return _candidates(sentences, best_trees(self.recall, sentences, known, prices))

    def within(
        self, best: Sequence[Candidate], prices: Prices | None, slack: Scores, count: int
    ) -> list[list[Candidate] | None]:
        """The best tree of each sentence and all that lose less, unless they are more than so many.

        Only for a head without history.
        """
        sentences = np.array([each.sentence for each in best], np.intp)
        known = [each.decisions for each in best]
        found = trees_within(self.recall, sentences, known, prices, slack, count)
        return [
            None if trees is None else _candidates(np.full(len(trees), sentence), trees)
            for sentence, trees in zip(sentences, found, strict=True)
        ]

    @cached_property
    def recall(self) -> Recall:
        """What a head without history has said of the spans of this batch."""
        return Recall(self._asker("beam"), self.lengths)

    @cached_property
    def stateless(self) -> bool:
        """Whether what a span is split into does not depend on the splits before it.

        Very long sentences are searched step by step all the same, in linear memory.
        """
        return self.is_short and self.scorer.stateless(self.task)

    @property
    def is_short(self) -> bool:
        """Whether all spans of all sentences may be kept in mind."""
        return int(self.lengths.max(initial=0)) <= WIDEST

    def _asker(self, what: str) -> Ask:
        """What asks a head without history about spans, and counts."""
        state = self.scorer.start(self.encoded, self.task)

        def ask(sentence: Ints, left: Ints, right: Ints) -> Floats:
            self._count(what, len(sentence))
            return self._split(sentence, left, right, state)[0]

        return ask

    def _count(self, what: str, rows: int) -> None:
        statistics = self.statistics
        for name, more in ((f"{what}_calls", 1), (f"{what}_rows", rows)):
            setattr(statistics, name, getattr(statistics, name) + more)

    def replay(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Ints, int, Floats]]:
        """What the model said at each step of finished hypotheses.

        The candidates are fed to the scorer once more, so a search need not
        keep the distributions of hypotheses that it drops, nor a caller more
        of them than it wants. Each step gives the numbers of the candidates
        that take it, the step's number, and (candidates, boundaries).
        """
        sentences = np.array([candidate.sentence for candidate in candidates], np.intp)
        tables = [candidate.decisions.table for candidate in candidates]
        steps = np.array([len(table) for table in tables], np.intp)
        here = np.flatnonzero(steps)
        state = self._start(sentences[here])
        step = 0
        while len(here):
            spans = np.stack([tables[row][step, ::2] for row in here])
            log_probs, state = self._ask(sentences[here], spans, state)
            self._count("replay", len(here))
            yield here, step, log_probs
            step += 1
            keep = np.flatnonzero(steps[here] > step)
            if len(keep) < len(here):
                here = here[keep]
                if len(here):
                    state = self.scorer.select(state, keep)

    def _start(self, sentences: Ints) -> State:
        state = self.scorer.start(self.encoded, self.task)
        if not len(sentences) or _identity(sentences, len(self.lengths)):
            return state
        return self.scorer.select(state, sentences)

    def _split(self, sentence: Ints, left: Ints, right: Ints, state: State) -> tuple[Floats, State]:
        spans = np.empty((len(left), 2), np.intp)
        spans[:, 0], spans[:, 1] = left, right
        log_probs, state = self._ask(sentence, spans, state)
        return self.masks.apply(log_probs, sentence, left, right), state

    def _ask(self, sentence: Ints, spans: Ints, state: State) -> tuple[Floats, State]:
        """What the model says of every boundary: the pointer's word, and the marks' if any."""
        log_probs, state = self.scorer.split(self.encoded, self.task, sentence, spans, state)
        if self.marks is not None:
            log_probs = self.marks.apply(log_probs, sentence, spans[:, 0], spans[:, 1])
        return log_probs, state


@lru_cache(maxsize=NARROW + 1)
def _all_inside(width: int) -> tuple[Ints, list[int]]:
    """All spans of two tokens or more inside a span, by left end and then by right end.

    The row of a span is the number of its left end plus its right end.

    >>> spans, rows = _all_inside(3)
    >>> spans.tolist(), [rows[left] + right for left, right in spans.tolist()]
    ([[0, 2], [0, 3], [1, 3]], [0, 1, 2])
    """
    spans = [(left, right) for left in range(width) for right in range(left + 2, width + 1)]
    rows = [left * (width - 1) - left * (left - 1) // 2 - left - 2 for left in range(width)]
    return np.array(spans, np.intp).reshape(-1, 2), rows


def _with_all_below(left: int, right: int) -> Ints:
    """The span, and if it is narrow all that it may be split into."""
    if right - left > NARROW:
        return np.array([(left, right)], np.intp)
    return _all_inside(right - left)[0] + left


def _take(
    span: tuple[int, int], answer: Floats, stops: bool, made: list[tuple[int, int, int, float]]
) -> list[tuple[int, int]]:
    """Add the best splits of a span and of what is known below it; return what is not known."""
    first, last = span
    wide = last - first > NARROW
    rows = [] if wide else _all_inside(last - first)[1]
    stack, unknown = [span], list[tuple[int, int]]()
    while stack:
        left, right = stack.pop()
        row = 0 if wide else rows[left - first] + right - first
        legal = answer[row, left + 1 : right + stops]
        best = int(legal.argmax())
        split = left + 1 + best
        made.append((left, split, right, max(float(legal[best]), LOWEST)))
        if split == right:
            continue
        below = unknown if wide else stack
        if split - left > 1:
            below.append((left, split))
        if right - split > 1:
            below.append((split, right))
    return unknown


def _settle(beam: Beam, parents: Ints, best_only: bool, early: bool) -> tuple[Beam, Beam, Ints]:
    """Take the sentences that are decided out of the beam: what they found, what goes on."""
    first = first_of_sentence(beam.sentence)
    if not first.size:
        return beam, beam, parents
    is_open = beam.right > 0
    ended = ~(is_open[first] if early else np.logical_or.reduceat(is_open, first))
    if not ended.any():
        return beam.take(first[:0]), beam, parents
    out = np.repeat(ended, np.diff(first, append=len(beam)))
    decided = first[ended] if best_only else np.flatnonzero(out)
    return beam.take(decided), beam.take(np.flatnonzero(~out)), parents[~out[is_open]]


def _identity(rows: Ints, size: int) -> bool:
    """Whether selecting these rows changes nothing."""
    return len(rows) == size and bool((rows == np.arange(size)).all())


def _candidates(sentences: Ints, decisions: Sequence[Decisions]) -> list[Candidate]:
    return [
        Candidate(sentence=sentence, score=sum(made.scores.tolist(), 0.0), decisions=made)
        for sentence, made in zip(sentences.tolist(), decisions, strict=True)
    ]
