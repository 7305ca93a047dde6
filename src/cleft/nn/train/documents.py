"""Documents as training data: trees over sentences, from trees over all tokens.

A line of a corpus, or one that cleft wrote, has a document's sentences, its
paragraphs and a tree over its tokens. What is learnt is the tree above the sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from cleft.convert import over_sentences
from cleft.discourse import DiscourseTree, Edu
from cleft.errors import FormatError
from cleft.formats.json_values import as_list
from cleft.formats.jsonl import read_jsonl
from cleft.runtime.units import Unit
from cleft.span import Span

Over = tuple[tuple[Unit, ...], DiscourseTree]
"""Units, and a tree over them."""


def read_documents(path: Path) -> Iterator[tuple[str, Over, Over]]:
    """The genre of each document of a file, its sentences and its EDUs with the trees over them."""
    for number, record in enumerate(read_jsonl(path, "coarse"), start=1):
        tree, ends = record.discourse, list(record.sentence_ends)
        if tree is None or not ends:
            raise FormatError(
                "expected a document with its sentences and a tree over it",
                where=f"{path} document {number}",
                hint="give 'sents' and 'splits', or a document that cleft wrote",
            )
        begins = set(as_list(record.fields.get("paragraphs", [0]), "paragraphs"))
        units = tuple(
            Unit(record.tokens[left:right], number in begins)
            for number, (left, right) in enumerate(pairwise([0, *ends]))
        )
        over = _worded(over_sentences(tree, ends), units)
        genre = str(record.fields.get("genre", ""))
        yield genre, (units, over), _over_edus(units, ends, tree)


def _over_edus(units: tuple[Unit, ...], ends: list[int], tree: DiscourseTree) -> Over:
    """A document's EDUs, as far as the sentence goes in which they begin, with its tree."""
    found = []
    for left, right in (edu.span for edu in tree.edus):
        number = bisect_right(ends, left)
        whole = units[number]
        start = left - (ends[number] - len(whole))
        words = whole.words[start : start + right - left]
        found.append(Unit(words, whole.begins and not start, whole.words, start))
    return tuple(found), _worded(tree, found)


def _worded(tree: DiscourseTree, units: Sequence[Unit]) -> DiscourseTree:
    """The tree with a unit for each leaf and its words as text, as the task builds trees."""
    return tree.with_edus(Edu(" ".join(unit.words), Span(k, k + 1)) for k, unit in enumerate(units))


def parts_of(document: Over, most: int | None = None) -> Iterable[Over]:
    """Every subtree below the root of two units or more, up to so many, as a document."""
    units, tree = document
    for span, node in tree.spans()[1:]:
        if 1 < span.width <= (most or span.width):
            yield units[span.left : span.right], node.moved(-span.left)
