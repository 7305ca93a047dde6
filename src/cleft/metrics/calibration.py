"""Calibration: of all that is said to be so probable, how much is right.

`observe` compares trees that have probabilities with gold ones; `reliability`
sorts what it finds into bins, whose mean distance from what was said is the
expected calibration error (ECE); `fit` finds the two numbers that make it small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from cleft.discourse import DiscourseTree
from cleft.errors import MetricError
from cleft.evidence import Calibration, TaskCalibration, logit
from cleft.metrics.parseval import over_same_units
from cleft.tasks import get_task
from cleft.tree import Tree

__all__ = [
    "Bin", "Reliability", "Seen", "by_kind", "calibration_data", "calibration_report", "fit",
    "observe", "reliability",
]  # fmt: skip

Seen = list[tuple[float, bool]]
"""What was said to be how probable, and whether it was right."""

NAMES = {
    "spans": {"nodes": "phrases", "leaves": "tags", "trees": "trees"},
    "splits": {"nodes": "relations", "leaves": "edus", "trees": "trees"},
}
"""What nodes and leaves are, by what carries the labels of a task."""

TITLES = {"edus": "EDUs", "trees": "whole trees"}

BINS = 10
WIDTH = 40


def observe(gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Seen]:
    """What predicted trees say of their nodes, leaves and all of themselves, and if it is so.

    A phrase is right if the gold tree has one of its label over the same words, a node of a
    discourse tree if it has its relation and nuclearity over them, an EDU if it is one there.
    A constituency tree is right with all its phrases, whatever its tags.

    >>> from cleft.evidence import Evidence
    >>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> found = Tree.from_brackets("(S (NP (PRP She)) (VBD slept))")
    >>> found.evidence = Evidence(probability=0.9, tree_probability=0.5)
    >>> observe([gold], [found])
    {'nodes': [(0.9, True)], 'leaves': [], 'trees': [(0.5, False)]}
    """
    found: dict[str, Seen] = {kind: [] for kind in TaskCalibration._fields}
    for one, two in zip(gold, predicted, strict=True):
        if one is not None and two is not None:
            _compare(one, two, found)
    return found


def _compare(gold: Any, predicted: Any, found: dict[str, Seen]) -> None:
    parts, wanted = _parts(predicted), Counter(key for key, _ in _parts(gold))
    counted = "nodes", "leaves" if isinstance(gold, DiscourseTree) else "nodes"
    missing = wanted - Counter(key for key, _ in parts)
    whole = not any(kind in counted for kind, *_ in missing)
    for key, node in parts:
        right = wanted[key] > 0
        wanted[key] -= right
        whole = whole and (right or key[0] not in counted)
        if node.probability is not None:
            found[key[0]].append((node.probability, right))
    if predicted.tree_probability is not None:
        found["trees"].append((predicted.tree_probability, whole))


def _parts(tree: Tree | DiscourseTree) -> list[tuple[tuple[Any, ...], Any]]:
    """All nodes, each with what must be the same in another tree."""
    if isinstance(tree, Tree):
        return [
            (("nodes" if node.word is None else "leaves", span, node.label), node)
            for span, node in tree.spans()
        ]
    tree = tree if tree.is_binary else tree.binarise()
    return [
        (("nodes" if node.children else "leaves", span, node.nuclearity, node.relation), node)
        for span, node in tree.spans()
    ]


@dataclass(frozen=True, slots=True)
class Bin:
    """What was said to be about as probable: how many, the mean that was said, the share right."""

    low: float
    high: float
    count: int
    said: float
    right: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The bins that are not empty, from the least probable to the most."""

    bins: tuple[Bin, ...]

    @property
    def count(self) -> int:
        """How many probabilities there are."""
        return sum(each.count for each in self.bins)

    @property
    def ece(self) -> float:
        """The expected calibration error: how far what is right is from what was said."""
        return self._mean([abs(each.said - each.right) for each in self.bins])

    @property
    def said(self) -> float:
        """The mean probability."""
        return self._mean([each.said for each in self.bins])

    @property
    def right(self) -> float:
        """The share that is right."""
        return self._mean([each.right for each in self.bins])

    def _mean(self, values: Sequence[float]) -> float:
        pairs = zip(values, self.bins, strict=True)
        return sum(value * each.count for value, each in pairs) / max(1, self.count)


def reliability(seen: Sequence[tuple[float, bool]], bins: int = BINS) -> Reliability:
    """What was seen, in so many bins of the same width.

    >>> found = reliability([(0.95, True), (0.95, True), (0.95, False), (0.3, False)])
    >>> [(each.count, round(each.right, 2)) for each in found.bins], round(found.ece, 4)
    ([(1, 0.0), (3, 0.67)], 0.2875)
    """
    rows: list[Seen] = [[] for _ in range(bins)]
    for said, right in seen:
        rows[min(int(said * bins), bins - 1)].append((said, right))
    return Reliability(
        tuple(
            Bin(
                number / bins,
                (number + 1) / bins,
                len(row),
                sum(said for said, _ in row) / len(row),
                sum(right for _, right in row) / len(row),
            )
            for number, row in enumerate(rows)
            if row
        )
    )


