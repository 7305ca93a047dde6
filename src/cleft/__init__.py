"""Syntactic and discourse trees from text by conditional splitting.

>>> import cleft
>>> tree = cleft.Tree.from_brackets("(S (NP (PRP She)) (VP (VBD slept)) (. .))")
>>> print(*cleft.SYNTAX.derive(tree).splits)
(0,3)→1 (1,3)→2
"""

# Nothing is imported here: `python -m cleft` runs this with the current folder first on
# sys.path, where a file may be called like any module (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cleft.discourse import DiscourseTree, Edu
    from cleft.document import Document
    from cleft.errors import CleftError
    from cleft.parser import Parser, load
    from cleft.sentence import Sentence, SentenceInput
    from cleft.span import Constraints, Span, Split
    from cleft.tasks import DISCOURSE, SYNTAX, Derivation
    from cleft.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "DISCOURSE", "SYNTAX", "CleftError", "Constraints", "Derivation", "DiscourseTree", "Document",
    "Edu", "Parser", "Sentence", "SentenceInput", "Span", "Split", "Tree", "__version__", "load",
]  # fmt: skip

_HOMES = {
    "discourse": ("DiscourseTree", "Edu"),
    "document": ("Document",),
    "errors": ("CleftError",),
    "parser": ("Parser", "load"),
    "sentence": ("Sentence", "SentenceInput"),
    "span": ("Constraints", "Span", "Split"),
    "tasks": ("DISCOURSE", "SYNTAX", "Derivation"),
    "tree": ("Tree",),
}


def lazy(package: str, homes: "dict[str, tuple[str, ...]]") -> "Callable[[str], object]":
    """The `__getattr__` of a package: a name is loaded from its module when it is first used."""

    def load_name(name: str) -> object:
        from importlib import import_module

        for home, names in homes.items():
            if name in names:
                found: object = getattr(import_module(f"{package}.{home}"), name)
                setattr(import_module(package), name, found)
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load_name


__getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
