"""Documents as training data: trees over sentences, from trees over all tokens.

A line of a corpus has a document's sentences (`sents`, each with `tokens` and
`newpar`, whether it begins a paragraph) and its splits in tokens. What is learnt
is the tree above the sentences.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from cleft import files
from cleft.convert import over_sentences
from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, FormatError, Place
from cleft.formats.json_values import as_list, as_object, as_row, as_strings, load_json
from cleft.relations import matching_classes
from cleft.runtime.units import Unit
from cleft.span import Span
from cleft.tasks import split_relation

Over = tuple[tuple[Unit, ...], DiscourseTree]
"""Units, and a tree over them."""


def read_documents(path: Path) -> Iterator[tuple[str, Over, Over]]:
    """The genre of each document of a file, its sentences and its EDUs with the trees over them."""
    for number, line in enumerate(files.lines(path), start=1):
        if not line.strip():
            continue
        try:
            data = as_object(load_json(line), "line")
            sents = [as_object(row, "sents") for row in as_list(data.get("sents"), "sents")]
            units = tuple(
                Unit(as_strings(row.get("tokens"), "tokens"), bool(row.get("newpar")))
                for row in sents
            )
            ends = list(accumulate(map(len, units)))
            tree = tree_of_line(data)
            over = over_sentences(tree, ends)
        except CleftError as error:
            raise FormatError(error.problem, where=Place(path, number), hint=error.hint) from error
        yield str(data.get("genre", "")), (units, over), _over_edus(units, ends, tree)


def _over_edus(units: tuple[Unit, ...], ends: list[int], tree: DiscourseTree) -> Over:
    """A document's EDUs, as far as the sentence goes in which they begin, with its tree."""
    found = []
    for left, right in (edu.span for edu in tree.edus):
        number = bisect_right(ends, left)
        whole = units[number]
        start = left - (ends[number] - len(whole))
        words = whole.words[start : start + right - left]
        found.append(Unit(words, whole.begins and not start, whole.words, start))
    places = (edu._replace(span=Span(k, k + 1)) for k, edu in enumerate(tree.edus))
    return tuple(found), tree.with_edus(places)


def tree_of_line(data: dict[str, Any]) -> DiscourseTree:
    """The tree over a document's tokens, with coarse relations."""
    key = "splits" if "splits" in data else "splits_fine"
    splits: dict[Span, tuple[int, str, str]] = {}
    for row in as_list(data.get(key), key):
        left, at, right, label = as_row(row, 4)
        splits[Span(left, right)] = (at, *split_relation(label))
    classes = matching_classes({relation for _, relation, _ in splits.values()})
    edus = [Span(*as_row(row, 2)) for row in as_list(data.get("edus"), "edus")]
    if not edus:
        raise FormatError("expected the 'edus' of a document, found none")
    order, open_spans = [], [Span(0, edus[-1].right)]
    while open_spans:
        span = open_spans.pop()
        order.append(span)
        if span in splits:
            open_spans += reversed(span.at(splits[span][0]))
    if [span for span in order if span not in splits] != edus:
        raise FormatError(f"the EDUs do not follow from {key!r}", hint="give all splits")
    stack: list[DiscourseTree] = []
    for span in reversed(order):
        if span in splits:
            _, relation, nuclearity = splits[span]
            pair = [stack.pop(), stack.pop()]
            stack.append(DiscourseTree.join(pair, nuclearity, classes.coarse(relation)))
        else:
            stack.append(DiscourseTree.leaf(Edu("", span)))
    return stack[0]


def parts_of(document: Over, most: int | None = None) -> Iterable[Over]:
    """Every subtree below the root of two units or more, up to so many, as a document."""
    units, tree = document
    for span, node in tree.spans()[1:]:
        if 1 < span.width <= (most or span.width):
            yield units[span.left : span.right], node.moved(-span.left)
