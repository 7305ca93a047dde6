"""Conversion of files of trees: to another format, and from documents to sentences.

`convert` returns a list of messages that says what the target format could not
hold.

`sentence_trees` takes the sentence-level trees of a document. A sentence is
kept if it is one EDU, or if its EDUs are exactly one subtree of the document's
binary tree (`DiscourseTree.binarise`). The sentences' tokens and the document's
EDUs are aligned by their characters without white space, so the document may be
tokenised in another way than the sentences. `snapped` makes every sentence of a
document a subtree.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cleft import files
from cleft.discourse import SPAN, DiscourseTree, Edu
from cleft.document import grafted
from cleft.errors import FormatError, InputError, LossError, TreeShapeError, UsageError
from cleft.formats.json_values import dump_json
from cleft.formats.registry import DocumentFormat, Format, format_of, records_of
from cleft.formats.rst import RstDocument, losses, placed, text_tokens
from cleft.relations import RelationClasses
from cleft.span import Span
from cleft.tree import fold

if TYPE_CHECKING:
    from cleft.formats.cleaning import Cleaning
    from cleft.formats.jsonl import Relations

__all__ = [
    "Dropped", "Extraction", "SentenceTree", "convert", "format_sentence", "genre_of",
    "over_sentences", "read_sentences", "restricted", "sentence_trees", "snapped",
]  # fmt: skip


def convert(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    clean: Cleaning | None = None,
    relations: Relations = "fine",
    strict: bool = False,
) -> list[str]:
    """Convert a file, formats by ending unless named; return what was lost.

    With `strict` a loss is an error, and no file is written.
    """
    old, new = format_of(source, source_format), format_of(target, target_format)
    if not new.writes:
        raise UsageError(f"{new.name} can be read but not written", hint="choose another format")
    if not set(old.tasks) & set(new.tasks):
        raise UsageError(
            f"{old.name} holds {_tasks(old)}, {new.name} holds {_tasks(new)}",
            hint="convert between formats of one task",
        )
    if clean is not None and old.name != "brackets":
        raise UsageError(f"cleaning is for brackets, and {source} is {old.name}")
    name = files.source_name(source)
    with files.writing(target) as stream:
        if isinstance(new, DocumentFormat):
            lost = new.write_document(old.document(source, relations), stream)
        elif isinstance(old, DocumentFormat):
            document = old.document(source)
            lost = [*losses(document, "jsonl"), *new.write(records_of(document), stream, name)]
        else:
            records = old.records(source, clean=clean, relations=relations)
            lost = new.write(records, stream, name)
        if strict and lost:
            # Raised inside the block, so that the file does not appear.
            raise LossError("; ".join(lost), where=str(target), hint="convert without --strict")
    return lost


def _tasks(found: Format) -> str:
    return found.tasks[0] if len(found.tasks) == 1 else "both tasks"


NOT_ALIGNED = "an EDU crosses the sentence's edge"
INSIDE_TOKEN = "an EDU begins inside a token"  # noqa: S105 - no password
NO_SUBTREE = "its EDUs are not one subtree"
FEW = 3
TOLERATED = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceTree:
    """A sentence that was kept: its number in the document, its tokens, its binary tree."""

    number: int
    tokens: tuple[str, ...]
    tree: DiscourseTree


class Dropped(NamedTuple):
    """A sentence that was not kept, and why."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The sentences of a document that were kept, and those that were dropped.

    `differences` counts the characters that the sentences and the EDUs write differently.
    """

    kept: tuple[SentenceTree, ...]
    dropped: tuple[Dropped, ...]
    differences: int = 0

    def summary(self) -> str:
        """How many were kept and dropped, and why, in one line.

        >>> Extraction(kept=(), dropped=(Dropped(1, NO_SUBTREE),)).summary()
        '0 sentences kept, 1 dropped: 1 because its EDUs are not one subtree'
        """
        reasons = Counter(each.reason for each in self.dropped)
        why = ", ".join(f"{count} because {reason}" for reason, count in sorted(reasons.items()))
        kept = len(self.kept)
        head = f"{kept} sentence{'s' * (kept != 1)} kept, {len(self.dropped)} dropped"
        parts = [f"{head}: {why}" if why else head]
        if self.differences:
            one = self.differences == 1
            what = "1 character differs" if one else f"{self.differences} characters differ"
            parts.append(f"{what} between the sentences and the EDUs")
        return "; ".join(parts)


def read_sentences(path: str | Path) -> list[tuple[str, ...]]:
    """The sentences of a file: one a line, tokens separated by spaces; empty lines left out."""
    rows = [tuple(text_tokens(line)) for line in files.lines(path)]
    sentences = [row for row in rows if row]
    if not sentences:
        raise InputError("expected one sentence a line, found none", where=files.source_name(path))
    return sentences


def sentence_trees(document: RstDocument, sentences: Sequence[Sequence[str]]) -> Extraction:
    """The sentence-level trees of a document.

    >>> edus = [Edu("It rained,", Span(0, 2)), Edu("so we left.", Span(2, 5))]
    >>> leaves = [DiscourseTree.leaf(edu) for edu in edus]
    >>> document = RstDocument.of([DiscourseTree.join(leaves, "SN", "cause")])
    >>> found = sentence_trees(document, ["It rained , so we left .".split()])
    >>> found.summary(), found.kept[0].tree.edus[1].span
    ('1 sentence kept, 0 dropped', Span(left=3, right=7))
    """
    trees = [tree.binarise() for tree in document.trees]
    nodes = {row.span: row.node for row in placed(trees)}
    edges = _edges([edu.text for tree in trees for edu in tree.edus])
    differences = _differences(trees, sentences)
    kept: list[SentenceTree] = []
    dropped: list[Dropped] = []
    start = 0
    for number, tokens in enumerate(sentences, 1):
        ends = [start, *accumulate(map(len, tokens), initial=start)][1:]
        span = Span(bisect_left(edges, ends[0]), bisect_left(edges, ends[-1]))
        start = ends[-1]
        made = _sentence(tokens, ends, edges, span, nodes)
        if isinstance(made, str):
            dropped.append(Dropped(number, made))
        else:
            kept.append(SentenceTree(number=number, tokens=tuple(tokens), tree=made))
    return Extraction(kept=tuple(kept), dropped=tuple(dropped), differences=differences)


def _edges(texts: Sequence[str]) -> list[int]:
    """The character offsets between texts, white space not counted."""
    return list(accumulate((len("".join(text_tokens(text))) for text in texts), initial=0))


def _sentence(
    tokens: Sequence[str],
    ends: list[int],
    edges: list[int],
    span: Span,
    nodes: dict[Span, DiscourseTree],
) -> DiscourseTree | str:
    """The tree over a sentence's own tokens, or why there is none."""
    if edges[span.left] != ends[0] or edges[span.right] != ends[-1]:
        return NOT_ALIGNED
    boundaries = {offset: boundary for boundary, offset in enumerate(ends)}
    starts = [boundaries.get(edges[index]) for index in range(span.left, span.right + 1)]
    inside = [boundary for boundary in starts if boundary is not None]
    if len(inside) < len(starts):
        return INSIDE_TOKEN
    tree = nodes.get(span)
    if tree is None:
        return NO_SUBTREE
    spans = [Span(*pair) for pair in pairwise(inside)]
    edus = [Edu(" ".join(tokens[each.left : each.right]), each) for each in spans]
    return _with_edus(tree, edus)


