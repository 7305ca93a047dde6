"""Adam, its parameter groups, and the schedule of its learning rate."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from cleft.nn.train.recipe import TrainingConfig

__all__ = ["Average", "learning_rate_factor", "make_optimiser"]


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
