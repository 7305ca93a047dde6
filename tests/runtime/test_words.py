"""What is kept of words is what would be made anew."""

import numpy as np
import pytest

from cleft.runtime import ModelDirectory, OnnxScorer, words
from cleft.runtime.wordpiece import MOST_PIECES
from cleft.runtime.words import CASINGS
from tests.runtime.models import model, sentences, torch_scorer


def test_a_full_cache_starts_afresh_and_changes_nothing(monkeypatch):
    batch = sentences(9, 30, 4)
    fresh = OnnxScorer(ModelDirectory(model("lstm"))).encode(batch).boundaries
    monkeypatch.setattr(words, "MOST", 5)
    monkeypatch.setattr(words, "CHUNK", 3)
    small = OnnxScorer(ModelDirectory(model("lstm")))
    for _ in range(3):
        np.testing.assert_allclose(small.encode(batch).boundaries, fresh, atol=1e-5)
        small.encode([["another", "word"]])


def test_a_full_cache_of_pieces_starts_afresh(monkeypatch):
    monkeypatch.setattr(words, "MOST", 2)
    directory = ModelDirectory(model("bert"))
    pieces = words.WordPieces(directory, directory.manifest.pieces)
    first = [pieces(word) for word in ("the", "heron", "waits", "the")]
    assert first[0] == first[3]
    assert len(pieces._known) <= 2


def test_a_word_without_pieces_is_one_unknown_piece():
    directory = ModelDirectory(model("bert"))
    pieces = words.WordPieces(directory, directory.manifest.pieces)
    found, casing = pieces("\u200b")
    assert len(found) == 1
    assert CASINGS[casing] == "other"


def test_a_token_of_thousands_of_marks_costs_no_more_than_a_long_word():
    directory = ModelDirectory(model("bert"))
    pieces = words.WordPieces(directory, directory.manifest.pieces)
    found, _ = pieces("," * 10_000)
    assert found == pieces(",")[0] * MOST_PIECES
    assert torch_scorer("bert").featurise.pieces.pieces("," * 10_000) == found


def test_long_words_do_not_fill_the_memory(monkeypatch):
    directory = ModelDirectory(model("bert"))
    pieces = words.WordPieces(directory, directory.manifest.pieces)
    pieces("x" * 10_000)
    assert not pieces._known
    monkeypatch.setattr(words, "MOST", 10)
    monkeypatch.setattr(words, "LONGEST_KEPT", 20)
    scorer = OnnxScorer(ModelDirectory(model("lstm")))
    for letter in "abcdefgh":
        scorer.encode([[letter * 90, "rain"]])
        assert sum(map(len, scorer._vectors._known)) <= 200


@pytest.mark.parametrize("kind", ["plain", "mpnet"])
def test_forms_of_treebanks_and_of_text_are_one_to_a_model_of_plain_forms(kind):
    scorer = OnnxScorer(ModelDirectory(model(kind)))
    penn = ["-LRB-", "rain", "-RRB-", "``", "so", "''", "can't", "--"]
    text = ["(", "rain", ")", "“", "so", "”", "can’t", "—"]
    one, two = (scorer.encode([words]).boundaries for words in (penn, text))
    assert np.array_equal(one, two)
    other = OnnxScorer(ModelDirectory(model("bert")))
    one, two = (other.encode([words]).boundaries for words in (penn, text))
    assert not np.array_equal(one, two)
