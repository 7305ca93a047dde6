"""What a search gives back: trees with their probabilities, node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from cleft.discourse import DiscourseTree
from cleft.order import depth_first
from cleft.scorer import Floats
from cleft.search.decode import Candidate
from cleft.search.labels import Labels
from cleft.span import Span, Split
from cleft.tasks import Derivation, DiscourseTask, SyntaxTask
from cleft.tree import Evidence, Tree

__all__ = ["Parse", "Step", "Tags", "grow", "tree_splits"]

Runners = Sequence[tuple[tuple[int, float], ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One step of a tree's making: the split, and what the pointer thought of every boundary.

    `probability` is what the split counts for: 1 at the stop of a given EDU.
    `distribution` is the pointer's own, over the boundaries 0..n, legal or not.
    """

    split: Split
    probability: float
    distribution: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parse:
    """One tree of a sentence and how probable it is.

    `split_log_prob` sums over the splits, and orders the beam; `log_prob` adds
    the labels. `evidence` is by span of the binary tree: build the tree anew
    with it, for instance over EDUs that know their characters. `steps` is
    there if a trace was asked for.
    """

    tree: Tree | DiscourseTree
    derivation: Derivation
    log_prob: float
    split_log_prob: float
    evidence: Mapping[Span, Evidence]
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """The parts of speech of one sentence, and what a model thought of them."""

    names: Sequence[str]
    evidence: Sequence[Evidence | None] | None = None


def tree_splits(task: SyntaxTask | DiscourseTask, candidate: Candidate) -> tuple[Split, ...]:
    """The splits of a finished hypothesis in the order in which trees are built."""
    made = candidate.decisions.splits
    return made if task.order == "depth-first" else depth_first(made)


def grow(
    task: SyntaxTask | DiscourseTask,
    *,
    candidate: Candidate,
    words: Sequence[str],
    tags: Tags | None,
    items: Sequence[tuple[int, ...]],
    labels: Labels,
    runners: Runners,
    steps: tuple[Step, ...],
) -> Parse:
    """The parse of a finished hypothesis.

    `items` is what carries a label and `labels` the labels; `runners` are the
    next best boundaries of each split, or empty.
    """
    total = candidate.score + sum(labels.log_probs)
    derivation = Derivation(
        length=len(words), splits=tree_splits(task, candidate), labels=tuple(labels.names)
    )
    evidence = _evidence(candidate, items, labels, runners)
    _crown(evidence, Span(0, len(words)), total, candidate.score)
    tree: Tree | DiscourseTree
    if isinstance(task, SyntaxTask):
        assert tags is not None
        tree = task.build(
            derivation, words, tags.names, evidence=evidence, tag_evidence=tags.evidence
        )
    else:
        tree = task.build(derivation, words, evidence=evidence)
    return Parse(
        tree=tree,
        derivation=derivation,
        log_prob=total,
        split_log_prob=candidate.score,
        evidence=evidence,
        steps=steps,
    )


def _evidence(
    candidate: Candidate,
    items: Sequence[tuple[int, ...]],
    labels: Labels,
    runners: Runners,
) -> dict[Span, Evidence]:
    """What the model thought of each span: of its split, of its label, of both."""
    made = candidate.decisions
    splits: dict[tuple[int, int], tuple[float, tuple[tuple[int, float], ...]]] = {
        (split[0], split[2]): (_chance(log_prob), others)
        for split, log_prob, others in zip(
            made.splits, made.log_probs, runners or [()] * len(made.splits), strict=True
        )
    }
    evidence: dict[Span, Evidence] = {}
    for item, log_prob, names in zip(items, labels.log_probs, labels.others, strict=True):
        span = item if isinstance(item, Span) else Span(item[0], item[-1])
        chance, boundaries = splits.pop(span, (None, ()))
        evidence[span] = Evidence(
            label=_chance(log_prob), split=chance, labels=names, splits=boundaries
        )
    for (left, right), (chance, boundaries) in splits.items():  # the stops
        evidence[Span(left, right)] = Evidence(split=chance, splits=boundaries)
    return evidence


def _chance(log_prob: float) -> float:
    """The probability, which rounding must not take above 1."""
    return exp(log_prob) if log_prob < 0 else 1.0


def _crown(
    evidence: dict[Span, Evidence], root: Span, log_prob: float, split_log_prob: float
) -> None:
    """Give the root the log-probabilities of the tree."""
    old = evidence.get(root, Evidence())
    evidence[root] = Evidence(
        label=old.label,
        split=old.split,
        labels=old.labels,
        splits=old.splits,
        log_prob=log_prob,
        split_log_prob=split_log_prob,
    )
