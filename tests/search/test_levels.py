"""Heads without history: levels at once against span by span, exact search against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.search import Decoder, Masks, SearchOptions, Statistics, search
from cleft.search.decode import Marks
from cleft.span import Constraints, Span
from cleft.tasks import DISCOURSE, SYNTAX, Task

from .toy import TASKS, ToyScorer, batches, every_tree, sentence, tasks

scorers = st.builds(
    ToyScorer,
    seed=st.integers(0, 10_000),
    sharpness=st.sampled_from([0.2, 1.0, 3.0, 8.0]),
    sense=st.sampled_from([0.0, 4.0, 30.0]),
    marked=st.booleans(),
    history=st.just(False),
)


class OneByOne(ToyScorer):
    """The same model, which does not say that it needs no history."""

    def stateless(self, task: str) -> bool:
        return False


def asked(scorer: ToyScorer, sentences: list[list[str]], task: Task, beam: int) -> Statistics:
    statistics = Statistics()
    search(scorer, sentences, task, SearchOptions(beam=beam), statistics=statistics)
    return statistics


@given(scorers, tasks, batches)
def test_a_level_at_once_is_one_span_at_a_time(
    scorer: ToyScorer, task: Task, sentences: list[list[str]]
) -> None:
    plain = OneByOne(
        scorer.seed, scorer.sharpness, scorer.sense, marked=scorer.marked, history=False
    )
    for [one], [two] in zip(
        search(scorer, sentences, task), search(plain, sentences, task), strict=True
    ):
        assert (one.derivation, one.tree) == (two.derivation, two.tree)
        assert one.split_log_prob == pytest.approx(two.split_log_prob, abs=1e-12)


@given(scorers, tasks, st.integers(1, 7), st.integers(0, 9))
def test_exact_search_is_brute_force(
    scorer: ToyScorer, task: Task, length: int, first: int
) -> None:
    words = sentence(length, first)
    trees = dict(every_tree(scorer, words, task.name))
    options = SearchOptions(beam=2, prune=False, joint=False)
    [[parse]] = search(scorer, [words], task, options)
    assert parse.split_log_prob == pytest.approx(max(trees.values()), abs=1e-9)
    assert trees[parse.derivation.splits] == pytest.approx(parse.split_log_prob, abs=1e-9)


@given(scorers, tasks, batches)
def test_no_beam_beats_exact_search_and_no_span_is_asked_about_twice(
    scorer: ToyScorer, task: Task, sentences: list[list[str]]
) -> None:
    encoded = scorer.encode(sentences)
    chances = scorer.marks(encoded, task.name) if task.stops else None
    statistics = [Statistics(), Statistics()]
    scores = []
    for counted, wide in zip(statistics, (False, True), strict=True):
        decoder = Decoder(
            scorer,
            encoded,
            task.name,
            masks=Masks(encoded.lengths, stops=task.stops),
            statistics=counted,
            marks=None if chances is None else Marks(chances),
        )
        rows = np.arange(len(sentences))
        found = decoder.beam(rows, 20, best_only=True) if wide else decoder.best(rows)
        scores.append({each.sentence: each.score for each in found})
    for row, score in scores[0].items():
        assert score >= scores[1][row] - 1e-9
    every = sum(length * (length - 1) // 2 for length in encoded.lengths)
    assert all(counted.beam_rows <= every for counted in statistics)


@TASKS
def test_a_level_is_one_call_for_all_sentences(task: Task) -> None:
    scorer = ToyScorer(3, sense=30.0, history=False)
    sentences = [sentence(16, first) for first in range(20)]
    found = search(scorer, sentences, task)
    deepest = max(_depth(parse.derivation.splits) for [parse] in found)
    statistics = asked(scorer, sentences, task, beam=1)
    assert statistics.greedy_calls == deepest
    assert statistics.greedy_rows == sum(len(parse.derivation.splits) for [parse] in found)


def _depth(splits) -> int:
    return max(sum(o.left <= s.left and s.right <= o.right for o in splits) for s in splits)


@TASKS
def test_exact_search_asks_for_few_of_all_spans_if_the_model_is_sure(task: Task) -> None:
    sentences = [sentence(30, first) for first in range(4)]
    every = 4 * 30 * 29 / 2
    sure = asked(ToyScorer(1, 30.0, 1000.0, history=False), sentences, task, beam=20)
    assert sure.beam_rows < every / 3


@pytest.mark.parametrize("beam", [1, 5])
def test_required_spans_and_given_edus_hold_without_history(beam: int) -> None:
    scorer, words, options = ToyScorer(4, history=False), sentence(9), SearchOptions(beam=beam)
    spans = Constraints(spans=(Span(2, 7), Span(3, 5)))
    [[parse]] = search(scorer, [words], SYNTAX, options, constraints=[spans])
    assert {(2, 7), (3, 5)} <= {(s.left, s.right) for s in parse.derivation.splits}
    edus = Constraints(edus=(2, 3, 7, 9))
    [[parse]] = search(scorer, [words], DISCOURSE, options, constraints=[edus])
    assert [edu.span.right for edu in parse.tree.edus] == [2, 3, 7, 9]


@TASKS
@pytest.mark.parametrize("beam", [1, 4])
def test_a_very_long_sentence_is_searched_step_by_step(
    task: Task, beam: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, plain = (kind(3, 3.0, 4.0, history=False) for kind in (ToyScorer, OneByOne))
    words = [sentence(12, 1)]
    options = SearchOptions(beam=beam)
    monkeypatch.setattr("cleft.search.decode.WIDEST", 11)
    assert asked(scorer, words, task, beam) == asked(plain, words, task, beam)
    [one], [two] = (search(each, words, task, options)[0] for each in (scorer, plain))
    assert one.tree == two.tree
    monkeypatch.setattr("cleft.search.decode.WIDEST", 12)
    assert asked(scorer, words, task, beam) != asked(plain, words, task, beam)
