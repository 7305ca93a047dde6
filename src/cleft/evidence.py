"""The probabilities that a model gave the nodes of a tree, what they are worth, the runners-up."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, log
from typing import NamedTuple, Protocol, Self

NEAR = 1e-6
"""A model that is surer than this of something says no more by it: so far do its numbers go."""

LARGE = 700.0
"""As far as `exp` goes."""


class Calibration(NamedTuple):
    """Two numbers that make of a model's probability the share of such that are right.

    The logit of the one is the `slope` times the logit of the other, plus the `shift`: the order
    of probabilities stays. The numbers are fitted on dev trees when a model is exported; these
    ones leave a probability as it is.

    >>> round(Calibration()(log(0.8)), 3), round(Calibration(0.5, 0.0)(log(0.8)), 3)
    (0.8, 0.667)
    """

    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, log_prob: float) -> float:
        """The probability that something is right which has this log-probability."""
        if self == PLAIN:
            return exp(min(log_prob, 0.0))
        found = self.slope * logit(log_prob) + self.shift
        return 1 / (1 + exp(min(-found, LARGE)))


PLAIN = Calibration()


def logit(log_prob: float) -> float:
    """The logit of a probability given by its logarithm; at most that of 1 - `NEAR`.

    >>> logit(log(0.5)), round(logit(-2000.0)), round(logit(0.0), 1)
    (0.0, -700, 13.8)
    """
    found = max(min(log_prob, -NEAR), -LARGE)
    return found - log(-expm1(found))


class TaskCalibration(NamedTuple):
    """What calibrates a task's trees: nodes with a label, leaves (tags, EDUs), and whole trees."""

    nodes: Calibration = PLAIN
    leaves: Calibration = PLAIN
    trees: Calibration = PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The probabilities that a model gave one node, and the runners-up.

    `probability` is that of the node being right: a phrase of this label over
    these words, an EDU from here to there. It is made of the label's and that of
    the split that made its span, and calibrated if the model is. `label` and
    `split` are the probabilities of the node's own label, given its span, and of
    the split (or splits) that made its children; `labels` and `splits` are the
    best alternatives to them, best first. The root also has the log-probability
    of the whole tree, and of its splits alone, and how probable it is that all
    of the tree is right.

    >>> Evidence(label=0.9, labels=(("NP", 0.08),)).labels[0]
    ('NP', 0.08)
    """

    probability: float | None = None
    label: float | None = None
    split: float | None = None
    labels: tuple[tuple[str, float], ...] = ()
    splits: tuple[tuple[int, float], ...] = ()
    log_prob: float | None = None
    split_log_prob: float | None = None
    tree_probability: float | None = None


class EvidenceTable(Protocol):
    """The evidence of all nodes of a tree; that of a node is made when it is first read."""

    def of(self, number: int) -> Evidence | None:
        """The evidence of the node with this number."""
        ...

    def whole(self, number: int) -> Evidence | None:
        """What is known of the whole tree, if this is its root; no other node is looked at."""
        ...


class ScoredNode:
    """Base of the nodes of all kinds of trees."""

    __slots__ = ()

    children: tuple[Self, ...]
    evidence: Evidence | None

    def preorder(self) -> list[Self]:
        """Every node, parents before children, left to right."""
        nodes, stack = [], [self]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if node.children:
                stack.extend(node.children[::-1])
        return nodes

    @property
    def probability(self) -> float | None:
        """The probability that this node is right, if it was parsed; calibrated if the model is."""
        return self.evidence.probability if self.evidence else None

    @property
    def tree_probability(self) -> float | None:
        """The probability that all of the tree is right; only the root of a parsed tree has it."""
        found = self._whole()
        return found.tree_probability if found else None

    @property
    def log_prob(self) -> float | None:
        """The log-probability of the whole tree; only the root of a parsed tree has it."""
        found = self._whole()
        return found.log_prob if found else None

    @property
    def split_log_prob(self) -> float | None:
        """The log-probability of the tree's splits alone; only the root of a parsed tree has it."""
        found = self._whole()
        return found.split_log_prob if found else None

    def _whole(self) -> Evidence | None:
        """The evidence, or as much of it as is about the whole tree."""
        return self.evidence

    def _repr_svg_(self) -> str:
        from cleft.draw import svg

        return svg(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from cleft.draw.html_output import fragment

        return fragment(self)  # type: ignore[arg-type]
