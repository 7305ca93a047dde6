"""Bracketed trees: the Penn Treebank's format and its relatives.

A file holds trees one after the other, each on one line or many. White space
is that of ASCII only, so a word may hold any other character. A word outside
a preterminal, as in `(NP the cat)`, is read as a preterminal with an empty
tag. Trees are read as they stand; see `cleft.formats.cleaning` for `clean=`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NoReturn, TextIO

from cleft import files
from cleft.errors import InputError, Place, TreeFormatError, check_type
from cleft.formats.cleaning import KEEP, Cleaner, Cleaning
from cleft.tree import Tree

__all__ = [
    "FOREST", "MISSING", "bracket_losses", "format_brackets", "is_no_parse", "parse_brackets",
    "read_brackets", "read_by_line", "read_parses", "write_brackets",
]  # fmt: skip

# A whole preterminal `(TAG word)`, else `(LABEL`, else `)` or a bare word.
TOKEN = re.compile(
    r"\([ \t\r\n\f\v]*([^ \t\r\n\f\v()]*)(?:[ \t\r\n\f\v]+([^ \t\r\n\f\v()]+)[ \t\r\n\f\v]*(\)))?"
    r"|([^ \t\r\n\f\v(]+?(?=[ \t\r\n\f\v()]|$)|\))"
)
# Blank, or one bracket that holds no word: `(())`, `(TOP )`.
NO_PARSE = re.compile(r"[ \t\r\n\f\v]*(?:\([ \t\r\n\f\v]*+[^ \t\r\n\f\v()]*+[ \t\r\n\f\v()]*+)?")
MISSING = "(())"
"""What stands for a sentence without a tree, as EVALB has it."""
FOREST = "\0forest"
"""The label of a node that only holds together what one line has; it is no bracket.

No file can have such a label, so nothing else is taken for it.
"""
SPACE = re.compile(r"[ \t\r\n\f\v]+")
QUOTED = 24  # characters of the source that a message quotes


class Reader:
    """Builds trees from lines of brackets; a tree may take many lines.

    Cleans as it reads, so that a treebank costs one pass; what it makes is
    what `clean_tree` makes of the tree as it stands. None stands for what
    cleaning removed.
    """

    def __init__(self, name: str, clean: Cleaning | None = None) -> None:
        self.name = name
        self.cleaner = Cleaner(clean or KEEP)
        self.line = 0
        self.text = ""
        self.started: tuple[int, int, str] | None = None
        self.labels: list[str] = []
        self.children: list[list[Tree | None]] = [[]]

    def feed(self, text: str) -> list[Tree]:
        """Read one more line; return the trees that end on it."""
        self.line += 1
        self.text = text
        done: list[Tree] = []
        labels, children = self.labels, self.children
        current = children[-1]
        make_leaf, make_label = self.cleaner.leaf, self.cleaner.phrase
        # findall makes plain tuples and is far faster than match objects;
        # where a message needs a column, the line is scanned once more.
        for index, (label, word, closed, other) in enumerate(TOKEN.findall(text)):
            if closed:
                leaf = make_leaf(label, word)
                if not labels:
                    self._start(index)
                    done.append(self._whole(leaf))
                else:
                    current.append(leaf)
            elif not other:
                if not labels:
                    self._start(index)
                labels.append(make_label(label))
                current = []
                children.append(current)
            elif other == ")":
                tree = self._close(index)
                current = children[-1]
                if labels:
                    current.append(tree)
                else:
                    done.append(self._whole(tree))
            elif labels:
                current.append(make_leaf("", other))
            else:
                self._fail(index, f"expected '(', found {_quote(other)}", "start each tree with it")
        return done

    def _start(self, index: int) -> None:
        # Kept as it is: the column is looked for only if a message needs it.
        self.started = (self.line, index, self.text)

    def _beginning(self) -> Place:
        assert self.started is not None
        line, index, text = self.started
        return Place(self.name, line, _column(text, index))

    def _close(self, index: int) -> Tree | None:
        if not self.labels:
            self._fail(index, "a closing bracket that nothing opened", "remove it")
        label, inner = self.labels.pop(), self.children.pop()
        if not inner:
            self._fail(index, f"bracket {label!r} holds neither a word nor a phrase", "fill it")
        kept = tuple([child for child in inner if child is not None])
        if not kept:
            return None
        if len(kept) == 1 and label and not kept[0].label and kept[0].word is not None:
            # A preterminal over two lines; its tag was read as a phrase's label.
            return self.cleaner.leaf(label, kept[0].word)
        return Tree(label, kept)

    def _whole(self, tree: Tree | None) -> Tree:
        if tree is None:
            raise TreeFormatError(
                "no word is left of this tree after cleaning",
                where=self._beginning(),
                hint="remove the tree or clean less",
            )
        return self.cleaner.root(tree)

    def finish(self) -> None:
        """Fail if a tree is still open."""
        depth = len(self.labels)
        if depth:
            raise TreeFormatError(
                f"the tree that starts here still has {depth} open "
                f"bracket{'s' * (depth > 1)} at the end",
                where=self._beginning(),
                hint=f"add {')' * min(depth, 40)!r}",
            )

    def _fail(self, index: int, problem: str, hint: str) -> NoReturn:
        place = Place(self.name, self.line, _column(self.text, index))
        raise TreeFormatError(problem, where=place, hint=hint)


def _column(text: str, index: int) -> int:
    """The column, from 1, of a line's token of this number."""
    return next(islice(TOKEN.finditer(text), index, None)).start() + 1


