"""A document as RST files hold it: trees, relations, secondary edges, signals.

A file may hold one tree or a forest (a title left out of the tree, several
sentences). Units are named by the span of their EDUs, counted by boundaries
between EDUs, since no two nodes of a tree cover the same EDUs. What a format
cannot hold is listed by `losses`, and every writer returns that list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from cleft.discourse import SPAN, DiscourseTree, Edu
from cleft.errors import TreeFormatError
from cleft.span import Span
from cleft.tree import fold

RstFormat = Literal["rs3", "rs4", "dis", "jsonl"]
Kind = Literal["rst", "multinuc"]

TOKEN = re.compile(r"[^ \t\n\r\f\v]+")
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 does not allow."""
DIS_END = re.compile(r"_!\s*\)\s*\)")
"""What ends an EDU's text in a .dis file: its mark, and two closing brackets."""
DIS_BRACKETS = re.compile(r"[()]")


class Relation(NamedTuple):
    """A relation of a document's inventory: mononuclear (`rst`) or multinuclear."""

    name: str
    kind: Kind


class SecondaryEdge(NamedTuple):
    """An edge of eRST beside the tree, between two units named by their EDUs' spans."""

    source: Span
    target: Span
    relation: str


class Signal(NamedTuple):
    """What signals a relation: of the unit `source` to its parent, or of a secondary edge.

    `tokens` counts the document's tokens from 1, as the file writes them.
    """

    source: Span | SecondaryEdge
    type: str
    subtype: str
    tokens: str = ""
    status: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RstDocument:
    """The trees of a document in text order, and what stands beside them.

    `remarks` says what the source held that this type does not.

    >>> edus = [Edu("It rained ,", Span(0, 3)), Edu("so we left .", Span(3, 7))]
    >>> leaves = [DiscourseTree.leaf(edu) for edu in edus]
    >>> document = RstDocument.of([DiscourseTree.join(leaves, "SN", "cause")])
    >>> document.relations
    (Relation(name='cause', kind='rst'),)
    """

    trees: tuple[DiscourseTree, ...]
    relations: tuple[Relation, ...] = ()
    edges: tuple[SecondaryEdge, ...] = ()
    signals: tuple[Signal, ...] = ()
    signal_types: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, trees: Iterable[DiscourseTree], remarks: Iterable[str] = ()) -> RstDocument:
        """A document of trees alone, its relations those that the trees use."""
        forest = tuple(trees)
        return cls(trees=forest, relations=used_relations(forest), remarks=tuple(remarks))

    @property
    def edus(self) -> list[Edu]:
        """The EDUs of all trees, left to right."""
        return [edu for tree in self.trees for edu in tree.edus]


def used_relations(trees: Iterable[DiscourseTree]) -> tuple[Relation, ...]:
    """The relations that trees use, by name and kind."""
    found: set[Relation] = set()
    for tree in trees:
        for node in tree.preorder():
            for letter, name in zip(node.nuclearity, node.relations, strict=True):
                if letter == "S":
                    found.add(Relation(name, "rst"))
                elif name != SPAN:
                    found.add(Relation(name, "multinuc"))
    return tuple(sorted(found))


def text_tokens(text: str) -> list[str]:
    """The tokens of an EDU's or a sentence's text: whatever ASCII white space separates.

    >>> text_tokens("  two   tokens ")
    ['two', 'tokens']
    """
    return TOKEN.findall(text)


def without_mark(text: str) -> str:
    """An EDU's text without the paragraph mark that RST-DT's .dis files put at its end.

    >>> without_mark("and slept . <P>"), without_mark("<P>")
    ('and slept .', '<P>')
    """
    bare = text.rstrip().removesuffix("<P>").rstrip()
    return bare if bare and bare != text.rstrip() else text


def make_edu(text: str, start: int) -> Edu:
    """An EDU whose tokens start at a boundary of the document; its white space made single."""
    tokens = text_tokens(text)
    return Edu(" ".join(tokens), Span(start, start + len(tokens)))


