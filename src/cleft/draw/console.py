"""Trees for the terminal: a drawn tree where it fits the width, else an outline."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from cleft.discourse import DiscourseTree
from cleft.draw.characters import columns
from cleft.draw.compare import Diff
from cleft.draw.grid import grid_lines
from cleft.draw.layout import Mark
from cleft.draw.pictures import LEGEND, Drawable
from cleft.draw.terminal_output import Chunk, compose, discourse_entries, syntax_entries
from cleft.tree import Tree

__all__ = ["terminal"]

STYLES = {
    "dim": "2",
    "aside": "2",
    "clause": "1;35",
    "noun": "1;36",
    "verb": "1;31",
    "modifier": "1;33",
    "other": "1",
    "heading": "1",
    "wrong": "1;31",
    "missed": "1;34",
    "changed": "1;33",
}
NARROWEST = 20
SIDE_BY_SIDE = 100

Line = list[Chunk]


def terminal(tree: Drawable, width: int | None = None, colour: bool | None = None) -> str:
    """Draw a tree, or a comparison of two, as text.

    Width and colour are those of the terminal unless they are given; there is
    no colour where output goes elsewhere or NO_COLOR is set.

    >>> print(terminal(Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))"), 40, False))
         S
      ┌──┴──┐
      NP    VP
      │     │
     PRP   VBD
     She  slept
    >>> tree = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept) (NP (NN yesterday))))")
    >>> print(terminal(tree, 20, False))
    S
    ├─ NP She/PRP
    └─ VP
       ├─ slept/VBD
       └─ NP
          yesterday/NN
    """
    wide = max(NARROWEST, width or shutil.get_terminal_size().columns)
    lines = _comparison(tree, wide) if isinstance(tree, Diff) else _tree(tree, wide)
    painted = _has_colour() if colour is None else colour
    return "\n".join(_painted(line, painted).rstrip() for line in lines)


def _has_colour() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _tree(tree: Tree | DiscourseTree, width: int) -> Iterator[Line]:
    if isinstance(tree, Tree):
        grid = grid_lines(tree, width)
        if grid is not None:
            return iter(grid)
    return _outline(tree, width, {})


def _outline(tree: Tree | DiscourseTree, width: int, marks: Mapping[int, Mark]) -> Iterator[Line]:
    if isinstance(tree, Tree):
        return compose(syntax_entries(tree, marks), width)
    return compose(discourse_entries(tree, marks), width)


def _comparison(found: Diff, width: int) -> Iterator[Line]:
    beside = width >= SIDE_BY_SIDE
    room = (width - 3) // 2 if beside else width
    gold = _outline(found.gold, room, found.gold_marks)
    predicted = _outline(found.predicted, room, found.predicted_marks)
    head = [Chunk("Gold", "heading")]
    other = [Chunk("Predicted", "heading"), Chunk("  " + found.summary, "dim")]
    if beside:
        pairs: Iterator[tuple[Line, Line]] = zip_longest(
            [head, *gold], [other, *predicted], fillvalue=[]
        )
        for left, right in pairs:
            pad = " " * (room - sum(columns(chunk.text) for chunk in left))
            yield [*left, Chunk(pad), Chunk(" │ ", "dim"), *right]
    else:
        yield head
        yield from gold
        yield other
        yield from predicted
    yield [Chunk(LEGEND, "dim")]


def _painted(line: Line, painted: bool) -> str:
    if not painted:
        return "".join(chunk.text for chunk in line)
    return "".join(
        f"\x1b[{STYLES[chunk.style]}m{chunk.text}\x1b[0m" if chunk.style else chunk.text
        for chunk in line
    )
