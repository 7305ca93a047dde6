"""The linear maps of a transformer in 8 bits, what that costs, and all else that dev trees tell.

What the maps see in dev sentences fixes their scales. Dev scores of the exported
model are compared with those of the network, and its probabilities are calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
from torch import Tensor, nn

from cleft.errors import ModelError, UsageError
from cleft.evidence import TaskCalibration
from cleft.metrics.calibration import fit, observe
from cleft.nn.export.graph import Array, Graph, array, compensated
from cleft.nn.scorer import TorchScorer
from cleft.nn.train.data import Sentence, read_sentences
from cleft.nn.train.evaluate import parse_sentences, score
from cleft.nn.train.recipe import DataConfig
from cleft.runtime import Manifest
from cleft.search.scorer import Scorer
from cleft.tasks import Task, task_names

T = TypeVar("T")

MOST = 256
"""Sentences that are looked at; more hardly raise a peak."""

TOGETHER = 32
"""Sentences whose inputs are summed at once: sums of wide maps are large, and slow to add to."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The inputs of a linear map.

    >>> seen = Seen.of(np.array([[1.0, -2.0], [0.0, 1.0]]))
    >>> seen.peaks.tolist(), seen.moments.tolist()
    ([1.0, 2.0], [[1.0, -2.0], [-2.0, 5.0]])
    >>> seen.divided(np.array([1.0, 2.0])).peaks.tolist()
    [1.0, 1.0]
    """

    peaks: Array  # (in): the largest |x| of each input
    moments: Array  # (in, in): the sum of x · xᵀ

    @classmethod
    def of(cls, rows: Array) -> Seen:
        """What is seen in some rows (rows, in)."""
        return cls(np.abs(rows).max(axis=0), rows.T @ rows)

    def __add__(self, other: Seen) -> Seen:
        return Seen(np.maximum(self.peaks, other.peaks), self.moments + other.moments)

    def divided(self, by: Array) -> Seen:
        """The same inputs, each divided by a number of its own."""
        return Seen(self.peaks / by, self.moments / np.outer(by, by))


def some(sentences: Sequence[T], most: int = MOST) -> list[T]:
    """At most so many of the sentences, from all parts of them.

    >>> some(["a", "b", "c", "d"], 2)
    ['a', 'c']
    """
    count = min(len(sentences), most)
    return [sentences[number * len(sentences) // count] for number in range(count)]


def calibrate(
    scorer: TorchScorer, part: nn.Module, names: Sequence[str], sentences: Sequence[Sequence[str]]
) -> Mapping[str, Seen]:
    """What the linear maps of these names in a part of the network see in sentences."""
    found: dict[str, Seen] = {}
    waiting: dict[str, list[Array]] = {name: [] for name in names}

    def look(name: str) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def see(_: nn.Module, inputs: tuple[Any, ...]) -> None:
            values: Tensor = inputs[0]
            waiting[name].append(array(values.reshape(-1, values.shape[-1])))

        return see

    def add() -> None:
        for name, rows in waiting.items():
            more = Seen.of(np.concatenate(rows))
            found[name] = found[name] + more if name in found else more
            rows.clear()

    with ExitStack() as watched:
        for name in names:
            hook = part.get_submodule(name).register_forward_pre_hook(look(name))
            watched.callback(hook.remove)
        for start in range(0, len(sentences), TOGETHER):
            for sentence in sentences[start : start + TOGETHER]:  # one at a time: no padding
                scorer.encode([sentence])
            add()
    return found


Tensors = dict[str, Array]
"""Weights and biases by name."""

SHARE = 0.8
"""How much of a channel's largeness goes from the inputs to the weights (SmoothQuant's α)."""

MARGIN = 1.2
"""How far beyond what was seen the fixed scales reach."""

MIDDLE, SIDE = 128, 127
"""The byte that stands for 0, and the steps to either side of it."""

Activation = Literal["gelu", "silu"]

LEAST: dict[Activation, float] = {"gelu": 0.17, "silu": 0.279}
"""No result of the activation is below minus this."""

BELOW = 20
"""The byte that stands for 0 where nothing is below -LEAST: most steps are for what is above."""


class FullMaps:
    """The linear maps of a transformer's layer, in single precision."""

    def __init__(self, graph: Graph, tensors: Tensors, activation: Activation = "gelu") -> None:
        self.graph = graph
        self.tensors = tensors
        self._activation = activation

    def normal(self, x: str, names: Sequence[str]) -> list[str]:
        """Maps of a LayerNorm's result."""
        return [self._map(x, name) for name in names]

    def attended(self, x: str, name: str) -> str:
        """The map of what attention gives."""
        return self._map(x, name)

    def activation(self, x: str) -> str:
        """The activation, exactly."""
        return self.graph.op("Gelu", x) if self._activation == "gelu" else _silu(self.graph, x)

    def activated(self, x: str, name: str) -> str:
        """The map of the activation's result."""
        return self._map(x, name)

    def _map(self, x: str, name: str) -> str:
        return self.graph.linear(x, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"])


class SmallMaps(FullMaps):
    """The same in 8 bits; `rows` is the number of rows, as a list of one number."""

    def __init__(
        self,
        graph: Graph,
        tensors: Tensors,
        seen: Mapping[str, Seen],
        rows: str,
        activation: Activation = "gelu",
    ) -> None:
        super().__init__(graph, tensors, activation)
        self.seen = seen
        self._zeros = graph.op("Expand", graph.constant(np.uint8(BELOW)), rows)

    def normal(self, x: str, names: Sequence[str]) -> list[str]:
        """Maps of a LayerNorm's result, whose large channels are made smaller beforehand."""
        graph, seen = self.graph, self.seen[names[0]]
        weights = [self.tensors[f"{name}.weight"] for name in names]
        by = _evening(seen, np.concatenate(weights))
        seen = seen.divided(by)
        x = graph.op("Mul", x, graph.floats(1 / by))
        entered, step, zero = self._fixed(x, seen)
        return [
            self._product(entered, step, zero, weight * by, seen, self.tensors[f"{name}.bias"])
            for name, weight in zip(names, weights, strict=True)
        ]

    def attended(self, x: str, name: str) -> str:
        """The map of what attention gives."""
        seen, weight = self.seen[name], self.tensors[f"{name}.weight"]
        return self._product(*self._fixed(x, seen), weight, seen, self.tensors[f"{name}.bias"])

    def activation(self, x: str) -> str:
        """The activation; GELU by way of tanh: off by 0.0005 at most, and twice as fast."""
        return self.graph.op("FastGelu", x) if self._activation == "gelu" else _silu(self.graph, x)

    def activated(self, x: str, name: str) -> str:
        """The map of the activation's result, with a scale for each row."""
        graph, seen = self.graph, self.seen[name]
        peaks = graph.op("ReduceMax", x, axes=[1], keepdims=0)
        steps = graph.op("Mul", peaks, graph.floats(1 / (2 * MIDDLE - 1 - BELOW)))
        steps = graph.op("Max", steps, graph.floats(LEAST[self._activation] / BELOW))
        entered = graph.op("QuantizeLinear", x, steps, self._zeros, axis=0)
        zero, one = graph.constant(np.uint8(BELOW)), graph.floats(1.0)
        product = self._product(entered, one, zero, self.tensors[f"{name}.weight"], seen, None)
        product = graph.op("Mul", product, graph.op("Unsqueeze", steps, graph.numbers(1)))
        return graph.op("Add", product, graph.floats(self.tensors[f"{name}.bias"]))

    def _fixed(self, x: str, seen: Seen) -> tuple[str, str, str]:
        """A value in bytes, the size of a step and the byte of 0."""
        step = self.graph.floats(max(MARGIN * float(seen.peaks.max()), 1e-12) / SIDE)
        zero = self.graph.constant(np.uint8(MIDDLE))
        return self.graph.op("QuantizeLinear", x, step, zero), step, zero

    def _product(
        self, x: str, step: str, zero: str, weight: Array, seen: Seen, bias: Array | None
    ) -> str:
        whole, scales = compensated(weight, seen.moments)
        matrix = self.graph.constant(np.ascontiguousarray(whole.T))
        more = [] if bias is None else ["", self.graph.floats(bias)]
        return self.graph.op(
            "MatMulIntegerToFloat", x, matrix, step, self.graph.floats(scales), zero, *more
        )


def _silu(graph: Graph, x: str) -> str:
    """X · sigmoid(x), which Marian calls swish."""
    return graph.op("QuickGelu", x, alpha=1.0)


def _evening(seen: Seen, weight: Array) -> Array:
    """What to divide each input by, and to multiply its weights by."""
    inputs = np.maximum(seen.peaks, 1e-6)
    weights = np.maximum(np.abs(weight).max(axis=0), 1e-6)
    by = inputs**SHARE / weights ** (1 - SHARE)
    return np.asarray(by / np.exp(np.log(by).mean()), np.float32)


def even_values(tensors: Tensors, seen: Mapping[str, Seen], value: str, output: str) -> Seen:
    """Even out what attention gives, by the maps before and after it; what the second then sees.

    Attention weighs rows and leaves channels apart, so nothing else changes.
    """
    by = _evening(seen[output], tensors[f"{output}.weight"])
    tensors[f"{value}.weight"] = tensors[f"{value}.weight"] / by[:, None]
    tensors[f"{value}.bias"] = tensors[f"{value}.bias"] / by
    tensors[f"{output}.weight"] = tensors[f"{output}.weight"] * by
    return seen[output].divided(by)


Dev = Mapping[str, Sequence[Sentence]]
"""Dev sentences by task."""

MOST_LOST = 0.2
"""How much F1, in per cent, quantisation may cost."""


def dev_sentences(names: Sequence[str], *, clean: str = "ptb") -> dict[str, list[Sentence]]:
    """The sentences of files that are named as TASK=FILE."""
    found: dict[str, list[Sentence]] = {}
    for name in names:
        task, separator, path = name.partition("=")
        if task not in task_names() or not separator:
            raise UsageError(
                f"expected TASK=FILE with the task {' or '.join(task_names())}, found {name!r}"
            )
        config = DataConfig(train=(path,), dev=(path,), clean=clean)
        found.setdefault(task, []).extend(read_sentences(task, [path], config))
    return found


def check_tasks(dev: Dev, tasks: Sequence[str], *, every: bool = False) -> None:
    """Fail if there are dev trees of a task that a model has not, or not of every one it has."""
    if set(dev) - set(tasks) or (every and set(dev) != set(tasks)):
        raise UsageError(
            f"expected dev trees of {' and '.join(tasks)}, found {' and '.join(sorted(dev))}",
            where="--dev",
            hint=f"give --dev TASK=FILE for {'each task' if every else 'tasks'} that the model has",
        )


def dev_calibration(scorer: Scorer, manifest: Manifest, dev: Dev) -> dict[str, TaskCalibration]:
    """What makes the probabilities of greedy trees those with which they are right, by task."""
    found = {}
    for name, sentences in dev.items():
        outcomes, _ = parse_sentences(scorer, manifest.task(name), sentences, own_tags=True)
        trees = [parse.tree if parse is not None else None for parse in outcomes[1].parses]
        seen = observe([sentence.tree for sentence in sentences], trees)
        doubted = {kind: rows for kind, rows in seen.items() if any(said < 1 for said, _ in rows)}
        found[name] = TaskCalibration(**{kind: fit(rows) for kind, rows in doubted.items()})
    return found


def dev_score(scorer: Scorer, task: Task[Any], dev: Sequence[Sentence], metric: str) -> float:
    """The score that a model is selected by, in per cent."""
    outcomes, _ = parse_sentences(scorer, task, dev)
    return score(task.name, dev, outcomes[1].parses, metric=metric).main


def refuse_loss(
    before: Scorer,
    after: Scorer,
    manifest: Manifest,
    dev: Dev,
    metrics: Mapping[str, str],
    where: str,
) -> dict[str, dict[str, float | str]]:
    """Both scorers' dev scores by task, by the metric of each; a ModelError if one loses much."""
    scores: dict[str, dict[str, float | str]] = {}
    for name, sentences in dev.items():
        task = manifest.task(name)
        metric = metrics.get(name, task.metrics[0])
        full, small = (dev_score(scorer, task, sentences, metric) for scorer in (before, after))
        scores[name] = {"metric": metric, "fp32": round(full, 3), "int8": round(small, 3)}
        if full - small > MOST_LOST:
            raise ModelError(
                f"int8 lowers the {name} F1 ({metric}) on dev from {full:.2f} to {small:.2f}, "
                f"by more than {MOST_LOST}",
                where=where,
                hint="export without --int8",
            )
    return scores
