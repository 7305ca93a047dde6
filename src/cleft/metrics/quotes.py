"""EVALB's mending of quotation marks.

A tagger may call `'` a possessive where gold has a quotation mark. If only one
of the two is deleted, the sentences differ in length and would be an error.
For settings with QUOTE_LABEL, EVALB then puts the deleted mark back. This
follows it step by step, including what it does when two marks stand side by
side, since its numbers depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cleft.metrics.bracketing import Bracketing, Rules
from cleft.tree import Tree

__all__ = ["mend"]

QUOTATION = frozenset({"'", '"', "/"})
MOST = 20  # EVALB keeps no more marks than this of a sentence


@dataclass(slots=True)
class _Mark:
    """A quotation mark: before which kept word it stands, and in which brackets."""

    word: str
    tag: str
    index: int
    opened: int  # brackets that open before it
    open: list[int]  # of those, the ones still open at it


@dataclass(slots=True)
class _Sheet:
    """A sentence as EVALB holds it: nothing left out yet, brackets in preorder."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    marks: list[_Mark] = field(default_factory=list)

    def put_back(self, mark: _Mark) -> None:
        """Insert a deleted mark as a word."""
        self.words.insert(mark.index, mark.word)
        self.tags.insert(mark.index, mark.tag)
        for bracket in range(mark.opened, len(self.starts)):
            self.starts[bracket] += 1
            self.ends[bracket] += 1
        for bracket in mark.open:
            self.ends[bracket] += 1


def mend(gold: Tree, predicted: Tree, rules: Rules) -> tuple[Bracketing, Bracketing]:
    """Both sides with deleted quotation marks back where the other side kept them.

    >>> from cleft.metrics.prm import NEW
    >>> gold = Tree.from_brackets("(S (NP (NNS dogs) (POS ')) (NN tail))")
    >>> predicted = Tree.from_brackets("(S (NP (NNS dogs) ('' ')) (NN tail))")
    >>> mend(gold, predicted, Rules(NEW))[1].words
    ['dogs', "'", 'tail']
    """
    one, two = _sheet(gold, rules), _sheet(predicted, rules)
    deleted = frozenset(rules.parameters.delete)
    for number, mark in enumerate(two.marks):
        index = mark.index  # as it stands now: putting this very mark back moves it on
        for other_number, other in enumerate(one.marks):
            if other.index != index or other.tag == mark.tag:
                continue
            if other.tag in deleted and mark.tag not in deleted:
                one.put_back(other)
                _move_on(one.marks[other_number:])
            elif mark.tag in deleted and other.tag not in deleted:
                two.put_back(mark)
                _move_on(two.marks[number:])
    return _finish(one, rules), _finish(two, rules)


def _move_on(marks: list[_Mark]) -> None:
    for mark in marks:
        mark.index += 1


def _sheet(tree: Tree, rules: Rules) -> _Sheet:
    quotes = rules.parameters.quotes
    sheet, open_brackets = _Sheet(), list[int]()
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            sheet.ends[open_brackets.pop()] = len(sheet.words)
        elif node.word is None:
            open_brackets.append(len(sheet.starts))
            sheet.labels.append(node.label)
            sheet.starts.append(len(sheet.words))
            sheet.ends.append(0)
            stack.append(None)
            stack.extend(node.children[::-1])
        else:
            if node.label in quotes and node.word in QUOTATION and len(sheet.marks) < MOST:
                opened = len(sheet.starts)
                sheet.marks.append(
                    _Mark(node.word, node.label, len(sheet.words), opened, open_brackets[:])
                )
            if rules.tags[node.label] is not None:
                sheet.words.append(node.word)
                sheet.tags.append(node.label)
    return sheet


def _finish(sheet: _Sheet, rules: Rules) -> Bracketing:
    brackets = []
    for start, end, name in zip(
        reversed(sheet.starts), reversed(sheet.ends), reversed(sheet.labels), strict=True
    ):
        label = rules.phrases[name]
        if start < end and label is not None:
            brackets.append((start, end, label))
    tags = [rules.tag_class(tag) for tag in sheet.tags]
    return Bracketing(sheet.words, tags, brackets, len(sheet.words))
