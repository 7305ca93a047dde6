"""Drawings of trees: for the terminal, as SVG, as a page of HTML, in a notebook.

`terminal`, `svg` and `html` take a `Tree`, a `DiscourseTree`, or what `diff`
makes of a gold and a predicted tree. Nothing here needs a browser or a font.

>>> from cleft import Tree, draw
>>> gold = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)))")
>>> "She" in draw.svg(gold, draw.Options(theme="dark"))
True
>>> draw.diff(gold, gold).summary
'3 of 3 phrases agree'
"""

from typing import TYPE_CHECKING

from cleft import lazy
from cleft.draw.compare import Diff, Drawable, diff
from cleft.draw.layout import Layout
from cleft.draw.terminal_output import terminal
from cleft.draw.theme import Options, Theme

if TYPE_CHECKING:
    from cleft.draw.html_output import Section, html
    from cleft.draw.svg_output import lay_out, svg

__all__ = [
    "Diff",
    "Drawable",
    "Layout",
    "Options",
    "Section",
    "Theme",
    "diff",
    "html",
    "lay_out",
    "svg",
    "terminal",
]

# A drawing in the terminal needs none of these.
__getattr__ = lazy(__name__, {"html_output": ("Section", "html"), "svg_output": ("lay_out", "svg")})
