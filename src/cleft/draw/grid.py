"""A constituency tree drawn in character columns: words on one line, phrases above them."""

from __future__ import annotations

from collections.abc import Sequence

from cleft.draw.characters import columns, is_right_to_left, shown, visible
from cleft.draw.syntax_rows import Index, whole
from cleft.draw.terminal_output import Chunk
from cleft.draw.theme import tone_of
from cleft.tree import Tree

__all__ = ["grid_lines"]

GAP = 2
MARGIN = 1
LEFT_TO_RIGHT = "\u200e"
DEEPEST = 60  # levels; a deeper tree is read more easily as an outline


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
    """A tree being drawn. Nodes go by their place in preorder."""

    def __init__(self, tree: Tree) -> None:
        index = Index(tree)
        self.nodes = index.nodes
        self.children = whole(index).children
        self.own = [self._own(node) for node in self.nodes]
        count = len(self.nodes)
        self.levels, self.widths, self.inner = [0] * count, list(self.own), [0] * count
        self.lefts, self.anchors = [MARGIN] * count, [0] * count
        self._measure()
        self._place()

    def _own(self, node: Tree) -> int:
        if node.word is None:
            return columns(shown(node.label, "·"))
        return max(columns(visible(node.label)), columns(shown(node.word)))

    def _measure(self) -> None:
        for place in range(len(self.nodes) - 1, -1, -1):
            below = self.children[place]
            if below:
                self.levels[place] = 1 + max(self.levels[child] for child in below)
                gaps = GAP * (len(below) - 1)
                self.inner[place] = sum(self.widths[child] for child in below) + gaps
                self.widths[place] = max(self.own[place], self.inner[place])

    def _place(self) -> None:
        for place, below in enumerate(self.children):
            left = self.lefts[place] + (self.widths[place] - self.inner[place]) // 2
            for child in below:
                self.lefts[child] = left
                left += self.widths[child] + GAP
        for place in range(len(self.nodes) - 1, -1, -1):
            below, own = self.children[place], self.own[place]
            left, right = self.lefts[place], self.lefts[place] + self.widths[place]
            middle = left + (right - left - 1) // 2
            if below:
                middle = (self.anchors[below[0]] + self.anchors[below[-1]]) // 2
            self.anchors[place] = min(max(middle, left + (own - 1) // 2), right - own // 2 - 1)

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
