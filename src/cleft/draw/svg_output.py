"""Trees and comparisons as SVG: flat, escaped, readable by screen readers, without scripts.

Elements are not nested by the tree's depth, which XML readers limit, and have
no ids, so that any number of drawings can stand on one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Literal

from cleft.discourse import DiscourseTree
from cleft.draw.characters import text_width, visible, wrap
from cleft.draw.compare import LEGEND, Diff, Drawable
from cleft.draw.discourse_layout import lay_out_discourse
from cleft.draw.layout import Layout, Mark, Stroke, Text, as_drawn, stack
from cleft.draw.outline import outline_discourse, outline_syntax
from cleft.draw.syntax_layout import lay_out_syntax
from cleft.draw.theme import DEFAULT, Options, Theme, View, style
from cleft.errors import UsageError
from cleft.tree import Tree

HEADING, NOTE = 14.0, 11.0
MARGIN = 20.0
ROWS_FROM = 640.0  # the least width in which rows can be followed
TALLEST = 2400.0  # of all rows
HIGHEST = 480.0  # of a tree over its first words


def svg(tree: Drawable, options: Options = DEFAULT) -> str:
    """Draw a tree, or a comparison of two, as SVG.

    >>> picture = svg(Tree.from_brackets("(NP (DT the) (NN rain))"))
    >>> picture.startswith("<svg") and ">rain</text>" in picture
    True
    """
    layout = lay_out(tree, options.width, options.view, nested=options.nested)
    return render(layout, options.theme, title=options.title)


def png(tree: Drawable, options: Options = DEFAULT) -> bytes:
    r"""Draw a tree as PNG, twice as fine as a screen; needs the extra `cleft[png]`.

    >>> png(Tree.from_brackets("(NP (DT the) (NN rain))"))[:4]
    b'\x89PNG'
    """
    return image(svg(tree, fixed(options)), "png")


def pdf(tree: Drawable, options: Options = DEFAULT) -> bytes:
    """Draw a tree as a PDF page of its own size, its text as text; needs `cleft[png]`.

    >>> pdf(Tree.from_brackets("(NP (DT the) (NN rain))"))[:4]
    b'%PDF'
    """
    return image(svg(tree, fixed(options)), "pdf")


def fixed(options: Options) -> Options:
    """The options with colours for paper, where no reader's system chooses."""
    return replace(options, theme="light") if options.theme == "auto" else options


TYPST = b"""#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg")"""
"""A page that is as large as the drawing on it."""


def image(picture: str, form: Literal["png", "pdf"]) -> bytes:
    """An SVG drawing, in fixed colours, as PNG or PDF."""
    try:
        import typst
    except ImportError as error:
        raise UsageError(
            f"{form} is drawn by the package typst, which is not installed",
            hint="install cleft[png], or write SVG",
        ) from error
    # Without a time of its making, the same drawing is the same file.
    made = typst.compile(TYPST, format=form, ppi=2 * 96.0, sys_inputs={"svg": picture}, timestamp=0)
    assert isinstance(made, bytes)
    return made


def lay_out(
    tree: Drawable, width: float | None = None, view: View = "auto", *, nested: bool = False
) -> Layout:
    """The places of all that is drawn, for either task or a comparison.

    Nodes go by their places in the tree that is given, also where it is drawn with fewer of them
    because it is not to be `nested`.
    """
    if isinstance(tree, Diff):
        return _comparison(tree, width, view)
    if isinstance(tree, DiscourseTree):
        drawn = as_drawn(tree, nested=nested)
        layout = _tree(drawn, width, view, {})
        return layout if drawn is tree else layout.renumbered(tree.kept_places())
    return _tree(tree, width, view, {})


def _tree(
    tree: Tree | DiscourseTree, width: float | None, view: View, marks: Mapping[int, Mark]
) -> Layout:
    if isinstance(tree, Tree):
        if view != "outline":
            found = lay_out_syntax(tree, None if view == "tree" else width, marks)
            if view != "auto" or width is None or _fits(found, width):
                return found
        return outline_syntax(tree, width, marks)
    if view != "outline":
        diagram = lay_out_discourse(tree, marks)
        if view in ("tree", "rows") or width is None or diagram.width <= width:
            return diagram
    return outline_discourse(tree, width, marks)


def _fits(layout: Layout, width: float) -> bool:
    """Whether a tree can be looked at: its root and its first words at once, in few rows."""
    rows = layout.view == "tree" or (width >= ROWS_FROM and layout.height <= TALLEST)
    return rows and layout.width <= width + 1 and layout.first <= HIGHEST


def _comparison(found: Diff, width: float | None, view: View) -> Layout:
    """Both trees side by side, or one above the other where that is too wide."""
    sides = _sides(found, width, view)
    if view == "auto" and any(side.view != "tree" for side in sides):
        halves = width is not None and width >= ROWS_FROM
        sides = _sides(found, width / 2 if width is not None and halves else width, "outline")
    name = f"Gold and predicted: {found.summary}. {sides[0].name}"
    words = f"Gold: {sides[0].description} Predicted: {sides[1].description}"
    if width is None or sides[0].width + sides[1].width <= width:
        layout = _beside(*sides)
    else:
        layout = stack(sides, 8.0, name="", description="")
    lines = wrap(LEGEND, (width or layout.width) - 2 * MARGIN, NOTE)
    legend = [_line(line, MARGIN, 18.0 * at, NOTE, "note") for at, line in enumerate(lines)]
    wide = max(one.right for one in legend) + MARGIN
    below = Layout(width=wide, height=legend[-1].bottom + 14, texts=tuple(legend), strokes=())
    whole = stack((layout, below), 0.0, name=name, description=words)
    return replace(whole, view=sides[0].view, first=sides[0].first)


def _sides(found: Diff, width: float | None, view: View) -> tuple[Layout, Layout]:
    gold = _tree(found.gold, width, view, found.gold_marks)
    predicted = _tree(found.predicted, width, view, found.predicted_marks)
    return _titled(gold, "Gold", ""), _titled(predicted, "Predicted", found.summary)


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
STARTING = ("heading", "note", "crumb", "prose")


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
