"""A layout as SVG: flat, escaped, readable by screen readers, with no scripts in it.

Elements are not nested by the tree's depth, which XML readers limit, and have
no ids, so that any number of drawings can stand on one page.
"""

from __future__ import annotations

from html import escape

from cleft.draw.characters import visible
from cleft.draw.layout import Layout, Stroke, Text
from cleft.draw.options import Theme
from cleft.draw.theme import style

__all__ = ["render", "text_element"]

ASCENT = 0.355  # from the middle of a line down to its baseline, in font sizes
ROUND = 6.0
STARTING = ("heading", "note", "crumb")


def number(value: float) -> str:
    """A coordinate with at most one digit after the point.

    >>> number(12.0), number(3.14159)
    ('12', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")


def safe(text: str) -> str:
    """Text for an element's content or an attribute's value, line breaks kept.

    >>> safe('<b a="1">')
    '&lt;b a=&quot;1&quot;&gt;'
    """
    return escape("\n".join(visible(line) for line in text.split("\n")), quote=True)


def render(layout: Layout, theme: Theme, *, title: str = "", styled: bool = True) -> str:
    """The SVG of a layout; without styles where the page around it has them."""
    name = title or layout.name
    width, height = number(layout.width), number(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cleft cleft-{theme}" role="img" '
        f'aria-label="{safe(name)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<title>{safe(name)}</title>",
        f"<desc>{safe(layout.description)}</desc>",
    ]
    if styled:
        parts.append(f"<style>{style(theme)}</style>")
    parts.append(f'<rect class="ground" width="{width}" height="{height}" rx="8"/>')
    parts += [stroke_element(stroke) for stroke in layout.strokes]
    parts += [text_element(text) for text in layout.texts]
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def path_data(stroke: Stroke) -> str:
    """The `d` of a path element."""
    return "".join(letter + " ".join(map(number, numbers)) for letter, numbers in stroke.path)


def stroke_element(stroke: Stroke, extra: str = "") -> str:
    """A line as an element."""
    weight = "" if stroke.role == "tip" else f' stroke-width="{stroke.weight:.2f}"'
    return f'<path class="{stroke.role}" d="{path_data(stroke)}"{weight}{extra}/>'


def text_element(text: Text, extra: str = "") -> str:
    """A text with its ground and its hint as an element."""
    middle = number(_anchor(text))
    tone = text.mark or text.tone
    names = " ".join(filter(None, (text.role, tone)))
    direction = ' direction="rtl"' if text.right_to_left else ""
    inner = _lines(text, middle)
    drawn = f'<text class="{names}" font-size="{number(text.size)}"{direction}{inner}</text>'
    hint = f"<title>{safe(text.hint)}</title>" if text.hint else ""
    if not (hint or text.tinted or extra):
        return drawn
    return f"<g{extra}>{hint}{_chip(text, tone)}{drawn}</g>"


def _anchor(text: Text) -> float:
    """Where the text is tied to its box: in the middle, or for lines of prose at its start."""
    if text.role not in STARTING:
        return text.x + text.width / 2
    return text.right if text.right_to_left else text.x


def _lines(text: Text, middle: str) -> str:
    step = text.height / len(text.lines)
    base = text.y + step / 2 + text.size * ASCENT
    if len(text.lines) == 1:
        return f' x="{middle}" y="{number(base)}">{safe(text.lines[0])}'
    spans = [
        f'<tspan x="{middle}" y="{number(base + index * step)}">{safe(line)}</tspan>'
        for index, line in enumerate(text.lines)
    ]
    return ">" + "".join(spans)


def _chip(text: Text, tone: str) -> str:
    if not text.tinted:
        return ""
    doubt = " doubt" if text.doubt and not text.mark else ""
    return (
        f'<rect class="{tone}-tint{doubt}" x="{number(text.x)}" y="{number(text.y)}" '
        f'width="{number(text.width)}" height="{number(text.height)}" rx="{number(ROUND)}"/>'
    )