# ---------------------------------------------------------------- fitting

LEAST = 0.05
"""No slope is smaller: else probabilities would all be the same, or the wrong way round."""

WEIGHT = 1.0
"""How many observations the numbers that change nothing weigh: few may not decide."""

Vector = npt.NDArray[np.float64]


def fit(seen: Sequence[tuple[float, bool]]) -> Calibration:
    """The slope and the shift under which what was seen is most probable (Platt's scaling).

    >>> said = [(0.9, k < 3) for k in range(4)] * 500  # at 0.9 three of four are right
    >>> said += [(0.5, k < 2) for k in range(4)] * 500
    >>> round(fit(said)(log(0.9)), 2), round(fit(said)(log(0.5)), 2)
    (0.75, 0.5)
    """
    logits = np.array([logit(log(said) if said > 0 else -np.inf) for said, _ in seen])
    right = np.array([right for _, right in seen], np.float64)
    slope, shift = _newton(logits, right)
    if slope < LEAST:
        slope, (_, shift) = LEAST, _newton(0 * logits, right, LEAST * logits)
    return Calibration(round(float(slope), 4), round(float(shift), 4) + 0.0)  # no -0.0


def _newton(logits: Vector, right: Vector, offset: Vector | float = 0.0) -> Vector:
    """Logistic regression with a weak pull towards a slope of 1 and no shift."""
    inputs, goal = np.stack([logits, np.ones(len(logits))], axis=1), np.array([1.0, 0.0])

    def loss(weights: Vector) -> float:
        scores = inputs @ weights + offset
        pulled = WEIGHT / 2 * ((weights - goal) ** 2).sum()
        return float(np.logaddexp(0, scores).sum() - right @ scores + pulled)

    weights, now = goal, loss(goal)
    for _ in range(100):
        share = 1 / (1 + np.exp(-np.clip(inputs @ weights + offset, -500, 500)))
        gradient = inputs.T @ (share - right) + WEIGHT * (weights - goal)
        curve = (inputs.T * (share * (1 - share))) @ inputs + WEIGHT * np.eye(2)
        step = np.linalg.solve(curve, gradient)
        while (then := loss(weights - step)) > now:
            step = step / 2
            if np.abs(step).max() < 1e-9:
                return weights
        weights, now = weights - step, then
        if np.abs(step).max() < 1e-9:
            break
    return weights


# ---------------------------------------------------------------- for people and programs


def by_kind(task: str, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, Reliability]:
    """How reliable the probabilities of predicted trees are, by what they are of."""
    names = NAMES[get_task(task).labels]
    pairs = zip(gold, predicted, strict=True)
    alike = [_alike(number, one, two) for number, (one, two) in enumerate(pairs, start=1)]
    seen = observe([one for one, _ in alike], [two for _, two in alike])
    found = {names[kind]: reliability(rows) for kind, rows in seen.items() if rows}
    if not found:
        raise MetricError(
            "the predicted trees have no probabilities",
            hint="give --model, or JSON Lines that cleft wrote with --clean none",
        )
    return found


def _alike(number: int, gold: Any, predicted: Any) -> tuple[Any, Any]:
    """Both trees over the same units; none where the words differ, which EVALB calls an error."""
    if gold is None or predicted is None:
        return None, None
    if isinstance(gold, DiscourseTree):
        return over_same_units(number, gold, predicted)
    return (gold, predicted) if gold.words() == predicted.words() else (None, None)


def calibration_data(found: Mapping[str, Reliability]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        name: {
            "ece": each.ece,
            "count": each.count,
            "said": each.said,
            "right": each.right,
            "bins": [asdict(row) for row in each.bins],
        }
        for name, each in found.items()
    }


def calibration_report(found: Mapping[str, Reliability]) -> Iterator[str]:
    """The same for people: a bar for each bin, its share right, and │ where it should end."""
    yield "Calibration: how much is right (bar) of what is said to be so probable (│)"
    for name, each in found.items():
        yield ""
        title = TITLES.get(name, name)
        shares = f"{each.count} of probability {each.said:.3f}, {each.right:.3f} of them right"
        yield f"{title}: ECE {each.ece:.3f}; {shares}"
        for row in each.bins:
            filled = round(WIDTH * row.right)
            bar = list("█" * filled + "·" * (WIDTH - filled))
            bar[min(WIDTH - 1, int(WIDTH * row.said))] = "│"
            shares = f"{row.count:7}  {row.said:.3f}  {row.right:.3f}"
            yield f"  {row.low:.1f}–{row.high:.1f}  {''.join(bar)}{shares}"
