"""Lisp-like .dis files, as RST-DT and GUM have them: read and written.

A node is `( Nucleus (span 1 3) (rel2par list) …children )`, a leaf
`( Satellite (leaf 4) (rel2par cause) (text _!…_!) )`; the outermost is `Root`.
Nodes may be binary or n-ary, a file may hold several trees, and a text may
hold brackets: it ends where `_!` and two closing brackets stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TextIO

from cleft import files
from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, InputError, Place, TreeFormatError
from cleft.formats.rst import (
    DIS_BRACKETS,
    DIS_END,
    RstDocument,
    losses,
    make_edu,
    natural_number,
    placed,
    text_tokens,
    without_mark,
)
from cleft.span import Span

__all__ = ["read_dis", "write_dis"]

BLANK = re.compile(r"\s*")
OPEN = re.compile(r"\(\s*([A-Za-z0-9]*)")
REST = re.compile(r"([^()]*)\)")
TEXT = re.compile(r"\s*_!")
# RST-DT marks what its conversion could not place.
ERROR_MARK = re.compile(r"//TT_ERR[^\n]*")
ROLES = {"Root": "", "Nucleus": "N", "Satellite": "S"}
DEEPEST = 200


@dataclass(slots=True)
class _Open:
    """A node whose closing bracket has not come yet."""

    role: str
    start: int
    span: Span | None = None
    leaf: int | None = None
    relation: str = ""
    text: str | None = None
    children: list[DiscourseTree] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    first: int = 0


def read_dis(path: files.Readable) -> RstDocument:
    """The trees of a .dis file as one document."""
    name = files.source_name(path)
    text = files.read_text(path)
    reader = _Reader(text, name)
    reader.run()
    if not reader.trees:
        found = "no tree" if text.strip() else "an empty file"
        raise InputError(f"expected a discourse tree, found {found}", where=name)
    return RstDocument.of(reader.trees, reader.remarks())


class _Reader:
    """Reads one text from left to right; `stack` holds the open nodes."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.position = 0
        self.stack: list[_Open] = []
        self.trees: list[DiscourseTree] = []
        self.count = 0  # EDUs so far
        self.tokens = 0
        self.offset = 0  # what the current tree's EDU numbers are short of the document's
        self.marks = {"//TT_ERR mark": 0, "paragraph mark <P>": 0}

    def remarks(self) -> list[str]:
        """What the file held that a document does not."""
        return [f"{count} × {what}: not read" for what, count in self.marks.items() if count]

    def fault(self, problem: str, hint: str = "", position: int | None = None) -> TreeFormatError:
        """An error with its line and column."""
        at = self.position if position is None else position
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return TreeFormatError(problem, where=Place(self.name, line, column), hint=hint)

    def run(self) -> None:
        """Read the whole text."""
        while True:
            self.take(BLANK)
            if self.position == len(self.text):
                break
            if self.take(ERROR_MARK):
                self.marks["//TT_ERR mark"] += 1
            elif self.text[self.position] == ")":
                self.close()
            elif opening := OPEN.match(self.text, self.position):
                self.open(opening[1], opening.end())
            else:
                found = self.text[self.position : self.position + 20].split("\n")[0]
                raise self.fault(f"expected '(' or ')', found {found!r}", "check the brackets")
        if self.stack:
            count = len(self.stack)
            raise self.fault(
                f"{count} bracket{'s' * (count > 1)} still open at the end of the file, "
                f"the outermost from line {self.text.count(chr(10), 0, self.stack[0].start) + 1}",
                f"add {')' * min(count, 20)!r}{' and so on' * (count > 20)}",
            )

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Move past a pattern if it stands here."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def open(self, word: str, after: int) -> None:
        """Open a node, or read a property of the one that is open."""
        if word in ROLES:
            if (word == "Root") is bool(self.stack):
                raise self.fault(
                    f"expected {'Nucleus or Satellite' if self.stack else 'Root'}, found {word}",
                    "the outermost node is the Root, and only it",
                )
            self.stack.append(_Open(ROLES[word], self.position, first=self.count))
            if word == "Root":
                self.offset = -1
            self.position = after
            return
        if word not in ("span", "leaf", "rel2par", "text") or not self.stack:
            expected = "a node or span, leaf, rel2par, text" if self.stack else "( Root"
            raise self.fault(f"expected {expected}, found ({word}", "check the brackets")
        start, node = self.position, self.stack[-1]
        self.position = after
        if word == "text":
            node.text = self.quoted(start)
            return
        match = self.take(REST)
        if match is None:
            raise self.fault(f"expected one value and ')' after ({word}", position=start)
        self.set(node, word, match[1], start)

    def set(self, node: _Open, word: str, value: str, start: int) -> None:
        """Give a node its span, number or relation."""
        if word == "rel2par":
            node.relation = " ".join(text_tokens(value))
            return
        numbers = [natural_number(text) for text in value.split()]
        wanted = 2 if word == "span" else 1
        known = [number for number in numbers if number is not None]
        if len(numbers) != wanted or len(known) != wanted:
            found = value.strip()[:20]
            raise self.fault(
                f"expected {wanted} number{'s' * (wanted > 1)} after ({word}, found {found!r}",
                position=start,
            )
        if word == "span":
            node.span = Span(*known)
        else:
            node.leaf = known[0]

    def quoted(self, start: int) -> str:
        """The text between the marks; it may hold anything but the mark and two brackets."""
        if self.take(TEXT) is None:
            raise self.fault("expected _! after (text", position=start)
        end = DIS_END.search(self.text, self.position)
        if end is None:
            raise self.fault("the text is not closed", "add _!) )", position=start)
        text = self.text[self.position : end.start()]
        self.position = self.text.index(")", end.start()) + 1
        bare = without_mark(text)
        self.marks["paragraph mark <P>"] += bare != text
        return bare

    def close(self) -> None:
        """Close the open node and hand it to its parent."""
        if not self.stack:
            raise self.fault("')' closes nothing", "remove it")
        node = self.stack.pop()
        tree = (
            self.leaf(node) if node.text is not None or node.leaf is not None else self.join(node)
        )
        self.check_span(node)
        self.position += 1
        if not self.stack:
            self.trees.append(tree)
            return
        if not node.relation:
            raise self.fault("the node has no rel2par", "add (rel2par …)", position=node.start)
        parent = self.stack[-1]
        parent.children.append(tree)
        parent.letters.append(node.role)
        parent.relations.append(node.relation)

    def leaf(self, node: _Open) -> DiscourseTree:
        """An EDU."""
        if node.leaf is None or node.text is None or node.children:
            missing = "leaf" if node.leaf is None else "text"
            problem = "children" if node.children else f"no ({missing} …)"
            raise self.fault(f"a leaf has {problem}", "a leaf has a number and a text", node.start)
        self.number(node)
        edu = make_edu(node.text, self.tokens)
        if not edu.text:
            raise self.fault(f"EDU {node.leaf} has no text", "fill it or remove it", node.start)
        self.count += 1
        self.tokens = edu.span.right
        return DiscourseTree.leaf(edu)

    def number(self, node: _Open) -> None:
        """Check an EDU's number: each tree counts from 1 or on from the tree before it."""
        assert node.leaf is not None
        if self.offset < 0:
            self.offset = self.count if node.leaf == 1 else 0
        expected = self.count + 1 - self.offset
        if node.leaf != expected:
            raise self.fault(
                f"expected EDU {expected}, found {node.leaf}",
                "EDUs stand in the order of their numbers",
                node.start,
            )

    def join(self, node: _Open) -> DiscourseTree:
        """A node over its children."""
        if len(node.children) == 1:
            raise self.fault("a node has one child", "put the child in its place", node.start)
        try:
            return DiscourseTree(node.children, "".join(node.letters), node.relations)
        except CleftError as error:
            raise self.fault(error.problem, error.hint, node.start) from error

    def check_span(self, node: _Open) -> None:
        """Check that a node covers the EDUs it says."""
        actual = (node.first + 1 - self.offset, self.count - self.offset)
        if node.span is not None and node.span != actual:
            raise self.fault(
                f"expected span {actual[0]} {actual[1]} by the leaves below, "
                f"found {node.span[0]} {node.span[1]}",
                "correct the span or the leaves",
                node.start,
            )


