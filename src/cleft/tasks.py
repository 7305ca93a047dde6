"""The two tasks: which splits are legal, what carries a label, how splits make a tree.

Search, training, runtime and server know a task only by this: `legal` gives
the boundaries at which a span may be split, `labelled` lists what the label
classifier must name, `derive` and `build` go from a tree to its decisions and
back. Decisions are in depth-first order, left before right; `order` is that in
which a model makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import TreeShapeError, check_type
from cleft.order import Order
from cleft.span import Span, Split
from cleft.tree import (
    DUMMY,
    Branching,
    Dummy,
    Evidence,
    Tree,
    binarise,
    is_dummy,
    split_chain,
    split_root,
)

__all__ = [
    "DISCOURSE",
    "SYNTAX",
    "Derivation",
    "DiscourseTask",
    "SyntaxTask",
    "Task",
    "split_relation",
]

Labelled_co = TypeVar("Labelled_co", bound=tuple[int, ...], covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """A tree as decisions: its splits in depth-first order, and its labels.

    `labels` stand in the order in which the task's `labelled` lists what
    carries them.

    >>> Derivation(length=2, splits=(Split(0, 1, 2),), labels=("S", "NP", "∅")).length
    2
    """

    length: int
    splits: tuple[Split, ...]
    labels: tuple[str, ...]


class Task(Protocol[Labelled_co]):
    """What search, training and runtime need to know of a task."""

    @property
    def name(self) -> str:
        """`syntax` or `discourse`."""
        ...

    @property
    def order(self) -> Order:
        """The order in which a model splits the spans."""
        ...

    def legal(self, span: Span) -> range:
        """The boundaries at which a span may be split."""
        ...

    def labelled(self, length: int, splits: Sequence[Split]) -> Sequence[Labelled_co]:
        """What carries a label in the tree that these splits make."""
        ...


def _walk(length: int, splits: Sequence[Split], stops: bool) -> list[tuple[Span, Split | None]]:
    """All spans of the tree in preorder: with their split, or None where they are left whole.

    The splits are taken as a decoder makes them; each must be legal for the
    span that is next.
    """
    rows: list[tuple[Span, Split | None]] = []
    stack, place, count = [Span(0, length)], 0, len(splits)
    while stack:
        span = stack.pop()
        left, right = span
        if right - left < 2:
            rows.append((span, None))
            continue
        if place == count:
            raise TreeShapeError(f"the splits end before span {tuple(span)} is split")
        split = splits[place]
        place += 1
        start, boundary, end = split
        if start != left or end != right:
            raise TreeShapeError(f"split {split} is out of order: span {tuple(span)} is next")
        if not left < boundary < right + stops:
            raise TreeShapeError(f"split {split} is not a legal one of {tuple(span)}")
        if boundary == right:
            rows.append((span, None))
        else:
            rows.append((span, split))
            stack += (Span(boundary, right), Span(left, boundary))
    if place < count:
        raise TreeShapeError(f"split {splits[place]} is out of order: no further span is next")
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxTask:
    """Constituency: every span of two or more tokens is split, every span has a label.

    >>> tree = Tree.from_brackets(
    ...     "(S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG playing) (NP (NN tennis))))) (. .))")
    >>> derivation = SYNTAX.derive(tree)
    >>> print(*derivation.splits)
    (0,5)→1 (1,5)→4 (1,4)→2 (2,4)→3
    >>> list(zip(SYNTAX.labelled(5, derivation.splits), derivation.labels))[4]
    (Span(left=1, right=2), '∅')
    >>> SYNTAX.build(derivation, tree.words(), tree.tags()) == tree
    True
    """

    branching: Branching = "right"
    dummy: Dummy = "one"
    order: Order = "depth-first"

    @property
    def name(self) -> str:
        """The task's name."""
        return "syntax"

    def legal(self, span: Span) -> range:
        """The boundaries strictly inside the span."""
        return span.splits()

    def labelled(self, length: int, splits: Sequence[Split]) -> list[Span]:
        """All 2n-1 spans of the binary tree, in preorder."""
        return [span for span, _ in _walk(length, splits, stops=False)]

    def derive(self, tree: Tree) -> Derivation:
        """The decisions of a tree; the root bracket stays outside."""
        check_type(tree, Tree, "a Tree", hint="Tree.from_brackets reads one")
        _, inner = split_root(tree)
        binary = binarise(inner, self.branching, self.dummy)
        splits, labels, position = [], [], 0
        rows = binary.spans()
        # In preorder a node's first child comes next, so its right end is the split.
        for index, (span, node) in enumerate(rows):
            if len(node.children) == 2:
                splits.append(Split(span.left, rows[index + 1][0].right, span.right))
                labels.append(node.label)
            elif node.children:
                labels.append(node.label)
            else:
                parent = rows[index - 1][1] if index else None
                if parent is None or len(parent.children) != 1:
                    labels.append(DUMMY)
                position += 1
        return Derivation(length=position, splits=tuple(splits), labels=tuple(labels))

    def build(
        self,
        derivation: Derivation,
        words: Sequence[str],
        tags: Sequence[str],
        root: str | None = None,
        *,
        evidence: Mapping[Span, Evidence] | None = None,
        tag_evidence: Sequence[Evidence | None] | None = None,
    ) -> Tree:
        """The n-ary tree that the decisions make, under a root bracket if one is named.

        `evidence` is what a model thought of the binary tree's spans, `tag_evidence`
        of the tags. A phrase's `split` becomes the product over all the binary
        splits that made its children.
        """
        spans = self.labelled(derivation.length, derivation.splits)
        if not len(words) == len(tags) == derivation.length:
            raise TreeShapeError(
                f"{derivation.length} tokens expected, {len(words)} words and "
                f"{len(tags)} tags found"
            )
        if len(derivation.labels) != len(spans):
            raise TreeShapeError(
                f"{len(spans)} labels expected (one a span), {len(derivation.labels)} found"
            )
        known, tagged = evidence or {}, tag_evidence or (None,) * derivation.length
        # Beside each forest, the probability of the splits in it that no phrase has claimed.
        stack: list[tuple[tuple[Tree, ...], float]] = []
        for span, label in zip(reversed(spans), reversed(derivation.labels), strict=True):
            found, product = known.get(span), 1.0
            if span.width == 1:
                token = span.left
                forest: tuple[Tree, ...] = (Tree(tags[token], (), words[token], tagged[token]),)
            else:
                (left, one), (right, two) = stack.pop(), stack.pop()
                forest, product = left + right, one * two
                if found is not None and found.split is not None:
                    product *= found.split
            if is_dummy(label):
                stack.append((forest, product))
            else:
                stack.append(((_phrase(label, forest, found, product),), 1.0))
        trees = stack[0][0]
        if len(trees) != 1:
            raise TreeShapeError(
                f"the whole sentence carries the dummy label {derivation.labels[0]!r}",
                hint="mask the dummy label at the root",
            )
        if root is None:
            return trees[0]
        top = trees[0].evidence
        if top is not None:
            top = Evidence(log_prob=top.log_prob, split_log_prob=top.split_log_prob)
        return Tree(root, trees, None, top)


