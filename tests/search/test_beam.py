"""One step of the beam, and the table of decisions below it."""

import numpy as np
import pytest

from cleft.search import Beam, History, Masks, advance
from cleft.search.beam import first_of_sentence
from cleft.span import Split

NO = -np.inf


def start(*lengths: int, capacity: int = 4) -> Beam:
    return Beam.start(History(capacity), np.arange(len(lengths)), np.array(lengths))


def test_halves_are_visited_left_first_and_one_token_halves_never() -> None:
    beam, spans = start(6), []
    # (0,6)→4 (0,4)→1 (1,4)→3 (1,3)→2 (4,6)→5, growing the table on the way
    for boundary in (4, 1, 3, 2, 5):
        spans.append(beam.spans.tolist())
        scores = np.full((1, 7), NO)
        scores[0, boundary] = -1.0
        beam, _ = advance(beam, scores, 1)
    assert spans == [[[0, 6]], [[0, 4]], [[1, 4]], [[1, 3]], [[4, 6]]]
    assert len(beam.live) == 0
    [made] = beam.history.decisions(beam.last)
    assert made.splits[3] == Split(1, 2, 3)
    assert made.log_probs == (-1.0,) * 5
    assert beam.score.tolist() == [-5.0]


def test_a_stop_leaves_a_span_whole_and_goes_to_what_waits() -> None:
    beam, _ = advance(start(5), np.array([[NO, NO, -0.5, NO, NO, NO]]), 1)
    beam, parents = advance(beam, np.array([[NO, NO, -0.25, NO, NO, NO]]), 1)  # (0,2) is an EDU
    assert beam.spans.tolist() == [[2, 5]]
    assert parents.tolist() == [0]
    beam, parents = advance(beam, np.array([[NO, NO, NO, NO, NO, -0.25]]), 1)
    assert beam.right.tolist() == [0]
    assert parents.tolist() == []


def test_the_old_beam_is_left_as_it_was_and_may_be_advanced_again() -> None:
    old = start(4)
    one, _ = advance(old, np.array([[NO, -1.0, -2.0, -3.0, NO]]), 2)
    two, _ = advance(old, np.array([[NO, -3.0, -2.0, -1.0, NO]]), 2)
    assert old.spans.tolist() == [[0, 4]]
    assert old.score.tolist() == [0.0]
    assert one.spans.tolist() == [[1, 4], [0, 2]]
    assert two.spans.tolist() == [[0, 3], [0, 2]]


def test_the_best_are_kept_over_all_hypotheses_of_a_sentence_and_ties_by_place() -> None:
    beam, _ = advance(start(4, 4), np.array([[NO, -1.0, -2.0, NO, NO]] * 2), 2)
    scores = np.full((4, 5), NO)
    scores[0, 2:4] = -5.0, -6.0  # children of -1: -6, -7
    scores[1, 1] = -1.0  # child of -2: -3
    scores[2, 2:4] = -1.0, -1.0  # -2, -2
    scores[3, 1] = 0.0  # -2
    beam, parents = advance(beam, scores, 2)
    assert beam.sentence.tolist() == [0, 0, 1, 1]
    assert beam.score.tolist() == [-3.0, -6.0, -2.0, -2.0]
    assert parents.tolist() == [1, 0, 2, 2]
    assert [made.splits[1].split for made in beam.history.decisions(beam.last)] == [1, 2, 2, 3]


def test_a_finished_hypothesis_competes_as_it_is() -> None:
    scores = np.array([[NO, NO, -2.0, -1.0]])
    beam, parents = advance(start(3), scores, 2)  # stop, and (0,3)→2
    assert beam.right.tolist() == [0, 2]
    assert parents.tolist() == [0]
    beam, _ = advance(beam, np.array([[NO, -0.1, -0.2, NO]]), 2)
    assert beam.score.tolist() == [-1.0, -2.1]
    better, _ = advance(start(3), scores + np.array([0, 0, 1.5, 0]), 2)
    better, _ = advance(better, np.array([[NO, -0.1, -0.2, NO]]), 2)
    assert better.score.tolist() == pytest.approx([-0.6, -0.7])  # the stop at -1 is pushed out


def test_what_does_not_exceed_the_floor_or_the_margin_is_dropped() -> None:
    scores = np.array([[NO, -1.0, -2.0, -3.0, NO]] * 2)
    beam, parents = advance(start(4, 4), scores, 4, floor=np.array([-2.0, -9.0]))
    assert beam.sentence.tolist() == [0, 1, 1, 1]
    beam, parents = advance(start(4, 4), scores, 4, margin=1.0)
    assert beam.score.tolist() == [-1.0, -2.0, -1.0, -2.0]
    beam, parents = advance(start(4), scores[:1], 4, floor=np.array([0.0]))
    assert len(beam) == len(parents) == 0


def test_long_rows_are_trimmed_to_the_width_before_sorting_without_loss() -> None:
    scores = np.full((2, 31), NO)
    scores[:, 1:30] = -np.random.default_rng(0).permuted(
        np.tile(np.arange(1.0, 30.0), (2, 1)), axis=1
    )
    beam, _ = advance(start(30, 30), scores, 3)
    assert beam.score.tolist() == [-1.0, -2.0, -3.0] * 2


def test_sentences_begin_where_the_number_changes() -> None:
    assert first_of_sentence(np.array([], np.intp)).tolist() == []
    assert first_of_sentence(np.array([4])).tolist() == [0]


def test_a_legal_split_of_probability_zero_stays_legal() -> None:
    masks = Masks([4], stops=False)
    zero = np.zeros(1, np.intp)
    masked = masks.apply(np.full((1, 5), NO), zero, zero + 1, zero + 4)
    assert np.isfinite(masked).tolist() == [[False, False, True, True, False]]


def test_masks_keep_the_precision_of_the_scorer() -> None:
    zero = np.zeros(1, np.intp)
    masked = Masks([4], stops=True).apply(np.zeros((1, 5), np.float32), zero, zero, zero + 4)
    assert masked.dtype == np.float32
