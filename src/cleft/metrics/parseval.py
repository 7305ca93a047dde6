"""Scores of discourse trees: RST Parseval, original Parseval, segmentation.

Trees are compared in their binary form (n-ary nodes binarised to the right),
over the characters of their text without white space, so gold and predicted EDUs
may differ, and their tokens too; over tokens where an EDU has no text. A tree is
of a sentence or of a whole document.

- `rst`: every split gives its two children, EDUs included and the root left
  out, each with its own nuclearity and relation.
- `original`: every inner node, the root included, with the nuclearity and the
  relation of its split.

Segmentation counts the ends of EDUs inside sentences; `edus` all ends, as
systems that parse documents report it. F1 is micro-averaged: counts are summed
over all trees first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

from cleft.discourse import DiscourseTree
from cleft.errors import MetricError, UsageError
from cleft.metrics import Counts
from cleft.span import Span

__all__ = ["MEASURES", "DiscourseMetric", "DiscourseScores", "DiscourseSentence", "score_discourse"]

DiscourseMetric = Literal["rst", "original"]

MEASURES = ("span", "nuclearity", "relation", "full", "segmentation", "edus")
"""What is measured, in the order in which it is shown."""

_Labelled = dict[Span, tuple[str, str]]  # a span's nuclearity and relation


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseSentence:
    """The counts of one sentence, or of all."""

    span: Counts
    nuclearity: Counts
    relation: Counts
    full: Counts
    segmentation: Counts
    edus: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseScores(DiscourseSentence):
    """The scores of predicted discourse trees: counts for each sentence, and summed.

    `missing` is the number of sentences without a predicted tree; their gold
    spans count as not found.
    """

    metric: DiscourseMetric
    gold_edus: bool
    missing: int
    sentences: tuple[DiscourseSentence, ...]

    @property
    def values(self) -> dict[str, float]:
        """The scores by name, in per cent."""
        return {name: getattr(self, name).f1 for name in MEASURES}


def score_discourse(
    gold: Sequence[DiscourseTree],
    predicted: Sequence[DiscourseTree | None],
    metric: DiscourseMetric = "rst",
    gold_edus: bool = False,
    sentence_ends: Sequence[Collection[int]] | None = None,
) -> DiscourseScores:
    """Score predicted discourse trees against gold ones; None is a missing tree.

    With `gold_edus`, predicted trees must have the gold EDUs. `sentence_ends` are
    those inside each gold tree, in its tokens; trees of sentences have none.

    >>> from cleft.discourse import Edu
    >>> one, two = (DiscourseTree.leaf(Edu("", Span(i, i + 1))) for i in range(2))
    >>> gold = DiscourseTree.join([one, two], "NS", "cause")
    >>> predicted = DiscourseTree.join([one, two], "NS", "elaboration")
    >>> scores = score_discourse([gold], [predicted])
    >>> scores.span.f1, scores.nuclearity.f1, scores.relation.f1, scores.full.f1
    (100.0, 100.0, 50.0, 50.0)
    """
    if metric not in ("rst", "original"):
        raise UsageError(f"no metric is called {metric!r}", hint="use 'rst' or 'original'")
    if len(gold) != len(predicted):
        raise MetricError(
            f"{len(gold)} gold trees but {len(predicted)} predicted ones",
            hint="give one predicted tree for each gold one, or None where there is none",
        )
    rows = []
    known = sentence_ends or [()] * len(gold)
    for number, (one, two, ends) in enumerate(zip(gold, predicted, known, strict=True), start=1):
        inside = _inside(one, ends)
        if two is not None:
            one, two = _alike(number, one, two)
            if gold_edus:
                _check_edus(number, one, two)
        rows.append(_sentence(one, two, metric, inside))
    sums = {name: Counts.total(getattr(row, name) for row in rows) for name in MEASURES}
    return DiscourseScores(
        metric=metric,
        gold_edus=gold_edus,
        missing=sum(tree is None for tree in predicted),
        sentences=tuple(rows),
        **sums,
    )


def _inside(gold: DiscourseTree, sentence_ends: Collection[int]) -> list[bool]:
    """Of each gold EDU, whether it ends inside a sentence."""
    ends = {gold.span.right, *sentence_ends}
    return [edu.span.right not in ends for edu in gold.edus]


def _alike(
    number: int, gold: DiscourseTree, predicted: DiscourseTree
) -> tuple[DiscourseTree, DiscourseTree]:
    """Both trees over the same units: characters where all EDUs have a text, else tokens."""
    where = f"tree {number}"
    one, two = _characters(gold), _characters(predicted)
    if one and one == two:
        return _by_characters(gold), _by_characters(predicted)
    if one and two:
        pairs = enumerate(zip(one, two, strict=False))
        at = next((k for k, (a, b) in pairs if a != b), min(len(one), len(two)))
        raise MetricError(
            f"gold has the text {one[at : at + 20]!r} where predicted has {two[at : at + 20]!r}",
            where=where,
            hint="both sides must be of the same text",
        )
    if gold.span != predicted.span:
        raise MetricError(
            f"gold has the tokens {tuple(gold.span)}, predicted {tuple(predicted.span)}",
            where=where,
            hint="both sides must be of the same tokens",
        )
    return gold, predicted


def _by_characters(tree: DiscourseTree) -> DiscourseTree:
    """The tree over the characters of its text."""
    ends = accumulate((len("".join(edu.text.split())) for edu in tree.edus), initial=0)
    rows = zip(tree.edus, pairwise(ends), strict=True)
    return tree.with_edus(edu._replace(span=Span(*pair)) for edu, pair in rows)


def _check_edus(number: int, gold: DiscourseTree, predicted: DiscourseTree) -> None:
    wanted, found = [edu.span for edu in gold.edus], [edu.span for edu in predicted.edus]
    if wanted != found:
        raise MetricError(
            f"{len(wanted)} gold EDUs and {len(found)} predicted ones that differ from them",
            where=f"tree {number}",
            hint="parse with the gold EDUs, or score end to end without gold_edus",
        )


def _characters(tree: DiscourseTree) -> str:
    """The text of a tree without white space; empty where an EDU has none."""
    texts = ["".join(edu.text.split()) for edu in tree.edus]
    return "".join(texts) if all(texts) else ""


def _sentence(
    gold: DiscourseTree,
    predicted: DiscourseTree | None,
    metric: DiscourseMetric,
    inside: Sequence[bool],
) -> DiscourseSentence:
    one = _labelled(gold, metric)
    two = {} if predicted is None else _labelled(predicted, metric)
    both = [(label, two[span]) for span, label in one.items() if span in two]
    sizes = (len(one), len(two))
    ends = [edu.span.right for edu in gold.edus]
    found = set[int]() if predicted is None else {edu.span.right for edu in predicted.edus}
    inner = {end for end, within in zip(ends, inside, strict=True) if within}
    right = found.intersection(ends)
    between = found - (set(ends) - inner)  # all but the ends of gold sentences
    return DiscourseSentence(
        span=Counts(len(both), *sizes),
        nuclearity=Counts(sum(a[0] == b[0] for a, b in both), *sizes),
        relation=Counts(sum(a[1] == b[1] for a, b in both), *sizes),
        full=Counts(sum(a == b for a, b in both), *sizes),
        segmentation=Counts(len(inner & found), len(inner), len(between)),
        edus=Counts(len(right), len(ends), len(found)),
    )


def _labelled(tree: DiscourseTree, metric: DiscourseMetric) -> _Labelled:
    """The spans that the metric compares; in a binary tree no two are the same."""
    rows = (tree if tree.is_binary else tree.binarise()).spans()
    if metric == "original":
        return {span: (node.nuclearity, node.relation) for span, node in rows if node.children}
    spans = {id(node): span for span, node in rows}
    return {
        spans[id(child)]: (role, relation)
        for _, node in rows
        for child, role, relation in zip(
            node.children, node.nuclearity, node.relations, strict=True
        )
    }