def as_text(tree: DiscourseTree, start: int = 0) -> DiscourseTree:
    """A tree as a file of text has it: its tokens are what white space parts, from `start`.

    Offsets and probabilities, for which such files have no place, are gone.

    >>> leaves = [DiscourseTree.leaf(Edu("It rained,", Span(0, 3), 0, 10)),
    ...           DiscourseTree.leaf(Edu("so we left.", Span(3, 7), 11, 22))]
    >>> as_text(DiscourseTree.join(leaves, "SN", "cause"), 5).edus[1]
    Edu(text='so we left.', span=Span(left=7, right=10), start=None, end=None)
    """
    edus: list[Edu] = []
    for edu in tree.edus:
        edus.append(make_edu(edu.text, edus[-1].span.right if edus else start))
    return fold(
        tree,
        lambda _: DiscourseTree.leaf(edus.pop()),
        lambda node, children: DiscourseTree(children, node.nuclearity, node.relations),
    )


def natural_number(text: str) -> int | None:
    """The number that ASCII digits write; None for anything else, and for a very large one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


class Part(NamedTuple):
    """A piece of a node: its EDUs' span, its tree, its role and relation."""

    span: Span
    tree: DiscourseTree
    role: str = "N"
    relation: str = SPAN


def joined(parts: Iterable[Part], fault: Callable[[str], TreeFormatError]) -> Part:
    """Parts side by side as one node; `fault` makes the error where they leave EDUs out."""
    parts = sorted(parts, key=lambda part: part.span)
    for one, two in pairwise(parts):
        if one.span.right != two.span.left:
            raise fault(
                f"EDUs {one.span.left + 1}–{one.span.right} and {two.span.left + 1}–"
                f"{two.span.right} belong together, but others stand between them"
            )
    roles, relations = "".join(part.role for part in parts), [part.relation for part in parts]
    tree = DiscourseTree([part.tree for part in parts], roles, relations)
    return Part(Span(parts[0].span.left, parts[-1].span.right), tree)


class Placed(NamedTuple):
    """A node of a forest with the span of its EDUs in the document, and its children's."""

    span: Span
    node: DiscourseTree
    children: tuple[Span, ...]


def placed(trees: Sequence[DiscourseTree]) -> list[Placed]:
    """Every node of a forest, parents before children, left to right, by its EDUs.

    >>> leaves = [DiscourseTree.leaf(make_edu(text, 0)) for text in "abc"]
    >>> [row.span for row in placed([leaves[0], DiscourseTree.join(leaves[1:], "NN", "list")])]
    [Span(left=0, right=1), Span(left=1, right=3), Span(left=1, right=2), Span(left=2, right=3)]
    """
    nodes = [node for tree in trees for node in tree.preorder()]
    end = sum(node.is_leaf for node in nodes)
    rows: list[Placed] = []
    stack: list[Span] = []
    for node in reversed(nodes):
        count = len(node.children)
        below = tuple(stack[: -count - 1 : -1]) if count else ()
        del stack[len(stack) - count :]
        span = Span(below[0].left, below[-1].right) if count else Span(end - 1, end)
        end -= node.is_leaf
        stack.append(span)
        rows.append(Placed(span, node, below))
    return rows[::-1]


def losses(document: RstDocument, target: RstFormat) -> list[str]:
    """What of a document a format cannot hold, one message each; [] where it holds all.

    >>> edge = SecondaryEdge(Span(0, 1), Span(1, 2), "cause")
    >>> leaves = [DiscourseTree.leaf(make_edu("yes", start)) for start in (0, 1)]
    >>> document = RstDocument(trees=tuple(leaves), edges=(edge,))
    >>> losses(document, "rs3"), losses(document, "rs4")
    (['1 secondary edge: rs3 has no place for it'], [])
    """
    found = list(document.remarks)
    if target != "rs4":
        kept = (
            (len(document.edges), "secondary edge"),
            (len(document.signals), "signal"),
            (len(document.signal_types), "declared signal type"),
        )
        found += [_no_place(count, what, target) for count, what in kept if count]
    if target in ("dis", "jsonl"):
        unused = set(document.relations) - set(used_relations(document.trees))
        if unused:
            found.append(_no_place(len(unused), "declared relation that no node uses", target))
    if target != "jsonl":
        found += _text_losses(document.edus, target)
        found += _tree_losses(document.trees, target)
        found += _name_losses(document, target)
    return found


