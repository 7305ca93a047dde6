"""The probabilities that a model gave the nodes of a tree, and the runners-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The probabilities that a model gave one node, and the runners-up.

    `label` and `split` are the probabilities of the node's own label and of
    the split (or splits) that made its children; `labels` and `splits` are the
    best alternatives to them, best first. The root also has the log-probability
    of the whole tree, and of its splits alone.

    >>> Evidence(label=0.9, labels=(("NP", 0.08),)).labels[0]
    ('NP', 0.08)
    """

    label: float | None = None
    split: float | None = None
    labels: tuple[tuple[str, float], ...] = ()
    splits: tuple[tuple[int, float], ...] = ()
    log_prob: float | None = None
    split_log_prob: float | None = None


class EvidenceTable(Protocol):
    """The evidence of all nodes of a tree; that of a node is made when it is first read."""

    def of(self, number: int) -> Evidence | None:
        """The evidence of the node with this number."""
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
    def log_prob(self) -> float | None:
        """The log-probability of the whole tree; only the root of a parsed tree has it."""
        return self.evidence.log_prob if self.evidence else None

    @property
    def split_log_prob(self) -> float | None:
        """The log-probability of the tree's splits alone; only the root of a parsed tree has it."""
        return self.evidence.split_log_prob if self.evidence else None

    def _repr_svg_(self) -> str:
        from cleft.draw import svg

        return svg(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from cleft.draw.html_output import fragment

        return fragment(self)  # type: ignore[arg-type]
