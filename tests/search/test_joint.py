"""n-best over structures and labels, against all labelled trees of short sentences."""

from itertools import islice, pairwise, product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cleft
from cleft.search import Constraints, SearchOptions, Statistics, search
from cleft.search.labels import Grammar
from cleft.search.naming import Apart, Naming
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX, Derivation, Task
from cleft.tree import Tree, is_dummy

from .test_constraints import edus_of, spans_of
from .test_grammar import grammar, plain_cost
from .toy import TAGS, TASKS, ToyScorer, batches, every_tree, sentence, tasks


def untagged(tree: Tree) -> Tree:
    if tree.word is not None:
        return Tree("X", (), tree.word)
    return Tree(tree.label, tuple(map(untagged, tree.children)))


def best_tags(scorer: ToyScorer, costs: Grammar, tree: Tree) -> tuple[Tree, float]:
    """The best tags of a tree by trying all, and what they cost together with its pairs."""
    words = tree.words()
    log_probs = scorer.tags(scorer.encode([words]))
    loss = log_probs - log_probs.max(axis=1, keepdims=True)

    def tagged(node: Tree, names: list[str]) -> Tree:
        if node.word is not None:
            return Tree(names.pop(0), (), node.word)
        return Tree(node.label, tuple([tagged(child, names) for child in node.children]))

    every = []
    for tags in product(range(len(TAGS)), repeat=len(words)):
        made = tagged(tree, [TAGS[tag] for tag in tags])
        own = sum(loss[place, tag] for place, tag in enumerate(tags))
        every.append((made, own + plain_cost(costs, made)))
    return max(every, key=lambda pair: pair[1])


def every_labelled(
    scorer: ToyScorer, words: list[str], task: Task, demands: Constraints | None = None
) -> dict[object, float]:
    """All labelled trees with the joint score of their best derivation, by trying them all."""
    demands = demands or Constraints()
    forced = demands.edus is not None
    encoded, names = scorer.encode([words]), scorer.labels(task.name)
    found: dict[object, float] = {}
    for splits, score in every_tree(scorer, words, task.name, free_stops=forced):
        if not set(demands.spans) <= spans_of(splits, len(words)):
            continue
        if forced and edus_of(splits, len(words)) != set(demands.edu_spans()):
            continue
        for labels, gain in _labels(scorer, encoded, task, splits, len(words), demands):
            made = Derivation(
                length=len(words), splits=splits, labels=tuple(names[label] for label in labels)
            )
            tree = task.build(made, words, *([["X"] * len(words)] if task is SYNTAX else []))
            found[tree] = max(found.get(tree, -np.inf), score + gain)
    if task is SYNTAX and scorer.costs is not None:
        found = {tree: s + best_tags(scorer, scorer.costs, tree)[1] for tree, s in found.items()}
    return found


def _labels(scorer, encoded, task: Task, splits: tuple[Split, ...], length: int, demands):
    """All labels that the items of a tree may have, with their scores."""
    items, names = task.labelled(length, splits), scorer.labels(task.name)
    if not items:
        return [((), 0.0)]
    scores = scorer.label(encoded, task.name, np.zeros(len(items), np.intp), np.array(items))
    phrases = {(0, length), *map(tuple, demands.spans)}
    legal = [
        [k for k, name in enumerate(names) if not is_dummy(name) or tuple(item) not in phrases]
        for item in items
    ]
    return [
        (labels, sum(scores[place, label] for place, label in enumerate(labels)))
        for labels in product(*legal)
    ]


def check(found, every: dict[object, float], n_best: int) -> None:
    """The list is the best of all trees, in order, each once and with its own score."""
    wanted = sorted(every.values(), reverse=True)[:n_best]
    assert [parse.log_prob for parse in found] == pytest.approx(wanted, abs=1e-9)
    assert all(one.log_prob >= two.log_prob for one, two in pairwise(found))
    trees = [untagged(p.tree) if isinstance(p.tree, Tree) else p.tree for p in found]
    assert len(set(trees)) == len(trees)
    for tree, parse in zip(trees, found, strict=True):
        assert parse.log_prob == pytest.approx(every[tree], abs=1e-9)


CASES = [(SYNTAX, 1), (SYNTAX, 2), (SYNTAX, 3), (DISCOURSE, 1), (DISCOURSE, 3), (DISCOURSE, 5)]
few = settings(max_examples=25)
COSTS = grammar()
cases = pytest.mark.parametrize(("task", "length"), CASES)


