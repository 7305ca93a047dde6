"""The whole network: one encoder, a head for each task, a part-of-speech head if asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.batches import Batch
from cleft.nn.chart import GoldSpans, chart_labels, explore_loss
from cleft.nn.config import NetworkConfig
from cleft.nn.encoders import Encoder, Encoding
from cleft.nn.heads import Boundaries, SpanLabels, SplitHead
from cleft.nn.layers import Mlp
from cleft.nn.vocab import Vocabulary

__all__ = ["Losses", "Network", "Tagger"]

Losses = dict[str, tuple[Tensor, int]]
"""The terms of a loss: the sum of each and how many things it is a sum over."""


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

    def __init__(
        self, config: NetworkConfig, vocabulary: Vocabulary, transformer: Any = None
    ) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config, vocabulary, transformer)
        size = self.encoder.size
        self.heads = nn.ModuleDict()
        for task in config.tasks:
            labels = max(1, len(vocabulary.labels.get(task, ())))
            self.heads[task] = SplitHead(size, size, labels, config, task=config.task(task))
        self.tagger = Tagger(size, len(vocabulary.tags), config) if config.tags else None

    def head(self, task: str) -> SplitHead:
        """The head of a task."""
        head = self.heads[task]
        assert isinstance(head, SplitHead)
        return head

    def forward(self, ask: Callable[[], Batch], explore: float = 0.0) -> Losses:
        """The terms of the loss of the batch that `ask` returns.

        Fabric copies a dataclass tensor by tensor, or refuses it; a function
        it passes on as it is.
        """
        return self.losses(ask(), explore)

    def losses(self, batch: Batch, explore: float = 0.0) -> Losses:
        """The terms of the loss of a batch of one task's gold trees.

        `explore` wrong spans are learnt from for every right one.
        """
        encoding: Encoding = self.encoder(batch.inputs)
        head = self.head(batch.task)
        known: Boundaries = head(encoding)
        scores = head.scores(known, batch.left, batch.right)
        count = batch.counts["split"]
        losses: Losses = {"split": (_cross_entropy(scores, batch.split), count)}
        left, right = head.labels.remember(encoding.boundaries)
        losses["label"] = (self._label_loss(head, left, right, batch), batch.counts["label"])
        if self.tagger is not None and batch.tags is not None:
            tags = self.tagger(encoding.boundaries)
            losses["tag"] = (_cross_entropy(tags, batch.tags), batch.counts["tag"])
        if known.marks is not None and batch.edus is not None:
            losses["edu"] = (_binary(known.marks, batch.edus), batch.counts["edu"])
        if known.spans is not None:
            gold = GoldSpans.of(batch, stops=head.stops)
            losses["span"] = (gold.loss(known.spans), count)
            if explore:
                losses["explore"] = (explore_loss(head, known, gold, explore), count)
        return losses

    @staticmethod
    def _label_loss(head: SplitHead, left: Tensor, right: Tensor, batch: Batch) -> Tensor:
        """The summed loss of the gold labels; with `none`, of all spans' labels."""
        labels = head.labels
        if not isinstance(labels, SpanLabels) or labels.none is None:
            return _cross_entropy(labels(left, right, batch.rows, batch.items), batch.labels)
        targets = chart_labels(batch, labels.none)
        return _cross_entropy(labels.chart(left, right)[targets >= 0], targets[targets >= 0])


def _cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """The summed cross-entropy where the target is not negative."""
    flat = scores.reshape(-1, scores.shape[-1])
    flat = flat.to(torch.promote_types(flat.dtype, torch.float32))
    return functional.cross_entropy(flat, targets.reshape(-1), ignore_index=-1, reduction="sum")


def _binary(logits: Tensor, targets: Tensor) -> Tensor:
    known = targets >= 0
    losses = functional.binary_cross_entropy_with_logits(
        logits, targets.clamp(min=0).to(logits.dtype), reduction="none"
    )
    return (losses * known).sum()
