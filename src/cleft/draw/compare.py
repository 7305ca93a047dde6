"""Two trees of one text, gold and predicted, and where they differ.

A phrase or a discourse span that only one side has is `missed` (gold) or
`wrong` (predicted); one that both have but name differently is `changed`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from cleft.discourse import DiscourseTree
from cleft.draw.layout import Mark, as_drawn
from cleft.errors import MetricError, UsageError
from cleft.span import Span
from cleft.tree import Tree

LEGEND = "+ only predicted     − only gold     ≠ named differently"
"""What the signs mean that stand before the names of marked nodes."""

AnyTree = TypeVar("AnyTree", Tree, DiscourseTree)
Marks = dict[int, Mark]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Two trees and the marks of the nodes that differ, by their place in preorder.

    `agree` and `total` count gold nodes: phrases, or spans of a discourse tree
    other than the whole.
    """

    gold: Tree | DiscourseTree
    predicted: Tree | DiscourseTree
    gold_marks: Mapping[int, Mark]
    predicted_marks: Mapping[int, Mark]
    agree: int
    total: int

    @property
    def summary(self) -> str:
        """How much agrees, in words."""
        what = "phrases" if isinstance(self.gold, Tree) else "spans"
        return f"{self.agree} of {self.total} {what} agree"

    def _repr_html_(self) -> str:
        from cleft.draw.html_output import fragment

        return fragment(self)

    def _repr_svg_(self) -> str:
        from cleft.draw.svg_output import svg

        return svg(self)


Drawable = Tree | DiscourseTree | Diff
"""What can be drawn: a tree of either task, or a comparison of two."""


def diff(gold: AnyTree, predicted: AnyTree, *, nested: bool = False) -> Diff:
    """Compare a predicted tree with the gold one; draw the result like a tree.

    Discourse trees are compared as they are drawn: all nuclei of a relation below one node, or
    with `nested` as they are given.

    >>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
    >>> found = diff(gold, Tree.from_brackets("(S (X (PRP She)) (VBD slept))"))
    >>> found.gold_marks, found.predicted_marks
    ({1: 'changed', 3: 'missed'}, {1: 'changed'})
    >>> found.summary
    '1 of 3 phrases agree'
    """
    shown: tuple[Tree | DiscourseTree, Tree | DiscourseTree] = (gold, predicted)
    if isinstance(gold, Tree) and isinstance(predicted, Tree):
        marks, agree, total = _syntax(gold, predicted)
    elif isinstance(gold, DiscourseTree) and isinstance(predicted, DiscourseTree):
        sides = as_drawn(gold, nested=nested), as_drawn(predicted, nested=nested)
        marks, agree, total = _discourse(*sides)
        shown = sides
    else:
        raise UsageError(
            f"expected two trees of one task, found {type(gold).__name__} "
            f"and {type(predicted).__name__}",
            hint="compare syntax with syntax and discourse with discourse",
        )
    return Diff(
        gold=shown[0],
        predicted=shown[1],
        gold_marks=marks[0],
        predicted_marks=marks[1],
        agree=agree,
        total=total,
    )


def _check_same(gold: list[str], predicted: list[str]) -> None:
    if gold == predicted:
        return
    pairs = zip(gold, predicted, strict=False)
    first = next((at for at, (one, two) in enumerate(pairs) if one != two), None)
    found = (
        f"word {first + 1} is {gold[first]!r} in gold, {predicted[first]!r} in predicted"
        if first is not None
        else f"{len(gold)} words in gold, {len(predicted)} in predicted"
    )
    raise MetricError(
        f"expected two trees of the same text, but {found}",
        hint="compare trees of the same sentence with the same tokens",
    )


def _syntax(gold: Tree, predicted: Tree) -> tuple[tuple[Marks, Marks], int, int]:
    """The marks of both sides, how many gold phrases agree, and how many there are."""
    _check_same(gold.words(), predicted.words())
    sides = [_by_span(gold), _by_span(predicted)]
    marks: tuple[Marks, Marks] = ({}, {})
    agree = total = 0
    for span in dict.fromkeys([*sides[0], *sides[1]]):
        here, there = (side.get(span, []) for side in sides)
        left, right = _unmatched(here, there)
        total += len(here)
        agree += len(here) - len(left)
        both = min(len(left), len(right))
        marks[0].update({at: "changed" if n < both else "missed" for n, at in enumerate(left)})
        marks[1].update({at: "changed" if n < both else "wrong" for n, at in enumerate(right)})
    _mark_tags(gold, predicted, marks)
    return marks, agree, total


def _by_span(tree: Tree) -> dict[Span, list[tuple[int, str]]]:
    """The phrases of each span, outermost first."""
    found: dict[Span, list[tuple[int, str]]] = defaultdict(list)
    for place, (span, node) in enumerate(tree.spans()):
        if node.word is None:
            found[span].append((place, node.label))
    return found


def _unmatched(
    here: list[tuple[int, str]], there: list[tuple[int, str]]
) -> tuple[list[int], list[int]]:
    """The places on both sides whose labels the other side lacks."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, label in reversed(there):
        waiting[label].append(place)
    left = []
    for place, label in here:
        if waiting[label]:
            waiting[label].pop()
        else:
            left.append(place)
    return left, sorted(place for places in waiting.values() for place in places)


def _mark_tags(gold: Tree, predicted: Tree, marks: tuple[Marks, Marks]) -> None:
    sides = [
        [(place, node.label) for place, node in enumerate(tree.preorder()) if node.word is not None]
        for tree in (gold, predicted)
    ]
    for (here, tag), (there, other) in zip(*sides, strict=True):
        if tag != other:
            marks[0][here] = marks[1][there] = "changed"


def _discourse(
    gold: DiscourseTree, predicted: DiscourseTree
) -> tuple[tuple[Marks, Marks], int, int]:
    """The same of spans."""
    texts = [" ".join(edu.text for edu in tree.edus).split() for tree in (gold, predicted)]
    _check_same(*texts)
    if gold.span != predicted.span:
        raise MetricError(
            f"gold has the tokens {tuple(gold.span)}, predicted {tuple(predicted.span)}",
            hint="compare trees over the same tokens: other formats than JSON Lines count words "
            "between white space",
        )
    sides = [_spans(gold), _spans(predicted)]
    marks: tuple[Marks, Marks] = ({}, {})
    for side, name in ((0, "missed"), (1, "wrong")):
        for span, (place, tie) in sides[side].items():
            other = sides[1 - side].get(span)
            if other is None:
                marks[side][place] = name
            elif other[1] != tie:
                marks[side][place] = "changed"
    return marks, len(sides[0]) - len(marks[0]), len(sides[0])


def _spans(tree: DiscourseTree) -> dict[Span, tuple[int, tuple[str, str]]]:
    """Each span below the root, with what ties it to its parent."""
    rows = tree.spans()
    ties: dict[int, tuple[str, str]] = {}
    for _, node in rows:
        for child, role, name in zip(node.children, node.nuclearity, node.relations, strict=True):
            ties[id(child)] = (role, name)
    return {span: (place, ties[id(node)]) for place, (span, node) in enumerate(rows) if place}
