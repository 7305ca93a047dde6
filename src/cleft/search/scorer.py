"""The one seam between networks and search.

A scorer turns sentences into encodings and answers the search's questions
about them: where to split these spans, what to call them. There are two:
PyTorch (training, evaluation while training, GPU) and ONNX Runtime (what
users run). The search knows neither.

A *row* is one hypothesis that asks one question; `rows` gives, for each, the
index of its sentence in the batch. The state holds one row a hypothesis.

Beside it stand the options of a search, and which splits are legal. A caller may
give the EDUs of a sentence and spans that its tree must have. Both are masks on
the boundaries, laid before the best are taken. Spans that do not cross leave every
span that can come up at least one legal split, so a hypothesis never runs dry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from cleft.errors import UsageError, check_number
from cleft.evidence import TaskCalibration
from cleft.span import Constraints

if TYPE_CHECKING:
    from cleft.search.labels import Grammar

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]
Ask = Callable[[Ints, Ints, Ints], Floats]
"""What answers about spans, a row each, from their sentences, left and right ends."""


class Encoded(Protocol):
    """A batch of encoded sentences; it stays on its device and serves all heads."""

    @property
    def lengths(self) -> Sequence[int]:
        """The number of tokens of each sentence."""
        ...


class State(Protocol):
    """The decoder's memory, one row a hypothesis; opaque to the search."""