def _with_edus(tree: DiscourseTree, edus: list[Edu]) -> DiscourseTree:
    """The same binary tree over other EDUs; a split's relation is the first that is not `span`."""
    left = edus[:]

    def joined(node: DiscourseTree, children: list[DiscourseTree]) -> DiscourseTree:
        name = next((name for name in node.relations if name != SPAN), SPAN)
        return DiscourseTree.join(children, node.nuclearity, name)

    return fold(tree, lambda _: DiscourseTree.leaf(left.pop()), joined)


def _differences(trees: Sequence[DiscourseTree], sentences: Sequence[Sequence[str]]) -> int:
    """How many characters differ; both sides must be equally long, and nearly equal.

    Corpora have corrections of single letters in one of the two files. They do
    not move offsets, so they are tolerated.
    """
    of_edus = "".join("".join(text_tokens(edu.text)) for tree in trees for edu in tree.edus)
    of_sentences = "".join("".join(tokens) for tokens in sentences)
    pairs = enumerate(zip(of_edus, of_sentences, strict=False))
    wrong = [index for index, (one, two) in pairs if one != two]
    if len(of_edus) != len(of_sentences) or len(wrong) > max(FEW, TOLERATED * len(of_edus)):
        at = wrong[0] if wrong else min(len(of_edus), len(of_sentences))
        number = bisect_right(_edges(["".join(tokens) for tokens in sentences]), at)
        one, two = of_sentences[at : at + 20], of_edus[at : at + 20]
        raise FormatError(
            f"sentence {min(number, len(sentences))} and the EDUs differ: "
            f"{one!r} in the sentences, {two!r} in the EDUs",
            hint="check that both files are of the same document",
        )
    return len(wrong)


def snapped(tree: DiscourseTree, ends: Sequence[int]) -> DiscourseTree:
    """A tree in which every sentence is a subtree; `ends` are the tokens where sentences end.

    What a tree says of a sentence's EDUs among themselves stays, and what it says
    of the sentence is what it says of the EDU that hangs highest, the first of several.

    >>> edus = [DiscourseTree.leaf(Edu(text, Span(k, k + 1))) for k, text in enumerate("abc")]
    >>> inner = DiscourseTree.join(edus[1:], "NS", "cause")
    >>> tree = DiscourseTree.join([edus[0], inner], "SN", "concession")
    >>> [tuple(split[:3]) for split in snapped(tree, [2, 3]).splits()]
    [(0, 2, 3), (0, 1, 2)]
    """
    groups = _by_sentence(tree, ends)
    return grafted(over_sentences(tree, ends), [restricted(tree, group) for group in groups])


