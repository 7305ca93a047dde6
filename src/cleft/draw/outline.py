"""Trees as indented outlines for the terminal: they fit any width and any depth.

An outline is a list of entries; an entry has a depth and chunks of styled
text. Where the lines that lead to an entry would fill half of the width, only
the last of them are drawn, behind a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cleft.discourse import SPAN, DiscourseTree
from cleft.draw.characters import columns, shown, visible, wrap_columns
from cleft.draw.hints import percent
from cleft.draw.layout import SIGNS, Mark
from cleft.draw.rhetoric import children_of
from cleft.draw.theme import tone_of
from cleft.tree import Evidence, Tree

__all__ = ["Chunk", "Entry", "compose", "discourse_entries", "syntax_entries"]

STEP = 3  # columns of one level
SURE = 0.9  # a label at least this probable stands without a number
SHORTEST = 8  # columns that are kept for text, whatever the depth


class Chunk(NamedTuple):
    """Text in one style; a style is a tone, `dim`, `aside` or a mark."""

    text: str
    style: str = ""


class Entry(NamedTuple):
    """One node of an outline."""

    depth: int
    last: bool
    chunks: list[Chunk]


def _sign(mark: Mark) -> str:
    return SIGNS[mark].strip()


def _doubt(evidence: Evidence | None) -> list[Chunk]:
    probability = evidence.label if evidence else None
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
    numbers = _numbers(nodes)
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


def _numbers(nodes: list[DiscourseTree]) -> list[tuple[int, int]]:
    """The first and last EDU number of each node."""
    children, count = children_of(nodes), sum(node.edu is not None for node in nodes)
    numbers = [(0, 0)] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        below = children[place]
        if below:
            numbers[place] = (numbers[below[0]][0], numbers[below[-1]][1])
        else:
            numbers[place] = (count, count)
            count -= 1
    return numbers


def _tie(role: str, name: str, mark: Mark) -> list[Chunk]:
    if not role:
        return []
    disc = Chunk("●" if role == "N" else "○", mark)
    if name == SPAN:
        return [Chunk(_sign(mark) + "●", mark)] if mark else [disc]
    style = mark or ("noun" if role == "S" else "clause")
    return [disc, Chunk(_sign(mark) + visible(name), style)]


Line = list[Chunk]


def compose(entries: Iterable[Entry], width: int) -> Iterator[Line]:
    """The lines of an outline, each at most `width` columns."""
    lasts: list[bool] = []
    levels = max(0, min(width // 2, width - SHORTEST - 2 * STEP) // STEP)
    for depth, last, chunks in entries:
        del lasts[depth:]
        first = max(1, depth - levels)
        lead = _lead(lasts[first:], slid=first > 1)
        branch = ("└─ " if last else "├─ ") if depth else ""
        below = ("   " if last else "│  ") if depth else ""
        lasts.append(last)
        room = max(SHORTEST, width - columns(lead) - len(branch))
        for number, line in enumerate(_wrapped(chunks, room)):
            yield [Chunk(lead + (below if number else branch), "dim"), *line]


def _lead(lasts: list[bool], slid: bool) -> str:
    return ("⋯  " if slid else "") + "".join("   " if last else "│  " for last in lasts)


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
