"""Long sentences in several rows: which words a row holds, and the tree over them.

A row's tree has every node that lies inside the row and, of the nodes that
reach beyond it, those that still branch there. The others would make long
unary chains; the nearest few of each chain are kept, and of the chain above
the row's root only the labels, as crumbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cleft.draw.layout import children_of
from cleft.span import Span
from cleft.tree import Tree

CRUMBS = 5
LINKS = 2  # nodes of a unary chain that are kept in a row
ROW = 6.0  # what a further row costs, in levels of the tree
EMPTY = 16.0  # what an empty row costs more, in levels of the tree


@dataclass(frozen=True, slots=True)
class Row:
    """The tree over one row: nodes by their place in the whole tree's preorder.

    `nodes` stand in preorder; `children` are places in `nodes`; `open_left`
    and `open_right` hold the nodes that continue in the row before and after;
    above those in `skipped` some nodes are left out.
    """

    span: Span
    nodes: list[int]
    children: list[list[int]]
    crumbs: tuple[str, ...] = ()
    open_left: frozenset[int] = frozenset()
    open_right: frozenset[int] = frozenset()
    skipped: frozenset[int] = frozenset()


class Index:
    """A tree's preorder with what rows need to know of each node."""

    def __init__(self, tree: Tree) -> None:
        rows = tree.spans()
        self.spans = [span for span, _ in rows]
        self.nodes = [node for _, node in rows]
        self.children = children_of(self.nodes)
        self.parents = [-1] * len(rows)
        self.depths = [0] * len(rows)
        for place, below in enumerate(self.children):
            for child in below:
                self.parents[child] = place
                self.depths[child] = self.depths[place] + 1
        self.starts: dict[int, int] = {}
        for place, span in enumerate(self.spans):
            self.starts.setdefault(span.left, place)
        self.ends = self._ends()

    def _ends(self) -> list[int]:
        ends = list(range(1, len(self.nodes) + 1))
        for index in range(len(self.nodes) - 1, 0, -1):
            parent = self.parents[index]
            ends[parent] = max(ends[parent], ends[index])
        return ends

    def joins(self, boundary: int) -> int:
        """The lowest node that holds the words on both sides of a boundary."""
        return self.parents[self.starts[boundary]]


def whole(index: Index) -> Row:
    """The whole tree as one row."""
    return Row(index.spans[0], list(range(len(index.nodes))), index.children)


def split_rows(index: Index, widths: Sequence[float], limit: float) -> list[Row]:
    """The rows of a tree whose words are so wide, each at most `limit` wide where possible."""
    breaks = _breaks(index, widths, limit)
    if len(breaks) == 2:
        return [whole(index)]
    spans = [Span(left, right) for left, right in pairwise(breaks)]
    return [_row(index, span) for span in spans]


def _breaks(index: Index, widths: Sequence[float], limit: float) -> list[int]:
    """The boundaries between rows: high in the tree, and such that few rows are half empty.

    Of all ways to fill the rows the cheapest is taken; as a row holds few
    words, the time is linear in the sentence.
    """
    ends = list(accumulate(widths, initial=0.0))
    count = len(widths)
    if ends[-1] <= limit:
        return [0, count]
    best, back = [0.0], [0]
    for right in range(1, count + 1):
        depth = index.depths[index.joins(right)] if right < count else 0
        left, options = right - 1, []
        while left >= 0 and (left == right - 1 or ends[right] - ends[left] <= limit):
            empty = max(0.0, 1 - (ends[right] - ends[left]) / limit)
            options.append((best[left] + ROW + depth + EMPTY * empty**2, left))
            left -= 1
        least, start = min(options)
        best.append(least)
        back.append(start)
    breaks = [count]
    while breaks[-1]:
        breaks.append(back[breaks[-1]])
    return breaks[::-1]


def _forest(index: Index, span: Span) -> list[int]:
    """The topmost nodes that lie inside a span, left to right."""
    found, boundary = [], span.left
    while boundary < span.right:
        node = index.starts[boundary]
        # In preorder a node's first child comes next.
        while index.spans[node].right > span.right:
            node += 1
        found.append(node)
        boundary = index.spans[node].right
    return found


class _Open:
    """The nodes of a row that reach beyond it, each with its children in the row."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.children: dict[int, list[int]] = {}
        self.skipped: set[int] = set()

    def hang(self, child: int, parent: int) -> None:
        """Hang a child from a node above it, with the nearest of the nodes between."""
        for _ in range(LINKS):
            between = self.index.parents[child]
            if between == parent:
                break
            self.children[between] = [child]
            child = between
        if self.index.parents[child] != parent:
            self.skipped.add(child)
        self.children.setdefault(parent, []).append(child)


def _row(index: Index, span: Span) -> Row:
    forest = _forest(index, span)
    found = _Open(index)
    stack: list[int] = []
    last = forest[0]
    for following in forest[1:]:
        join = index.joins(index.spans[following].left)
        while stack and index.depths[stack[-1]] > index.depths[join]:
            found.hang(last, stack[-1])
            last = stack.pop()
        if not stack or stack[-1] != join:
            stack.append(join)
        found.hang(last, join)
        last = following
    while stack:
        found.hang(last, stack[-1])
        last = stack.pop()
    nodes, children = _preorder(index, last, found.children)
    return Row(
        span,
        nodes,
        children,
        crumbs=_crumbs(index, last),
        open_left=frozenset(n for n in found.children if index.spans[n].left < span.left),
        open_right=frozenset(n for n in found.children if index.spans[n].right > span.right),
        skipped=frozenset(found.skipped),
    )


def _preorder(
    index: Index, root: int, open_nodes: dict[int, list[int]]
) -> tuple[list[int], list[list[int]]]:
    nodes: list[int] = []
    children: list[list[int]] = []
    todo = [(root, -1)]
    while todo:
        node, parent = todo.pop()
        if parent >= 0:
            children[parent].append(len(nodes))
        if node in open_nodes:
            todo.extend((child, len(nodes)) for child in reversed(open_nodes[node]))
            nodes.append(node)
            children.append([])
            continue
        base = len(nodes) - node
        for inner in range(node, index.ends[node]):
            if inner > node:
                children[index.parents[inner] + base].append(len(nodes))
            nodes.append(inner)
            children.append([])
    return nodes, children


def _crumbs(index: Index, root: int) -> tuple[str, ...]:
    """The labels above a row's root, outermost first; of many, the nearest."""
    labels: list[str] = []
    node = index.parents[root]
    while node >= 0 and len(labels) <= CRUMBS:
        labels.append(index.nodes[node].label)
        node = index.parents[node]
    if len(labels) > CRUMBS:
        labels[CRUMBS:] = ["…"]
    return tuple(reversed(labels))
