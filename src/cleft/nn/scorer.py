"""The Scorer on PyTorch: what the search asks, answered by a network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from cleft.errors import UsageError
from cleft.evidence import TaskCalibration
from cleft.nn.features import Featuriser, Vocabulary
from cleft.nn.heads import Memory
from cleft.nn.network import Encoding, Network
from cleft.runtime import Manifest
from cleft.search.scorer import Encoded, Floats, Ints, State

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class TorchEncoded:
    """A batch of encoded sentences; each head's memory is made when first asked for."""

    lengths: Sequence[int]
    encoding: Encoding
    memories: dict[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True)
class TorchState:
    """The decoder's states, (rows, layers, hidden) each."""

    hidden: Tensor
    cell: Tensor


class TorchScorer:
    """A network as a `cleft.search.scorer.Scorer`, which `Parser` takes too.

    It puts the network into evaluation mode for each call and leaves it in
    the mode it was in.
    """

    def __init__(self, network: Network, vocabulary: Vocabulary, featurise: Featuriser) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.featurise = featurise

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @cached_property
    def manifest(self) -> Manifest:
        """What the model is, as far as its network knows."""
        config, vocabulary = self.network.config, self.vocabulary
        return Manifest(
            tasks=config.tasks,
            labels={task: vocabulary.labels[task] for task in config.tasks},
            tags=vocabulary.tags if config.tags else (),
            branching=config.branching,
            dummy=config.dummy,
            decoder_layers=config.decoder_layers,
            history=config.history,
            pointer_range=config.pointer_range,
            forms=config.forms,
            has_bilstm=config.has_bilstm,
        )

    def encode(self, sentences: Sequence[Sequence[Any]]) -> TorchEncoded:
        """Encode a batch of tokenised, non-empty sentences."""
        inputs = self.featurise(sentences).to(self.device)
        with _evaluating(self.network):
            encoding = self.network.encoder(inputs)
        return TorchEncoded(lengths=[len(s) for s in sentences], encoding=encoding)

    def _memory(self, encoded: Encoded, task: str) -> Memory:
        encoded = _own(encoded, TorchEncoded)
        if task not in encoded.memories:
            with _evaluating(self.network):
                encoded.memories[task] = self.network.head(task).remember(encoded.encoding)
        return encoded.memories[task]

    def stateless(self, task: str) -> bool:
        """Whether a span's split needs no history."""
        return not self.network.config.history

    def start(self, encoded: Encoded, task: str) -> TorchState:
        """The state before the first split: one row a sentence."""
        memory = self._memory(encoded, task)
        return TorchState(*memory.start)

    def split(
        self, encoded: Encoded, task: str, rows: Ints, spans: Ints, state: State
    ) -> tuple[Floats, TorchState]:
        """Log-probabilities over all boundaries, and the state after the step."""
        memory, state = self._memory(encoded, task), _own(state, TorchState)
        with _evaluating(self.network):
            log_probs, after = self.network.head(task).step(
                memory, self._numbers(rows), self._numbers(spans), (state.hidden, state.cell)
            )
        return _numpy(log_probs), TorchState(*after)

    def select(self, state: State, rows: Ints) -> TorchState:
        """The state with these rows only, in this order."""
        chosen, state = self._numbers(rows), _own(state, TorchState)
        return TorchState(state.hidden[chosen], state.cell[chosen])

    def label(self, encoded: Encoded, task: str, rows: Ints, items: Ints) -> Floats:
        """Log-probabilities over the task's labels."""
        memory = self._memory(encoded, task)
        head = self.network.head(task)
        with _evaluating(self.network):
            scores = head.labels(
                memory.label_left, memory.label_right, self._numbers(rows), self._numbers(items)
            )
            log_probs = torch.log_softmax(scores, -1)
        # The last column is the chance that a span is no node at all: no label.
        return _numpy(log_probs[:, : head.labels.count])

    def labels(self, task: str) -> Sequence[str]:
        """The names of the task's labels."""
        return self.vocabulary.labels[task]

    def marks(self, encoded: Encoded, task: str) -> Floats | None:
        """The chance that an EDU ends at each boundary, if a head marks them."""
        encoding = _own(encoded, TorchEncoded).encoding
        with _evaluating(self.network):
            logits, _ = self.network.head(task).marks(encoding)
            return None if logits is None else _numpy(torch.sigmoid(logits) * encoding.mask)

    def tags(self, encoded: Encoded) -> Floats | None:
        """Log-probabilities over parts of speech of all tokens of the batch, if there is a head."""
        tagger = self.network.tagger
        if tagger is None:
            return None
        with _evaluating(self.network):
            encoding = _own(encoded, TorchEncoded).encoding
            scores = torch.log_softmax(tagger(encoding.boundaries), -1)
        return _numpy(scores[encoding.mask[:, 1:]])

    def tag_names(self) -> Sequence[str]:
        """The names of the parts of speech."""
        return self.vocabulary.tags

    def grammar(self, task: str) -> None:
        """What pairs cost is counted at export; a network in training does not know."""
        return

    def calibration(self, task: str) -> TaskCalibration:
        """It is fitted at export: until then probabilities are the network's own."""
        return TaskCalibration()

    def _numbers(self, values: Ints) -> Tensor:
        # A view that runs backwards has to be copied.
        whole = np.ascontiguousarray(values, dtype=np.int64)
        return torch.from_numpy(whole).to(self.device)


def _own(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise UsageError(
            f"expected a {kind.__name__}, found a {type(value).__name__}",
            hint="give a scorer what it made itself",
        )
    return value


def _numpy(values: Tensor) -> Floats:
    array: Floats = values.to(torch.promote_types(values.dtype, torch.float32)).cpu().numpy()
    return array


@contextmanager
def _evaluating(network: Network) -> Iterator[None]:
    """Evaluation mode without gradients, for the length of a block."""
    was = network.training
    if was:
        network.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        if was:
            network.train()
