"""Sentences as the tensors that an encoder takes.

Position 0 of a sentence is its begin mark, positions 1..n its tokens, n+1 its
end mark. Characters and pieces are looked up once for each different word of
a batch; pieces come in windows that a transformer can read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cleft.nn.config import NetworkConfig
from cleft.nn.vocab import BEGIN, END, PAD, UNKNOWN, Vocabulary
from cleft.runtime import wordpiece as runtime
from cleft.runtime.words import casing, plain_form

__all__ = ["Featuriser", "Inputs", "Windows", "WordPieces", "make_windows"]


Numbers = npt.NDArray[np.int64]


class Marks(Protocol):
    """The marks that frame a window, and the longest window, marks included."""

    begin: int
    end: int
    pad: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Windows of pieces, and where each word's pieces stand in them."""

    ids: Tensor  # (windows, width)
    mask: Tensor  # (windows, width), 1 where there is a piece
    source: Tensor  # (pieces): position in the flattened windows
    target: Tensor  # (pieces): position in the flattened sentences (batch, n + 2)
    share: Tensor  # (pieces): one over the number of pieces of the word

    def to(self, device: torch.device) -> Windows:
        """The same on a device."""
        return Windows(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def make_windows(
    kinds: Numbers, lengths: Numbers, pieces: Sequence[Sequence[int]], marks: Marks
) -> Windows:
    """The windows of a batch; `kinds` says which entry of `pieces` stands at a position."""
    words = [
        [pieces[kind] for kind in row[1 : length + 1]]
        for row, length in zip(kinds, lengths, strict=True)
    ]
    found = runtime.make_windows(words, marks.begin, marks.end, marks.pad, marks.limit)
    width = kinds.shape[1]
    units = [row * width + np.arange(length + 2) for row, length in enumerate(lengths)]
    mask = np.arange(found.ids.shape[1]) < found.lengths[:, None]
    return Windows(
        ids=torch.from_numpy(found.ids),
        mask=torch.from_numpy(mask.astype(np.int64)),
        source=torch.from_numpy(found.source),
        target=torch.from_numpy(np.repeat(np.concatenate(units), found.sizes)),
        share=torch.from_numpy(np.repeat(1 / found.sizes, found.sizes).astype(np.float32)),
    )


class WordPieces(Protocol):
    """What a transformer's tokenizer has to offer."""

    begin: int
    end: int
    pad: int
    limit: int

    def pieces(self, word: str) -> list[int]:
        """The pieces of one word, at least one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """A batch of sentences; what an encoder does not need is None."""

    lengths: Tensor  # (batch)
    words: Tensor  # (batch, n + 2)
    kinds: Tensor  # (batch, n + 2): which different word stands here
    chars: Tensor  # (different words, characters)
    casings: Tensor  # (batch, n + 2)
    windows: Windows | None = None
    vectors: Tensor | None = None  # (batch, n + 2, size): of sentences, in place of words

    def to(self, device: torch.device) -> Inputs:
        """The same on a device."""
        moved = {
            field.name: value.to(device)
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }
        return replace(self, **moved)


class Featuriser:
    """Turns sentences into `Inputs` for one vocabulary and configuration."""

    def __init__(
        self, config: NetworkConfig, vocabulary: Vocabulary, pieces: WordPieces | None = None
    ) -> None:
        self.config = config
        self.vocabulary = vocabulary
        self.pieces = pieces
        self._form: Callable[[str], str] = plain_form if config.forms == "plain" else str

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Inputs:
        """The tensors of a batch of non-empty sentences."""
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        numbers: dict[str, int] = {}
        kinds = np.zeros((len(sentences), lengths.max() + 2), dtype=np.int64)
        for row, sentence in enumerate(sentences):
            marks = [numbers.setdefault(word, len(numbers) + 3) for word in sentence]
            kinds[row, : len(marks) + 2] = [1, *marks, 2]
        different = list(map(self._form, numbers))
        word_ids = [PAD, BEGIN, END, *map(self.vocabulary.word_id, different)]
        casings = [0, 0, 0, *map(casing, different)]
        windows = None
        if self.pieces is not None:
            windows = make_windows(kinds, lengths, self._pieces(different), self.pieces)
        return Inputs(
            lengths=torch.from_numpy(lengths),
            words=torch.from_numpy(np.array(word_ids)[kinds]),
            kinds=torch.from_numpy(kinds),
            chars=torch.from_numpy(self._chars(different)),
            casings=torch.from_numpy(np.array(casings)[kinds]),
            windows=windows,
        )

    def _chars(self, different: list[str]) -> np.ndarray:
        limit = self.config.char_limit
        rows = [[UNKNOWN], [BEGIN], [END]]
        rows += [self.vocabulary.char_ids(word, limit) for word in different]
        table = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return table

    def _pieces(self, different: list[str]) -> list[list[int]]:
        assert self.pieces is not None
        return [[], [], [], *map(self.pieces.pieces, different)]
