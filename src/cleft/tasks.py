"""Tasks as values: what may be split, what carries a label, how decisions make a tree.

Search, training, export, runtime and evaluation read the fields of a `Task`
and do not ask which task it is. A new task is one value, added by `register`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic, Literal, TypeVar

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import TreeShapeError, UsageError, check_type
from cleft.evidence import Evidence
from cleft.span import Span, Split
from cleft.tree import DUMMY, Branching, Dummy, Tree, binarise, debinarise, is_dummy, split_root

AnyTree = TypeVar("AnyTree", Tree, DiscourseTree)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """A tree as decisions: its splits in depth-first order, left before right, and its labels.

    `labels` are in the order of the task's `labelled`.

    >>> Derivation(length=2, splits=(Split(0, 1, 2),), labels=("S", "NP", "∅")).length
    2
    """

    length: int
    splits: tuple[Split, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Generic[AnyTree]):
    """One kind of tree over units, made by splitting spans.

    - `stops`: whether a span of several units may be left whole, as one leaf
    - `labels`: whether `spans` carry the labels, or `splits`
    - `derive`, `build`: from a tree to its decisions, and back
    - `score`: the scores of gold and predicted trees by the settings of `cleft.metrics.evaluate`,
      with `values` in per cent; a model is selected by the value called `main`, and `metrics` are
      what a recipe may name
    - `tags`: the parts of speech of a tree, where the task has them
    - `units`: what is split, `tokens` or `sentences`

    >>> SYNTAX.legal(Span(0, 3)), DISCOURSE.legal(Span(0, 3))
    (range(1, 3), range(1, 4))
    """

    name: str
    labels: Literal["spans", "splits"]
    derive: Callable[[AnyTree], Derivation]
    build: Callable[..., AnyTree]
    score: Callable[[Sequence[AnyTree], Sequence[AnyTree | None], Any], Any]
    main: str
    metrics: tuple[str, ...]
    stops: bool = False
    tags: Callable[[AnyTree], Sequence[str]] | None = None
    units: Literal["tokens", "sentences"] = "tokens"

    def legal(self, span: Span) -> range:
        """The boundaries at which a span may be split; its right end is the stop."""
        return range(span.left + 1, span.right + self.stops)

    def labelled(self, length: int, splits: Sequence[Split]) -> list[Span] | list[Split]:
        """What carries a label in the tree that these splits make, in preorder."""
        rows = _walk(length, splits, self.stops)
        if self.labels == "spans":
            return [span for span, _ in rows]
        return [split for _, split in rows if split is not None]

    def leaf_ends(self, derivation: Derivation) -> tuple[int, ...]:
        """The right ends of the spans that are left whole, from left to right."""
        rows = _walk(derivation.length, derivation.splits, self.stops)
        return tuple(span.right for span, split in rows if split is None)


Make = Callable[[Branching, Dummy], Task[Any]]
_MADE_BY: dict[str, Make] = {}


def register(name: str, make: Make) -> None:
    """Add a task by its name; `make` is called with the way to make syntactic trees binary."""
    _MADE_BY[name] = make


def task_names() -> tuple[str, ...]:
    """The names of all tasks.

    >>> task_names()
    ('syntax', 'discourse', 'document')
    """
    return tuple(_MADE_BY)


def get_task(name: str, branching: Branching = "right", dummy: Dummy = "one") -> Task[Any]:
    """The task of a name, with a way to make syntactic trees binary.

    >>> get_task("discourse") is DISCOURSE
    True
    """
    if name not in _MADE_BY:
        raise UsageError(f"no task is called {name!r}", hint=f"tasks: {', '.join(_MADE_BY)}")
    return _MADE_BY[name](branching, dummy)


def _walk(length: int, splits: Sequence[Split], stops: bool) -> list[tuple[Span, Split | None]]:
    """All spans of the tree in preorder: with their split, or None where they are left whole.

    The splits are in the order in which a decoder makes them: depth first, left
    before right. Each must be legal for the span whose turn it is.
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


def _derive_syntax(tree: Tree, branching: Branching, dummy: Dummy) -> Derivation:
    """The decisions of a tree; the root bracket stays outside."""
    check_type(tree, Tree, "a Tree", hint="Tree.from_brackets reads one")
    _, inner = split_root(tree)
    binary = binarise(inner, branching, dummy)
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


def _build_syntax(
    derivation: Derivation, words: Sequence[str], tags: Sequence[str], root: str | None = None
) -> Tree:
    """The n-ary tree that the decisions make, under a root bracket if one is named."""
    spans = [span for span, _ in _walk(derivation.length, derivation.splits, stops=False)]
    if not len(words) == len(tags) == derivation.length:
        raise TreeShapeError(
            f"{derivation.length} tokens expected, {len(words)} words and {len(tags)} tags found"
        )
    if len(derivation.labels) != len(spans):
        raise TreeShapeError(
            f"{len(spans)} labels expected (one a span), {len(derivation.labels)} found"
        )
    if derivation.length > 1 and is_dummy(derivation.labels[0]):
        raise TreeShapeError(
            f"the whole sentence carries the dummy label {derivation.labels[0]!r}",
            hint="mask the dummy label at the root",
        )
    stack: list[Tree] = []
    for span, label in zip(reversed(spans), reversed(derivation.labels), strict=True):
        if span.width > 1:
            stack.append(Tree(label, (stack.pop(), stack.pop())))
            continue
        leaf = Tree(tags[span.left], (), words[span.left])
        stack.append(leaf if is_dummy(label) else Tree(label, (leaf,)))
    tree = debinarise(stack[0])
    return tree if root is None else Tree(root, (tree,))


