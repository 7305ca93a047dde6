"""The whole network: one encoder, a head for each task, heads for words if asked.

The encoder `lstm` reads word and character embeddings; `transformer` reads a
Hugging Face encoder, under a BiLSTM or by itself. Both give one vector a boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.config import NetworkConfig
from cleft.nn.features import PAD, Inputs, Vocabulary
from cleft.nn.heads import SplitHead
from cleft.nn.layers import Biaffine, BiLstm, Mlp, SharedDropout, real_positions, token_dropout
from cleft.nn.transformer import Transformer
from cleft.runtime.units import MARKS, PARTS
from cleft.runtime.words import CASINGS


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A batch of encoded sentences."""

    boundaries: Tensor  # (batch, n + 1, size)
    mask: Tensor  # (batch, n + 1), true at the boundaries of the sentence
    summary: Tensor  # (batch, size): what the decoder starts from


class CharEncoder(nn.Module):
    """A word's vector from its characters: both ends of a BiLSTM."""

    def __init__(self, config: NetworkConfig, chars: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(chars, config.char_size, padding_idx=PAD)
        self.lstm = BiLstm(config.char_size, config.char_hidden)
        self.size = 2 * config.char_hidden

    def forward(self, inputs: Inputs) -> Tensor:
        """Vectors (batch, n + 2, 2·hidden), each different word read once."""
        mask = inputs.chars != PAD
        states, _ = self.lstm(self.embedding(inputs.chars), mask)
        half = self.size // 2
        last = (mask.sum(1) - 1).view(-1, 1, 1).expand(-1, 1, half)
        ahead = states[..., :half].gather(1, last).squeeze(1)
        table = torch.cat([ahead, states[:, 0, half:]], dim=-1)
        return nn.functional.embedding(inputs.kinds, table)


class ContextEncoder(nn.Module):
    """A word's vector from a transformer, told of casing if asked, mapped to a size if asked."""

    def __init__(self, config: NetworkConfig, model: Any) -> None:
        super().__init__()
        self.transformer = Transformer(config, model)
        full = self.transformer.size
        self.casing = nn.Embedding(len(CASINGS), config.casing_size) if config.casing_size else None
        self.casing_map = nn.Linear(config.casing_size, full) if config.casing_size else None
        self.project = nn.Linear(full, config.transformer_size) if config.has_bilstm else None
        self.size = config.transformer_size if config.has_bilstm else full

    def forward(self, inputs: Inputs) -> Tensor:
        """Vectors (batch, n + 2, size)."""
        assert inputs.windows is not None
        batch, width = inputs.words.shape
        x: Tensor = self.transformer(inputs.windows, (batch, width))
        if self.casing is not None and self.casing_map is not None:
            x = x + self.casing_map(self.casing(inputs.casings))
        if self.project is not None:
            x = self.project(x)
        return x


class Encoder(nn.Module):
    """Sentences to boundaries, as the configuration says."""

    def __init__(
        self, config: NetworkConfig, vocabulary: Vocabulary, transformer: Any = None
    ) -> None:
        super().__init__()
        self.config = config
        size = 0
        self.words = self.chars = self.context = None
        if config.word_size and config.has_bilstm:
            self.words = nn.Embedding(len(vocabulary.words), config.word_size, padding_idx=PAD)
            size += config.word_size
        if config.encoder == "transformer":
            self.context = ContextEncoder(config, transformer)
            size += self.context.size
        elif config.char_size:
            self.chars = CharEncoder(config, len(vocabulary.chars))
            size += self.chars.size
        self.layers = nn.ModuleList()
        for _ in range(config.encoder_layers):
            self.layers.append(BiLstm(size, config.encoder_hidden, config.recurrent_dropout))
            size = 2 * config.encoder_hidden
        self.dropout = SharedDropout(config.encoder_dropout)
        self.size = self.summary = size

    def forward(self, inputs: Inputs) -> Encoding:
        """Encode a batch."""
        parts = [part(inputs) for part in (self.chars, self.context) if part is not None]
        if self.words is not None:
            parts.append(self.words(inputs.words))
        parts = token_dropout(parts, self.config.embed_dropout, self.training)
        x = torch.cat(parts, dim=-1)  # (batch, n + 2, size)
        mask = real_positions(inputs.lengths + 2, x.shape[1])
        summary = x[:, 0]
        for layer in self.layers:
            x, summary = layer(self.dropout(x), mask)
        x = self.dropout(x)
        # The boundary before token k+1 sees all up to k from the left, the rest from the right.
        half = x.shape[-1] // 2
        boundaries = torch.cat([x[:, :-1, :half], x[:, 1:, half:]], dim=-1)
        mask = real_positions(inputs.lengths + 1, boundaries.shape[1])
        return Encoding(boundaries=boundaries, mask=mask, summary=summary)


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


class Tagger(nn.Module):
    """Parts of speech of tokens, from their two boundaries."""

    def __init__(self, size: int, tags: int, config: NetworkConfig) -> None:
        super().__init__()
        self.mlp = Mlp(2 * size, config.tag_size, config.mlp_dropout)
        self.score = nn.Linear(config.tag_size, tags)
        nn.init.orthogonal_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(self, boundaries: Tensor) -> Tensor:
        """Scores (batch, n, tags)."""
        scores: Tensor = self.score(
            self.mlp(torch.cat([boundaries[:, :-1], boundaries[:, 1:]], dim=-1))
        )
        return scores


class WordHeads(nn.Module):
    """Which word each word depends on: a biaffine of both, each seen by its two boundaries."""

    def __init__(self, size: int, config: NetworkConfig) -> None:
        super().__init__()
        width = config.word_heads
        self.word = Mlp(2 * size, width, config.mlp_dropout)
        self.head = Mlp(2 * size, width, config.mlp_dropout)
        self.root = nn.Parameter(torch.zeros(width))
        self.pair = Biaffine(width, 1)

    def forward(self, encoding: Encoding) -> Tensor:
        """Scores (batch, n, n + 1) of the root and of each word as head, -inf beyond the last."""
        words = torch.cat([encoding.boundaries[:, :-1], encoding.boundaries[:, 1:]], dim=-1)
        root = self.root.expand(len(words), 1, -1)
        scores = self.pair.chart(self.word(words), torch.cat([root, self.head(words)], 1))
        # There are as many boundaries as words and the root.
        return scores.squeeze(-1).masked_fill(~encoding.mask.unsqueeze(1), float("-inf"))


class Network(nn.Module):
    """The network of a configuration and a vocabulary."""

    def __init__(self, config: NetworkConfig, vocabulary: Vocabulary, under: Any = None) -> None:
        """`under` is the transformer, or the size of a sentence's vector."""
        super().__init__()
        self.config = config
        self.encoder: Encoder | SentenceEncoder
        if config.encoder == "sentences":
            self.encoder = SentenceEncoder(config, under)
        else:
            self.encoder = Encoder(config, vocabulary, under)
        size, summary = self.encoder.size, self.encoder.summary
        self.heads = nn.ModuleDict()
        for task in config.tasks:
            labels = max(1, len(vocabulary.labels.get(task, ())))
            self.heads[task] = SplitHead(size, summary, labels, config, task=config.task(task))
        self.tagger = Tagger(size, len(vocabulary.tags), config) if config.tags else None
        self.word_heads = WordHeads(size, config) if config.word_heads else None

    @property
    def reader(self) -> Encoder:
        """The encoder, if it reads words."""
        assert isinstance(self.encoder, Encoder)
        return self.encoder

    def head(self, task: str) -> SplitHead:
        """The head of a task."""
        head = self.heads[task]
        assert isinstance(head, SplitHead)
        return head
