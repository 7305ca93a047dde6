"""Documents as a network takes them: the vectors that a finished model gives their sentences.

The model stays as it is: its own trees do not change when a head for documents
is learnt over it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from cleft.models import model_path
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Featuriser, Inputs, Vocabulary
from cleft.runtime import ModelDirectory, OnnxScorer
from cleft.runtime.batches import firsts
from cleft.runtime.units import Unit, sentence_vectors, text_marks
from cleft.search.scorer import Floats

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
        self._known: dict[tuple[str, ...], Floats] = {}  # the boundaries of sentences

    @property
    def size(self) -> int:
        """The size of a sentence's vector."""
        return len(self._vectors([Unit(("a",))])[0])

    def __call__(self, documents: Sequence[Sequence[Unit]]) -> Inputs:  # type: ignore[override]
        """The tensors of a batch of documents that have a sentence each."""
        lengths = np.array([len(units) for units in documents], dtype=np.int64)
        rows = [np.concatenate([self._vectors(units), text_marks(units)], 1) for units in documents]
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

    def _vectors(self, units: Sequence[Unit]) -> Floats:
        whole = [unit.sentence or unit.words for unit in units]
        new = sorted({words for words in whole if words not in self._known}, key=len)
        if new:
            encoded = self.scorer.encode(new)
            rows = np.split(encoded.boundaries, firsts(encoded.lengths)[1:])
            self._known.update(zip(new, rows, strict=True))
        found = [
            self._known[words][unit.start : unit.start + len(unit) + 1]
            for unit, words in zip(units, whole, strict=True)
        ]
        return sentence_vectors(np.concatenate(found), list(map(len, units)))
