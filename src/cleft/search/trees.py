"""Trees of a whole batch from arrays of spans and labels, in one pass and without a check.

What a search has decided makes a tree by construction, so nothing here asks
whether it does; `SyntaxTask.build` is for decisions from elsewhere. Phrases
are made when their last word is: then what they hold is the top of a stack,
from the place where their first word was put. Dummy brackets need no step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from cleft.evidence import EvidenceTable
from cleft.search.scorer import Ints
from cleft.tree import Tree, is_dummy, split_chain

ONLY, INNER, MIDDLE, OUTER = range(4)
"""A phrase alone, and those of a unary chain."""

ROLES = 4
"""A phrase's number is its span's place in preorder times this, plus its role; a word's is below 0:
-1 for the first, -2 for the second."""


class Spans(NamedTuple):
    """All spans of the binary trees of a batch, tree by tree and in preorder."""

    left: Ints
    right: Ints
    ends: list[int]  # where each tree's spans begin, and the last's end

    @classmethod
    def of(cls, tables: Sequence[Ints]) -> Spans:
        """The spans of trees whose spans are at hand, (spans, 2) each."""
        table = tables[0] if len(tables) == 1 else np.concatenate(tables)
        return cls(table[:, 0], table[:, 1], [0, *accumulate(map(len, tables))])


def _within(counts: Ints) -> Ints:
    """The numbers from 0 on in each of several runs, one after the other.

    >>> _within(np.array([3, 1, 2])).tolist()
    [0, 1, 2, 0, 0, 1]
    """
    every = np.arange(int(counts.sum()))
    return every if len(counts) == 1 else every - (counts.cumsum() - counts).repeat(counts)


def spans_of(lengths: Sequence[int], splits: Sequence[Ints]) -> Spans:
    """The spans of trees over so many tokens, from their splits in depth-first order.

    >>> spans = spans_of([3, 1], [np.array([[0, 2, 3], [0, 1, 2]]), np.zeros((0, 3), np.intp)])
    >>> list(zip(spans.left.tolist(), spans.right.tolist()))
    [(0, 3), (0, 2), (0, 1), (1, 2), (2, 3), (0, 1)]
    """
    tokens = np.asarray(lengths, np.intp)
    ends = [0, *accumulate(2 * length - 1 for length in lengths)]
    made, place = _places(tokens, splits)
    left, right = np.empty((2, ends[-1]), np.intp)
    left[place], right[place] = made[:, 0], made[:, 2]
    single = np.ones(ends[-1], bool)
    single[place] = False
    words = _within(tokens)
    left[single], right[single] = words, words + 1
    return Spans(left, right, ends)


def _places(tokens: Ints, splits: Sequence[Ints]) -> tuple[Ints, Ints]:
    """All splits of a batch in one table, and the places of the spans that they split."""
    made = np.concatenate(splits) if splits else np.zeros((0, 3), np.intp)
    # Before a span come the spans that were split before it, and the words left of it.
    place = _within(tokens - 1) + made[:, 0]
    if len(splits) > 1:
        spans = 2 * tokens - 1
        place += (spans.cumsum() - spans).repeat(tokens - 1)
    return made, place


def upward(lengths: Sequence[int], splits: Sequence[Ints]) -> Ints:
    """The place of the span that each span is a half of; above roots, and last, the number of all.

    >>> upward([3, 1], [np.array([[0, 2, 3], [0, 1, 2]]), np.zeros((0, 3), np.intp)]).tolist()
    [6, 0, 1, 1, 0, 6, 6]
    """
    tokens = np.asarray(lengths, np.intp)
    total = int((2 * tokens - 1).sum())
    made, place = _places(tokens, splits)
    above = np.full(total + 1, total, np.intp)
    above[place + 1] = place
    above[place + 2 * (made[:, 1] - made[:, 0])] = place
    return above


class Plan(NamedTuple):
    """What is to be made in which order: words and phrases of all trees, tree by tree.

    A word has the label -1. A phrase comes after its last word, the smaller first.
    """

    labels: list[int]
    left: list[int]
    numbers: list[int]
    ends: list[int]
    chains: Sequence[tuple[str, ...]]

    @classmethod
    def of(cls, lengths: Sequence[int], spans: Spans, labels: Ints, names: tuple[str, ...]) -> Plan:
        """The plan for trees whose spans have these labels."""
        chains = _chains(names)
        dummy = np.array([not chain for chain in chains], bool)
        tokens = np.asarray(lengths, np.intp)
        first = (tokens.cumsum() - tokens).repeat(2 * tokens - 1)  # token, by span
        begin = np.array(spans.ends[:-1], np.intp).repeat(2 * tokens - 1)
        phrases = (~dummy[labels]).nonzero()[0][::-1]
        last = (first + spans.right)[phrases] - 1  # token, by phrase
        order = last.argsort(kind="stable")
        phrases, last = phrases[order], last[order]
        total = int(tokens.sum())
        ending = np.bincount(last, minlength=total)
        before = ending.cumsum()
        at_word = np.arange(total) + before - ending
        at_phrase = np.arange(len(phrases)) + last + 1
        made = np.empty((3, total + len(phrases)), np.intp)
        words = _within(tokens)
        made[:, at_word] = np.full(total, -1), words, -1 - words
        made[:, at_phrase] = (
            labels[phrases],
            spans.left[phrases],
            (phrases - begin[phrases]) * ROLES,
        )
        after = tokens.cumsum()
        ends = [0, *(after + before[after - 1]).tolist()]
        kinds, left, numbers = made.tolist()
        return cls(kinds, left, numbers, ends, chains)


@lru_cache(maxsize=64)
def _chains(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """For each label the phrases that it stands for, innermost first; none for a dummy."""
    return [() if is_dummy(name) else tuple(split_chain(name)[::-1]) for name in names]


def build_tree(
    plan: Plan, number: int, words: Sequence[str], tags: Sequence[str], table: EvidenceTable
) -> Tree:
    """One of the plan's trees, over its words and their tags; `table` has the nodes' evidence.

    This is where a parse is most in Python: so nodes are made here and not by a call.
    """
    part = slice(plan.ends[number], plan.ends[number + 1])
    chains, make, none = plan.chains, object.__new__, ()
    stack: list[Tree] = []
    heights: list[int] = []
    for label, left, place in zip(
        plan.labels[part], plan.left[part], plan.numbers[part], strict=True
    ):
        tree = make(Tree)
        tree._table, tree._number = table, place
        if label < 0:
            heights.append(len(stack))
            tree.label, tree.children, tree.word = tags[left], none, words[left]
            stack.append(tree)
            continue
        height = heights[left]
        chain = chains[label]
        tree.label, tree.children, tree.word = chain[0], tuple(stack[height:]), None
        del stack[height:]
        stack.append(tree if len(chain) == 1 else _chain(tree, chain))
    return stack[0]


def _chain(tree: Tree, names: tuple[str, ...]) -> Tree:
    """The chain over its innermost phrase."""
    place, table = tree._number, tree._table
    tree._number = place + INNER
    for name in names[1:]:
        tree = Tree(name, (tree,))
        tree._table, tree._number = table, place + MIDDLE
    tree._number = place + OUTER
    return tree
