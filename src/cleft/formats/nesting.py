"""Building a tree from its nodes in preorder, each given only by its span."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cleft.errors import FormatError
from cleft.span import Span

__all__ = ["nest"]

Noted = TypeVar("Noted")
Node = TypeVar("Node")


@dataclass(slots=True)
class _Open(Generic[Noted, Node]):
    """A node whose children are still being gathered."""

    span: Span
    noted: Noted
    children: list[Node]


def nest(
    nodes: Sequence[tuple[Span, Noted]],
    leaves: Sequence[tuple[Span, Node]],
    make: Callable[[Noted, list[Node]], Node],
) -> Node:
    """Build a tree from its nodes in preorder and its leaves, each with its span.

    `make` is called with what was noted of a node and its children.

    >>> leaves = [(Span(0, 1), "a"), (Span(1, 2), "b")]
    >>> nest([(Span(0, 2), "S")], leaves, lambda label, children: f"({label} {children})")
    "(S ['a', 'b'])"
    """
    whole = Span(0, leaves[-1][0].right)
    trees: list[Node] = []
    stack: list[_Open[Noted, Node]] = []
    upcoming = iter(leaves)
    leaf = next(upcoming, None)

    def close(boundary: int) -> None:
        """Hand out the leaves before a boundary, and close what ends at or before it."""
        nonlocal leaf
        while True:
            end = min(boundary, stack[-1].span.right) if stack else boundary
            target = stack[-1].children if stack else trees
            while leaf is not None and leaf[0].right <= end:
                target.append(leaf[1])
                leaf = next(upcoming, None)
            if not stack or stack[-1].span.right > boundary:
                return
            done = stack.pop()
            (stack[-1].children if stack else trees).append(make(done.noted, done.children))

    for span, noted in nodes:
        close(span.left)
        start = leaf[0].left if leaf is not None else whole.right
        outer = stack[-1].span if stack else whole
        if start != span.left or not outer.holds(span):
            raise FormatError(
                f"'nodes': {list(span)} does not fit after the nodes before it",
                hint="list the nodes parents first, left to right",
            )
        stack.append(_Open(span, noted, []))
    close(whole.right)
    if len(trees) != 1 or leaf is not None:
        raise FormatError(
            f"'nodes' leave {len(trees)} separate trees", hint="begin with a node over all tokens"
        )
    return trees[0]
