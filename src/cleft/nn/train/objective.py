"""What a network learns from a batch of gold trees.

Besides the decisions on the way of a gold tree there are losses over all spans:

- `GoldSpans.loss`: is this span in the tree?
- `chart_labels`: what is the label of a span, if it has one?
- `explore_loss`: where should a span be split that is not in the tree, but that a
  search may reach by a mistake? Every boundary that divides no gold span inside it is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cleft.nn.checkpoint import trained_tensors
from cleft.nn.heads import Boundaries, SpanLabels, SplitHead
from cleft.nn.network import Encoding, Network
from cleft.nn.train.batches import Alternatives, Batch
from cleft.nn.train.recipe import TrainingConfig

Losses = dict[str, tuple[Tensor, int]]
"""The terms of a loss: the sum of each and how many things it is a sum over."""


class Objective(nn.Module):
    """A network as its trainer sees it: a batch in, the terms of the loss out.

    `explore` wrong spans are learnt from for every right one.
    """

    def __init__(self, network: Network, explore: float = 0.0) -> None:
        super().__init__()
        self.network = network
        self.explore = explore

    def forward(self, ask: Callable[[], Batch]) -> Losses:
        """The terms of the loss of the batch that `ask` returns.

        Fabric copies a dataclass tensor by tensor, or refuses it; a function
        it passes on as it is.
        """
        return self.losses(ask())

    def losses(self, batch: Batch) -> Losses:
        """The terms of the loss of a batch of one task's gold trees."""
        network = self.network
        encoding: Encoding = network.encoder(batch.inputs)
        head = network.head(batch.task)
        known: Boundaries = head(encoding)
        scores = head.scores(known, batch.left, batch.right)
        count = batch.counts["split"]
        others = batch.others
        losses: Losses = {
            "split": (_cross_entropy(scores, batch.split, others.get("split")), count)
        }
        losses["label"] = (_label_loss(head, encoding, batch), batch.counts["label"])
        if network.tagger is not None and batch.tags is not None:
            tags = network.tagger(encoding.boundaries)
            loss = _cross_entropy(tags, batch.tags, others.get("tag"))
            losses["tag"] = (loss, batch.counts["tag"])
        if network.word_heads is not None and batch.heads is not None:
            heads = network.word_heads(encoding)
            losses["head"] = (_cross_entropy(heads, batch.heads), batch.counts["head"])
        if known.marks is not None and batch.edus is not None:
            loss = _binary(known.marks, batch.edus, others.get("edu"))
            losses["edu"] = (loss, batch.counts["edu"])
        if known.spans is not None:
            gold = GoldSpans.of(batch, stops=head.stops)
            losses["span"] = (gold.loss(known.spans), count)
            if self.explore:
                losses["explore"] = (explore_loss(head, known, gold, self.explore), count)
        return losses


def _label_loss(head: SplitHead, encoding: Encoding, batch: Batch) -> Tensor:
    """The summed loss of the gold labels; with `none`, of all spans' labels, by the tree alone."""
    labels = head.labels
    left, right = labels.remember(encoding.boundaries)
    if not isinstance(labels, SpanLabels) or labels.none is None:
        scores = labels(left, right, batch.rows, batch.items)
        return _cross_entropy(scores, batch.labels, batch.others.get("label"))
    targets = chart_labels(batch, labels.none)
    asked = targets >= 0
    return _cross_entropy(labels.chart(left, right)[asked], targets[asked])


def _cross_entropy(scores: Tensor, targets: Tensor, others: Alternatives | None = None) -> Tensor:
    """The summed cross-entropy where the target is not negative.

    A target with other choices has the chance that they leave it.
    """
    flat = scores.reshape(-1, scores.shape[-1])
    flat = flat.to(torch.promote_types(flat.dtype, torch.float32))
    targets = targets.reshape(-1)
    loss = functional.cross_entropy(flat, targets, ignore_index=-1, reduction="sum")
    if others is None:
        return loss
    right = targets[others.places]
    told = flat[others.places]
    # Moving a chance from the target to another choice costs it the difference of their scores.
    gap = told.gather(1, right.clamp(min=0).unsqueeze(1)) - told.gather(1, others.choices[:, None])
    gap = gap.squeeze(1)
    counts = (right >= 0) & gap.isfinite()  # a choice that this network cannot make is -inf
    return loss + (others.chances * gap.masked_fill(~counts, 0.0)).sum()


