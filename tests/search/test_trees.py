"""Trees made in one pass, against those that are built with every check."""

import pickle
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from cleft.evidence import Evidence
from cleft.search import Parse, SearchOptions, search
from cleft.search.trees import Plan, build_tree, spans_of
from cleft.span import Split
from cleft.tasks import SYNTAX, Derivation
from cleft.tree import Tree, is_dummy, split_chain

from .toy import ToyScorer, sentence

NAMES = ("S", "NP", "S+VP", "S+VP+NP", "∅", "∅NP", r"A\+B")


class Silent:
    """EvidenceTable of nothing."""

    def of(self, number: int) -> Evidence | None:
        return Evidence(label=float(number))

    def whole(self, number: int) -> Evidence | None:
        return None


def splits_of(chooser: random.Random, left: int, right: int) -> list[Split]:
    made, stack = [], [(left, right)]
    while stack:
        left, right = stack.pop()
        if right - left > 1:
            split = chooser.randrange(left + 1, right)
            made.append(Split(left, split, right))
            stack += [(split, right), (left, split)]
    return made


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_those_that_the_task_builds(seed: int) -> None:
    chooser = random.Random(seed)
    lengths = [chooser.randrange(1, 12) for _ in range(4)]
    splits = [splits_of(chooser, 0, length) for length in lengths]
    tables = [np.array(made, np.intp).reshape(-1, 3) for made in splits]
    spans = spans_of(lengths, tables)
    pairs = list(zip(spans.left.tolist(), spans.right.tolist(), strict=True))
    labels = np.array([chooser.randrange(len(NAMES)) for _ in pairs], np.intp)
    labels[spans.ends[:-1]] = [chooser.randrange(4) for _ in lengths]  # a root is no dummy
    plan = Plan.of(lengths, spans, labels, NAMES)
    for number, (length, made) in enumerate(zip(lengths, splits, strict=True)):
        part = slice(spans.ends[number], spans.ends[number + 1])
        assert pairs[part] == SYNTAX.labelled(length, made)
        words, tags = [f"w{n}" for n in range(length)], [f"T{n}" for n in range(length)]
        names = tuple(NAMES[label] for label in labels[part])
        derivation = Derivation(length=length, splits=tuple(made), labels=names)
        tree = build_tree(plan, number, words, tags, Silent())
        assert tree == SYNTAX.build(derivation, words, tags)
        assert [leaf.evidence.label for leaf in tree.leaves()] == [-1.0 - n for n in range(length)]


def with_evidence(parse: Parse, leaves: Sequence[Tree]) -> Tree:
    """The tree of a parse, made span by span; a phrase has the product of its binary splits."""
    spans = SYNTAX.labelled(parse.derivation.length, parse.derivation.splits)
    # Each forest with the product of its splits that belong to no phrase yet.
    stack: list[tuple[tuple[Tree, ...], float]] = []
    for span, label in zip(reversed(spans), reversed(parse.derivation.labels), strict=True):
        found, product = parse.evidence.get(span), 1.0
        if span[1] - span[0] == 1:
            forest: tuple[Tree, ...] = (leaves[span[0]],)
        else:
            (left, one), (right, two) = stack.pop(), stack.pop()
            forest, product = left + right, one * two
            if found is not None and found.split is not None:
                product *= found.split
        if is_dummy(label):
            stack.append((forest, product))
        else:
            stack.append(((phrase(label, forest, found, product),), 1.0))
    ((tree,), _) = stack[0]
    return tree


def phrase(label: str, forest: tuple[Tree, ...], found: Evidence | None, product: float) -> Tree:
    """All nodes of a chain share the label's evidence; the innermost has the splits."""
    *outer, inner = split_chain(label)
    shared = own = found
    if found is not None and outer:
        shared = Evidence(probability=found.probability, label=found.label, labels=found.labels)
        own = replace(shared, split=found.split, splits=found.splits)
    if own is not None and own.split is not None and own.split != product:
        own = replace(own, split=product)
    tree = Tree(inner, forest, None, own)
    for name in reversed(outer):
        tree = Tree(name, (tree,), None, shared)
    if found is not None and outer:
        tree.evidence = replace(found, split=None, splits=())
    return tree


@pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(n_best=4, alternatives=2)])
def test_a_nodes_evidence_is_that_of_its_spans(options: SearchOptions) -> None:
    batch = [sentence(length) for length in (1, 2, 5, 7)]
    for found in search(ToyScorer(3), batch, SYNTAX, options):
        assert isinstance(found, list)
        for parse in found:
            built = with_evidence(parse, parse.tree.leaves())
            assert built == parse.tree
            copied = pickle.loads(pickle.dumps(parse.tree))
            # Of the whole tree it is known before the evidence of any node is made.
            early = [(n.log_prob, n.split_log_prob, n.tree_probability) for n in copied.preorder()]
            late = [(n.log_prob, n.split_log_prob, n.tree_probability) for n in built.preorder()]
            assert early == late
            expected = [node.evidence for node in built.preorder()]
            assert [node.evidence for node in parse.tree.preorder()] == expected
            assert [node.evidence for node in copied.preorder()] == expected
            assert pickle.loads(pickle.dumps(parse)).evidence == parse.evidence


def test_evidence_can_be_replaced() -> None:
    [[parse]] = search(ToyScorer(3), [sentence(4)], SYNTAX)
    parse.tree.evidence = None
    assert parse.tree.evidence is parse.tree.probability is None
