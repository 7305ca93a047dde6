"""Training: recipe in, a directory with the best model, checkpoints and the record of the run out.

Data order and dropout depend on (seed, epoch, step, rank) alone, so a resumed
run does what an unbroken one does, bit for bit at a fixed number of threads.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor

from cleft.errors import InputError, ModelError, RecipeError
from cleft.nn.checkpoint import fill, load_checkpoint, save_checkpoint, save_model, trained_tensors
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.batches import collate, plan, portion, share, stable_seed
from cleft.nn.train.evaluate import check_test_files, evaluate, final_request, final_scores
from cleft.nn.train.objective import (
    Average,
    Losses,
    Objective,
    learning_rate_factor,
    make_optimiser,
    optimiser_tensors,
    restore_optimiser,
)
from cleft.nn.train.recipe import Recipe
from cleft.nn.train.rundir import Progress, RunDirectory, make_progress, show_scores, versions
from cleft.nn.train.setup import Materials, check_unchanged, make_fabric, prepare
from cleft.nn.train.start import Origin
from cleft.tasks import get_task


def train(recipe: Recipe, output: Path, *, resume: bool = False) -> dict[str, Any]:
    """Run a recipe; what comes back is what run.json holds."""
    config = recipe.training
    if config.threads:
        torch.set_num_threads(config.threads)
    directory = RunDirectory(output)
    fabric = make_fabric(config)
    fabric.launch()
    # Only the first process decides: the others may come when it has begun to write.
    started = fabric.broadcast(directory.has_run)
    if started and not resume:
        raise RecipeError(
            "there is a run in the output directory already",
            where=str(output),
            hint="go on with --resume, or choose another --output",
        )
    check_test_files(recipe)
    progress = make_progress(fabric.is_global_zero)
    try:
        resumed = resume and fabric.broadcast(directory.has_checkpoint)
        materials = prepare(recipe, output if resumed else None)
        trainer = Trainer(recipe, materials, directory, fabric, progress)
        if resumed:
            trainer.restore()
        elif started and fabric.is_global_zero:
            directory.rewind(0, -1)  # it stopped before its first checkpoint
        return trainer.run()
    finally:
        progress.close()


class Trainer:
    """One process of one run."""

    def __init__(
        self,
        recipe: Recipe,
        materials: Materials,
        directory: RunDirectory,
        fabric: Fabric,
        progress: Progress,
    ) -> None:
        self.recipe, self.config = recipe, recipe.training
        self.materials, self.directory = materials, directory
        self.fabric, self.progress = fabric, progress
        self.network = materials.network
        optimiser = make_optimiser(self.network, self.config)
        objective = Objective(self.network, self.config.explore)
        self.model, self.optimiser = fabric.setup(objective, optimiser)
        self.average: Average | None = None
        if self.config.average:
            self.average = Average(trained_tensors(self.network).items(), self.config.average)
        self.scorer = TorchScorer(self.network, materials.vocabulary, materials.featurise)
        self.epoch = self.step = self.done = 0  # `done` steps of the epoch
        self.best: dict[str, Any] = {}
        self.earlier: list[dict[str, Any]] = []  # other [training] tables of the first steps
        self.seconds = 0.0
        self.interrupted = 0  # the signal that asked for an end
        self.steps = len(self.batches(0)) * self.config.epochs

    # ------------------------------------------------------------ a run

    def run(self) -> dict[str, Any]:
        """Go through the epochs that are left."""
        self.directory.open()
        self.clock = time.monotonic()
        self.saved = self.clock
        count = sum(p.numel() for p in self.network.parameters())
        sizes = ", ".join(f"{len(rows)} {task}" for task, rows in self.materials.train.items())
        self.progress.say(f"{self.recipe.name}: {count / 1e6:.2f} M parameters, {sizes} sentences")
        with self._stoppable():
            if self.materials.origin is not None and not self.best and not self.step:
                self._begin(self.materials.origin)
            while self.epoch < self.config.epochs and not self._is_out_of_patience():
                self._train_epoch()
                self._end_epoch()
        return self._add_final(self._finish("done"))

    def _add_final(self, summary: dict[str, Any]) -> dict[str, Any]:
        """Score the best model on dev and test, unless that has been done."""
        known = summary.get("final", {}).get("asked") == final_request(self.recipe)
        if known or not self.fabric.is_global_zero:
            return summary
        best = self.directory.path / "best"
        final = final_scores(self.recipe, best, self.fabric.device, self.progress.say)
        model = {key: self.best[key] for key in ("epoch", "step")}
        return self.directory.finish({**summary, "final": {"model": model, **final}})

    def _is_out_of_patience(self) -> bool:
        best = self.best.get("epoch", 0)
        return bool(self.config.patience) and self.epoch - best > self.config.patience

    def batches(self, epoch: int) -> list[tuple[str, np.ndarray]]:
        """The batches of an epoch: each a task and numbers of its examples."""
        found = []
        for task, examples in self.materials.train.items():
            config, sources = self.recipe.data[task], self.materials.sources[task]
            for turn in range(config.repeat):
                seed = stable_seed(self.recipe.seed, task, turn)
                kept = portion(sources, config.portions, seed, epoch)
                lengths = [len(examples[number].words) for number in kept]
                batches = plan(lengths, self.config.batch_tokens, seed, epoch)
                found += [(task, kept[batch]) for batch in batches]
        rng = np.random.default_rng(stable_seed(self.recipe.seed, "tasks", epoch))
        return [found[number] for number in rng.permutation(len(found))]

    def _train_epoch(self) -> None:
        batches = self.batches(self.epoch)
        name = f"epoch {self.epoch + 1}/{self.config.epochs}"
        if self.best.get("dev"):
            name += f" (best dev {self.best['score']:.2f})"
        self.progress.epoch(name, len(batches), self.done)
        self.model.train()
        for task, numbers in batches[self.done :]:
            line = self._train_step(task, numbers)
            self.done += 1
            if self.fabric.is_global_zero:
                self.directory.record(line)
            self._pause()

    def _pause(self) -> None:
        """Between two steps: stop or save if it is time to."""
        due = time.monotonic() - self.saved > 60 * self.config.checkpoint_minutes
        stop = self.interrupted
        if self._many:
            due, stop = self.fabric.broadcast((due, stop))
        if due or stop:
            self.save()
        if stop:
            self._finish("interrupted")
            if not self.fabric.is_global_zero:
                raise SystemExit  # only the first process reports
            raise KeyboardInterrupt(stop)

    @property
    def _many(self) -> bool:
        return self.fabric.world_size > 1

    def _train_step(self, task: str, numbers: np.ndarray) -> dict[str, Any]:
        rank = self.fabric.global_rank
        torch.manual_seed(stable_seed(self.recipe.seed, "step", self.epoch, self.done, rank))
        mine, counts = share(numbers, rank, self.fabric.world_size)
        examples = [self.materials.train[task][number] for number in mine]
        batch = collate(examples, self.materials.featurise, counts=counts).to(self.fabric.device)
        factor = learning_rate_factor(self.config, self.step, self.steps)
        for group in self.optimiser.param_groups:
            group["lr"] = group["base"] * factor
        loss, terms = self._weigh(self.model(lambda: batch), batch.tokens)
        if not math.isfinite(terms["loss"]):
            raise ModelError(
                f"the loss is {terms['loss']}",
                where=f"step {self.step + 1}",
                hint="lower training.learning_rate or use precision 32-true",
            )
        self.fabric.backward(loss)
        self.fabric.clip_gradients(
            self.model, self.optimiser, max_norm=self.config.clip, error_if_nonfinite=False
        )
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.step += 1
        if self.average is not None:
            self.average.update(self.step)
        self.progress.step(terms["loss"], int(terms["tokens"]))
        rate = self.config.learning_rate * factor
        head = {"kind": "step", "step": self.step, "epoch": self.epoch + 1, "task": task}
        return {**head, **terms, "learning_rate": rate}

    def _weigh(self, losses: Losses, tokens: int) -> tuple[Tensor, dict[str, float]]:
        """The loss of this process, and the terms over all processes.

        Sums are divided by counts over all processes; gradients are averaged
        over processes, so the loss is multiplied by their number.
        """
        config, many = self.config, self.fabric.world_size
        weights = {
            "label": config.label_weight,
            "tag": config.tag_weight,
            "edu": config.edu_weight,
            "span": config.span_weight,
            "head": config.head_weight,
        }
        sums = [value.detach().cpu().double() for value, _ in losses.values()]
        counts = [float(count) for _, count in losses.values()]
        totals = torch.tensor([*sums, *counts, float(tokens)], dtype=torch.float64)
        if self._many:
            totals = self.fabric.all_reduce(totals, reduce_op="sum")  # type: ignore[assignment]
        loss = torch.zeros((), device=self.fabric.device)
        terms = {"loss": 0.0}
        for number, (name, (value, _)) in enumerate(losses.items()):
            count = max(1.0, float(totals[len(losses) + number]))
            weight = weights.get(name, 1.0)
            loss = loss + value * (weight * many / count)
            terms[name] = float(totals[number]) / count
            terms["loss"] += weight * terms[name]
        return loss, {**terms, "tokens": float(totals[-1])}

    # ------------------------------------------------------------ ends of epochs

    def _begin(self, origin: Origin) -> None:
        """Say what a model gave, and keep it as the best so far: it is what is to be surpassed."""
        self.progress.say(f"begins from {origin.folder}")
        for remark in origin.remarks(self.network, self.materials.vocabulary):
            self.progress.say(remark)
        if self.fabric.is_global_zero:
            origin.keep(self.directory.path / "init")
        self._judge()

    def _end_epoch(self) -> None:
        self.epoch, self.done = self.epoch + 1, 0
        self._judge()

    def _judge(self) -> None:
        """Score the network on dev if it is time to, keep the best, save."""
        dev: dict[str, dict[str, float]] = {}
        last = self.epoch == self.config.epochs
        if self.epoch % self.config.dev_every == 0 or last:
            if self.average is not None:
                self.average.swap()
            if self.fabric.is_global_zero:
                dev = self._evaluate()
            dev = self.fabric.broadcast(dev)
            self._keep_best(dev)
            if self.average is not None:
                self.average.swap()
        if self.fabric.is_global_zero:
            self._record_epoch(dev)
        self.save()

    def _evaluate(self) -> dict[str, dict[str, float]]:
        return {
            task: evaluate(
                self.scorer,
                task,
                sentences,
                metric=self.recipe.data[task].metric,
                beam=self.config.beam,
            )
            for task, sentences in self.materials.dev.items()
            if sentences
        }

    def _keep_best(self, dev: dict[str, dict[str, float]]) -> None:
        """Keep the model if it is the best on dev so far, or if there is no dev."""
        score = sum(dev[task][get_task(task).main] for task in dev) / len(dev) if dev else 0.0
        if self.best and dev and score <= self.best["score"]:
            return
        self.best = {"epoch": self.epoch, "step": self.step, "score": score, "dev": dev}
        if self.fabric.is_global_zero:
            metrics = {task: config.metric for task, config in self.recipe.data.items()}
            about = {"recipe": self.recipe.name, "best": self.best, "metrics": metrics}
            about["encoder"] = self.materials.encoder
            save_model(self.directory.path / "best", self.network, self.materials.vocabulary, about)

    def _record_epoch(self, dev: dict[str, dict[str, float]]) -> None:
        losses = [
            line
            for line in self.directory.lines()
            if line["kind"] == "step" and line["epoch"] == self.epoch
        ]
        mean = sum(line["loss"] for line in losses) / max(1, len(losses))
        seconds = self.seconds + time.monotonic() - self.clock
        line = {"kind": "epoch", "epoch": self.epoch, "step": self.step, "loss": mean, "dev": dev}
        self.directory.record({**line, "seconds": round(seconds, 1)})
        best = f", best {self.best['score']:.2f} at epoch {self.best['epoch']}" if dev else ""
        name = f"epoch {self.epoch}/{self.config.epochs} loss {mean:.4f}"
        name = name if self.epoch else "before the first epoch"
        self.progress.say(f"{name} {show_scores(dev)}{best} ({seconds / 60:.1f} min)")
        self._finish("running")

    def _finish(self, status: str) -> dict[str, Any]:
        """Write run.json and the curve."""
        seconds = self.seconds + time.monotonic() - self.clock
        summary = {
            "status": status,
            "recipe": self.recipe.to_table(),
            **({"earlier": self.earlier} if self.earlier else {}),
            "seed": self.recipe.seed,
            "data": self.materials.hashes,
            "sentences": {task: len(rows) for task, rows in self.materials.train.items()},
            "parameters": sum(p.numel() for p in self.network.parameters()),
            "versions": versions(),
            "threads": torch.get_num_threads(),
            "processes": self.fabric.world_size,
            "hours": round(seconds / 3600, 6),
            "best": self.best,
        }
        return self.directory.finish(summary) if self.fabric.is_global_zero else summary

    # ------------------------------------------------------------ saving

    def save(self) -> None:
        """Write a checkpoint of this moment."""
        self.saved = time.monotonic()
        if not self.fabric.is_global_zero:
            return
        tensors = {f"model.{name}": p for name, p in trained_tensors(self.network).items()}
        for name, value in optimiser_tensors(self.optimiser, self.network).items():
            tensors[f"optimiser.{name}"] = value
        if self.average is not None:
            tensors.update({f"average.{name}": p for name, p in self.average.mean.items()})
        counters = {
            "epoch": self.epoch,
            "done": self.done,
            "step": self.step,
            "best": self.best,
            "seconds": self.seconds + time.monotonic() - self.clock,
            "recipe": self.recipe.fixed_choices(),
            "data": self.materials.hashes,
            "training": self.recipe.to_table()["training"],
            "earlier": self.earlier,
            "scaler": self.fabric.strategy.precision.state_dict(),  # empty but for 16-mixed
        }
        save_checkpoint(self.directory.path, tensors, counters)

    def restore(self) -> None:
        """Go back to the last checkpoint."""
        tensors, counters = load_checkpoint(self.directory.path)
        check_unchanged(self.recipe, self.materials.hashes, counters)
        parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimiser": {}, "average": {}}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = tensor
        fill(self.network, parts["model"], self.directory.path)
        restore_optimiser(self.optimiser, self.network, parts["optimiser"])
        self._restore_scaler(counters.get("scaler", {}))
        if self.average is not None:
            # A run that averages only from here on begins with the weights of this moment.
            begun = parts["average"] or parts["model"]
            for name, tensor in self.average.mean.items():
                tensor.copy_(begun[name])
        self.epoch, self.done, self.step = counters["epoch"], counters["done"], counters["step"]
        self.best, self.seconds = counters["best"], counters["seconds"]
        self.earlier = counters.get("earlier", [])
        before = counters.get("training", {})
        if before and before != self.recipe.to_table()["training"]:
            self.earlier.append({"until_step": self.step, "training": before})
        if self.fabric.is_global_zero:
            self.directory.rewind(self.step, self.epoch)
        self.progress.say(f"resumed at epoch {self.epoch + 1}, step {self.step}")

    def _restore_scaler(self, found: Any) -> None:
        """Take up the factor of the gradients, if both parts of the run have one."""
        precision = self.fabric.strategy.precision
        wanted = precision.state_dict()
        if not wanted or found == {}:
            return
        numbers = isinstance(found, dict) and all(type(v) in (int, float) for v in found.values())
        if not numbers or found.keys() != wanted.keys():
            raise InputError(
                f"expected numbers for {', '.join(wanted)}, found {found!r}",
                where=f"{self.directory.path / 'checkpoint.json'}: scaler",
                hint="bring it back from a copy, or start anew in another --output",
            )
        precision.load_state_dict(found)

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Let an interrupt finish the step it comes in; a second one stops at once."""

        def note(number: int, frame: FrameType | None) -> None:
            if self.interrupted:
                raise KeyboardInterrupt(number)
            self.interrupted = number

        old = {kind: signal.signal(kind, note) for kind in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for kind, handler in old.items():
                signal.signal(kind, handler)
