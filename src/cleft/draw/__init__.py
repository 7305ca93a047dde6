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

from cleft.draw.compare import Diff, diff
from cleft.draw.console import terminal
from cleft.draw.layout import Layout
from cleft.draw.options import Options, Theme
from cleft.draw.page import Section, html
from cleft.draw.pictures import Drawable, lay_out, svg

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
