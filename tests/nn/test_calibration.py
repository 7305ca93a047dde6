"""What linear maps see: all of it, once, and nothing stays watched."""

import numpy as np
import pytest

from cleft.nn.export.int8 import MOST, Seen, calibrate, some
from tests.runtime.models import sentences, torch_scorer

NAME = "encoder.layer.1.intermediate.dense"


def test_what_is_seen_adds_up():
    rows = np.random.default_rng(0).standard_normal((9, 4))
    both, whole = Seen.of(rows[:4]) + Seen.of(rows[4:]), Seen.of(rows)
    np.testing.assert_array_equal(both.peaks, whole.peaks)
    np.testing.assert_allclose(both.moments, whole.moments)
    by = np.array([1.0, 2.0, 0.5, 4.0])
    np.testing.assert_allclose(whole.divided(by).moments, Seen.of(rows / by).moments)


def test_some_sentences_are_from_all_parts():
    assert some(range(3)) == [0, 1, 2]
    assert some([]) == []
    chosen = some(range(10 * MOST))
    assert len(chosen) == MOST
    assert chosen[-1] > 9.9 * MOST


def test_a_map_is_watched_while_sentences_are_encoded_and_no_longer():
    scorer = torch_scorer("bert")
    model = scorer.network.encoder.context.transformer.model
    batch = sentences(5, 9)
    found = calibrate(scorer, model, [NAME], batch)[NAME]
    rows = []
    hook = model.get_submodule(NAME).register_forward_pre_hook(
        lambda _, inputs: rows.append(inputs[0].reshape(-1, 16).numpy())
    )
    for sentence in batch:
        scorer.encode([sentence])
    hook.remove()
    np.testing.assert_allclose(found.peaks, np.abs(np.concatenate(rows)).max(axis=0))
    assert not model.get_submodule(NAME)._forward_pre_hooks


def test_nothing_stays_watched_after_an_error():
    scorer = torch_scorer("bert")
    model = scorer.network.encoder.context.transformer.model
    with pytest.raises(AttributeError):
        calibrate(scorer, model, [NAME, "encoder.layer.9"], sentences(5))
    assert not model.get_submodule(NAME)._forward_pre_hooks