def _phrase(label: str, forest: tuple[Tree, ...], found: Evidence | None, product: float) -> Tree:
    """A phrase, or the unary chain that a label stands for, with what a model thought of it.

    All of a chain share the label's evidence; the splits belong to the
    innermost, the log-probability of the tree to the outermost.
    """
    *outer, inner = split_chain(label)
    shared = own = found
    if found is not None and outer:
        shared = Evidence(label=found.label, labels=found.labels)
        own = replace(shared, split=found.split, splits=found.splits)
    if own is not None and own.split is not None and own.split != product:
        own = replace(own, split=product)
    tree = Tree(inner, forest, None, own)
    for name in reversed(outer):
        tree = Tree(name, (tree,), None, shared)
    if found is not None and outer:
        tree.evidence = replace(found, split=None, splits=())
    return tree


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscourseTask:
    """Discourse: a span is split or left whole (a stop); every split has a label.

    One-token spans are EDUs by themselves and are never visited.

    >>> edus = [Edu("a b c", Span(0, 3)), Edu("d", Span(3, 4))]
    >>> tree = DiscourseTree.join([DiscourseTree.leaf(edu) for edu in edus], "NS", "cause")
    >>> derivation = DISCOURSE.derive(tree)
    >>> print(*derivation.splits, derivation.labels)
    (0,4)→3 (0,3)→3 ('cause_NS',)
    >>> DISCOURSE.build(derivation, "a b c d".split()) == tree
    True
    """

    order: Order = "depth-first"

    @property
    def name(self) -> str:
        """The task's name."""
        return "discourse"

    def legal(self, span: Span) -> range:
        """The boundaries inside the span, and its right end: the stop."""
        return range(span.left + 1, span.right + 1)

    def labelled(self, length: int, splits: Sequence[Split]) -> list[Split]:
        """The splits that are not stops, in preorder."""
        rows = _walk(length, splits, stops=True)
        return [split for _, split in rows if split is not None]

    def derive(self, tree: DiscourseTree) -> Derivation:
        """The decisions of a tree, binarised first if it is not binary."""
        check_type(tree, DiscourseTree, "a DiscourseTree")
        binary = tree if tree.is_binary else tree.binarise()
        splits, labels = [], []
        rows = binary.spans()
        for index, (span, node) in enumerate(rows):
            if node.children:
                splits.append(Split(span.left, rows[index + 1][0].right, span.right))
                labels.append(f"{node.relation}_{node.nuclearity}")
            elif span.width > 1:
                splits.append(Split(span.left, span.right, span.right))
        length = rows[0][0].right
        return Derivation(length=length, splits=tuple(splits), labels=tuple(labels))

    def build(
        self,
        derivation: Derivation,
        words: Sequence[str],
        edus: Sequence[Edu] | None = None,
        *,
        evidence: Mapping[Span, Evidence] | None = None,
    ) -> DiscourseTree:
        """The binary tree that the decisions make.

        An EDU's text is its words joined by spaces, unless the EDUs are given.
        `evidence` is what a model thought of the tree's spans.
        """
        rows = _walk(derivation.length, derivation.splits, stops=True)
        inner = [split for _, split in rows if split is not None]
        if len(words) != derivation.length:
            raise TreeShapeError(f"{derivation.length} tokens expected, {len(words)} words found")
        if len(derivation.labels) != len(inner):
            raise TreeShapeError(
                f"{len(inner)} labels expected (one a split), {len(derivation.labels)} found"
            )
        known = {edu.span: edu for edu in edus or ()}
        thought = evidence or {}
        labels = dict(zip(inner, derivation.labels, strict=True))
        stack: list[DiscourseTree] = []
        for span, split in reversed(rows):
            if split is None:
                edu = known.get(span) or Edu(" ".join(words[span.left : span.right]), span)
                tree = DiscourseTree.leaf(edu)
            else:
                relation, nuclearity = split_relation(labels[split])
                tree = DiscourseTree.join([stack.pop(), stack.pop()], nuclearity, relation)
            tree.evidence = thought.get(span)
            stack.append(tree)
        return stack[0]


def split_relation(label: str) -> tuple[str, str]:
    """A split's label as relation and nuclearity.

    >>> split_relation("same-unit_NN")
    ('same-unit', 'NN')
    """
    relation, separator, nuclearity = label.rpartition("_")
    if not separator or nuclearity not in ("NS", "SN", "NN"):
        raise TreeShapeError(
            f"split label {label!r} does not end in _NS, _SN or _NN",
            hint="write the relation, an underscore and the nuclearity",
        )
    return relation, nuclearity


SYNTAX = SyntaxTask()
"""Syntactic constituency with the default binarisation."""

DISCOURSE = DiscourseTask()
"""Sentence-level RST discourse."""
