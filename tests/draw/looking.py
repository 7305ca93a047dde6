"""What a drawing must be, looked at in its numbers and in its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator
from itertools import pairwise

from cleft.discourse import DiscourseTree
from cleft.draw import Layout, Options, View, lay_out, svg
from cleft.draw.characters import is_right_to_left, shown, text_width
from cleft.draw.layout import Command, Text
from cleft.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
SMALLEST_FONT = 11.0
SLACK = 0.6  # coordinates are written with one digit after the point


def parse(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def texts(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter(f"{SVG}text"))


def content(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def of_role(root: ElementTree.Element, role: str) -> list[str]:
    return [content(one) for one in texts(root) if role in (one.get("class") or "").split()]


def boxes(root: ElementTree.Element) -> Iterator[tuple[float, float, float, float, str]]:
    """The box of every line of text in an SVG file: left, top, right, bottom, text."""
    for element in texts(root):
        size = float(element.get("font-size", "0"))
        assert size >= SMALLEST_FONT, f"{content(element)!r} is drawn at {size} px"
        names = (element.get("class") or "").split()
        bold = bool({"label", "relation", "heading"} & set(names))
        for line in list(element) or [element]:
            width = text_width(line.text or "", size, bold)
            x, base = float(line.get("x", "nan")), float(line.get("y", "nan"))
            left = x - width / 2
            if {"heading", "note", "crumb", "prose"} & set(names):
                left = x - width if element.get("direction") == "rtl" else x
            yield left, base - 0.8 * size, left + width, base + 0.2 * size, line.text or ""


def overlapping(rows: Iterable[tuple[float, float, float, float, str]]) -> list[tuple[str, str]]:
    """The pairs of boxes that share room, found by a sweep from left to right."""
    found, active = [], []
    for box in sorted(rows):
        left, top, _, bottom, text = box
        active = [other for other in active if other[2] > left + SLACK]
        for other in active:
            if other[1] < bottom - SLACK and top < other[3] - SLACK:
                found.append((other[4], text))
        active.append(box)
    return found


def numbers(path: Iterable[Command]) -> Iterator[tuple[float, float]]:
    for _, values in path:
        yield from zip(values[::2], values[1::2], strict=True)


def check_layout(layout: Layout) -> None:
    rows = [(t.x, t.y, t.right, t.bottom, t.text) for t in layout.texts]
    assert overlapping(rows) == []
    for left, top, right, bottom, text in rows:
        inside = left >= 0 and top >= 0 and right <= layout.width and bottom <= layout.height
        assert inside, f"{text!r} leaves the drawing"
    for text in layout.texts:
        bold = text.role in ("label", "relation", "heading")
        widest = max(text_width(line, text.size, bold) for line in text.lines)
        assert widest <= text.width + SLACK, f"{text.text!r} is wider than its box"
    for stroke in layout.strokes:
        for x, y in numbers(stroke.path):
            assert 0 <= x <= layout.width, f"a {stroke.role} leaves the drawing"
            assert 0 <= y <= layout.height, f"a {stroke.role} leaves the drawing"


def crossings(layout: Layout) -> list[tuple[str, str]]:
    """The straight parts of strokes that run through a text, with that text."""
    found = []
    for stroke in layout.strokes:
        points = [values[-2:] for _, values in stroke.path if values]
        for (x, y), (to, end) in pairwise(points):
            left, right, top, bottom = min(x, to), max(x, to), min(y, end), max(y, end)
            if right - left > 1 and bottom - top > 1:
                continue
            for text in layout.texts:
                across = left < text.right - 2 and right > text.x + 2
                if across and top < text.bottom - 2 and bottom > text.y + 2:
                    found.append((stroke.role, text.text))
    return found


def check_order(layout: Layout, role: str) -> None:
    """Texts of a role stand in reading order: rows from the top, words along the row."""
    found: list[Text] = [text for text in layout.texts if text.role == role]
    backward = is_right_to_left([text.text for text in found])
    for one, two in pairwise(found):
        if role == "word" and two.y > one.y:
            continue
        assert (two.x < one.x) if backward else (two.x > one.x), f"{two.text!r} is out of order"


def check_svg(picture: str) -> ElementTree.Element:
    root = parse(picture)
    _, _, width, height = map(float, (root.get("viewBox") or "").split())
    rows = list(boxes(root))
    assert overlapping(rows) == []
    for left, top, right, bottom, text in rows:
        across = left >= -SLACK and right <= width + SLACK
        assert across and top >= 0 and bottom <= height, f"{text!r} leaves the drawing"  # noqa: PT018
    return root


def check_drawing(
    tree: Tree | DiscourseTree, width: int | None = 1200, view: View = "auto"
) -> None:
    """All that is asked of the drawing of a tree."""
    layout = lay_out(tree, width, view)
    check_layout(layout)
    root = check_svg(svg(tree, Options(width=width, view=view)))
    if isinstance(tree, Tree):
        check_order(layout, "word")
        assert [word.replace(" ", "") for word in of_role(root, "word")] == [
            shown(word).replace(" ", "") for word in tree.words()
        ]
    else:
        check_order(layout, "edu")
        drawn = of_role(root, "prose" if layout.view == "outline" else "edu")
        texts = [shown(edu.text) for edu in tree.edus]
        assert "".join(drawn).replace(" ", "") == "".join(texts).replace(" ", "")
