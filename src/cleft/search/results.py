"""What a search gives back: trees with their probabilities, node by node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cleft.discourse import DiscourseTree
from cleft.evidence import Evidence
from cleft.scorer import Floats
from cleft.search.record import Record
from cleft.span import Span, Split
from cleft.tasks import Derivation
from cleft.tree import Tree

__all__ = ["Parse", "Step"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One step of a tree's making: the split, and what the model thought of every boundary.

    `probability` is what the split counts for: 1 at the stop of a given EDU.
    `distribution` is the model's own, over the boundaries 0..n: the pointer's, legal or not,
    or what it and the marks of EDU boundaries say together.
    """

    split: Split
    probability: float
    distribution: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parse:
    """One tree of a sentence and how probable it is.

    `split_log_prob` sums over the splits, and orders the beam; `log_prob` adds
    the labels. `evidence` is by span of the binary tree: build the tree anew
    with it, for instance over EDUs that know their characters. It and the
    `derivation` are made from the `record` when they are asked for. `steps` is
    there if a trace was asked for.
    """

    tree: Tree | DiscourseTree
    log_prob: float
    split_log_prob: float
    record: Record
    steps: tuple[Step, ...] = ()

    @property
    def derivation(self) -> Derivation:
        """The decisions and the labels that make the tree."""
        return self.record.derivation

    @property
    def evidence(self) -> Mapping[Span, Evidence]:
        """What the model thought of each span of the binary tree."""
        return self.record.evidence
