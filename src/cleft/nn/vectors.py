"""Pretrained word vectors to begin with, from a text, .npy or .safetensors file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from cleft import files
from cleft.arrays import map_matrix
from cleft.errors import InputError, Place
from cleft.nn.network import Network
from cleft.nn.vocab import Vocabulary

__all__ = ["read_vectors", "start_from"]

Vector = npt.NDArray[np.float32]


def read_vectors(path: str | Path, size: int) -> dict[str, Vector]:
    """Vectors by word in the order of the file; where a word repeats, the first counts.

    Words are lower-cased, as the network reads them.
    """
    file = Path(path).expanduser()
    if file.suffix in (".npy", ".safetensors"):
        return _read_table(file, size)
    found: dict[str, Vector] = {}
    for number, line in enumerate(files.lines(file), start=1):
        word, *values = line.rstrip("\n").rsplit(" ", size)
        if number == 1 and len(line.split()) == 2:
            continue  # a header: how many words, how many numbers
        try:
            vector = np.array(values, dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        if len(vector) != size or not word:
            raise InputError(
                f"expected a word and {size} numbers, found {line[:40]!r}",
                where=Place(file, number),
                hint="network.word_size must be the size of the vectors",
            )
        found.setdefault(word.lower(), vector)
    return found


def _read_table(file: Path, size: int) -> dict[str, Vector]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        if file.suffix == ".npy":
            table = map_matrix(file)
        else:
            (table,) = load_file(file).values()
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise InputError(f"expected one table of vectors: {error}", where=str(file)) from error
    words = [line.rstrip("\n") for line in files.lines(file.with_suffix(".txt"))]
    if table.shape != (len(words), size):
        raise InputError(
            f"expected a table of {len(words)} words × {size}, found {table.shape}",
            where=str(file),
            hint="the .txt file beside it has one word a line; network.word_size is the width",
        )
    found: dict[str, Vector] = {}
    for word, vector in zip(words, table.astype(np.float32), strict=True):
        found.setdefault(word.lower(), vector)
    return found


@torch.no_grad()
def start_from(network: Network, vocabulary: Vocabulary, vectors: dict[str, Vector]) -> None:
    """Put vectors into the word embedding, scaled to the deviation of a random one."""
    embedding = network.encoder.words
    if embedding is None or not vectors:
        return
    scale = float(np.std(np.stack(list(vectors.values())[:50_000]))) or 1.0
    for number, word in enumerate(vocabulary.words):
        if word in vectors:
            embedding.weight[number] = torch.from_numpy(vectors[word] / scale)
