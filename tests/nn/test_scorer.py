"""The Scorer on PyTorch keeps the promises of the protocol."""

import numpy as np
import pytest
import torch

from cleft.errors import UsageError
from cleft.nn.config import NetworkConfig
from cleft.search.scorer import Scorer
from tests.nn.conftest import BOTH, SMALL, Bench

SENTENCES = [["the", "heron", "waited", "."], ["Rain"], ["we", "walked"]]


@pytest.fixture
def scorer() -> Scorer:
    return Bench(NetworkConfig(**BOTH)).scramble().scorer


@pytest.mark.parametrize("task", ["syntax", "discourse"])
def test_splits_are_normalised_over_the_sentences_own_boundaries(scorer, task):
    encoded = scorer.encode(SENTENCES)
    assert list(encoded.lengths) == [4, 1, 2]
    rows, spans = np.array([0, 2, 0]), np.array([[0, 4], [0, 2], [1, 3]])
    state = scorer.select(scorer.start(encoded, task), rows)
    log_probs, after = scorer.split(encoded, task, rows, spans, state)
    assert log_probs.shape == (3, 5)
    np.testing.assert_allclose(np.exp(log_probs).sum(1), 1, rtol=1e-5)
    assert np.isneginf(log_probs[1, 3:]).all()
    assert np.isfinite(log_probs[[0, 2]]).all()
    again, _ = scorer.split(
        encoded, task, rows[::-1], spans[::-1], scorer.select(after, np.array([2, 1, 0]))
    )
    straight, _ = scorer.split(encoded, task, rows, spans, after)
    np.testing.assert_allclose(again[::-1], straight, rtol=1e-5)


@pytest.mark.parametrize(
    ("task", "items"), [("syntax", [[0, 4], [0, 1]]), ("discourse", [[0, 2, 4], [0, 1, 2]])]
)
def test_labels_are_normalised_over_the_tasks_labels(scorer, task, items):
    encoded = scorer.encode(SENTENCES)
    log_probs = scorer.label(encoded, task, np.array([0, 2]), np.array(items))
    assert log_probs.shape == (2, len(scorer.labels(task)))
    np.testing.assert_allclose(np.exp(log_probs).sum(1), 1, rtol=1e-5)
    width = len(items[0])
    empty = scorer.label(encoded, task, np.zeros(0, np.intp), np.zeros((0, width), np.intp))
    assert empty.shape == (0, len(scorer.labels(task)))


def test_tags_are_those_of_all_tokens_of_the_batch(scorer):
    tags = scorer.tags(scorer.encode(SENTENCES))
    assert tags.shape == (7, len(scorer.tag_names()))
    np.testing.assert_allclose(
        tags[4], scorer.tags(scorer.encode([["Rain"]]))[0], rtol=1e-4, atol=1e-5
    )


def test_there_are_no_tags_without_a_head():
    scorer = Bench(NetworkConfig(**SMALL)).scorer
    assert scorer.tags(scorer.encode(SENTENCES)) is None


def test_scoring_drops_nothing_and_leaves_the_network_in_its_mode():
    bench = Bench(NetworkConfig(**BOTH)).scramble()
    bench.network.train()
    one = bench.scorer.encode(SENTENCES).encoding.boundaries
    assert bench.network.training
    assert torch.equal(one, bench.scorer.encode(SENTENCES).encoding.boundaries)
    assert not one.requires_grad


def test_an_encoding_of_another_scorer_is_refused(scorer):
    class Foreign:
        lengths = (1,)

    with pytest.raises(UsageError, match="expected a TorchEncoded, found a Foreign"):
        scorer.start(Foreign(), "syntax")
