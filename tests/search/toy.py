"""A scorer small enough to trust, and every tree of a sentence scored by it one by one.

The network is a random recurrent one in float64: each split's distribution
depends on all splits before it. Rows are computed so that neither the batch
nor its padding can change a single bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pytest
from hypothesis import strategies as st

from cleft.evidence import TaskCalibration
from cleft.search.labels import Grammar
from cleft.search.scorer import Floats, Ints
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX

SIZE = 6
SYNTAX_LABELS = ("NP", "∅", "VP", "S+VP", "∅NP", "S")
DISCOURSE_LABELS = ("cause_NS", "joint_NN", "contrast_SN")
TAGS = ("DT", "NN", "VB")


@dataclass
class ToyEncoded:
    boundaries: list[Floats]  # one (n + 1, SIZE) a sentence
    tokens: list[Floats]

    @property
    def lengths(self) -> list[int]:
        return [len(vectors) for vectors in self.tokens]


def times(vectors: Floats, matrix: Floats) -> Floats:
    """A product whose rows do not depend on how many there are, as BLAS's may."""
    return (vectors[:, None, :] * matrix).sum(axis=2)


def log_softmax(scores: Floats) -> Floats:
    scores = scores - scores.max()
    return scores - np.log(np.exp(scores).sum())


class ToyScorer:
    """A random model.

    `sharpness` makes it sure of itself; `sense` makes it prefer legal splits,
    as training would; without `tag_head` it knows no parts of speech; if `marked`, it marks
    the boundaries of EDUs; without `history` a span is split as if nothing had been before.
    """

    def __init__(
        self,
        seed: int = 0,
        sharpness: float = 2.0,
        sense: float = 0.0,
        tag_head: bool = True,
        marked: bool = False,
        history: bool = True,
    ):
        self.seed, self.sharpness, self.sense, self.tag_head = seed, sharpness, sense, tag_head
        self.marked, self.history = marked, history
        make = np.random.default_rng(seed).normal
        self.recur, self.from_left, self.from_right = make(size=(3, SIZE, SIZE))
        self.first = {"syntax": make(size=SIZE), "discourse": make(size=SIZE)}
        self.label_weights = {
            "syntax": make(size=(len(SYNTAX_LABELS), 2 * SIZE)),
            "discourse": make(size=(len(DISCOURSE_LABELS), 3 * SIZE)),
        }
        self.tag_weights = make(size=(len(TAGS), SIZE))
        self.mark_weights = make(size=(1, SIZE))
        self.costs: Grammar | None = None
        self.calibrations: dict[str, TaskCalibration] = {}
        self.asked: list[tuple[str, int]] = []

    def encode(self, sentences: Sequence[Sequence[str]]) -> ToyEncoded:
        assert all(sentences), "the search must not encode empty sentences"
        self.asked.append(("encode", len(sentences)))
        tokens = [np.array([self._word(word) for word in words]) for words in sentences]
        boundaries = []
        for vectors in tokens:
            edge = np.ones((1, SIZE))
            before, after = np.vstack([edge, vectors]), np.vstack([vectors, edge])
            place = np.sin(np.arange(len(vectors) + 1))[:, None]
            boundaries.append(np.tanh(before - np.roll(after, 1, axis=1) + place))
        return ToyEncoded(boundaries, tokens)

    def _word(self, word: str) -> Floats:
        return np.random.default_rng([self.seed, crc32(word.encode())]).normal(size=SIZE)

    def stateless(self, task: str) -> bool:
        return not self.history

    def start(self, encoded: ToyEncoded, task: str) -> Floats:
        ends = np.array([vectors[-1] for vectors in encoded.boundaries])
        return np.tanh(ends.reshape(-1, SIZE) + self.first[task])

    def split(
        self, encoded: ToyEncoded, task: str, rows: Ints, spans: Ints, state: Floats
    ) -> tuple[Floats, Floats]:
        assert len(rows) == len(spans) > 0
        if not self.history:
            state = np.zeros((len(rows), SIZE))
        assert len(state) == len(rows)
        self.asked.append(("split", len(rows)))
        left = np.array([encoded.boundaries[r][i] for r, i in zip(rows, spans[:, 0], strict=True)])
        right = np.array([encoded.boundaries[r][j] for r, j in zip(rows, spans[:, 1], strict=True)])
        state = np.tanh(
            times(state, self.recur) + times(left, self.from_left) + times(right, self.from_right)
        )
        log_probs = np.full((len(rows), max(encoded.lengths) + 1), -np.inf)
        for line, row, span, query in zip(log_probs, rows, spans, state, strict=True):
            scores = self.sharpness * (encoded.boundaries[row] * query).sum(axis=1)
            scores[span[0] + 1 : span[1] + (task == "discourse")] += self.sense
            line[: len(scores)] = log_softmax(scores)
        return log_probs, state

    def select(self, state: Floats, rows: Ints) -> Floats:
        self.asked.append(("select", len(rows)))
        return state[rows]

    def label(self, encoded: ToyEncoded, task: str, rows: Ints, items: Ints) -> Floats:
        self.asked.append(("label", len(rows)))
        lines = []
        for row, item in zip(rows, items, strict=True):
            features = encoded.boundaries[row][item].ravel()
            lines.append(log_softmax((self.label_weights[task] * features).sum(axis=1)))
        return np.array(lines)

    def labels(self, task: str) -> Sequence[str]:
        return SYNTAX_LABELS if task == "syntax" else DISCOURSE_LABELS

    def tags(self, encoded: ToyEncoded) -> Floats | None:
        if not self.tag_head:
            return None
        tokens = np.concatenate(encoded.tokens)
        return np.array([log_softmax(line) for line in times(tokens, self.tag_weights)])

    def marks(self, encoded: ToyEncoded, task: str) -> Floats | None:
        if not self.marked:
            return None
        found = np.zeros((len(encoded.lengths), max(encoded.lengths) + 1))
        for line, vectors in zip(found, encoded.boundaries, strict=True):
            line[: len(vectors)] = 1 / (1 + np.exp(-times(vectors, self.mark_weights)[:, 0]))
        return found

    def tag_names(self) -> Sequence[str]:
        return TAGS

    def grammar(self, task: str) -> Grammar | None:
        return self.costs if task == "syntax" else None

    def calibration(self, task: str) -> TaskCalibration:
        return self.calibrations.get(task, TaskCalibration())


