"""The search against brute force, the pruned beam against the full one, batches against none."""

from collections import Counter
from itertools import pairwise
from math import exp, log
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.search import Constraints, Decoder, Masks, Parse, SearchOptions, Statistics, search
from cleft.search.decode import Marks
from cleft.tasks import DISCOURSE, SYNTAX, Task

from .toy import TASKS, ToyScorer, batches, every_tree, sentence, tasks

scorers = st.builds(
    ToyScorer,
    seed=st.integers(0, 10_000),
    sharpness=st.sampled_from([0.2, 1.0, 3.0, 8.0]),
    sense=st.sampled_from([0.0, 4.0, 30.0]),
    tag_head=st.booleans(),
    marked=st.booleans(),
    history=st.booleans(),
)
widths = st.integers(1, 12)


def parses(
    scorer: ToyScorer, sentences: list[list[str]], task: Task, **options
) -> list[list[Parse]]:
    results = search(scorer, sentences, task, SearchOptions(**options))
    assert all(isinstance(result, list) for result in results), results
    return results


def facts(parse: Parse) -> tuple[object, ...]:
    return parse.derivation, parse.log_prob, parse.split_log_prob, parse.tree, parse.evidence


@pytest.mark.parametrize(("task", "count"), [(SYNTAX, 132), (DISCOURSE, 731)])
def test_seven_tokens_have_the_known_number_of_trees(task: Task, count: int) -> None:
    trees = [splits for splits, _ in every_tree(ToyScorer(), sentence(7), task.name)]
    assert len(set(trees)) == len(trees) == count


@TASKS
@pytest.mark.parametrize("length", range(1, 8))
@pytest.mark.parametrize("seed", range(3))
def test_wide_beam_equals_brute_force(task: Task, length: int, seed: int) -> None:
    scorer, words = ToyScorer(seed, sharpness=1.5), sentence(length, seed)
    trees = sorted(every_tree(scorer, words, task.name), key=lambda tree: -tree[1])
    [[parse]] = parses(scorer, [words], task, beam=len(trees), prune=False, joint=False)
    assert parse.derivation.splits == trees[0][0]
    assert parse.split_log_prob == pytest.approx(trees[0][1], abs=1e-9)


@given(scorers, tasks, st.integers(1, 6), st.integers(0, 9))
def test_wide_beam_equals_brute_force_on_any_model(
    scorer: ToyScorer, task: Task, length: int, first: int
) -> None:
    words = sentence(length, first)
    trees = list(every_tree(scorer, words, task.name))
    [[parse]] = parses(scorer, [words], task, beam=len(trees), prune=False, joint=False)
    assert parse.split_log_prob == pytest.approx(max(score for _, score in trees), abs=1e-9)
    assert (parse.derivation.splits, pytest.approx(parse.split_log_prob)) in trees


@TASKS
def test_the_whole_beam_is_every_tree_with_its_score(task: Task) -> None:
    scorer, words = ToyScorer(5), sentence(6)
    trees = dict(every_tree(scorer, words, task.name))
    [found] = parses(scorer, [words], task, n_best=len(trees), prune=False)
    for parse in found:
        assert parse.split_log_prob == pytest.approx(trees[parse.derivation.splits], abs=1e-9)
    if task is DISCOURSE:  # no two binary discourse trees are the same tree
        assert len(found) == len(trees)


@given(scorers, tasks, st.integers(1, 6))
def test_the_probabilities_of_all_trees_sum_to_at_most_one(
    scorer: ToyScorer, task: Task, length: int
) -> None:
    total = sum(exp(score) for _, score in every_tree(scorer, sentence(length), task.name))
    assert 0 < total <= 1 + 1e-9


@given(st.integers(0, 10_000), st.sampled_from([0.2, 3.0]), st.integers(1, 6))
def test_with_marks_the_probabilities_of_all_trees_sum_to_one(
    seed: int, sharpness: float, length: int
) -> None:
    scorer = ToyScorer(seed, sharpness, marked=True)
    total = sum(exp(score) for _, score in every_tree(scorer, sentence(length), "discourse"))
    assert total == pytest.approx(1)


