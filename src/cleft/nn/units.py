"""The encoder of documents: from the vectors of sentences to the boundaries between them.

The vectors are those of a finished model, which stays as it is: its own trees
do not change when a head for documents is learnt over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.models import model_path
from cleft.nn.config import NetworkConfig
from cleft.nn.encoders import Encoding
from cleft.nn.features import Featuriser, Inputs
from cleft.nn.layers import BiLstm, SharedDropout, real_positions
from cleft.nn.vocab import Vocabulary
from cleft.runtime import ModelDirectory, OnnxScorer
from cleft.runtime.units import MARKS, PARTS, Unit, sentence_vectors, text_marks
from cleft.search.scorer import Floats

__all__ = ["SentenceEncoder", "UnitFeaturiser", "frozen_sums"]

OWN = (".onnx", ".npy", ".txt", ".json")
"""Endings of the files that decide what a model's encoder says."""


def frozen_sums(directory: ModelDirectory) -> dict[str, str]:
    """The checksums, by name, of the files that decide the vectors of a model's sentences."""
    heads = tuple(f"{task}-" for task in directory.manifest.tasks)
    others = ("config.json", "tags.onnx")
    return {
        name: known
        for name, known in directory.sums.items()
        if name.endswith(OWN) and not name.startswith(heads) and name not in others
    }


class UnitFeaturiser(Featuriser):
    """Turns documents, each a list of `Unit`, into `Inputs`; every sentence is encoded once."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config, Vocabulary())
        self.directory = ModelDirectory(model_path(config.model))
        self.scorer = OnnxScorer(self.directory)
        self._known: dict[tuple[str, ...], Floats] = {}

    @property
    def size(self) -> int:
        """The size of a sentence's vector."""
        return len(self._vectors([("a",)])[0])

    def __call__(self, documents: Sequence[Sequence[Unit]]) -> Inputs:  # type: ignore[override]
        """The tensors of a batch of documents that have a sentence each."""
        lengths = np.array([len(units) for units in documents], dtype=np.int64)
        rows = [
            np.concatenate([self._vectors([u.words for u in units]), text_marks(units)], 1)
            for units in documents
        ]
        vectors = np.zeros((len(rows), lengths.max() + 2, rows[0].shape[1]), np.float32)
        for number, row in enumerate(rows):
            vectors[number, 1 : len(row) + 1] = row
        blank = torch.zeros(vectors.shape[:2], dtype=torch.int64)
        return Inputs(
            lengths=torch.from_numpy(lengths),
            words=blank,
            kinds=blank,
            chars=blank[:1, :1],
            casings=blank,
            vectors=torch.from_numpy(vectors),
        )

    def _vectors(self, sentences: Sequence[tuple[str, ...]]) -> Floats:
        new = sorted({words for words in sentences if words not in self._known}, key=len)
        if new:
            encoded = self.scorer.encode(new)
            found = sentence_vectors(encoded.boundaries, encoded.lengths)
            self._known.update(zip(new, found, strict=True))
        return np.stack([self._known[words] for words in sentences])


class SentenceEncoder(nn.Module):
    """A BiLSTM over sentences: what a model says of them, mapped, and what the text shows.

    A boundary also sees the marks of both its neighbours as they are.
    """

    def __init__(self, config: NetworkConfig, size: int) -> None:
        super().__init__()
        self.config = config
        self.shown = len(MARKS)
        self.map = nn.Linear(size, config.word_size)
        self.edges = nn.Parameter(torch.zeros(2, config.word_size + self.shown))
        self.layers = nn.ModuleList()
        width = config.word_size + self.shown
        for _ in range(config.encoder_layers):
            self.layers.append(BiLstm(width, config.encoder_hidden, config.recurrent_dropout))
            width = 2 * config.encoder_hidden
        self.inner = nn.Dropout(config.embed_dropout)
        self.dropout = SharedDropout(config.encoder_dropout)
        self.size = width + 2 * self.shown
        self.summary = width

    def lstms(self) -> list[BiLstm]:
        """The layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, BiLstm)]

    def normalised(self, vectors: Tensor) -> Tensor:
        """Each part of sentences' vectors with mean 0 and deviation 1."""
        parts = vectors.view(*vectors.shape[:-1], PARTS, -1)
        return functional.layer_norm(parts, parts.shape[-1:]).view_as(vectors)

    def forward(self, inputs: Inputs) -> Encoding:
        """Encode a batch."""
        assert inputs.vectors is not None
        vectors = inputs.vectors[..., : -self.shown].contiguous()
        marks = inputs.vectors[..., -self.shown :]
        x = functional.leaky_relu(self.map(self.inner(self.normalised(vectors))), 0.1)
        x = torch.cat([self.dropout(x), marks], -1)  # (batch, n + 2, size)
        places = torch.arange(x.shape[1], device=x.device)
        last = (places == inputs.lengths.unsqueeze(1) + 1).unsqueeze(-1)
        x = torch.where(
            last, self.edges[1], torch.where(places.view(1, -1, 1) == 0, self.edges[0], x)
        )
        mask = real_positions(inputs.lengths + 2, x.shape[1])
        summary = x[:, 0]
        for number, layer in enumerate(self.layers):
            x, summary = layer(self.dropout(x) if number else x, mask)
        x = self.dropout(x)
        half = x.shape[-1] // 2
        sides = [x[:, :-1, :half], x[:, 1:, half:], marks[:, :-1], marks[:, 1:]]
        mask = real_positions(inputs.lengths + 1, x.shape[1] - 1)
        return Encoding(boundaries=torch.cat(sides, -1), mask=mask, summary=summary)
