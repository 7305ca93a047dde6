"""Trees for the terminal: a drawn tree where it fits the width, else an indented outline.

An outline fits any width and any depth. It is a list of entries; an entry has a
depth and chunks of styled text. Where the lines that lead to an entry would fill
half of the width, only the last of them are drawn, behind a mark.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from cleft.discourse import SPAN, DiscourseTree
from cleft.draw.characters import columns, is_right_to_left, shown, visible, wrap_columns
from cleft.draw.layout import (
    SIGNS,
    Mark,
    as_drawn,
    children_of,
    edu_numbers,
    percent,
    shown_probability,
    strips,
    tone_of,
)
from cleft.evidence import Evidence
from cleft.tree import Tree

if TYPE_CHECKING:
    from cleft.draw.compare import Diff, Drawable

STYLES = {
    "dim": "2", "aside": "2", "other": "1", "heading": "1", "clause": "1;35", "noun": "1;36",
    "verb": "1;31", "modifier": "1;33", "wrong": "1;31", "missed": "1;34", "changed": "1;33",
}  # fmt: skip
NARROWEST = 20
SIDE_BY_SIDE = 100
STEP = 3  # columns of one level
SURE = 0.9  # a node at least this probable stands without a number
SHORTEST = 8  # columns that are kept for text, whatever the depth
GAP = 2
MARGIN = 1
LEFT_TO_RIGHT = "\u200e"
DEEPEST = 60  # levels; a deeper tree is read more easily as an outline


class Chunk(NamedTuple):
    """Text in one style; a style is a tone, `dim`, `aside` or a mark."""

    text: str
    style: str = ""


class Entry(NamedTuple):
    """One node of an outline."""

    depth: int
    last: bool
    chunks: list[Chunk]


Line = list[Chunk]


def terminal(
    tree: Drawable, width: int | None = None, colour: bool | None = None, *, nested: bool = False
) -> str:
    """Draw a tree, or a comparison of two, as text.

    Width and colour are those of the terminal unless they are given; there is
    no colour where output goes elsewhere or NO_COLOR is set. With `nested` a
    relation of several nuclei is the pairs that a parser splits it into.

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
    if isinstance(tree, DiscourseTree):
        tree = as_drawn(tree, nested=nested)
    lines = _tree(tree, wide) if isinstance(tree, Tree | DiscourseTree) else _comparison(tree, wide)
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
    from cleft.draw.compare import LEGEND

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


# ---------------------------------------------------------------- outlines


def _sign(mark: Mark) -> str:
    return SIGNS[mark].strip()


def _doubt(evidence: Evidence | None) -> list[Chunk]:
    probability = shown_probability(evidence) if evidence else None
    if probability is None or probability >= SURE:
        return []
    return [Chunk(percent(probability).replace(" ", ""), "dim")]


def syntax_entries(tree: Tree, marks: Mapping[int, Mark]) -> Iterator[Entry]:
    """The entries of a constituency tree: unary chains and flat phrases on one line."""
    stack: list[tuple[Tree, int, bool]] = [(tree, 0, True)]
    place = -1
    while stack:
        node, depth, last = stack.pop()
        place += 1
        chunks = _phrase(node, marks.get(place, "")) if node.word is None else []
        while len(node.children) == 1 and node.children[0].word is None:
            node = node.children[0]
            place += 1
            chunks += [Chunk("›", "dim"), *_phrase(node, marks.get(place, ""))]
        if all(child.word is not None for child in node.children):
            for child in node.children or (node,):
                place += bool(node.children)
                chunks.append(_leaf(child, marks.get(place, "")))
        else:
            stack += [
                (child, depth + 1, at == 0) for at, child in enumerate(reversed(node.children))
            ]
        yield Entry(depth, last, chunks)


def _phrase(node: Tree, mark: Mark) -> list[Chunk]:
    label = shown(node.label, "·")
    if mark:
        return [Chunk(_sign(mark) + label, mark), *_doubt(node.evidence)]
    return [Chunk(label, tone_of(node.label)), *_doubt(node.evidence)]


def _leaf(node: Tree, mark: Mark) -> Chunk:
    word, tag = shown(node.word or ""), visible(node.label)
    return Chunk(f"{word}/{_sign(mark)}{tag}" if tag else word, mark)


def discourse_entries(tree: DiscourseTree, marks: Mapping[int, Mark]) -> Iterator[Entry]:
    """The entries of a discourse tree: a disc is a nucleus, a ring a satellite, EDUs numbered."""
    nodes = tree.preorder()
    numbers = edu_numbers(children_of(nodes))
    stack: list[tuple[DiscourseTree, int, bool, str, str]] = [(tree, 0, True, "", "")]
    place = -1
    while stack:
        node, depth, last, role, name = stack.pop()
        place += 1
        chunks = _tie(role, name, marks.get(place, ""))
        chunks += _doubt(node.evidence)
        first, end = numbers[place]
        if node.edu is not None:
            if role:  # one that is alone needs no number
                chunks.append(Chunk(f"{first}:", "dim"))
            style = "aside" if role == "S" else ""
            words = shown(node.edu.text).split(" ")
            chunks += [Chunk(word, style) for word in words if word]
        else:
            chunks.append(Chunk(f"{first}–{end}", "dim"))
        rows = zip(node.children, node.nuclearity, node.relations, strict=True)
        stack += [
            (child, depth + 1, at == 0, role, name)
            for at, (child, role, name) in enumerate(reversed(list(rows)))
        ]
        yield Entry(depth, last, chunks)


def _tie(role: str, name: str, mark: Mark) -> list[Chunk]:
    if not role:
        return []
    disc = Chunk("●" if role == "N" else "○", mark)
    if name == SPAN:
        return [Chunk(_sign(mark) + "●", mark)] if mark else [disc]
    style = mark or ("noun" if role == "S" else "clause")
    return [disc, Chunk(_sign(mark) + visible(name), style)]


