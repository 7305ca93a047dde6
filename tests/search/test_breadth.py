"""Search level by level: against brute force, against itself, in batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.order import breadth_first, depth_first
from cleft.search import Constraints, Parse, SearchOptions, search
from cleft.search.breadth import BreadthFirstHistory, make_history
from cleft.search.history import History
from cleft.tasks import DiscourseTask, SyntaxTask

from .toy import ToyScorer, every_tree, sentence

SYNTAX = SyntaxTask(order="breadth-first")
DISCOURSE = DiscourseTask(order="breadth-first")
TASKS = pytest.mark.parametrize("task", [SYNTAX, DISCOURSE], ids=lambda task: task.name)
Task = SyntaxTask | DiscourseTask


def best(scorer: ToyScorer, sentences: list[list[str]], task: Task, **options) -> list[Parse]:
    results = search(scorer, sentences, task, SearchOptions(**options))
    assert all(isinstance(result, list) for result in results), results
    return [result[0] for result in results]


@TASKS
@pytest.mark.parametrize("length", range(1, 8))
def test_wide_beam_equals_brute_force(task: Task, length: int) -> None:
    scorer, words = ToyScorer(length, sharpness=1.5), sentence(length, 1)
    trees = list(every_tree(scorer, words, task.name, breadth_first=True))
    splits, score = max(trees, key=lambda tree: tree[1])
    [parse] = best(scorer, [words], task, beam=len(trees), prune=False)
    assert parse.derivation.splits == depth_first(splits)
    assert parse.split_log_prob == pytest.approx(score, abs=1e-9)


@TASKS
def test_the_order_changes_what_a_model_says(task: Task) -> None:
    words, plain = sentence(9), type(task)()
    both = [[best(ToyScorer(n), [words], kind)[0] for n in range(8)] for kind in (task, plain)]
    one, two = ([round(parse.split_log_prob, 6) for parse in parses] for parses in both)
    assert one != two


@TASKS
def test_a_trace_shows_the_steps_level_by_level(task: Task) -> None:
    [parse] = best(ToyScorer(5, sense=9.0), [sentence(14)], task, beam=3, trace=True)
    steps = [step.split for step in parse.steps]
    assert steps == list(breadth_first(parse.derivation.splits))
    total = sum(np.log(step.probability) for step in parse.steps)
    assert parse.split_log_prob == pytest.approx(total)


@given(
    st.integers(0, 999),
    st.lists(st.integers(1, 14), min_size=1, max_size=5),
    st.sampled_from([SYNTAX, DISCOURSE]),
)
def test_a_batch_and_a_pruned_beam_change_nothing(seed: int, lengths: list[int], task: Task):
    scorer = ToyScorer(seed, sharpness=3.0, sense=4.0)
    sentences = [sentence(length, length) for length in lengths]
    greedy = best(scorer, sentences, task)
    for words, parse in zip(sentences, greedy, strict=True):
        [alone] = best(scorer, [words], task)
        assert (alone.derivation, alone.split_log_prob) == (parse.derivation, parse.split_log_prob)
    pruned = best(scorer, sentences, task, beam=6)
    full = best(scorer, sentences, task, beam=6, prune=False)
    for one, two, three in zip(greedy, pruned, full, strict=True):
        assert two.split_log_prob == max(one.split_log_prob, three.split_log_prob)


def test_given_edus_are_kept() -> None:
    demands = Constraints(edus=(3, 4, 9))
    [result] = search(ToyScorer(2), [sentence(9)], DISCOURSE, constraints=[demands])
    assert isinstance(result, list)
    assert [edu.span.right for edu in result[0].tree.edus] == [3, 4, 9]


def test_a_history_finds_the_span_that_has_waited_longest_in_long_chains() -> None:
    history = make_history("breadth-first", 4)
    assert isinstance(history, BreadthFirstHistory)
    length = 400
    one = np.ones(1, np.intp)
    ids, left, right, waiting = 0 * one, 0 * one, length * one, 0 * one
    made = []
    while right[0]:
        boundary = (left + right) // 2
        made.append((int(left[0]), int(right[0])))
        ids, left, right, waiting = history.split(
            left, boundary, right, log_prob=-0.5 * one, parent=ids, waiting=waiting
        )
    splits = history.decisions(ids)[0].splits
    assert len(made) == length - 1
    assert [tuple(split.span) for split in splits] == made
    assert breadth_first(splits) == splits


def test_the_usual_history_is_a_stack() -> None:
    assert type(make_history("depth-first", 4)) is History
