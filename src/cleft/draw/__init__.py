"""Drawings of trees: for the terminal, as SVG, HTML, PNG, PDF and LaTeX, in a notebook.

`terminal`, `svg`, `html`, `png` and `pdf` take a `Tree`, a `DiscourseTree`, or
what `diff` makes of a gold and a predicted tree; `latex` takes trees. Nothing
here needs a browser or a font.

>>> from cleft import Tree, draw
>>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
>>> "She" in draw.svg(gold, draw.Options(theme="dark"))
True
>>> draw.diff(gold, gold).summary
'3 of 3 phrases agree'
"""

from typing import TYPE_CHECKING

from cleft import lazy
from cleft.draw.layout import Layout
from cleft.draw.terminal_output import terminal

if TYPE_CHECKING:
    from cleft.draw.compare import Diff, Drawable, diff
    from cleft.draw.html_output import Section, html
    from cleft.draw.latex_output import latex
    from cleft.draw.svg_output import lay_out, pdf, png, svg
    from cleft.draw.theme import Options, Theme, View

__all__ = [
    "Diff", "Drawable", "Layout", "Options", "Section", "Theme", "View", "diff", "html",
    "latex", "lay_out", "pdf", "png", "svg", "terminal",
]  # fmt: skip

# A drawing in the terminal needs none of these.
__getattr__ = lazy(
    __name__,
    {
        "compare": ("Diff", "Drawable", "diff"),
        "html_output": ("Section", "html"),
        "latex_output": ("latex",),
        "svg_output": ("lay_out", "pdf", "png", "svg"),
        "theme": ("Options", "Theme", "View"),
    },
)