def _quote(text: str) -> str:
    return repr(text if len(text) <= QUOTED else text[:QUOTED] + "…")


def parse_brackets(text: str, clean: Cleaning | None = None) -> Tree:
    """One tree from a string, as it stands unless a cleaning is given.

    >>> parse_brackets("(NP (DT the) (NN cat))").label
    'NP'
    """
    check_type(text, str, "brackets (str)", hint="read_brackets reads a file of them")
    trees = list(_trees(Reader("tree", clean), text.split("\n")))
    if len(trees) != 1:
        raise TreeFormatError(f"expected one tree, found {len(trees)}", hint="give just one")
    return trees[0]


def read_brackets(path: files.Readable, clean: Cleaning | None = None) -> Iterator[Tree]:
    """The trees of a file, one at a time, cleaned if asked.

    A tree that cleaning leaves without a word is an error, since leaving it
    out would shift every tree after it.
    """
    name, empty = files.source_name(path), True
    for tree in _trees(Reader(name, clean), files.lines(path)):
        empty = False
        yield tree
    if empty:
        raise _nothing(name)


def _trees(reader: Reader, source: Iterable[str]) -> Iterator[Tree]:
    for line in source:
        yield from reader.feed(line)
    reader.finish()


def is_no_parse(line: str) -> bool:
    """Whether a line stands for a missing parse: blank, or brackets without a word.

    >>> is_no_parse("(())"), is_no_parse("(NN rain)")
    (True, False)
    """
    return NO_PARSE.fullmatch(line) is not None and line.count("(") == line.count(")")


def read_parses(path: files.Readable, clean: Cleaning | None = None) -> Iterator[Tree | None]:
    """What a parser wrote: the trees of a file, None for `(())` and the like.

    Blank lines part trees, as in `read_brackets`, and are no missing parse.
    """
    reader, empty = Reader(files.source_name(path), clean), True
    for line in files.lines(path):
        if "(" in line and not reader.labels and is_no_parse(line):
            reader.feed("\n")  # counts the line
            found: Sequence[Tree | None] = [None]
        else:
            found = reader.feed(line)
        empty = empty and not found
        yield from found
    reader.finish()
    if empty:
        raise _nothing(reader.name)


def read_by_line(path: files.Readable) -> list[Tree | None]:
    r"""The trees of a file as EVALB pairs them; None for a missing parse.

    If no tree takes several lines, each line is one entry, a blank one
    is a missing parse, and several trees on a line, or words with tags but no
    phrase, become a `FOREST`. Else trees are counted, and blank lines mean
    nothing.

    >>> read_by_line(files.Text("trees", "(NP (NN rain))\n\n"))
    [Tree.from_brackets('(NP (NN rain))'), None]
    """
    reader = Reader(files.source_name(path))
    by_line: list[Tree | None] = []
    by_tree: list[Tree | None] = []
    whole_lines = True
    for line in files.lines(path):
        if not reader.labels and is_no_parse(line):
            reader.feed("\n")  # counts the line
            by_line.append(None)
            if "(" in line:
                by_tree.append(None)
        else:
            found = reader.feed(line)
            by_line.append(_joined(found))
            by_tree += found
            whole_lines &= not reader.labels
    reader.finish()
    if all(tree is None for tree in by_tree):
        raise _nothing(reader.name)
    return by_line if whole_lines else by_tree


def _joined(trees: list[Tree]) -> Tree | None:
    if len(trees) > 1:
        return Tree(FOREST, trees)
    return trees[0] if trees else None


def _nothing(name: str) -> InputError:
    return InputError(
        "expected at least one tree, found none", where=name, hint="is it the right file?"
    )


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


@lru_cache(maxsize=16_384)  # most words and all labels are written again and again
def _safe(text: str) -> str:
    if "(" in text or ")" in text:
        text = text.replace("(", "-LRB-").replace(")", "-RRB-")
    return SPACE.sub("_", text) if SPACE.search(text) else text


def write_brackets(trees: Iterable[Tree], stream: TextIO) -> None:
    """Write trees, one a line."""
    for tree in trees:
        stream.write(format_brackets(tree) + "\n")


def bracket_losses(tree: Tree) -> Iterator[str]:
    """What of a tree brackets have no place for.

    >>> list(bracket_losses(Tree("NN", word="a(b")))
    ['trees with words or labels that brackets cannot hold as they are']
    """
    nodes = tree.preorder()
    if any(node.evidence for node in nodes):
        yield "trees with probabilities: brackets have no place for them"
    if any(map(_changes, nodes)):
        yield "trees with words or labels that brackets cannot hold as they are"


def _changes(node: Tree) -> bool:
    texts = (node.label, node.word if node.word is not None else "x")
    odd = any(set(text) & set("() \t\r\n\f\v") for text in texts)
    # A word without a tag is written bare, which not every place allows.
    return odd or node.word == "" or (node.word is not None and not node.label)