def over_sentences(tree: DiscourseTree, ends: Sequence[int]) -> DiscourseTree:
    """The tree above the sentences, each a leaf of its own and one unit wide.

    >>> edus = [DiscourseTree.leaf(Edu(text, Span(k, k + 1))) for k, text in enumerate("abc")]
    >>> inner = DiscourseTree.join(edus[1:], "NS", "cause")
    >>> over = over_sentences(DiscourseTree.join([edus[0], inner], "SN", "concession"), [2, 3])
    >>> over.splits()[0][:4]
    (0, 1, 2, 'concession')
    """
    depths = _depths(tree)
    heads = [
        min(group, key=lambda number: (depths[number], number))
        for group in _by_sentence(tree, ends)
    ]
    found = restricted(tree, set(heads))
    units = (edu._replace(span=Span(k, k + 1)) for k, edu in enumerate(found.edus))
    return found.with_edus(units)


def _by_sentence(tree: DiscourseTree, ends: Sequence[int]) -> list[list[int]]:
    """The numbers of the EDUs of each sentence."""
    groups: dict[int, list[int]] = {}
    for number, edu in enumerate(tree.edus):
        groups.setdefault(bisect_left(ends, edu.span.right), []).append(number)
    return list(groups.values())


def _depths(tree: DiscourseTree) -> list[int]:
    """How deep each EDU hangs."""
    found, stack = [], [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node.is_leaf:
            found.append(depth)
        stack.extend((child, depth + 1) for child in node.children[::-1])
    return found


def restricted(tree: DiscourseTree, keep: Collection[int]) -> DiscourseTree:
    """The tree over some of its EDUs, by number; a node left with one child is that child.

    >>> leaves = [DiscourseTree.leaf(Edu(text, Span(k, k + 1))) for k, text in enumerate("abc")]
    >>> pair = DiscourseTree.join(leaves[:2], "NS", "x")
    >>> tree = DiscourseTree.join([pair, leaves[2]], "NS", "y")
    >>> print(restricted(tree, {1, 2}))
    y (NS)
      N: b
      S: c
    """
    numbers = list(range(len(tree.edus)))

    def kept(leaf: DiscourseTree) -> DiscourseTree | None:
        return leaf if numbers.pop() in keep else None

    found = fold(tree, kept, _restored)
    if found is None:
        raise TreeShapeError("a discourse tree needs an EDU", hint="keep at least one")
    return found


def _restored(node: DiscourseTree, children: list[DiscourseTree | None]) -> DiscourseTree | None:
    """A node of the children that are left of it; the first is the nucleus if none was."""
    every = zip(children, node.nuclearity, node.relations, strict=True)
    rows = [(child, letter, name) for child, letter, name in every if child is not None]
    if len(rows) < 2:
        return rows[0][0] if rows else None
    letters = "".join(letter for _, letter, _ in rows)
    letters = letters if "N" in letters else "N" + letters[1:]
    names = [name for *_, name in rows]
    if letters.count("N") == 1:
        names[letters.index("N")] = SPAN
    return DiscourseTree([child for child, *_ in rows], letters, names)


def format_sentence(sentence: SentenceTree, doc: str, classes: RelationClasses) -> str:
    """A sentence as one line of JSON, with coarse and fine relations.

    `text` and `space_after` are null: they are unknown for tokenised sentences.
    """
    splits = sentence.tree.splits()
    fine = [[s.left, s.split, s.right, f"{s.relation}_{s.nuclearity}"] for s in splits]
    coarse = [
        [s.left, s.split, s.right, f"{classes.coarse(s.relation)}_{s.nuclearity}"] for s in splits
    ]
    data: dict[str, Any] = {
        "doc": doc,
        "sent": f"{doc}-{sentence.number}",
        "genre": genre_of(doc),
        "text": None,
        "tokens": list(sentence.tokens),
        "space_after": None,
        "edus": [list(edu.span) for edu in sentence.tree.edus],
        "splits": coarse,
        "splits_fine": fine,
    }
    return f'{dump_json(data)[:-1]}, "tree": {_nested(sentence.tree, classes)}}}'


def genre_of(doc: str) -> str | None:
    """The genre in a document's name, where it is one of GUM or GCDT: GUM_GENRE_name."""
    corpus, _, rest = doc.partition("_")
    genre, found, _ = rest.partition("_")
    return genre if found and corpus.lower() in ("gum", "gcdt") else None


def _nested(tree: DiscourseTree, classes: RelationClasses) -> str:
    """A binary tree as nested lists, written without recursion."""

    def joined(node: DiscourseTree, parts: list[str]) -> str:
        head = dump_json([classes.coarse(node.relation), node.relation, node.nuclearity])
        return f"{head[:-1]}, {', '.join(parts)}]"

    return fold(tree, lambda leaf: dump_json(list(leaf.span)), joined)
