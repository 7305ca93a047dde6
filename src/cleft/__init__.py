"""Syntactic and discourse trees from text by conditional splitting.

>>> import cleft
>>> tree = cleft.Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)) (. .))")
>>> print(*cleft.SYNTAX.derive(tree).splits)
(0,3)→1 (1,3)→2
"""

from typing import TYPE_CHECKING

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX, Derivation
from cleft.tree import Tree

if TYPE_CHECKING:
    from cleft.parser import Parser, Sentence, load

__version__ = "0.1.0"

__all__ = [
    "DISCOURSE",
    "SYNTAX",
    "CleftError",
    "Derivation",
    "DiscourseTree",
    "Edu",
    "Parser",
    "Sentence",
    "Span",
    "Split",
    "Tree",
    "__version__",
    "load",
]


def __getattr__(name: str) -> object:
    """The parser, which brings NumPy, is loaded when it is first asked for."""
    if name in ("Parser", "Sentence", "load"):
        from cleft import parser

        return getattr(parser, name)
    raise AttributeError(f"module 'cleft' has no attribute {name!r}")
