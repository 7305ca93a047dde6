"""The whole network: one encoder, a head for each task, a part-of-speech head if asked."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cleft.nn.config import NetworkConfig
from cleft.nn.encoders import Encoder
from cleft.nn.heads import SplitHead
from cleft.nn.layers import Mlp
from cleft.nn.units import SentenceEncoder
from cleft.nn.vocab import Vocabulary

__all__ = ["Network", "Tagger"]


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