def write_dis(document: RstDocument, stream: TextIO) -> list[str]:
    """Write a document's trees, n-ary as they are; returns what .dis cannot hold."""
    stack: list[tuple[Span, str]] = []  # open nodes with what closes them
    roles: dict[Span, tuple[str, str]] = {}
    for span, node, children in placed(document.trees):
        while stack and not stack[-1][0].holds(span):
            stream.write(stack.pop()[1])
        role, relation = roles.pop(span, ("Root", ""))
        # Very deep trees would spend most of their bytes on indentation.
        indent = "  " * min(len(stack), DEEPEST)
        tie = f" (rel2par {_name(relation)})" if relation else ""
        if node.edu is not None:
            text = _text(node.edu.text)
            stream.write(f"{indent}( {role} (leaf {span.right}){tie} (text _!{text}_!) )\n")
            continue
        end = tie or " "  # as RST-DT and GUM have it
        stream.write(f"{indent}( {role} (span {span.left + 1} {span.right}){end}\n")
        stack.append((span, f"{indent})\n"))
        for child, letter, name in zip(children, node.nuclearity, node.relations, strict=True):
            roles[child] = ("Nucleus" if letter == "N" else "Satellite", name)
    while stack:
        stream.write(stack.pop()[1])
    return losses(document, "dis")


def _text(text: str) -> str:
    text = " ".join(text_tokens(text))
    # Only the mark before two brackets ends a text; breaking it keeps the rest as it is.
    return DIS_END.sub(lambda match: "_ " + match[0][1:], text)


def _name(relation: str) -> str:
    return " ".join(text_tokens(DIS_BRACKETS.sub("_", relation)))
