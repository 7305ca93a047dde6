"""What a model thought of the nodes of a tree: probabilities and runners-up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Evidence", "EvidenceTable", "ScoredNode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a model thought of one node: probabilities and runners-up.

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
    """The evidence of all nodes of a tree, kept together until somebody asks for a node's."""

    def of(self, number: int) -> Evidence | None:
        """The evidence of the node with this number."""
        ...


class ScoredNode:
    """A node that a model may have thought of: what the root knows of the whole tree."""

    __slots__ = ()

    evidence: Evidence | None

    @property
    def log_prob(self) -> float | None:
        """The log-probability of the whole tree, at a root that a model made."""
        return self.evidence.log_prob if self.evidence else None

    @property
    def split_log_prob(self) -> float | None:
        """The log-probability of the tree's splits alone, at a root that a model made."""
        return self.evidence.split_log_prob if self.evidence else None