def test_given_edus_are_not_weighed_with_marks() -> None:
    words = sentence(9)
    edus = Constraints(edus=(2, 3, 7, 9))
    found = [
        search(ToyScorer(3, marked=marked), [words], DISCOURSE, constraints=[edus])[0][0]
        for marked in (True, False)
    ]
    assert facts(found[0]) == facts(found[1])


@pytest.mark.parametrize("beam", [1, 4])
def test_sure_marks_are_the_edus(beam: int) -> None:
    class Sure(ToyScorer):
        def marks(self, encoded, task):
            return np.array([[0, 0, 1.0, 0, 0, 1.0, 0, 0]])

    [[parse]] = parses(Sure(marked=True), [sentence(7)], DISCOURSE, beam=beam)
    assert [tuple(edu.span) for edu in parse.tree.edus] == [(0, 2), (2, 5), (5, 7)]
    stops = [step for step in parse.derivation.splits if step.is_stop]
    assert len(stops) == 3


@given(scorers, tasks, batches, widths, st.booleans())
def test_pruning_gives_the_better_of_full_beam_and_greedy(
    scorer: ToyScorer, task: Task, sentences: list[list[str]], beam: int, joint: bool
) -> None:
    score = attrgetter("log_prob" if joint else "split_log_prob")
    pruned = parses(scorer, sentences, task, beam=beam, joint=joint)
    full = parses(scorer, sentences, task, beam=beam, prune=False, joint=joint)
    greedy = parses(scorer, sentences, task, joint=joint)
    for [one], [two], [three] in zip(pruned, full, greedy, strict=True):
        assert score(one) >= max(score(two), score(three)) - 1e-6
        assert scorer.history is False or score(one) <= max(score(two), score(three)) + 1e-6


@TASKS
def test_greedy_can_beat_a_narrow_beam_and_then_wins(task: Task) -> None:
    gains = Counter[int]()
    for seed in range(60):
        scorer, words = ToyScorer(seed, sharpness=3.0), sentence(10, seed)
        [[pruned]] = parses(scorer, [words], task, beam=2, joint=False)
        [[full]] = parses(scorer, [words], task, beam=2, prune=False, joint=False)
        [[greedy]] = parses(scorer, [words], task)
        gains[int(np.sign(full.split_log_prob - greedy.split_log_prob))] += 1
        assert pruned.split_log_prob == max(full.split_log_prob, greedy.split_log_prob)
    assert min(gains[1], gains[-1]) > 0  # otherwise this shows nothing


@given(scorers, tasks, batches)
def test_greedy_equals_a_beam_of_one(
    scorer: ToyScorer, task: Task, sentences: list[list[str]]
) -> None:
    greedy = parses(scorer, sentences, task)
    encoded = scorer.encode(sentences)
    masks = Masks(encoded.lengths, stops=task is DISCOURSE)
    chances = scorer.marks(encoded, task.name) if task is DISCOURSE else None
    marks = None if chances is None else Marks(chances)
    decoder = Decoder(scorer, encoded, task.name, masks=masks, marks=marks, statistics=Statistics())
    one = sorted(decoder.beam(np.arange(len(sentences)), 1), key=lambda each: each.sentence)
    for [parse], candidate in zip(greedy, one, strict=True):
        assert parse.derivation.splits == candidate.decisions.splits
        assert parse.split_log_prob == candidate.score


@given(scorers, tasks, batches, widths, st.integers(1, 4), st.booleans(), st.randoms())
def test_neither_batch_nor_padding_nor_order_changes_anything(
    scorer, task, sentences, beam, n_best, prune, random
) -> None:
    options = {"beam": beam, "n_best": n_best, "prune": prune, "alternatives": 2}
    alone = [parses(scorer, [words], task, **options)[0] for words in sentences]
    order = list(range(len(sentences)))
    random.shuffle(order)
    together = parses(scorer, [sentences[place] for place in order], task, **options)
    for place, batched in zip(order, together, strict=True):
        assert list(map(facts, batched)) == list(map(facts, alone[place]))