def _no_place(count: int, what: str, target: str) -> str:
    head = what.partition(" that ")[0].partition(" with ")[0]
    plural = f"{head}{'s' * (count > 1)}{what[len(head) :]}"
    return f"{count} {plural}: {target} has no place for {'them' if count > 1 else 'it'}"


def _text_losses(edus: Sequence[Edu], target: str) -> list[str]:
    offsets = sum(edu.start is not None or edu.end is not None for edu in edus)
    texts = [edu.text for edu in edus]
    counts = [
        (offsets, f"{target} has no place for character offsets"),
        (sum(map(_loose, texts)), "white space is written as single spaces"),
        (_other_tokens(edus), f"token offsets are not those of white space in {target}"),
    ]
    if target == "dis":
        ends = sum(bool(DIS_END.search(text)) for text in texts)
        marks = sum(without_mark(text) != text for text in texts)
        counts += [
            (ends, "'_!' before brackets ends a text in dis and is written '_ !'"),
            (marks, "'<P>' at the end is a paragraph mark in dis"),
        ]
    else:
        odd = sum(bool(NO_XML.search(text)) for text in texts)
        counts.append((odd, "characters that XML does not allow are written as U+FFFD"))
    return [f"{count} EDU{'s' * (count > 1)}: {what}" for count, what in counts if count]


def _loose(text: str) -> bool:
    """Whether the white space of a text is other than single spaces between tokens."""
    return " ".join(text_tokens(text)) != text


def _name_losses(document: RstDocument, target: str) -> list[str]:
    names = {relation.name for relation in used_relations(document.trees)}
    names |= {relation.name for relation in document.relations}
    if target == "dis":
        changed = [name for name in names if DIS_BRACKETS.search(name) or _loose(name)]
    else:
        changed = [name for name in names if NO_XML.search(name)]
    return [f"the relation name {name!r} is changed in {target}" for name in sorted(changed)]


def _other_tokens(edus: Sequence[Edu]) -> int:
    """How many EDUs would be read with another span than they have."""
    count = start = 0
    for edu in edus:
        end = start + len(text_tokens(edu.text))
        count += edu.span != (start, end)
        start = end
    return count


def _tree_losses(trees: Sequence[DiscourseTree], target: str) -> list[str]:
    nodes = [node for tree in trees for node in tree.preorder()]
    evidence = sum(node.evidence is not None for node in nodes)
    found = [_no_place(evidence, "node with probabilities", target)] if evidence else []
    if target == "dis":
        return found
    mixed = sum(node.nuclearity != nested_letters(node.nuclearity) for node in nodes)
    if mixed:
        found.append(
            f"{mixed} node{'s' * (mixed > 1)} with several nuclei and satellites outside them: "
            f"the nuclei are written as a node of their own"
        )
    return found


def nested_letters(nuclearity: str) -> str:
    """The letters without the satellites outside several nuclei: rs3 keeps those a level up.

    >>> nested_letters("SNS"), nested_letters("SNSN"), nested_letters("NN")
    ('SNS', 'NSN', 'NN')
    """
    return nuclearity.strip("S") if nuclearity.count("N") > 1 else nuclearity


def check_roles(document: RstDocument, where: str) -> None:
    """Refuse what neither rs3 nor dis can say: `span` as a relation, or a missing one."""
    for node in (node for tree in document.trees for node in tree.preorder()):
        single = node.nuclearity.count("N") == 1
        for letter, name in zip(node.nuclearity, node.relations, strict=True):
            if (name == SPAN) is not (single and letter == "N") or not name.strip():
                role = "nucleus" if letter == "N" else "satellite"
                raise TreeFormatError(
                    f"a {role} of a node {node.nuclearity} carries the relation {name!r}",
                    where=where,
                    hint="a single nucleus carries 'span', every other child its relation",
                )
