"""The raw text of all GUM documents: offsets round-trip, and quality does not fall unnoticed."""

import itertools
import json
from pathlib import Path

import pytest

import cleft
from cleft.text import read_plain, sentences_of_text, split_sentences, tokenize
from tests.runtime.models import model


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
        spans = split_sentences(text)
        last = 0
        for span, source in zip(spans, sentences_of_text(text), strict=True):
            assert span.of(text) == source.text == source.text.strip()
            assert (source.start, source.start + len(source.text)) == (span.start, span.end)
            assert source.paragraph == span.paragraph
            for token in source.tokens:
                start, end = source.start + token.start, source.start + token.end
                assert text[start:end] == token.text
                assert last <= start < end <= span.end
                assert not text[last:start].strip()
                last = end
        assert not text[last:].strip()


@pytest.mark.shared
@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_file_that_is_read_line_by_line_gives_what_its_text_gives(shared, split, tmp_path):
    path = tmp_path / "document.txt"
    for text, _, _ in itertools.islice(documents(shared, split), 0, None, 5):
        path.write_text(text, encoding="utf-8", newline="")
        assert list(read_plain(path)) == list(sentences_of_text(text))


@pytest.mark.shared
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_offsets_of_results_round_trip(shared, everything, split):
    """Sentences, tokens and EDUs of the parser's results lead back to the text they came from."""
    parser = cleft.load(model("words"))
    step = 1 if everything else 20
    for text, _, _ in itertools.islice(documents(shared, split), 0, None, step):
        last = 0
        for sentence in parser.parse(text, task="discourse"):
            assert sentence.error is None
            assert text[sentence.start : sentence.end] == sentence.text
            for token in sentence.tokens:
                assert text[token.start : token.end] == token.text
                assert not text[last : token.start].strip()
                last = token.end
            for edu in sentence.edus:
                assert " ".join(text[edu.start : edu.end].split()) == edu.text
            assert sentence.edus[0].start == sentence.tokens[0].start
            assert sentence.edus[-1].end == sentence.tokens[-1].end
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
