"""One epoch of a peer's training, in the peer's own environment.

    PEER/venv/bin/python train_PEER.py '{"output": DIR, "epoch": 3, ...}'

train.py calls it once for each epoch: it goes on from DIR/epoch-2 and leaves
DIR/epoch-3, whole or not at all, so that a run can be cut short at any time.
All random choices of an epoch follow from its number and the seed.

An epoch's directory holds `model` (in the peer's own format), `optimizer`,
`dev.mrg` (what it makes of dev) and `epoch.json`.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from measure import Sentence, read_sentences

DECAY, DECAY_STEPS = 0.75, 5000
"""SuPar's: so much is left of the rate after so many steps."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is asked for: which epoch of which settings, on which trees."""

    output: Path
    epoch: int
    settings: dict[str, Any]
    encoder: str | None
    train: Path
    dev: Path
    seed: int = 1


class Trainee(ABC):
    """A peer that learns. `network` is there after `build` or `load`."""

    network: torch.nn.Module
    encoder: str
    """How the names of the pretrained encoder's weights begin."""

    @abstractmethod
    def build(self, task: Task) -> None:
        """A fresh model."""

    @abstractmethod
    def load(self, path: Path) -> None:
        """The model that `save` left."""

    @abstractmethod
    def save(self, path: Path) -> None:
        """The model in the peer's own format."""

    @abstractmethod
    def batches(self, task: Task) -> Sequence[Any]:
        """The batches of the epoch, as many in each epoch."""

    @abstractmethod
    def loss(self, batch: Any) -> torch.Tensor:
        """The loss of a batch."""

    @abstractmethod
    def parse(self, sentences: list[Sentence]) -> list[str]:
        """A tree for each, on one line."""


def share(step: int, steps: int, settings: dict[str, Any]) -> float:
    """What part of the rate a step has."""
    if settings["schedule"] == "exponential":
        return float(DECAY ** (step / DECAY_STEPS))
    warmup = int(min(settings["warmup"], steps - 1))
    return min((step + 1) / max(warmup, 1), (steps - step) / (steps - warmup))


def optimizer(trainee: Trainee, settings: dict[str, Any]) -> torch.optim.Optimizer:
    """Adam, with a rate of its own for the pretrained encoder."""
    groups: dict[float, list[torch.nn.Parameter]] = {}
    for name, weight in trainee.network.named_parameters():
        own = "encoder_rate" in settings and name.startswith(trainee.encoder)
        groups.setdefault(settings["encoder_rate" if own else "rate"], []).append(weight)
    return torch.optim.Adam(
        [{"params": weights, "lr": rate, "rate": rate} for rate, weights in groups.items()],
        betas=tuple(settings["betas"]),
        eps=settings["epsilon"],
    )


def learn(trainee: Trainee, task: Task, steps: torch.optim.Optimizer) -> dict[str, Any]:
    """Go through the epoch's batches; the mean loss, and how many batches there are."""
    batches, settings = trainee.batches(task), task.settings
    done, total = len(batches) * (task.epoch - 1), len(batches) * settings["epochs"]
    losses = 0.0
    trainee.network.train()
    for number, batch in enumerate(batches):
        for group in steps.param_groups:
            group["lr"] = group["rate"] * share(done + number, total, settings)
        loss = trainee.loss(batch)
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if settings["clip"]:
            torch.nn.utils.clip_grad_norm_(trainee.network.parameters(), settings["clip"])
        steps.step()
        losses += float(loss.detach())
    return {"loss": round(losses / len(batches), 4), "batches": len(batches)}


def run_epoch(trainee: Trainee, task: Task) -> None:
    """From the epoch before to this one's directory."""
    began = time.monotonic()
    before, after = (task.output / f"epoch-{n}" for n in (task.epoch - 1, task.epoch))
    torch.set_num_threads(1)
    torch.manual_seed(1000 * task.seed + task.epoch)
    random.seed(1000 * task.seed + task.epoch)
    if task.epoch == 1:
        trainee.build(task)
    else:
        trainee.load(before / "model")
    steps = optimizer(trainee, task.settings)
    if task.epoch > 1:
        steps.load_state_dict(torch.load(before / "optimizer", weights_only=True))
    found = learn(trainee, task, steps)
    learnt = time.monotonic()
    part = after.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    trainee.save(part / "model")
    torch.save(steps.state_dict(), part / "optimizer")
    trees = trainee.parse(read_sentences(task.dev))
    (part / "dev.mrg").write_text("".join(f"{tree}\n" for tree in trees), encoding="utf-8")
    found |= {
        "parameters": sum(weight.numel() for weight in trainee.network.parameters()),
        "training_seconds": round(learnt - began, 1),
        "seconds": round(time.monotonic() - began, 1),
        "processor_seconds": round(time.process_time(), 1),
    }
    (part / "epoch.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    part.rename(after)


def main(trainee: Trainee) -> None:
    """Run the epoch that the command line describes."""
    given = json.loads(sys.argv[1])
    paths = {name: Path(given[name]) for name in ("output", "train", "dev")}
    run_epoch(trainee, Task(**{**given, **paths}))
