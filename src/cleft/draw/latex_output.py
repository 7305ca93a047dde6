r"""Trees as LaTeX, for the package `forest`, or with the brackets of `qtree`.

The latter are set by `tikz-qtree`, which reads the same and has no limit of
five children.

A document of its own, which the class `standalone` crops to the trees; what
stands between `\begin{document}` and `\end{document}` can be put into another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from cleft.discourse import DiscourseTree
from cleft.draw.characters import shown, visible
from cleft.draw.layout import as_drawn, children_of
from cleft.errors import UsageError, check_type
from cleft.tree import Tree

Package = Literal["forest", "qtree"]

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
} | {char: f"\\{char}" for char in "{}$&#_%"}
TOGETHER = re.compile(r"(?<=[-,'`!?])(?=[-,'`])")
"""Where TeX would make one sign of two: `--`, `,,`, `!` and a backquote; not of quotation marks."""

HEAD = r"""% {engine}
\documentclass[varwidth=\maxdimen,border=4pt]{{standalone}}
\usepackage{{iftex}}
\ifpdftex\usepackage[T1]{{fontenc}}\usepackage{{lmodern}}\else\usepackage{{fontspec}}\fi
\usepackage{{{package}}}
{setup}\begin{{document}}
"""
ENGINE = "pdflatex for Latin letters; lualatex and a \\setmainfont that has them for others"
FOREST = r"""\forestset{
  syntax/.style={for tree={s sep=5pt, inner sep=2pt}},
  discourse/.style={for tree={s sep=12pt, inner sep=3pt}},
  edu/.style={node options={text width=8em, text centered}},
  satellite/.style={edge=dashed},
}
"""


def latex(
    trees: Tree | DiscourseTree | Iterable[Tree | DiscourseTree],
    package: Package,
    *,
    nested: bool = False,
) -> str:
    r"""A LaTeX document of trees; the edge of a satellite is dashed, or its name ends in `(S)`.

    With `nested` a relation of several nuclei is the pairs that a parser splits it into.

    >>> tree = Tree.from_brackets("(S (NP (PRP She)) (VP (VBD won) (NP ($ $))))")
    >>> print(latex(tree, "qtree").splitlines()[-2])
    \Tree [.{S} [.{NP} [.{PRP} {She} ] ] [.{VP} [.{VBD} {won} ] [.{NP} [.{\$} {\$} ] ] ] ]
    """
    if package not in ("forest", "qtree"):
        raise UsageError(f"no package is called {package!r}", hint="use forest or qtree")
    check_type(trees, Tree | DiscourseTree | Iterable, "trees", "a comparison: draw both its trees")
    rows = [trees] if isinstance(trees, Tree | DiscourseTree) else list(trees)
    name, setup = ("forest", FOREST) if package == "forest" else ("tikz-qtree", "")
    head = HEAD.format(engine=ENGINE, package=name, setup=setup)
    drawn = []
    for tree in rows:
        kind = "syntax" if isinstance(tree, Tree) else "discourse"
        shown_tree: Tree | DiscourseTree = (
            tree if isinstance(tree, Tree) else as_drawn(tree, nested=nested)
        )
        body = _written(shown_tree, package)
        forest = f"\\begin{{forest}} {kind}\n{body}\n\\end{{forest}}"
        drawn.append(forest if package == "forest" else f"\\Tree {body}")
    return head + "\n\n\\bigskip\n".join(drawn) + "\n\\end{document}\n"


def escaped(text: str) -> str:
    r"""A text that TeX sets as it stands.

    >>> print(escaped("50% of $5 -- {now}"))
    50\% of \$5 -{}- \{now\}
    """
    plain = "".join(SPECIAL.get(char, char) for char in visible(text))
    return TOGETHER.sub(_apart, plain)


def _apart(match: re.Match[str]) -> str:
    before, after = match.string[match.start() - 1], match.string[match.start()]
    return "" if before == after and before in "'`" else "{}"


def _written(tree: Tree | DiscourseTree, package: Package) -> str:
    """The brackets of a tree, opened in preorder."""
    nodes = tree.preorder()
    children = children_of(nodes)
    roles = ["N"] * len(nodes)
    parts: list[str] = []
    todo: list[int | None] = [0]
    while todo:
        place = todo.pop()
        if place is None:
            parts.append("]")
            continue
        node, below = nodes[place], children[place]
        if isinstance(node, DiscourseTree):
            for child, role in zip(below, node.nuclearity, strict=True):
                roles[child] = role
        parts.append((_forest if package == "forest" else _qtree)(node, roles[place] == "S"))
        todo += [None, *reversed(below)]
    return " ".join(parts)


def _forest(node: Tree | DiscourseTree, satellite: bool) -> str:
    dashed = ", satellite" if satellite else ""
    if isinstance(node, Tree):
        return f"[{{{_name(node)}}}" + ("" if node.word is None else f" [{{{_word(node)}}}]")
    return f"[{{{_name(node)}}}" + (", edu" if node.edu is not None else "") + dashed


def _qtree(node: Tree | DiscourseTree, satellite: bool) -> str:
    after = " (S)" if satellite else ""
    if isinstance(node, Tree):
        return f"[.{{{_name(node)}}}" + ("" if node.word is None else f" {{{_word(node)}}}")
    if node.edu is None:
        return f"[.{{{_name(node)}{after}}}"
    text = f"\\parbox{{8em}}{{\\centering {_name(node)}}}"
    return f"[.{{EDU{after}}} {{{text}}}"


def _name(node: Tree | DiscourseTree) -> str:
    if isinstance(node, Tree):
        return escaped(shown(node.label, "·"))
    return escaped(shown(node.edu.text) if node.edu is not None else node.relation)


def _word(node: Tree) -> str:
    return escaped(shown(node.word or ""))