@cases
@pytest.mark.parametrize("seed", range(2))
def test_the_list_is_that_of_brute_force_over_structures_and_labels(
    task: Task, length: int, seed: int
) -> None:
    scorer, words = ToyScorer(seed), sentence(length, seed)
    every = every_labelled(scorer, words, task)
    for n_best in (2, 3, 60):  # the first two with a beam that holds all structures
        [found] = search(scorer, [words], task, SearchOptions(beam=60, n_best=n_best))
        check(found, every, n_best)


@TASKS
def test_a_list_without_end_holds_every_tree_once(task: Task) -> None:
    scorer, words = ToyScorer(7), sentence(2 if task is SYNTAX else 3)
    every = every_labelled(scorer, words, task)
    [found] = search(scorer, [words], task, SearchOptions(n_best=10_000))
    assert len(found) == len(every) > 20
    check(found, every, 10_000)


@pytest.mark.parametrize(("length", "seed"), [(1, 0), (1, 1), (2, 0), (2, 1), (2, 5)])
def test_labels_and_tags_that_cost_something_are_ordered_with_it(length: int, seed: int) -> None:
    scorer, words = ToyScorer(seed), sentence(length, seed)
    scorer.costs = COSTS
    every = every_labelled(scorer, words, SYNTAX)
    [found] = search(scorer, [words], SYNTAX, SearchOptions(n_best=40))
    check(found, every, 40)
    for parse in found:
        assert best_tags(scorer, scorer.costs, untagged(parse.tree))[0] == parse.tree


@few
@given(st.integers(0, 1000), st.integers(1, 9))
def test_all_namings_of_a_structure_come_in_order_with_their_own_score(
    seed: int, length: int
) -> None:
    scorer, words, costs = ToyScorer(seed), sentence(length, seed), COSTS
    scorer.costs = costs
    [[parse]] = search(scorer, [words], SYNTAX)
    splits = parse.derivation.splits
    items = np.array(SYNTAX.labelled(length, splits))
    encoded = scorer.encode([words])
    log_probs = scorer.label(encoded, "syntax", np.zeros(len(items), np.intp), items)
    log_probs[0, costs.dummies] = -np.inf
    tags = np.pad(scorer.tags(encoded), ((0, 0), (0, 1)), constant_values=-np.inf)
    table = np.array(splits, np.intp).reshape(-1, 3)
    names, last, seen = scorer.labels("syntax"), np.inf, set()
    for labels, chosen, score in islice(Naming(costs, table, log_probs, tags).in_order(), 50):
        made = Derivation(
            length=length, splits=splits, labels=tuple(names[label] for label in labels)
        )
        tree = SYNTAX.build(made, words, [TAGS[tag] for tag in chosen])
        own = log_probs[np.arange(len(labels)), labels].sum() + plain_cost(costs, tree)
        own += (tags[np.arange(length), chosen] - tags.max(axis=1)).sum()
        assert score == pytest.approx(own)
        assert score <= last + 1e-9
        last = score
        seen.add(labels.tobytes())
    assert len(seen) == min(50, 4 * 5 ** (2 * length - 2))  # of two dummies one stands for both