def _derive_discourse(tree: DiscourseTree) -> Derivation:
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


def _build_discourse(
    derivation: Derivation,
    words: Sequence[str],
    edus: Sequence[Edu] | None = None,
    *,
    leaf: Callable[[Span], Edu] | None = None,
    evidence: Mapping[Span, Evidence] | None = None,
) -> DiscourseTree:
    """The binary tree that the decisions make.

        An EDU's text is its words joined by spaces, unless the EDUs are given, or `leaf` makes
    them of their spans. `evidence` is that of the tree's spans.
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
    known_evidence = evidence or {}
    labels = dict(zip(inner, derivation.labels, strict=True))
    stack: list[DiscourseTree] = []
    for span, split in reversed(rows):
        if split is None:
            edu = known.get(span) or (leaf(span) if leaf is not None else _edu(words, span))
            tree = DiscourseTree.leaf(edu)
        else:
            relation, nuclearity = split_relation(labels[split])
            tree = DiscourseTree.join([stack.pop(), stack.pop()], nuclearity, relation)
        tree.evidence = known_evidence.get(span)
        stack.append(tree)
    return stack[0]


def _edu(words: Sequence[str], span: Span) -> Edu:
    return Edu(" ".join(words[span.left : span.right]), span)


def _derive_document(tree: DiscourseTree) -> Derivation:
    """The decisions of a tree whose leaves are a sentence each."""
    derivation = _derive_discourse(tree)
    for split in derivation.splits:
        if split.is_stop:
            raise TreeShapeError(
                f"the leaf {split.left, split.right} holds {split.right - split.left} sentences",
                hint="every sentence is a leaf of its document's tree",
            )
    return derivation


def _build_document(
    derivation: Derivation,
    sentences: Sequence[Any],
    *,
    leaf: Callable[[Span], Edu] | None = None,
    evidence: Mapping[Span, Evidence] | None = None,
) -> DiscourseTree:
    """The binary tree over sentences, each given by its words; `leaf` makes others of their spans.

    `cleft.document.grafted` puts the sentences' own trees in the place of the leaves.
    """
    own = leaf or (lambda span: Edu(" ".join(sentences[span.left]), span))
    return _build_discourse(derivation, sentences, leaf=own, evidence=evidence)


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


@lru_cache(maxsize=16)
def _syntax(branching: Branching, dummy: Dummy) -> Task[Tree]:
    return Task(
        name="syntax",
        labels="spans",
        derive=partial(_derive_syntax, branching=branching, dummy=dummy),
        build=_build_syntax,
        score=_score_syntax,
        main="f1",
        metrics=("collins", "spmrl"),
        tags=Tree.tags,
    )


def _score_syntax(gold: Sequence[Tree], predicted: Sequence[Tree | None], settings: Any) -> Any:
    from cleft.metrics.evalb import score_syntax

    return score_syntax(gold, predicted, settings.parameters)


def _score_discourse(
    gold: Sequence[DiscourseTree], predicted: Sequence[DiscourseTree | None], settings: Any
) -> Any:
    from cleft.metrics.parseval import score_discourse

    return score_discourse(
        gold, predicted, settings.metric, settings.gold_edus, settings.sentence_ends
    )


SYNTAX: Task[Tree] = _syntax("right", "one")
"""Syntactic constituency: every span of two or more tokens is split, every span has a label.

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

DISCOURSE: Task[DiscourseTree] = Task(
    name="discourse",
    labels="splits",
    derive=_derive_discourse,
    build=_build_discourse,
    score=_score_discourse,
    main="relation",
    metrics=("parseval",),
    stops=True,
)
"""Sentence-level RST discourse: a span is split or left whole, every split has a label.

A span of one token is an EDU; no decision is made for it.

>>> edus = [Edu("a b c", Span(0, 3)), Edu("d", Span(3, 4))]
>>> tree = DiscourseTree.join([DiscourseTree.leaf(edu) for edu in edus], "NS", "cause")
>>> derivation = DISCOURSE.derive(tree)
>>> print(*derivation.splits, derivation.labels)
(0,4)→3 (0,3)→3 ('cause_NS',)
>>> DISCOURSE.build(derivation, "a b c d".split()) == tree
True
"""

DOCUMENT: Task[DiscourseTree] = Task(
    name="document",
    labels="splits",
    derive=_derive_document,
    build=_build_document,
    score=_score_discourse,
    main="full",
    metrics=("original", "rst"),
    units="sentences",
)
"""RST discourse above the sentence: every span of two or more sentences is split, with a label.

>>> leaves = [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(3)]
>>> tree = DiscourseTree.join(leaves, "NNN", "joint")
>>> derivation = DOCUMENT.derive(tree)
>>> print(*derivation.splits, derivation.labels)
(0,3)→1 (1,3)→2 ('joint_NN', 'joint_NN')
>>> print(DOCUMENT.build(derivation, [["It", "rained", "."], ["We", "left", "."], ["So", "?"]]))
joint (NN)
  N: It rained .
  N: joint (NN)
    N: We left .
    N: So ?
"""

register("syntax", _syntax)
register("discourse", lambda branching, dummy: DISCOURSE)
register("document", lambda branching, dummy: DOCUMENT)
