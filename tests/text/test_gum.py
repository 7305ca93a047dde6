"""The raw text of all GUM documents: offsets round-trip, and quality does not fall unnoticed."""

import json
from pathlib import Path

import pytest

from cleft.text import split_sentences, tokenize


def documents(shared: Path, split: str):
    """Raw text, gold sentences and gold tokens, both as sets of offsets."""
    with (shared / "data" / "discourse" / "gum" / f"docs-{split}.jsonl").open() as stream:
        for line in stream:
            text, sentences, tokens = "", set(), set()
            for one in json.loads(line)["sents"]:
                text += ("\n\n" if one["newpar"] else " ") if text else ""
                start = len(text)
                text += one["text"]
                sentences.add((start, len(text)))
                for word, space in zip(one["tokens"], one["space_after"], strict=True):
                    tokens.add((start, start + len(word)))
                    start += len(word) + space
            yield text, sentences, tokens


def f1(matched: int, found: int, gold: int) -> float:
    return 200 * matched / (found + gold)


@pytest.mark.shared
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_offsets_round_trip_on_every_document(shared, split):
    for text, _, _ in documents(shared, split):
        last = 0
        for sentence in split_sentences(text):
            for token in tokenize(text, sentence.start, sentence.end):
                assert text[token.start : token.end] == token.text
                assert not text[last : token.start].strip()
                last = token.end
        assert not text[last:].strip()


@pytest.mark.shared
def test_sentences_and_tokens_of_the_development_documents_stay_as_good_as_they_were(shared):
    counts = [0] * 6
    for text, gold_sentences, gold_tokens in documents(shared, "dev"):
        spans = split_sentences(text)
        sentences = {(one.start, one.end) for one in spans}
        tokens = {
            (token.start, token.end)
            for one in spans
            for token in tokenize(text, one.start, one.end)
        }
        for at, (found, gold) in enumerate([(sentences, gold_sentences), (tokens, gold_tokens)]):
            counts[3 * at] += len(found & gold)
            counts[3 * at + 1] += len(found)
            counts[3 * at + 2] += len(gold)
    assert f1(*counts[:3]) > 96.5
    assert f1(*counts[3:]) > 99.8
