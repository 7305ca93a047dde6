"""Trees and comparisons as SVG: flat, escaped, readable by screen readers, without scripts.

Elements are not nested by the tree's depth, which XML readers limit, and have
no ids, so that any number of drawings can stand on one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape

from cleft.discourse import DiscourseTree
from cleft.draw.characters import text_width, visible
from cleft.draw.compare import LEGEND, Diff, Drawable
from cleft.draw.discourse_layout import lay_out_discourse
from cleft.draw.layout import Layout, Mark, Stroke, Text, stack
from cleft.draw.syntax_layout import lay_out_syntax
from cleft.draw.theme import DEFAULT, Options, Theme, style
from cleft.tree import Tree

HEADING, NOTE = 14.0, 11.0
MARGIN = 20.0


def svg(tree: Drawable, options: Options = DEFAULT) -> str:
    """Draw a tree, or a comparison of two, as SVG.

    >>> picture = svg(Tree.from_brackets("(NP (DT the) (NN rain))"))
    >>> picture.startswith("<svg") and ">rain</text>" in picture
    True
    """
    return render(lay_out(tree, options.width), options.theme, title=options.title)


def lay_out(tree: Drawable, width: float | None = None) -> Layout:
    """The places of all that is drawn, for either task or a comparison."""
    if isinstance(tree, Diff):
        return _comparison(tree, width)
    return _tree(tree, width, {})


def _tree(tree: Tree | DiscourseTree, width: float | None, marks: Mapping[int, Mark]) -> Layout:
    if isinstance(tree, Tree):
        return lay_out_syntax(tree, width, marks)
    return lay_out_discourse(tree, marks)


def _comparison(found: Diff, width: float | None) -> Layout:
    """Both trees side by side, or one above the other where that is too wide."""
    sides = (
        _titled(_tree(found.gold, width, found.gold_marks), "Gold", ""),
        _titled(_tree(found.predicted, width, found.predicted_marks), "Predicted", found.summary),
    )
    name = f"Gold and predicted: {found.summary}. {sides[0].name}"
    words = f"Gold: {sides[0].description} Predicted: {sides[1].description}"
    if width is None or sides[0].width + sides[1].width <= width:
        layout = _beside(*sides)
    else:
        layout = stack(sides, 8.0, name="", description="")
    legend = _line(LEGEND, MARGIN, 0.0, NOTE, "note")
    below = Layout(
        width=legend.right + MARGIN, height=legend.height + 14, texts=(legend,), strokes=()
    )
    return stack((layout, below), 0.0, name=name, description=words)


def _line(text: str, x: float, y: float, size: float, role: str) -> Text:
    width = text_width(text, size, bold=role == "heading")
    return Text(text, (text,), x, y, width, size * 1.5, size, role)


def _titled(layout: Layout, title: str, note: str) -> Layout:
    heading = _line(title, MARGIN, 16.0, HEADING, "heading")
    texts = [heading]
    if note:
        texts.append(_line(note, heading.right + 10, 18.0, NOTE, "note"))
    moved = layout.shifted(0.0, 34.0)
    return replace(
        moved,
        width=max(layout.width, texts[-1].right + MARGIN),
        height=layout.height + 34.0,
        texts=(*texts, *moved.texts),
    )


def _beside(left: Layout, right: Layout) -> Layout:
    moved = right.shifted(left.width, 0.0)
    return Layout(
        width=left.width + right.width,
        height=max(left.height, right.height),
        texts=left.texts + moved.texts,
        strokes=left.strokes + moved.strokes,
    )


# ---------------------------------------------------------------- elements

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
