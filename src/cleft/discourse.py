"""RST discourse trees: elementary discourse units, nuclearity, relations.

A leaf holds an EDU. A node gives each of its children a nuclearity (`N` or
`S`) and the relation that ties it to its parent; the nucleus of a mononuclear
relation carries the name `span`, the nuclei of a multinuclear one all carry
the relation. Nodes may be n-ary, as annotation tools write them. Methods
return new trees; only `evidence` of a node is set in place. Every traversal has
an explicit stack.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cleft.errors import TreeShapeError
from cleft.evidence import Evidence, ScoredNode
from cleft.span import Span
from cleft.tree import fold

SPAN = "span"
"""The relation of the nucleus of a mononuclear relation."""


class Edu(NamedTuple):
    """An elementary discourse unit: its text, its tokens' span, its characters.

    `start` and `end` are character offsets into the source text where one is
    known.

    >>> Edu("she played tennis.", Span(4, 8)).span.width
    4
    """

    text: str
    span: Span
    start: int | None = None
    end: int | None = None


class DiscourseSplit(NamedTuple):
    """One split of a binary discourse tree, with its label.

    >>> DiscourseSplit(0, 5, 8, "elaboration", "NS", 0.9).relation
    'elaboration'
    """

    left: int
    split: int
    right: int
    relation: str
    nuclearity: str
    probability: float | None = None


class DiscourseTree(ScoredNode):
    """A node of a discourse tree, and so the tree below it.

    >>> left, right = Edu("Although it rained,", Span(0, 4)), Edu("she played.", Span(4, 7))
    >>> tree = DiscourseTree.join(
    ...     [DiscourseTree.leaf(left), DiscourseTree.leaf(right)], "SN", "concession")
    >>> tree.relation, tree.nuclearity, tree.relations, tree.span
    ('concession', 'SN', ('concession', 'span'), Span(left=0, right=7))
    >>> [edu.text for edu in tree.edus]
    ['Although it rained,', 'she played.']
    """

    __slots__ = ("children", "edu", "evidence", "nuclearity", "relations")

    children: tuple[DiscourseTree, ...]
    nuclearity: str
    relations: tuple[str, ...]
    edu: Edu | None
    evidence: Evidence | None

    def __init__(
        self,
        children: Iterable[DiscourseTree] = (),
        nuclearity: str = "",
        relations: Iterable[str] = (),
        edu: Edu | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        self.children = tuple(children)
        self.nuclearity = nuclearity
        self.relations = tuple(relations)
        self.edu = edu
        self.evidence = evidence
        self._check()

    def _check(self) -> None:
        count = len(self.children)
        if (self.edu is None) is not bool(count):
            raise TreeShapeError(
                "a discourse node needs either an EDU or children",
                hint="use DiscourseTree.leaf or DiscourseTree.join",
            )
        if count == 1:
            raise TreeShapeError("a discourse node has one child", hint="use the child itself")
        if len(self.nuclearity) != count or len(self.relations) != count:
            raise TreeShapeError(
                f"{count} children, but nuclearity {self.nuclearity!r} and "
                f"{len(self.relations)} relations",
                hint="give one letter and one relation a child",
            )
        if count and (set(self.nuclearity) - {"N", "S"} or "N" not in self.nuclearity):
            raise TreeShapeError(
                f"nuclearity {self.nuclearity!r} is not made of N and S with at least one N",
                hint="use NS, SN or N for each child of a multinuclear relation",
            )

    @classmethod
    def leaf(cls, edu: Edu) -> DiscourseTree:
        """A leaf that holds an EDU."""
        return cls(edu=edu)

    @classmethod
    def join(
        cls, children: Sequence[DiscourseTree], nuclearity: str, relation: str
    ) -> DiscourseTree:
        """A node tied by one relation: NS, SN, or all nuclei."""
        satellites = "S" in nuclearity
        relations = [SPAN if satellites and role == "N" else relation for role in nuclearity]
        return cls(children, nuclearity, relations)

    @property
    def is_leaf(self) -> bool:
        """Whether the node is an EDU."""
        return self.edu is not None

    @property
    def relation(self) -> str:
        """The relation between the children (several joined by `/`); empty for an EDU."""
        names = dict.fromkeys(name for name in self.relations if name != SPAN)
        return "/".join(names) if names else (SPAN if self.children else "")

    @property
    def is_multinuclear(self) -> bool:
        """Whether all children are nuclei."""
        return bool(self.children) and "S" not in self.nuclearity

    @property
    def span(self) -> Span:
        """The tokens below the node."""
        first = last = self
        while first.children:
            first = first.children[0]
        while last.children:
            last = last.children[-1]
        assert first.edu is not None
        assert last.edu is not None
        return Span(first.edu.span.left, last.edu.span.right)

    @property
    def edus(self) -> list[Edu]:
        """The elementary discourse units, left to right."""
        return [node.edu for node in self.preorder() if node.edu is not None]

    @property
    def is_binary(self) -> bool:
        """Whether every node has two children or is an EDU."""
        return all(len(node.children) in (0, 2) for node in self.preorder())

    def spans(self) -> list[tuple[Span, DiscourseTree]]:
        """Every node with its span, in preorder, EDUs included."""
        nodes = self.preorder()
        spans: list[Span] = [Span(0, 0)] * len(nodes)
        stack: list[Span] = []
        for index in range(len(nodes) - 1, -1, -1):
            edu, count = nodes[index].edu, len(nodes[index].children)
            if edu is not None:
                span = edu.span
            else:
                span = Span(stack[-1].left, stack[-count].right)
                del stack[-count:]
            spans[index] = span
            stack.append(span)
        return list(zip(spans, nodes, strict=True))

    def splits(self) -> list[DiscourseSplit]:
        """The splits of the (binarised) tree in preorder, each with its relation and nuclearity."""
        tree = self if self.is_binary else self.binarise()
        ends = {id(node): span for span, node in tree.spans()}
        found = []
        for span, node in tree.spans():
            if node.children:
                boundary = ends[id(node.children[0])].right
                found.append(
                    DiscourseSplit(
                        span.left,
                        boundary,
                        span.right,
                        node.relation,
                        node.nuclearity,
                        node.probability,
                    )
                )
        return found

    def binarise(self) -> DiscourseTree:
        """The tree with binary nodes only.

        Nuclei of one relation branch to the right and repeat it. Satellites
        attach above them, the nearest lowest: first those after the nuclei,
        then those before them. One between two nuclei attaches to the first.
        """
        return fold(self, lambda leaf: leaf, _binary)

    def debinarise(self, apart: Collection[Span] = ()) -> DiscourseTree:
        """The tree with each right-branching run of one multinuclear relation made one node.

        Undoes `binarise` for multinuclear nodes, except that a multinuclear
        node which really had a node of the same relation as its last child is
        merged with it: the binary form does not tell the two apart. Nodes over the spans
        that are `apart`, such as the sentences of a document, stay nodes of their own.
        """
        nodes = self.preorder()
        joined = _joined(self.spans(), apart)
        stack: list[list[DiscourseTree]] = []  # what stands for each node, from right to left
        for place in range(len(nodes) - 1, -1, -1):
            node, count = nodes[place], len(nodes[place].children)
            if not count:
                stack.append([node])
                continue
            children, *before = stack[-count:]
            del stack[-count:]
            children += itertools.chain.from_iterable(before)
            stack.append(children if joined[place] else [_with_children(node, children[::-1])])
        return stack[0][0]

    def kept_places(self) -> list[int]:
        """The places in preorder of the nodes that `debinarise` keeps.

        >>> a, b, c = (DiscourseTree.leaf(Edu(c, Span(k, k + 1))) for k, c in enumerate("abc"))
        >>> inner = DiscourseTree.join([b, c], "NN", "list")
        >>> DiscourseTree.join([a, inner], "NN", "list").kept_places()
        [0, 1, 3, 4]
        """
        return [place for place, one in enumerate(_joined(self.spans(), ())) if not one]

    def moved(self, offset: int, characters: int = 0) -> DiscourseTree:
        """The same tree with an offset added to its tokens, and to the characters of its EDUs.

        >>> DiscourseTree.leaf(Edu("so", Span(7, 8))).moved(-7).span
        Span(left=0, right=1)
        """
        edus = []
        for edu in self.edus:
            span = Span(edu.span.left + offset, edu.span.right + offset)
            edu = edu._replace(span=span)
            if edu.start is not None and edu.end is not None:
                edu = edu._replace(start=edu.start + characters, end=edu.end + characters)
            edus.append(edu)
        return self.with_edus(edus, offset)

    def with_edus(self, edus: Iterable[Edu], offset: int = 0) -> DiscourseTree:
        """The same tree over other EDUs; `offset` is how much further its splits are then."""
        waiting = list(edus)  # `fold` goes from the last leaf to the first

        def moved(evidence: Evidence | None) -> Evidence | None:
            if evidence is None or not offset:
                return evidence
            return replace(evidence, splits=tuple((at + offset, p) for at, p in evidence.splits))

        return fold(
            self,
            lambda leaf: DiscourseTree(edu=waiting.pop(), evidence=moved(leaf.evidence)),
            lambda node, below: DiscourseTree(
                below, node.nuclearity, node.relations, evidence=moved(node.evidence)
            ),
        )

    def salience(self) -> tuple[int, ...]:
        """How far below the root each EDU is first promoted; 0 is the most important.

        A node promotes what its nuclei promote, an EDU itself (Marcu's promotion
        sets). Several nuclei of one relation count as one level.

        >>> edus = [DiscourseTree.leaf(Edu(text, Span(k, k + 1))) for k, text in enumerate("abc")]
        >>> inner = DiscourseTree.join(edus[1:], "NS", "cause")
        >>> DiscourseTree.join([edus[0], inner], "SN", "concession").salience()
        (1, 0, 2)
        """
        levels = []
        stack = [(self.debinarise(), 0, 0)]
        while stack:
            node, depth, promoted = stack.pop()
            if node.is_leaf:
                levels.append(promoted)
            for child, role in zip(node.children[::-1], node.nuclearity[::-1], strict=True):
                stack.append((child, depth + 1, promoted if role == "N" else depth + 1))
        return tuple(levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DiscourseTree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            one, two = stack.pop()
            if (one.nuclearity, one.relations, one.edu) != (two.nuclearity, two.relations, two.edu):
                return False
            stack.extend(zip(one.children, two.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(tuple((n.nuclearity, n.relations, n.edu) for n in self.preorder()))

    def __repr__(self) -> str:
        return f"<DiscourseTree: {len(self.edus)} EDUs, {self.relation or 'no relation'}>"

    def __str__(self) -> str:
        """An indented outline, one node a line."""
        lines = []
        stack: list[tuple[DiscourseTree, int, str]] = [(self, 0, "")]
        while stack:
            node, depth, role = stack.pop()
            what = node.edu.text if node.edu else f"{node.relation} ({node.nuclearity})"
            lines.append("  " * depth + role + what)
            for child, letter in zip(node.children[::-1], node.nuclearity[::-1], strict=True):
                stack.append((child, depth + 1, f"{letter}: "))
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        rows = [(n.nuclearity, n.relations, n.edu, n.evidence) for n in self.preorder()]
        return _from_rows, (rows,)


_Row = tuple[str, tuple[str, ...], Edu | None, Evidence | None]


def _from_rows(rows: list[_Row]) -> DiscourseTree:
    stack: list[DiscourseTree] = []
    for nuclearity, relations, edu, evidence in reversed(rows):
        count = len(nuclearity)
        children = stack[: -count - 1 : -1] if count else []
        del stack[len(stack) - count :]
        stack.append(DiscourseTree(children, nuclearity, relations, edu, evidence))
    return stack[0]


def _with_children(node: DiscourseTree, children: list[DiscourseTree]) -> DiscourseTree:
    if len(children) == len(node.children):
        nuclearity, relations = node.nuclearity, node.relations
    else:
        nuclearity, relations = "N" * len(children), (node.relations[0],) * len(children)
    return DiscourseTree(children, nuclearity, relations, evidence=node.evidence)


def _joined(rows: list[tuple[Span, DiscourseTree]], apart: Collection[Span]) -> list[bool]:
    """Which nodes of a preorder go on with their parent's relation, as its last nucleus."""
    joined, alone = [False] * len(rows), set(apart)
    stack: list[int] = []
    for place in range(len(rows) - 1, -1, -1):
        node = rows[place][1]
        if count := len(node.children):
            span, last = rows[stack[-count]]
            same = len({*node.relations, *last.relations}) == 1 and span not in alone
            joined[stack[-count]] = same and node.is_multinuclear and last.is_multinuclear
            del stack[-count:]
        stack.append(place)
    return joined


