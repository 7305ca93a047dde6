"""Constituency trees, labelled and n-ary, and their binary form.

A phrase has a label and children; a preterminal has a tag (its label) and a
word. Functions return new trees and share unchanged nodes with the old ones,
so labels and children must not be changed in place; `evidence` may be set.
Every traversal has an explicit stack: depth is limited by memory alone.
Reading and writing are in `cleft.formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cleft.errors import TreeShapeError
from cleft.evidence import Evidence, EvidenceTable, ScoredNode
from cleft.span import Span

if TYPE_CHECKING:
    import nltk

T = TypeVar("T")
Node = TypeVar("Node", bound=ScoredNode)

Branching = Literal["left", "right"]
"""Which side of a binarised phrase keeps the remaining children."""

Dummy = Literal["one", "parent"]
"""How binarisation names the brackets it adds: all `∅`, or `∅NP` under an NP."""

DUMMY = "∅"
"""The label of a span that is no phrase."""

ROOT_LABELS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
"""Labels of the outer bracket that marks a tree's root rather than a phrase."""

JOIN = "+"
ESCAPE = "\\"


class Tree(ScoredNode):
    """A node of a constituency tree, and so the tree below it.

    >>> tree = Tree("S", [Tree("NP", [Tree("PRP", word="She")]), Tree("VBD", word="slept")])
    >>> tree.words()
    ['She', 'slept']
    >>> print(tree)
    (S (NP (PRP She)) (VBD slept))
    >>> [(span.left, span.right, node.label) for span, node in tree.spans() if node.word is None]
    [(0, 2, 'S'), (0, 1, 'NP')]
    """

    __slots__ = ("_number", "_table", "children", "label", "word")

    label: str
    children: tuple[Tree, ...]
    word: str | None
    _table: Evidence | EvidenceTable | None  # a table until it is first read
    _number: int  # the node's number in that table

    def __init__(
        self,
        label: str,
        children: Iterable[Tree] = (),
        word: str | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        self.label = label
        self.children = children if type(children) is tuple else tuple(children)
        self.word = word
        self._table = evidence
        self._number = 0
        if (word is None) is not bool(self.children):
            raise TreeShapeError(
                f"a node labelled {label!r} has "
                + ("neither a word nor children" if word is None else "both a word and children"),
                hint="give a preterminal its word and a phrase its children",
            )

    @classmethod
    def from_brackets(cls, text: str) -> Tree:
        """Read one tree from brackets, as it stands (no cleaning).

        >>> Tree.from_brackets("(NP (DT the) (NN cat))").words()
        ['the', 'cat']
        """
        from cleft.formats.brackets import parse_brackets

        return parse_brackets(text)

    @property
    def evidence(self) -> Evidence | None:
        """The probabilities that a model gave this node, if it was parsed."""
        found = self._table
        if found is not None and not isinstance(found, Evidence):
            found = self._table = found.of(self._number)
        return found

    @evidence.setter
    def evidence(self, evidence: Evidence | None) -> None:
        self._table = evidence

    def _whole(self) -> Evidence | None:
        # A corpus run writes this of every tree, and nothing of its nodes: a third of its time.
        found = self._table
        if found is None or isinstance(found, Evidence):
            return found
        return found.whole(self._number)

    @property
    def is_preterminal(self) -> bool:
        """Whether the node holds a word."""
        return self.word is not None

    def leaves(self) -> list[Tree]:
        """The preterminals, left to right."""
        return [node for node in self.preorder() if node.word is not None]

    def words(self) -> list[str]:
        """The words, left to right."""
        return [node.word for node in self.preorder() if node.word is not None]

    def tags(self) -> list[str]:
        """The labels of the preterminals, left to right."""
        return [node.label for node in self.leaves()]

    def spans(self) -> list[tuple[Span, Tree]]:
        """Every node with its span, in preorder, preterminals included."""
        nodes = self.preorder()
        widths = [1] * len(nodes)
        stack: list[int] = []
        for index in range(len(nodes) - 1, -1, -1):
            count = len(nodes[index].children)
            if count:
                widths[index] = sum(stack[-count:])
                del stack[-count:]
            stack.append(widths[index])
        spans, left = [], 0
        for node, width in zip(nodes, widths, strict=True):
            spans.append((Span(left, left + width), node))
            left += node.word is not None
        return spans

    def brackets(self) -> str:
        """The tree on one line, as in the Penn Treebank.

        >>> Tree("NP", [Tree("-LRB-", word="("), Tree("NN", word="x")]).brackets()
        '(NP (-LRB- -LRB-) (NN x))'
        """
        from cleft.formats.brackets import format_brackets

        return format_brackets(self)

    def to_nltk(self) -> nltk.Tree:
        """The same tree as an `nltk.Tree` (needs NLTK)."""
        from cleft.integrations.nltk import to_nltk

        return to_nltk(self)

    def __str__(self) -> str:
        return self.brackets()

    def __repr__(self) -> str:
        return f"Tree.from_brackets({self.brackets()!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            one, two = stack.pop()
            if one is two:
                continue
            if (one.label, one.word) != (two.label, two.word):
                return False
            if len(one.children) != len(two.children):
                return False
            stack.extend(zip(one.children, two.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(tuple((n.label, n.word, len(n.children)) for n in self.preorder()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Flat, so that pickling a deep tree needs no recursion, and in columns: results of
        # worker processes are pickled, and a tuple for each node takes twice as long.
        nodes = self.preorder()
        tables = [node._table for node in nodes]
        if all(table is tables[0] for table in tables):
            tables = tables[:1]
        return _from_columns, (
            [node.label for node in nodes],
            [node.word for node in nodes],
            [len(node.children) for node in nodes],
            [node._number for node in nodes],
            tables,
        )


def _from_columns(
    labels: list[str],
    words: list[str | None],
    counts: list[int],
    numbers: list[int],
    tables: list[Evidence | EvidenceTable | None],
) -> Tree:
    """The tree of nodes in preorder; one table is that of all of them."""
    stack: list[Tree] = []
    make = object.__new__  # they were a tree before: nothing needs a check
    tables = tables * len(labels) if len(tables) == 1 else tables
    columns = (column[::-1] for column in (labels, words, counts, numbers, tables))
    for label, word, count, number, table in zip(*columns, strict=True):
        tree = make(Tree)
        tree.label, tree.word, tree.children = label, word, ()
        tree._number, tree._table = number, table
        if count:
            tree.children = tuple(stack[: -count - 1 : -1])
            del stack[-count:]
        stack.append(tree)
    return stack[0]


def fold(tree: Node, leaf: Callable[[Node], T], node: Callable[[Node, list[T]], T]) -> T:
    """Compute a value of a tree of any kind bottom-up, from the last leaf to the first.

    `leaf` is called for nodes without children, `node` with the values of the children.

    >>> tree = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VBD slept))")
    >>> fold(tree, lambda leaf: 1, lambda node, depths: 1 + max(depths))
    3
    """
    stack: list[T] = []
    for current in reversed(tree.preorder()):
        count = len(current.children)
        if count:
            values = stack[: -count - 1 : -1]
            del stack[-count:]
            stack.append(node(current, values))
        else:
            stack.append(leaf(current))
    return stack[0]


def is_dummy(label: str) -> bool:
    """Whether a label marks a span that is no phrase.

    >>> is_dummy("∅"), is_dummy("∅NP"), is_dummy("NP")
    (True, True, False)
    """
    return label.startswith(DUMMY)


def split_root(tree: Tree) -> tuple[str | None, Tree]:
    """Take the root bracket (TOP, ROOT, S1, VROOT, empty) off a tree, if it has one.

    A root bracket with several children is kept: without it there is no tree.

    >>> split_root(Tree.from_brackets("(ROOT (NP (NN rain)))"))
    ('ROOT', Tree.from_brackets('(NP (NN rain))'))
    """
    if tree.label in ROOT_LABELS and len(tree.children) == 1:
        return tree.label, tree.children[0]
    return None, tree


def _escape(label: str) -> str:
    if JOIN in label or ESCAPE in label or label.startswith(DUMMY):
        label = label.replace(ESCAPE, ESCAPE * 2).replace(JOIN, ESCAPE + JOIN)
        if label.startswith(DUMMY):
            label = ESCAPE + label
    return label


def split_chain(label: str) -> list[str]:
    r"""The labels of a collapsed unary chain, outermost first.

    >>> split_chain("S+VP"), split_chain(r"A\+B")
    (['S', 'VP'], ['A+B'])
    """
    if ESCAPE not in label:
        return label.split(JOIN)
    parts, current, escaped = [], "", False
    for char in label:
        if escaped or char not in (JOIN, ESCAPE):
            current, escaped = current + char, False
        elif char == ESCAPE:
            escaped = True
        else:
            parts.append(current)
            current = ""
    return [*parts, current]


def wrap(label: str, children: Iterable[Tree]) -> Tree:
    """A phrase from a label that may stand for a unary chain."""
    *outer, inner = split_chain(label)
    tree = Tree(inner, tuple(children))
    for name in reversed(outer):
        tree = Tree(name, (tree,))
    return tree


def binarise(tree: Tree, branching: Branching = "right", dummy: Dummy = "one") -> Tree:
    """Collapse unary chains and make every phrase binary by dummy brackets.

    The result has phrases of two children, phrases over one word, and
    preterminals without a phrase. `debinarise` undoes it.

    >>> print(binarise(Tree.from_brackets("(S (VP (DT the) (JJ old) (NN cat)))")))
    (S+VP (DT the) (∅ (JJ old) (NN cat)))
    >>> print(binarise(Tree.from_brackets("(NP (DT the) (JJ old) (NN cat))"), "left", "parent"))
    (NP (∅NP (DT the) (JJ old)) (NN cat))
    """

    def node(old: Tree, children: list[Tree]) -> Tree:
        label = _escape(old.label)
        if len(children) == 1:
            only = children[0]
            if only.word is None:
                return Tree(f"{label}{JOIN}{only.label}", only.children)
        elif len(children) > 2:
            name = DUMMY if dummy == "one" else DUMMY + label
            children = _pair_up(children, name, branching)
        elif (
            label is old.label and children[0] is old.children[0] and children[1] is old.children[1]
        ):
            return old
        return Tree(label, tuple(children))

    return fold(tree, lambda leaf: leaf, node)


def _pair_up(children: list[Tree], name: str, branching: Branching) -> list[Tree]:
    """Two children in place of many: the rest under dummy brackets."""
    if branching == "right":
        rest = children[-1]
        for child in children[-2:0:-1]:
            rest = Tree(name, (child, rest))
        return [children[0], rest]
    rest = children[0]
    for child in children[1:-1]:
        rest = Tree(name, (rest, child))
    return [rest, children[-1]]


def debinarise(tree: Tree) -> Tree:
    """Undo `binarise`: remove dummy brackets, expand unary chains.

    >>> print(debinarise(Tree.from_brackets("(S+NP (∅NP (DT the) (JJ old)) (NN cat))")))
    (S (NP (DT the) (JJ old) (NN cat)))
    """

    def node(old: Tree, parts: list[Any]) -> Any:
        # A dummy bracket passes its parts on as they are; the phrase above flattens them once.
        return parts if is_dummy(old.label) else wrap(old.label, _flat(parts))

    forest = _flat([fold(tree, lambda leaf: leaf, node)])
    if len(forest) != 1:
        raise TreeShapeError(
            f"the root is the dummy label {tree.label!r} over {len(forest)} children",
            hint="give the root a phrase label",
        )
    return forest[0]


def _flat(parts: list[Any]) -> list[Tree]:
    """The trees of lists in lists, in order."""
    found: list[Tree] = []
    stack = parts[::-1]
    while stack:
        part = stack.pop()
        if isinstance(part, Tree):
            found.append(part)
        else:
            stack.extend(reversed(part))
    return found
