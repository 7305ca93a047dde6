"""Bracketed trees: the Penn Treebank's format and its relatives.

A file holds trees one after the other, each on one line or many. White space
is that of ASCII only, so a word may hold any other character. A word outside
a preterminal, as in `(NP the cat)`, is read as a preterminal with an empty
tag. Trees are read as they stand; see `cleft.formats.cleaning` for `clean=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from cleft import files
from cleft.errors import InputError, Place, TreeFormatError
from cleft.formats.cleaning import Cleaning, clean_tree
from cleft.tree import Tree

__all__ = ["format_brackets", "parse_brackets", "read_brackets", "write_brackets"]

# A whole preterminal `(TAG word)`, else `(LABEL`, else `)` or a bare word.
TOKEN = re.compile(
    r"\([ \t\r\n\f\v]*([^ \t\r\n\f\v()]*)(?:[ \t\r\n\f\v]+([^ \t\r\n\f\v()]+)[ \t\r\n\f\v]*(\)))?"
    r"|([^ \t\r\n\f\v(]+?(?=[ \t\r\n\f\v()]|$)|\))"
)
SPACE = re.compile(r"[ \t\r\n\f\v]+")
QUOTED = 24  # characters of the source that a message quotes


class Reader:
    """Builds trees from lines of brackets; a tree may go on over many lines."""

    def __init__(self, name: str):
        self.name = name
        self.line = 0
        self.text = ""
        self.started: Place | None = None
        self.labels: list[str] = []
        self.children: list[list[Tree]] = [[]]

    def feed(self, text: str) -> list[Tree]:
        """Read one more line; return the trees that end on it."""
        self.line += 1
        self.text = text
        done: list[Tree] = []
        labels, children = self.labels, self.children
        current = children[-1]
        # findall makes plain tuples and is far faster than match objects;
        # where a message needs a column, the line is scanned once more.
        for index, (label, word, closed, other) in enumerate(TOKEN.findall(text)):
            if closed:
                if not labels:
                    self._fail(index, f"a tree that is only the word {word!r}")
                current.append(Tree(label, (), word))
            elif not other:
                if not labels:
                    self.started = Place(self.name, self.line, self._column(index))
                labels.append(label)
                current = []
                children.append(current)
            elif other == ")":
                if not labels:
                    self._fail(index, "a closing bracket that nothing opened", "remove it")
                tree = self._close(index)
                current = children[-1]
                if labels:
                    current.append(tree)
                else:
                    done.append(tree)
            elif labels:
                current.append(Tree("", (), other))
            else:
                self._fail(index, f"expected '(', found {_quote(other)}", "one tree after another")
        return done

    def _close(self, index: int) -> Tree:
        label, inner = self.labels.pop(), self.children.pop()
        if not inner:
            self._fail(index, f"bracket {label!r} holds neither a word nor a phrase", "fill it")
        if len(inner) == 1 and label and not inner[0].label and inner[0].word is not None:
            return Tree(label, (), inner[0].word)
        return Tree(label, tuple(inner))

    def finish(self) -> None:
        """Fail if a tree is still open."""
        depth = len(self.labels)
        if depth:
            raise TreeFormatError(
                f"the tree that starts here still has {depth} open "
                f"bracket{'s' * (depth > 1)} at the end",
                where=self.started or self.name,
                hint=f"add {')' * min(depth, 40)!r}",
            )

    def _column(self, index: int) -> int:
        for number, match in enumerate(TOKEN.finditer(self.text)):
            if number == index:
                return match.start() + 1
        raise AssertionError(index)

    def _fail(self, index: int, problem: str, hint: str = "") -> None:
        place = Place(self.name, self.line, self._column(index))
        raise TreeFormatError(problem, where=place, hint=hint)


def _quote(text: str) -> str:
    return repr(text if len(text) <= QUOTED else text[:QUOTED] + "…")


def parse_brackets(text: str, name: str = "tree") -> Tree:
    """One tree from a string, as it stands.

    >>> parse_brackets("(NP (DT the) (NN cat))").label
    'NP'
    """
    trees = list(_trees(text.splitlines(keepends=True), name))
    if len(trees) != 1:
        raise TreeFormatError(f"expected one tree, found {len(trees)}", where=name)
    return trees[0]


def _trees(source: Iterable[str], name: str) -> Iterator[Tree]:
    reader = Reader(name)
    for line in source:
        yield from reader.feed(line)
    reader.finish()


def read_brackets(path: str | Path, clean: Cleaning | None = None) -> Iterator[Tree]:
    """The trees of a file, one at a time, cleaned if asked.

    A tree that cleaning leaves without a word is an error, since leaving it
    out would shift every tree after it.
    """
    name = files.source_name(path)
    reader, empty = Reader(name), True
    for line in files.lines(path):
        for tree in reader.feed(line):
            empty = False
            yield tree if clean is None else _cleaned(tree, clean, reader)
    reader.finish()
    if empty:
        raise InputError("expected at least one tree, found none", where=name)


def _cleaned(tree: Tree, clean: Cleaning, reader: Reader) -> Tree:
    cleaned = clean_tree(tree, clean)
    if cleaned is None:
        raise TreeFormatError(
            "no word is left of this tree after cleaning",
            where=reader.started or reader.name,
            hint="remove the tree or clean less",
        )
    return cleaned


def format_brackets(tree: Tree) -> str:
    """A tree on one line. Brackets in words become -LRB- and -RRB-, white space `_`.

    >>> format_brackets(Tree("NN", word="a(b"))
    '(NN a-LRB-b)'
    """
    parts: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            parts.append(")")
        elif node.word is None:
            parts.append(f" ({_safe(node.label)}")
            stack.append(None)
            stack.extend(node.children[::-1])
        elif node.label:
            parts.append(f" ({_safe(node.label)} {_safe(node.word) or '-EMPTY-'})")
        else:
            parts.append(f" {_safe(node.word) or '-EMPTY-'}")
    return "".join(parts)[1:]


def _safe(text: str) -> str:
    if "(" in text or ")" in text:
        text = text.replace("(", "-LRB-").replace(")", "-RRB-")
    return SPACE.sub("_", text) if SPACE.search(text) else text


def write_brackets(trees: Iterable[Tree], stream: TextIO) -> None:
    """Write trees, one a line."""
    for tree in trees:
        stream.write(format_brackets(tree) + "\n")
