"""The scorer beyond what PyTorch is there to compare with."""

import numpy as np
import pytest

from cleft.errors import ModelError
from cleft.runtime import ModelDirectory, OnnxScorer
from cleft.runtime.scorer import _portions
from cleft.runtime.selftest import self_test
from cleft.search import search
from tests.runtime.models import model, onnx_scorer, sentences


@pytest.mark.parametrize("kind", ["lstm", "levels"])
def test_a_task_without_a_head_is_an_error(kind):
    scorer = onnx_scorer(kind)
    with pytest.raises(ModelError, match="no head for poetry; it has one for syntax and discourse"):
        scorer.start(scorer.encode([["rain"]]), "poetry")


def test_no_items_have_no_labels():
    scorer = onnx_scorer("lstm")
    encoded = scorer.encode([["rain", "fell"]])
    none = np.zeros(0, np.intp)
    found = scorer.label(encoded, "syntax", none, none.reshape(0, 2))
    assert found.shape == (0, len(scorer.labels("syntax")))


SPANS = [[0, 9], [0, 6], [1, 4], [2, 3], [5, 6]]
SPLITS = [[0, 2, 9], [0, 5, 6], [1, 3, 4], [2, 3, 4], [4, 5, 6]]


@pytest.mark.parametrize(("task", "items"), [("syntax", SPANS), ("discourse", SPLITS)])
def test_more_items_than_one_call_takes_are_labelled_in_order(monkeypatch, task, items):
    scorer = onnx_scorer("lstm")
    encoded = scorer.encode(sentences(9, 6))
    rows, items = np.array([0, 1, 0, 0, 1]), np.array(items)
    together = scorer.label(encoded, task, rows, items)
    for name in ("ITEMS", "ENDS"):
        monkeypatch.setattr(f"cleft.runtime.scorer.{name}", 2)
    np.testing.assert_allclose(scorer.label(encoded, task, rows, items), together, atol=1e-6)
    alone = [scorer.label(encoded, task, rows[[n]], items[[n]])[0] for n in range(len(rows))]
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_a_graph_that_fails_is_a_model_error():
    with pytest.raises(ModelError, match="the graph encoder failed"):
        onnx_scorer("lstm").sessions.run("encoder", {})


def test_a_renewed_scorer_gives_the_same_trees():
    scorer = OnnxScorer(ModelDirectory(model("lstm")))
    batch = sentences(5, 8)
    before = search(scorer, batch, scorer.manifest.task("syntax"))
    sessions = dict(scorer.sessions._open)
    scorer.sessions.renew()
    scorer._vectors.renew()
    after = search(scorer, batch, scorer.manifest.task("syntax"))
    assert [found[0].tree for found in after] == [found[0].tree for found in before]
    assert not set(map(id, sessions.values())) & set(map(id, scorer.sessions._open.values()))


def test_a_sentence_without_a_tree_fails_the_self_test(monkeypatch):
    scorer = onnx_scorer("lstm")
    error = ModelError("the model gave no usable probability to any tree")
    monkeypatch.setattr("cleft.runtime.selftest.search", lambda *_, **__: [error])
    with pytest.raises(ModelError, match="no usable probability"):
        self_test(scorer, ("rain",))


def test_a_transformer_reads_windows_of_like_length_together():
    lengths = np.array([9, 4, 12, 5, 12], np.int32)
    found = [portion.tolist() for portion in _portions(lengths, 24)]
    assert found == [[2, 4], [0, 3], [1]]
    assert [portion.tolist() for portion in _portions(lengths, 100)] == [[0, 1, 2, 3, 4]]
    assert [portion.tolist() for portion in _portions(lengths, 1)] == [[2], [4], [0], [3], [1]]


@pytest.mark.parametrize("pieces", [1, 20, 1000])
def test_how_much_a_transformer_reads_at_once_changes_nothing(monkeypatch, pieces):
    scorer = onnx_scorer("bert")
    # Few words of many pieces beside many words of few: the order by pieces is another.
    batch = [["she", "fell", "."], ["waits", "naïve", "UNESCO"], ["so", "rain", "fell", "."], ["a"]]
    alone = [scorer.encode([sentence]).boundaries for sentence in batch]
    monkeypatch.setattr("cleft.runtime.scorer.PIECES", pieces)
    together = scorer.encode(batch).boundaries
    np.testing.assert_allclose(together, np.concatenate(alone), atol=1e-5)