def _binary(logits: Tensor, targets: Tensor, others: Alternatives | None = None) -> Tensor:
    known = targets >= 0
    chances = targets.clamp(min=0).to(torch.promote_types(logits.dtype, torch.float32))
    if others is not None:
        moved = others.chances.to(chances) * (2 * others.choices - 1)  # towards 1 or towards 0
        chances = chances.flatten().index_add(0, others.places, moved).view_as(targets)
    losses = functional.binary_cross_entropy_with_logits(
        logits.to(chances.dtype), chances, reduction="none"
    )
    return (losses * known).sum()


@dataclass(frozen=True, kw_only=True)
class GoldSpans:
    """The spans of a batch of binary gold trees.

    - `inside` (batch, n + 1, n + 1): true where left < right, both in the sentence
    - `member` (batch, n + 1, n + 1): true for the spans of the tree
    - `leaves` (batch, n + 1): true where a leaf of the tree ends or begins
    """

    inside: Tensor
    member: Tensor
    leaves: Tensor
    stops: bool

    @classmethod
    def of(cls, batch: Batch, *, stops: bool) -> GoldSpans:
        """The spans of a batch: what is split, and what that makes."""
        real, inside = _all_spans(batch)
        member = torch.zeros_like(inside)
        row, step = torch.nonzero(batch.split >= 0, as_tuple=True)
        left, split, right = (x[row, step] for x in (batch.left, batch.split, batch.right))
        member[row, left, right] = True
        member[row, left, split] = True
        member[row, split, right] = True  # a stop has split == right, which is no span
        member &= inside
        leaves = member.any(1) | member.any(2) if stops else real
        return cls(inside=inside, member=member, leaves=leaves, stops=stops)

    def loss(self, logits: Tensor) -> Tensor:
        """The summed binary loss of logits (batch, n + 1, n + 1).

        Without stops every span of one unit is in every tree, so it says nothing.
        """
        asked = self.inside if self.stops else self.inside.triu(2)
        losses = functional.binary_cross_entropy_with_logits(
            logits, self.member.to(logits.dtype), reduction="none"
        )
        return losses[asked].sum()

    def right_splits(self, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """The right boundaries (spans, n + 1) of some spans (spans).

        A boundary is right if a leaf ends there and no span of the tree that lies
        whole inside is divided by it. A span in which no leaf ends is left whole.
        """
        places = torch.arange(self.leaves.shape[1], device=left.device)
        within = (places > left.unsqueeze(1)) & (places < right.unsqueeze(1))
        found = within & self.leaves[rows]
        row, gold_left, gold_right = torch.nonzero(self.member, as_tuple=True)
        same = row.unsqueeze(0) == rows.unsqueeze(1)  # (spans, gold)
        held = same & (gold_left >= left.unsqueeze(1)) & (gold_right <= right.unsqueeze(1))
        held &= (gold_left > left.unsqueeze(1)) | (gold_right < right.unsqueeze(1))
        divided = (places > gold_left.unsqueeze(1)) & (places < gold_right.unsqueeze(1))
        crossed = held.float() @ divided.float() > 0  # (spans, n + 1)
        found &= ~crossed
        whole = ~found.any(1)
        found[whole, right[whole]] = True
        return found


def _all_spans(batch: Batch) -> tuple[Tensor, Tensor]:
    """Where the boundaries (batch, n + 1) and the spans (batch, n + 1, n + 1) of sentences are.

    One without a tree has none, nor has a share of a batch that does not count (`collate`).
    """
    lengths = batch.inputs.lengths
    places = torch.arange(int(batch.inputs.words.shape[1]) - 1, device=lengths.device)
    real = (places <= lengths.unsqueeze(1)) & batch.has_tree.unsqueeze(1)
    return real, real.unsqueeze(1) & real.unsqueeze(2) & (places > places.unsqueeze(1))


def chart_labels(batch: Batch, none: int) -> Tensor:
    """The label of every span (batch, n + 1, n + 1): `none` outside the tree, -1 if unknown."""
    _, inside = _all_spans(batch)
    targets = torch.where(inside, none, -1)
    left, right = batch.items.unbind(1)
    targets[batch.rows, left, right] = batch.labels
    return targets


def explore_loss(head: SplitHead, known: Boundaries, gold: GoldSpans, share: float) -> Tensor:
    """The summed loss of splitting wrong spans, drawn by how likely the head thinks them."""
    assert known.spans is not None
    left, right, drawn = _draw(known.spans.detach(), gold, share)
    scores = head.scores(known, left, right)
    row, step = torch.nonzero(drawn, as_tuple=True)
    targets = gold.right_splits(row, left[row, step], right[row, step])
    mine = scores[row, step].float()
    some = torch.logsumexp(mine.masked_fill(~targets, float("-inf")), -1)
    return (torch.logsumexp(mine, -1) - some).sum()


def _draw(logits: Tensor, gold: GoldSpans, share: float) -> tuple[Tensor, Tensor, Tensor]:
    """Ends of wrong spans (batch, drawn), and which of them are there."""
    # A span of two units without stops can only be split in one way.
    wrong = (gold.inside & ~gold.member).triu(2 if gold.stops else 3)
    chance = functional.logsigmoid(logits)
    noise = -torch.log(-torch.log(torch.rand_like(chance).clamp(1e-9, 1 - 1e-7)))
    keys = (chance + noise).masked_fill(~wrong, float("-inf")).flatten(1)
    width = logits.shape[-1]
    count = max(1, min(round(share * (width - 2)), keys.shape[1]))
    best, places = keys.topk(count, dim=1)
    drawn = best > float("-inf")
    zero = torch.zeros_like(places)
    left = torch.where(drawn, places // width, zero)
    right = torch.where(drawn, places % width, zero)
    return left, right, drawn


def learning_rate_factor(config: TrainingConfig, step: int, steps: int) -> float:
    """What the learning rate is multiplied by at a step (from 0) of `steps` in all.

    >>> learning_rate_factor(TrainingConfig(), 5000, 10_000)
    0.75
    >>> linear = TrainingConfig(schedule="linear", warmup_steps=10)
    >>> [learning_rate_factor(linear, step, 110) for step in (0, 9, 60, 110)]
    [0.1, 1.0, 0.5, 0.0]
    >>> twice = TrainingConfig(schedule="linear", warmup_steps=10, cycles=2)
    >>> [learning_rate_factor(twice, step, 220) for step in (60, 110, 119, 170, 220)]
    [0.5, 0.05, 0.5, 0.25, 0.0]
    """
    steps = max(1, steps // config.cycles)
    cycle = min(step // steps, config.cycles - 1)
    return 0.5**cycle * _factor_in_cycle(config, step - cycle * steps, steps)


def _factor_in_cycle(config: TrainingConfig, step: int, steps: int) -> float:
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    if config.schedule == "exponential":
        return float(config.decay ** (step / config.decay_steps))
    if config.schedule == "linear":
        rest = max(1, steps - config.warmup_steps)
        return max(0.0, (steps - step) / rest)
    return 1.0


def make_optimiser(network: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam over all parameters that are trained; a transformer has its own learning rate.

    Matrices decay, vectors (biases, norms, the weights of a mix) do not.
    """
    groups: dict[tuple[bool, bool], list[Tensor]] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            inside = ".transformer.model." in name
            groups.setdefault((inside, parameter.ndim > 1), []).append(parameter)
    tables = [
        {
            "params": parameters,
            "lr": (rate := config.encoder_learning_rate if inside else config.learning_rate),
            "base": rate,
            "weight_decay": config.weight_decay if decays else 0.0,
        }
        for (inside, decays), parameters in groups.items()
    ]
    kind = torch.optim.AdamW if config.weight_decay else torch.optim.Adam
    # The fused kernel unscales gradients by itself, which forbids clipping them before.
    fused = config.precision != "16-mixed"
    return kind(tables, betas=config.betas, eps=config.epsilon, fused=fused)


def optimiser_tensors(optimiser: Any, network: Network) -> dict[str, Tensor]:
    """The state of an optimiser by name, for a checkpoint."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    return {
        f"{key}.{names[id(parameter)]}": value
        for parameter, state in optimiser.state.items()
        for key, value in state.items()
    }


def restore_optimiser(optimiser: Any, network: Network, tensors: Mapping[str, Tensor]) -> None:
    """Put the state of a checkpoint back."""
    for name, parameter in trained_tensors(network).items():
        state = {
            key: tensors[f"{key}.{name}"]
            for key in ("step", "exp_avg", "exp_avg_sq")
            if f"{key}.{name}" in tensors
        }
        if state:
            # A fused Adam has its count where its parameters are.
            device = parameter.device if optimiser.defaults["fused"] else "cpu"
            optimiser.state[parameter] = {
                key: value.to(device) if key == "step" else value.to(parameter)
                for key, value in state.items()
            }


class Average:
    """A running average of weights; young averages forget faster."""

    def __init__(self, named: Iterable[tuple[str, Tensor]], factor: float) -> None:
        self.factor = factor
        self.live = dict(named)
        self.mean = {name: tensor.detach().clone() for name, tensor in self.live.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after a step."""
        keep = min(self.factor, (1 + step) / (10 + step))
        for name, tensor in self.live.items():
            self.mean[name].lerp_(tensor, 1 - keep)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchange the weights and their average."""
        for name, tensor in self.live.items():
            other = self.mean[name].clone()
            self.mean[name].copy_(tensor)
            tensor.copy_(other)
