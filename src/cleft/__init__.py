"""Syntactic and discourse trees from text by conditional splitting.

>>> import cleft
>>> tree = cleft.Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)) (. .))")
>>> print(*cleft.SYNTAX.derive(tree).splits)
(0,3)→1 (1,3)→2
"""

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX, Derivation
from cleft.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "DISCOURSE",
    "SYNTAX",
    "CleftError",
    "Derivation",
    "DiscourseTree",
    "Edu",
    "Span",
    "Split",
    "Tree",
    "__version__",
]
