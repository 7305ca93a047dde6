"""The one seam between networks and search.

A scorer turns sentences into encodings and answers the search's questions
about them: where to split these spans, what to call them. There are two:
PyTorch (training, evaluation while training, GPU) and ONNX Runtime (what
users run). The search knows neither.

A *row* is one hypothesis that asks one question; `rows` gives, for each, the
index of its sentence in the batch. The state holds one row a hypothesis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cleft.search.grammar import Grammar

__all__ = ["Encoded", "Floats", "Ints", "Scorer", "State"]

Floats = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.intp]


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

    def encode(self, sentences: Sequence[Sequence[str]]) -> Encoded:
        """Encode a batch of tokenised, non-empty sentences."""
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
