"""A discourse tree as text to read: one EDU a line, satellites set in and dimmed."""

from __future__ import annotations

from typing import NamedTuple

from cleft.discourse import SPAN, DiscourseTree
from cleft.draw.characters import shown, visible
from cleft.draw.discourse_layout import is_same_unit

__all__ = ["Passage", "passages"]

TIES = 3  # names that are shown before one EDU; of more, the innermost


class Passage(NamedTuple):
    """An EDU, how many satellites it stands inside, and the relations that begin with it."""

    text: str
    depth: int
    ties: tuple[str, ...]
    continues: bool


def passages(tree: DiscourseTree) -> list[Passage]:
    """The EDUs of a tree in reading order.

    >>> from cleft.discourse import Edu
    >>> from cleft.span import Span
    >>> leaves = [DiscourseTree.leaf(Edu("It rained,", Span(0, 3))),
    ...           DiscourseTree.leaf(Edu("so we left.", Span(3, 7)))]
    >>> [(p.depth, p.ties, p.text) for p in passages(DiscourseTree.join(leaves, "SN", "cause"))]
    [(1, ('cause',), 'It rained,'), (0, (), 'so we left.')]
    """
    found: list[Passage] = []
    stack: list[tuple[DiscourseTree, int, tuple[str, ...], bool]] = [(tree, 0, (), False)]
    while stack:
        node, depth, ties, continues = stack.pop()
        if node.edu is not None:
            found.append(Passage(shown(node.edu.text), depth, ties, continues))
            continue
        rows = []
        children = zip(node.children, node.nuclearity, node.relations, strict=True)
        for at, (child, role, name) in enumerate(children):
            same = is_same_unit(name)
            begins = role == "S" or (at > 0 and name != SPAN and not same)
            inherited = ties if at == 0 else ()
            named = (*inherited, visible(name))[-TIES:] if begins else inherited
            goes_on = (continues and at == 0) or (same and at > 0)
            rows.append((child, depth + (role == "S"), named, goes_on))
        stack += reversed(rows)
    return found