@given(scorers, tasks, batches, st.integers(1, 8), st.integers(2, 8), st.booleans())
def test_n_best_trees_are_distinct_and_sorted(
    scorer: ToyScorer, task: Task, sentences: list[list[str]], beam: int, n_best: int, prune: bool
) -> None:
    for found in parses(scorer, sentences, task, beam=beam, n_best=n_best, prune=prune):
        assert 1 <= len(found) <= n_best
        assert task is DISCOURSE or len(found) >= min(n_best, 4)  # labels that are no dummy
        assert len({parse.tree for parse in found}) == len(found)
        assert all(one.log_prob >= two.log_prob for one, two in pairwise(found))


def test_binary_trees_that_become_one_tree_are_listed_once_with_the_best_score() -> None:
    scorer, words = ToyScorer(2), sentence(6)
    dummy = list(scorer.labels("syntax")).index("∅")
    scorer.label_weights["syntax"][:] = 0
    plain = scorer.label

    def label(encoded, task, rows, items):
        scores = np.full_like(plain(encoded, task, rows, items), -1e3)
        scores[:, 0], scores[:, dummy] = -2e2, -0.1
        return scores

    scorer.label = label  # every span but the root is a dummy: 42 derivations, one tree
    [[parse, second, *_]] = parses(scorer, [words], SYNTAX, n_best=42, prune=False)
    trees = dict(every_tree(scorer, words, "syntax"))
    assert len(trees) == 42
    assert parse.split_log_prob == pytest.approx(max(trees.values()))
    assert [child.word for child in parse.tree.children] == words
    assert second.log_prob < parse.log_prob - 100  # one more phrase


@TASKS
def test_a_margin_loses_at_most_down_to_greedy_and_saves_work(task: Task) -> None:
    scorer = ToyScorer(1, sharpness=3.0)
    sentences = [sentence(12, first) for first in range(20)]
    costs = []
    for margin in (None, 0.5):
        statistics = Statistics()
        options = SearchOptions(beam=8, margin=margin)
        found = search(scorer, sentences, task, options, statistics=statistics)
        greedy = parses(scorer, sentences, task)
        for [parse], [other] in zip(found, greedy, strict=True):
            assert parse.log_prob >= other.log_prob
        costs.append(statistics.beam_rows)
    assert costs[0] > costs[1] > 0


@TASKS
def test_pruning_saves_work_and_a_sure_greedy_tree_ends_the_search(task: Task) -> None:
    sentences = [sentence(12, first) for first in range(20)]
    for sharpness, most in ((2.0, 8.0), (20.0, 1.2)):
        pruned, full = Statistics(), Statistics()
        scorer = ToyScorer(3, sharpness, sense=1000.0)
        for prune, counted in ((True, pruned), (False, full)):
            options = SearchOptions(beam=20, prune=prune, joint=False)
            search(scorer, sentences, task, options, statistics=counted)
        assert pruned.beam_rows < full.beam_rows / 2
        assert full.cost is None
        assert pruned.cost is not None
        assert 1 <= pruned.cost < most


def test_a_tree_above_one_half_is_not_searched_for() -> None:
    scorer, words = ToyScorer(4), ["a", "b", "c"]
    trees = dict(every_tree(scorer, words, "syntax"))
    statistics = Statistics()
    for sharpness in (0.0, 100.0):
        scorer.sharpness = sharpness
        trees = dict(every_tree(scorer, words, "syntax"))
        before = statistics.searched
        options = SearchOptions(beam=5, joint=False)
        search(scorer, [words], SYNTAX, options, statistics=statistics)
        assert statistics.searched - before == (max(trees.values()) <= log(0.5))
