"""ONNX Runtime against PyTorch, and a sentence against itself in other company."""

import numpy as np
import pytest

from cleft.runtime.selftest import check
from cleft.search import SearchOptions, search
from cleft.tasks import DISCOURSE
from tests.runtime.models import KINDS, onnx_scorer, sentences, torch_scorer

LENGTHS = (5, 1, 9, 2, 23)
TASKS = ("syntax", "discourse")


def close(one, two, tolerance=1e-4):
    assert (np.isfinite(one) == np.isfinite(two)).all()
    real = np.isfinite(one)
    assert np.abs(one[real] - two[real]).max(initial=0) < tolerance


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_gives_the_log_probabilities_of_torch(kind):
    ours, theirs = onnx_scorer(kind), torch_scorer(kind)
    batch = sentences(*LENGTHS)
    one, two = ours.encode(batch), theirs.encode(batch)
    close(ours.tags(one), theirs.tags(two))
    for task in TASKS:
        mine, its = ours.start(one, task), theirs.start(two, task)
        # Hypotheses in any order, of some sentences twice, of some never.
        for rows, chosen in (
            ([0, 2, 3, 4], [0, 2, 3, 4]),
            ([4, 0, 4, 2], [3, 0, 3, 1]),
            ([4, 4, 4], [0, 2, 0]),
        ):
            where = np.array(rows)
            mine, its = ours.select(mine, np.array(chosen)), theirs.select(its, np.array(chosen))
            spans = np.array([[0, LENGTHS[row]] for row in rows])
            found, mine = ours.split(one, task, where, spans, mine)
            expected, its = theirs.split(two, task, where, spans, its)
            assert found.shape == expected.shape
            close(found, expected)
        where = np.array([4, 0, 2, 4])
        items = np.array([[0, 3, 23], [1, 2, 4], [0, 8, 9], [21, 22, 23]])
        items = items if task == "discourse" else items[:, ::2]
        close(ours.label(one, task, where, items), theirs.label(two, task, where, items))
        assert list(ours.labels(task)) == list(theirs.labels(task))
    assert list(ours.tag_names()) == list(theirs.tag_names())


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_onnx_gives_the_trees_of_torch(kind, beam):
    ours, theirs = onnx_scorer(kind), torch_scorer(kind)
    batch = sentences(*LENGTHS, 7, 7, 12, 31, seed=1)
    options = SearchOptions(beam=beam, n_best=beam)
    for task in (ours.manifest.task("syntax"), DISCOURSE):
        pairs = zip(
            search(ours, batch, task, options), search(theirs, batch, task, options), strict=True
        )
        for found, expected in pairs:
            assert len(found) == len(expected)
            for one, two in zip(found, expected, strict=True):
                assert one.log_prob == pytest.approx(two.log_prob, abs=1e-4)
                assert one.tree == two.tree


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("kind", ["lstm", "bert", "frozen", "mpnet", "distilbert"])
def test_a_sentence_is_the_same_alone_and_beside_longer_ones(kind, int8):
    scorer = onnx_scorer(kind, int8=int8)
    batch = sentences(6, 40, 3, 6, 11, seed=3)
    for task in (scorer.manifest.task("syntax"), DISCOURSE):
        together = search(scorer, batch, task)
        for sentence, found in zip(batch, together, strict=True):
            (alone,) = search(scorer, [sentence], task)
            assert alone[0].tree == found[0].tree
            assert alone[0].log_prob == pytest.approx(found[0].log_prob, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_marks_edus_as_torch_does(kind):
    ours, theirs = onnx_scorer(kind), torch_scorer(kind)
    batch = sentences(*LENGTHS)
    one, two = ours.encode(batch), theirs.encode(batch)
    assert ours.marks(one, "syntax") is theirs.marks(two, "syntax") is None
    mine, its = ours.marks(one, "discourse"), theirs.marks(two, "discourse")
    if theirs.network.config.edu_boundaries == "none":
        assert mine is its is None
        return
    close(mine, its)
    assert mine.shape == (len(batch), 1 + max(LENGTHS))
    assert mine.std() > 0.01  # random weights mark at random, not alike


@pytest.mark.parametrize("kind", ["bert", "frozen", "mpnet", "distilbert"])
def test_sentences_beyond_the_position_limit_are_read_in_windows(kind):
    ours, theirs = onnx_scorer(kind), torch_scorer(kind)
    batch = sentences(90, 4, seed=5)
    one, two = ours.encode(batch), theirs.encode(batch)
    close(ours.tags(one), theirs.tags(two))


@pytest.mark.parametrize("kind", KINDS)
def test_int8_is_near_full_precision(kind):
    batch = sentences(*LENGTHS, seed=6)
    full, small = onnx_scorer(kind), onnx_scorer(kind, int8=True)
    one, two = full.encode(batch), small.encode(batch)
    difference = np.abs(np.exp(full.tags(one)) - np.exp(small.tags(two)))
    assert 0 < difference.max() < 0.25
    assert difference.mean() < 0.03


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_passes_its_own_test(kind):
    assert check(onnx_scorer(kind)) == 4