def _binary(node: DiscourseTree, children: list[DiscourseTree]) -> DiscourseTree:
    """One n-ary node over children that are binary already."""
    if len(children) == 2:
        return _with_children(node, children)
    first = node.nuclearity.index("N")
    last = node.nuclearity.rindex("N")
    tree = _nuclei(node, children, first, last)
    for index in range(last + 1, len(children)):
        tree = DiscourseTree.join([tree, children[index]], "NS", node.relations[index])
    for index in range(first - 1, -1, -1):
        tree = DiscourseTree.join([children[index], tree], "SN", node.relations[index])
    return tree


def _nuclei(
    node: DiscourseTree, children: list[DiscourseTree], first: int, last: int
) -> DiscourseTree:
    """The nuclei of a node, each with the satellites that stand after it, right-branching."""
    groups: list[tuple[DiscourseTree, str]] = []
    for index in range(first, last + 1):
        if node.nuclearity[index] == "N":
            groups.append((children[index], node.relations[index]))
        else:
            nucleus, relation = groups[-1]
            pair = [nucleus, children[index]]
            groups[-1] = (DiscourseTree.join(pair, "NS", node.relations[index]), relation)
    tree, relation = groups[-1]
    for other, name in reversed(groups[:-1]):
        tree = DiscourseTree([other, tree], "NN", [name, relation])
        relation = name
    return tree
