"""Trees and comparisons as SVG."""

from __future__ import annotations

from collections.abc import Mapping

from cleft.discourse import DiscourseTree
from cleft.draw.compare import Diff
from cleft.draw.discourse_layout import lay_out_discourse
from cleft.draw.layout import Layout, Mark, Text, stack
from cleft.draw.measure import text_width
from cleft.draw.options import DEFAULT, Options
from cleft.draw.svg_output import render
from cleft.draw.syntax_layout import lay_out_syntax
from cleft.tree import Tree

__all__ = ["Drawable", "lay_out", "svg"]

Drawable = Tree | DiscourseTree | Diff
"""What can be drawn: a tree of either task, or a comparison of two."""

HEADING, NOTE = 14.0, 11.0
MARGIN = 20.0
LEGEND = "+ only predicted     − only gold     ≠ named differently"


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
    return Layout(
        width=max(layout.width, texts[-1].right + MARGIN),
        height=layout.height + 34.0,
        texts=(*texts, *moved.texts),
        strokes=moved.strokes,
        name=layout.name,
        description=layout.description,
    )


def _beside(left: Layout, right: Layout) -> Layout:
    moved = right.shifted(left.width, 0.0)
    return Layout(
        width=left.width + right.width,
        height=max(left.height, right.height),
        texts=left.texts + moved.texts,
        strokes=left.strokes + moved.strokes,
    )
