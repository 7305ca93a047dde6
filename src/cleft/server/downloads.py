"""Trees in the formats that people keep: brackets, JSON Lines, rs3, SVG."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cleft.discourse import DiscourseTree
from cleft.draw import Options, Theme, svg
from cleft.formats.rs3 import write_rs3
from cleft.formats.rst import RstDocument
from cleft.sentence import Sentence
from cleft.tree import Tree

__all__ = ["FORMATS", "Wish", "tree_downloads", "whole_downloads"]

FORMATS = ("brackets", "jsonl", "rs3", "svg")
"""What an answer can hold beside the trees themselves."""

NO_TREE = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which formats a client asks for, and the colours of drawings."""

    formats: tuple[str, ...] = ()
    theme: Theme = "auto"


def tree_downloads(tree: Tree | DiscourseTree, sentence: Sentence, wish: Wish) -> dict[str, str]:
    """One tree in the formats that are asked for and can hold it."""
    found: dict[str, str] = {}
    for name in wish.formats:
        if name == "brackets" and isinstance(tree, Tree):
            found[name] = tree.brackets() + "\n"
        elif name == "rs3" and isinstance(tree, DiscourseTree):
            found[name] = _rs3([tree])
        elif name == "svg":
            found[name] = svg(tree, Options(theme=wish.theme))
        elif name == "jsonl":
            found[name] = _alone(tree, sentence).to_jsonl() + "\n"
    return found


def _alone(tree: Tree | DiscourseTree, sentence: Sentence) -> Sentence:
    """The sentence with this tree and no other."""
    syntax, discourse = (tree, None) if isinstance(tree, Tree) else (None, tree)
    return replace(sentence, syntax=syntax, discourse=discourse, parses={})


def whole_downloads(sentences: Sequence[Sentence], wish: Wish) -> dict[str, str]:
    """The best trees of a text in the formats that are asked for; drawings are of one tree each."""
    found: dict[str, str] = {}
    for name in wish.formats:
        if name == "brackets":
            trees = (sentence.syntax for sentence in sentences)
            found[name] = "".join(NO_TREE if tree is None else f"{tree}\n" for tree in trees)
        elif name == "jsonl":
            found[name] = "".join(f"{sentence.to_jsonl()}\n" for sentence in sentences)
        elif name == "rs3":
            document = _rs3(_placed(sentences))
            if document:
                found[name] = document
    return found


def _placed(sentences: Sequence[Sentence]) -> Iterable[DiscourseTree]:
    """The discourse trees, their tokens counted through the text."""
    position = 0
    for sentence in sentences:
        if sentence.discourse is not None:
            yield sentence.discourse.moved(position)
            position += len(sentence.tokens)


def _rs3(trees: Iterable[DiscourseTree]) -> str:
    """A document of these trees; nothing where there is none."""
    document = RstDocument.of(trees)
    if not document.trees:
        return ""
    stream = io.StringIO()
    write_rs3(document, stream)
    return stream.getvalue()