def test_labels_are_made_when_they_are_asked_for() -> None:
    log_probs = np.log(np.random.default_rng(1).dirichlet([1.0] * 6, size=300))
    naming = Apart(log_probs, np.zeros(6, bool))  # 6 to the power of 300 in all
    found = list(islice(naming.in_order(), 200))
    scores = [score for _, _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({labels.tobytes() for labels, _, _ in found}) == 200
    for labels, _, score in found:
        assert log_probs[np.arange(300), labels].sum() == pytest.approx(score)


@few
@given(st.integers(0, 500), st.booleans(), tasks, st.integers(1, 2), st.booleans())
def test_the_single_best_tree_is_the_best_by_the_joint_score(
    seed: int, history: bool, task: Task, length: int, prune: bool
) -> None:
    scorer, words = ToyScorer(seed, history=history), sentence(length + task.stops * 2, seed)
    every = every_labelled(scorer, words, task)
    [[parse]] = search(scorer, [words], task, SearchOptions(beam=12, prune=prune))
    assert parse.log_prob == pytest.approx(max(every.values()), abs=1e-9)


@few
@given(st.integers(0, 500), st.integers(1, 4))
def test_exact_search_weighs_what_pairs_cost(seed: int, length: int) -> None:
    scorer, words = ToyScorer(seed, history=False), [sentence(length, seed)]
    scorer.costs = COSTS
    [[parse]] = search(scorer, words, SYNTAX, SearchOptions(beam=5))  # four words have no more
    [[first, *_]] = search(scorer, words, SYNTAX, SearchOptions(n_best=5))
    assert parse.log_prob == pytest.approx(first.log_prob)


@TASKS
@pytest.mark.parametrize("seed", range(6))
def test_the_papers_rule_is_structure_first_and_then_each_label(task: Task, seed: int) -> None:
    scorer, words = ToyScorer(seed), sentence(5, seed)
    scorer.costs = COSTS
    ranked = sorted(every_tree(scorer, words, task.name), key=lambda tree: -tree[1])
    options = SearchOptions(beam=60, n_best=60, joint=False)
    [found] = search(scorer, [words], task, options)
    [[single]] = search(scorer, [words], task, SearchOptions(beam=60, joint=False))
    assert (found[0].tree, found[0].derivation) == (single.tree, single.derivation)
    assert single.derivation.splits == ranked[0][0]
    encoded = scorer.encode([words])
    for parse in found:
        items = np.array(task.labelled(5, parse.derivation.splits))
        if not len(items):
            continue
        scores = scorer.label(encoded, task.name, np.zeros(len(items), np.intp), items)
        if task is SYNTAX:
            scores[0, COSTS.dummies] = -np.inf
        names = scorer.labels(task.name)
        assert [names[k] for k in scores.argmax(axis=1)] == list(parse.derivation.labels)
    splits = [parse.split_log_prob for parse in found]
    assert splits == sorted(splits, reverse=True)
    if task is DISCOURSE:
        assert [parse.derivation.splits for parse in found] == [tree for tree, _ in ranked[:60]]


@pytest.mark.parametrize(
    ("task", "length", "demands"),
    [
        (SYNTAX, 3, Constraints(spans=(Span(1, 3),))),
        (SYNTAX, 3, Constraints(spans=(Span(1, 2),))),
        (DISCOURSE, 5, Constraints(spans=(Span(1, 4),))),
        (DISCOURSE, 6, Constraints(edus=(2, 3, 6))),
    ],
)
def test_lists_obey_constraints(task: Task, length: int, demands: Constraints) -> None:
    scorer, words = ToyScorer(2), sentence(length)
    every = every_labelled(scorer, words, task, demands)
    options = SearchOptions(beam=60, n_best=25)
    [found] = search(scorer, [words], task, options, constraints=[demands])
    check(found, every, 25)


@few
@given(st.integers(0, 500), st.booleans(), tasks, batches, st.booleans())
def test_the_list_begins_with_the_single_best(
    seed: int, history: bool, task: Task, sentences: list[list[str]], costs: bool
) -> None:
    scorer = ToyScorer(seed, 3.0, history=history)
    scorer.costs = COSTS if costs else None
    several = search(scorer, sentences, task, SearchOptions(beam=6, n_best=3))
    single = search(scorer, sentences, task, SearchOptions(beam=6))
    for found, [best] in zip(several, single, strict=True):
        assert found[0].log_prob == pytest.approx(best.log_prob)


def test_a_joint_tree_above_one_half_is_not_searched_for() -> None:
    words, statistics = sentence(4), Statistics()
    for label, searched in ((log(0.9), 0), (log(0.5), 1)):
        scorer = ToyScorer(4, 100.0, sense=1e3)

        def sure(encoded, task, rows, items, label=label):
            found = np.full((len(rows), 6), -20.0)
            found[items[:, 1] - items[:, 0] == 4, 5] = label  # S at the root, else a dummy
            found[items[:, 1] - items[:, 0] < 4, 1] = 0.0
            return found

        scorer.label = sure
        before = statistics.searched
        search(scorer, [words], SYNTAX, SearchOptions(beam=5), statistics=statistics)
        assert statistics.searched - before == searched


@pytest.mark.parametrize("beam", [1, 20])
def test_two_words_have_as_many_trees_as_are_asked_for(beam: int) -> None:
    parser = cleft.load("en-fast")
    [found] = parser.parse_tokens([["Dogs", "bark"]], beam=beam, n_best=3)
    for task, parses in found.parses.items():
        assert len({parse.tree for parse in parses}) == len(parses) == 3, task
        scores = [parse.log_prob for parse in parses]
        assert scores == sorted(scores, reverse=True)