def sentence(length: int, first: int = 0) -> list[str]:
    """A sentence of so many invented words."""
    return [f"word{(7 * first + 3 * place) % 11}" for place in range(length)]


def marked(log_probs: Floats, marks: Floats, span: Span) -> Floats:
    """What a step's boundaries are worth if EDUs are marked, by the definition."""
    inner = range(span.left + 1, span.right)
    stop = float(np.prod([1 - marks[k] for k in inner]))
    pointed = {k: np.exp(log_probs[k]) * marks[k] for k in inner}
    found = np.full((1, len(log_probs)), -np.inf)
    for k, chance in pointed.items():
        found[0, k] = np.log((1 - stop) * chance / sum(pointed.values()))
    found[0, span.right] = np.log(stop)
    return found


def every_tree(
    scorer: ToyScorer,
    words: Sequence[str],
    task: str,
    free_stops: bool = False,
    breadth_first: bool = False,
) -> Iterator[tuple[tuple[Split, ...], float]]:
    """All derivations of a sentence with their split log-probabilities, by plain recursion.

    With `free_stops` the decoder is fed with stops but they are not scored;
    with `breadth_first` the span that has waited longest is split next.
    """
    encoded = scorer.encode([words])

    def expand(
        stack: list[Span], state: Floats, done: tuple[Split, ...], total: float
    ) -> Iterator[tuple[tuple[Split, ...], float]]:
        if not stack:
            yield done, total
            return
        (*rest, span) = stack if not breadth_first else stack[::-1]
        log_probs, after = scorer.split(
            encoded, task, np.array([0]), np.array([[span.left, span.right]]), state
        )
        if scorer.marked and task == "discourse":
            log_probs = marked(log_probs[0], scorer.marks(encoded, task)[0], span)
        for k in range(span.left + 1, span.right + (task == "discourse")):
            halves = [] if k == span.right else [Span(k, span.right), Span(span.left, k)]
            wide = [half for half in halves if half.width > 1]
            todo = [*rest[::-1], *wide[::-1]] if breadth_first else [*rest, *wide]
            split = Split(span.left, k, span.right)
            gain = 0.0 if free_stops and split.is_stop else float(log_probs[0, k])
            yield from expand(todo, after, (*done, split), total + gain)

    whole = [Span(0, len(words))] if len(words) > 1 else []
    yield from expand(whole, scorer.start(encoded, task), (), 0.0)


# ---------------------------------------------------------------- what tests run over

TASKS = pytest.mark.parametrize("task", [SYNTAX, DISCOURSE], ids=lambda task: task.name)
tasks = st.sampled_from([SYNTAX, DISCOURSE])
batches = st.lists(
    st.builds(sentence, st.integers(1, 12), st.integers(0, 9)), min_size=1, max_size=6
)