class Scorer(Protocol):
    """What the search asks of a network; `task` is `syntax` or `discourse`."""

    def encode(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Encode a batch of tokenised, non-empty sentences, or of documents made of sentences."""
        ...

    def stateless(self, task: str) -> bool:
        """Whether a span's split needs no history: then a level is one call.

        The state says nothing then: `split` takes that of `start` for any rows.
        """
        ...

    def start(self, encoded: Encoded, task: str) -> State:
        """The state before the first split: one row a sentence, in order."""
        ...

    def split(
        self, encoded: Encoded, task: str, rows: Ints, spans: Ints, state: State
    ) -> tuple[Floats, State]:
        """Log-probabilities over all boundaries, and the state after the step.

        `spans` is (rows, 2). The result is (rows, 1 + longest sentence); each
        row is normalised over the boundaries 0..n of its own sentence, legal
        or not, and -inf beyond them.
        """
        ...

    def select(self, state: State, rows: Ints) -> State:
        """The state with these rows only, in this order; a row may repeat."""
        ...

    def label(self, encoded: Encoded, task: str, rows: Ints, items: Ints) -> Floats:
        """Log-probabilities over the task's labels, (rows, labels).

        An item is a span (left, right) for syntax and a split (left, split,
        right) for discourse.
        """
        ...

    def labels(self, task: str) -> Sequence[str]:
        """The names of the task's labels, in the order of `label`'s columns."""
        ...

    def marks(self, encoded: Encoded, task: str) -> Floats | None:
        """The chance that an EDU ends at each boundary, (sentences, 1 + longest), if it is known.

        0 beyond a sentence; what stands at its two ends is of no account.
        """
        ...

    def tags(self, encoded: Encoded) -> Floats | None:
        """Log-probabilities over parts of speech, (all tokens, tags), if there is a head."""
        ...

    def tag_names(self) -> Sequence[str]:
        """The names of the parts of speech, in the order of `tags`' columns."""
        ...

    def grammar(self, task: str) -> Grammar | None:
        """What pairs of labels and tags cost in the task's trees, if it is known."""
        ...

    def calibration(self, task: str) -> TaskCalibration:
        """What makes probabilities of the task's trees what they say."""
        ...


NUMBERS = (
    ("beam", 1, "use 1 for greedy search"),
    ("n_best", 1, "use 1 for the best tree only"),
    ("alternatives", 0, "use 0 for none"),
)
"""Each option that is a whole number, the least that it may be, and a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search, and what to keep.

    `beam` is the width: 1 is greedy. For a head without history any other width means exact
    search for the best tree. `n_best` trees are kept at most; if it
    exceeds the beam's width, it is the width. They differ in structure or labels, and
    are the best by `log_prob`, labels included, of all that the beam's structures can make.
    Without `joint` the paper's rule holds: the best structures by `split_log_prob`, and in
    each the best label of every node by itself. With `prune`, hypotheses that
    cannot beat the greedy tree are dropped: the best tree is then the better
    of the full beam's and greedy's. That holds for the best tree alone, so for
    `n_best` above 1 nothing is dropped, and the greedy tree joins the list.
    `margin`, a loss of log-probability, also drops hypotheses that far below
    the best of their sentence at the same step: faster, and no longer exact.
    `alternatives` runner-up labels and boundaries are kept for each node, and
    with `trace` the steps of each tree; both cost one more greedy pass.

    >>> SearchOptions(beam=0)
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: beam is 0, expected 1 or more; use 1 for greedy search
    """

    beam: int = 1
    n_best: int = 1
    prune: bool = True
    joint: bool = True
    margin: float | None = None
    alternatives: int = 0
    trace: bool = False

    def __post_init__(self) -> None:
        for name, least, hint in NUMBERS:
            number = check_number(name, getattr(self, name), least, hint)
            object.__setattr__(self, name, number)
        if self.margin is not None and not _is_margin(self.margin):
            raise UsageError(
                f"margin is {self.margin!r}, expected a number, 0 or more",
                hint="leave it out to lose nothing",
            )
        for name in ("prune", "joint", "trace"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise UsageError(f"{name} is {getattr(self, name)!r}, expected True or False")

    @property
    def width(self) -> int:
        """How many hypotheses of a sentence are kept."""
        return max(self.beam, self.n_best)


def _is_margin(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and bool(value >= 0)


LOWEST = -1e6
"""What a legal split or label scores at least: a zero probability must not make it illegal."""

FAR = np.iinfo(np.intp).max
"""Beyond every boundary."""


class Masks:
    """The legal splits of every sentence of a batch.

    For a span that crosses no required one, the boundaries that no required
    span inside it covers are those that the fewest required spans cover: so a
    count for each boundary is all there is to keep.

    >>> from cleft.span import Span
    >>> masks = Masks([5], stops=False, constraints={0: Constraints(spans=(Span(1, 4),))})
    >>> zero = np.zeros(1, np.intp)
    >>> masks.apply(np.full((1, 6), -1.0), zero, zero, zero + 5).tolist()
    [[-inf, -1.0, -inf, -inf, -1.0, -inf]]
    """

    __slots__ = ("_columns", "_cover", "_forced", "_limit", "stops")

    def __init__(
        self,
        lengths: Iterable[int],
        *,
        stops: bool,
        constraints: Mapping[int, Constraints] | None = None,
    ) -> None:
        sizes = list(lengths)
        width = max(sizes, default=0) + 1
        self.stops = stops
        self._columns = np.arange(width, dtype=np.int32)[None, :]  # half as much to compare
        self._cover: Ints | None = None
        if constraints:
            shape = (len(sizes), width)
            self._cover = np.zeros(shape, np.intp)
            self._limit = np.full(shape, FAR)
            self._forced = np.full(shape, -1)
            for sentence, given in constraints.items():
                self._add(sentence, given)

    @property
    def constrained(self) -> bool:
        """Whether any sentence has constraints."""
        return self._cover is not None

    def _add(self, sentence: int, given: Constraints) -> None:
        """Count the spans over each boundary; find where stops are barred, and forced."""
        assert self._cover is not None
        cover, limit = self._cover[sentence], self._limit[sentence]
        edus = given.edu_spans()
        for left, right in given.required().union(edus):
            cover[left + 1 : right] += 1
            # A stop at `right` of a span from `left` is legal if right < limit[left]: from
            # further left, no required span may end at or before it; from the same left, it
            # may be that span itself.
            np.minimum(limit[:left], right, out=limit[:left])
            limit[left] = min(limit[left], right + 1)
        for left, right in edus:
            self._forced[sentence, left] = right

    def apply(self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The log-probabilities with -inf at every illegal boundary, (rows, boundaries).

        They are not renormalised. The stop of a given EDU is forced and costs nothing.
        """
        if self._cover is not None:
            return self._apply_constraints(log_probs, sentence, left, right)
        columns = self._columns
        legal = columns > left[:, None].astype(np.int32)
        legal &= columns < (right + self.stops)[:, None].astype(np.int32)
        return np.where(legal, np.maximum(log_probs, LOWEST), -np.inf)

    def _apply_constraints(
        self, log_probs: Floats, sentence: Ints, left: Ints, right: Ints
    ) -> Floats:
        assert self._cover is not None
        columns = self._columns
        inside = (columns > left[:, None]) & (columns < right[:, None])
        cover = np.where(inside, self._cover[sentence], FAR)
        legal = cover == cover.min(axis=1, keepdims=True)
        row = np.arange(len(left))
        forced = self._forced[sentence, left] == right
        legal[forced] = False
        if self.stops:
            legal[row, right] = forced | (right < self._limit[sentence, left])
        masked = np.where(legal, np.maximum(log_probs, LOWEST), -np.inf)
        masked[row[forced], right[forced]] = 0.0
        return masked


class Recall:
    """The answers about the spans of a batch, a row each: none is asked about twice."""

    def __init__(self, ask: Ask, lengths: Ints) -> None:
        self.ask, self.lengths = ask, lengths
        width = int(lengths.max(initial=0)) + 1
        self.index = np.full((len(lengths), width, width), -1, np.intp)
        self._size = 0
        self._spans, self._scores = np.zeros((0, 3), np.intp), np.zeros((0, width), np.float32)

    def __call__(self, sentence: Ints, left: Ints, right: Ints) -> Floats:
        """The answers about spans."""
        numbers = self.number(sentence, left, right)
        return self._scores[numbers]

    def number(self, sentence: Ints, left: Ints, right: Ints) -> Ints:
        """Where the answers about spans are; those that are new are asked about."""
        unknown = self.index[sentence, left, right] < 0
        if unknown.any():
            spans = sentence[unknown], left[unknown], right[unknown]
            new = np.unique(np.ravel_multi_index(spans, self.index.shape))
            self._ask(self.ask, *np.unravel_index(new, self.index.shape))
        found: Ints = self.index[sentence, left, right]
        return found

    def kept(self, ask: Ask) -> Ask:
        """What asks about spans that are all new, and keeps the answers."""
        return lambda *spans: self._ask(ask, *spans)

    def _ask(self, ask: Ask, *spans: Ints) -> Floats:
        answers, start = ask(*spans), self._size
        self._size = end = start + len(answers)
        if not start:
            self._scores = np.zeros((0, answers.shape[1]), answers.dtype)
        if end > len(self._scores):
            more = ((0, 2 * end - len(self._scores)), (0, 0))
            self._spans, self._scores = np.pad(self._spans, more), np.pad(self._scores, more)
        self._spans[start:end] = np.stack(spans, axis=1)
        self._scores[start:end] = answers
        self.index[spans] = np.arange(start, end)
        return answers

    @property
    def spans(self) -> Ints:
        """The sentence, the left and the right end of each span that is known."""
        return self._spans[: self._size]

    @property
    def scores(self) -> Floats:
        """The answers."""
        return self._scores[: self._size]