def compose(entries: Iterable[Entry], width: int) -> Iterator[Line]:
    """The lines of an outline, each at most `width` columns."""
    lasts: list[bool] = []
    levels = max(0, min(width // 2, width - SHORTEST - 2 * STEP) // STEP)
    for depth, last, chunks in entries:
        del lasts[depth:]
        first = max(1, depth - levels)
        lead = "⋯  " * (first > 1) + "".join("   " if one else "│  " for one in lasts[first:])
        branch = ("└─ " if last else "├─ ") if depth else ""
        below = ("   " if last else "│  ") if depth else ""
        lasts.append(last)
        room = max(SHORTEST, width - columns(lead) - len(branch))
        for number, line in enumerate(_wrapped(chunks, room)):
            yield [Chunk(lead + (below if number else branch), "dim"), *line]


def _wrapped(chunks: list[Chunk], room: int) -> Iterator[Line]:
    line: Line = []
    used = 0
    for chunk in chunks:
        for piece in wrap_columns(chunk.text, room):
            size = columns(piece)
            if line and used + 1 + size > room:
                yield line
                line, used = [], 0
            if line:
                line.append(Chunk(" "))
                used += 1
            line.append(Chunk(piece, chunk.style))
            used += size
    yield line


# ---------------------------------------------------------------- drawn trees


def grid_lines(tree: Tree, width: int) -> list[list[Chunk]] | None:
    """The lines of the drawing, or None where it is wider than `width` or very deep.

    >>> grid_lines(Tree.from_brackets("(NP (DT the) (NN rain))"), 5) is None
    True
    """
    if len(tree.words()) * (GAP + 1) > width:
        return None
    grid = _Grid(tree)
    if grid.widths[0] + 2 * MARGIN > width or grid.levels[0] > DEEPEST:
        return None
    return grid.lines()


class _Grid:
    """A tree being drawn. A node is named by its place in preorder."""

    def __init__(self, tree: Tree) -> None:
        self.nodes = tree.preorder()
        self.children = children_of(self.nodes)
        self.own = [self._own(node) for node in self.nodes]
        self.levels, self.lefts, self.widths = strips(
            self.children, self.own, GAP, lambda width: width // 2
        )
        self.anchors = self._anchors()

    def _own(self, node: Tree) -> int:
        if node.word is None:
            return columns(shown(node.label, "·"))
        return max(columns(visible(node.label)), columns(shown(node.word)))

    def _anchors(self) -> list[int]:
        """The middle column of each node's own text."""
        anchors = [0] * len(self.nodes)
        for place in range(len(anchors) - 1, -1, -1):
            below, own = self.children[place], self.own[place]
            left = self.lefts[place] + MARGIN
            right = left + self.widths[place]
            middle = left + (right - left - 1) // 2
            if below:
                middle = (anchors[below[0]] + anchors[below[-1]]) // 2
            anchors[place] = min(max(middle, left + (own - 1) // 2), right - own // 2 - 1)
        return anchors

    def lines(self) -> list[list[Chunk]]:
        """The finished lines, top to bottom."""
        rows: list[dict[int, Chunk]] = [{} for _ in range(2 * self.levels[0] + 2)]
        for place, node in enumerate(self.nodes):
            row = 2 * (self.levels[0] - self.levels[place])
            if node.word is not None:
                self._put(rows[-2], place, visible(node.label), "dim")
                self._put(rows[-1], place, _in_place(shown(node.word)), "")
            else:
                self._put(rows[row], place, shown(node.label, "·"), tone_of(node.label))
                self._connect(rows, place, row + 1)
        return [_assembled(row) for row in rows]

    def _put(self, row: dict[int, Chunk], place: int, text: str, style: str) -> None:
        if text:
            row[self.anchors[place] - (columns(text) - 1) // 2] = Chunk(text, style)

    def _connect(self, rows: list[dict[int, Chunk]], place: int, at: int) -> None:
        ends = [self.anchors[child] for child in self.children[place]]
        for column, char in _bar(self.anchors[place], ends).items():
            rows[at][column] = Chunk(char, "dim")
        for child, column in zip(self.children[place], ends, strict=True):
            top = 2 * (self.levels[0] - self.levels[child])
            for between in range(at + 1, top):
                rows[between][column] = Chunk("│", "dim")


def _in_place(word: str) -> str:
    """A word that stays under its tag: terminals turn a line of right-to-left words around."""
    return f"{word}{LEFT_TO_RIGHT}" if is_right_to_left([word]) else word


def _bar(parent: int, ends: Sequence[int]) -> dict[int, str]:
    """The characters of the line between a phrase and its children, by column."""
    first, last = min(parent, ends[0]), max(parent, ends[-1])
    if first == last:
        return {parent: "│"}
    bar = dict.fromkeys(range(first, last + 1), "─")
    for end in ends:
        bar[end] = "┌" if end == first else "┐" if end == last else "┬"
    joints = {"─": "┴", "┌": "├", "┐": "┤", "┬": "┼"}
    bar[parent] = joints[bar[parent]]
    if parent not in ends and parent in (first, last):
        bar[parent] = "└" if parent == first else "┘"
    return bar


def _assembled(row: dict[int, Chunk]) -> list[Chunk]:
    line: list[Chunk] = []
    column = 0
    for start in sorted(row):
        chunk = row[start]
        if start > column:
            line.append(Chunk(" " * (start - column)))
        if line and line[-1].style == chunk.style == "dim" and start == column:
            line[-1] = Chunk(line[-1].text + chunk.text, "dim")
        else:
            line.append(chunk)
        column = start + columns(chunk.text)
    return line
