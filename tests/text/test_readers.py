"""The readers: one source for each sentence, in order, offsets exact, errors that say where."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import FormatError, InputError, UsageError
from cleft.sentence import SentenceInput
from cleft.text import (
    align,
    read_jsonl_tokens,
    read_lines,
    read_plain,
    read_tokens,
    sentences_of_text,
    split_sentences,
    tokenize,
)
from tests.text.test_sentences import TEXT


def written(tmp_path, text: str):
    path = tmp_path / "input.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def assert_exact(source: SentenceInput) -> None:
    assert all(source.text[one.start : one.end] == one.text for one in source.tokens)


@given(TEXT)
def test_sources_of_a_text_are_its_sentences(text):
    sources = list(sentences_of_text(text))
    spans = [(one.start, one.start + len(one.text), one.paragraph) for one in sources]
    assert spans == split_sentences(text)
    for source in sources:
        assert_exact(source)
        assert source.text == text[source.start : source.start + len(source.text)]


def test_raw_text_is_read_paragraph_by_paragraph(tmp_path):
    text = "A heading\r\n\r\nOne day it rained. We\nslept.\n\n\nThe end"
    sources = list(read_plain(written(tmp_path, text)))
    assert [one.words for one in sources] == [
        ("A", "heading"),
        ("One", "day", "it", "rained", "."),
        ("We", "slept", "."),
        ("The", "end"),
    ]
    assert [one.paragraph for one in sources] == [0, 1, 1, 2]
    assert all(text[one.start : one.start + len(one.text)] == one.text for one in sources)


def test_the_language_and_the_hyphens_reach_the_rules(tmp_path):
    path = written(tmp_path, "Am 3. Mai kam Dr. Ott mit E-Mails.")
    (source,) = read_plain(path, "de")
    assert source.words[1:3] == ("3.", "Mai")
    (source,) = read_lines(path, "de", "split")
    assert source.words[-4:] == ("E", "-", "Mails", ".")


@pytest.mark.parametrize("language", ["th", "lo", "th-TH"])
def test_a_language_without_spaces_asks_for_tokens(language):
    with pytest.raises(UsageError, match="give tokens"):
        list(sentences_of_text("他来了。", language))
    with pytest.raises(UsageError, match="give tokens"):
        tokenize("他", language=language)


def test_the_refusal_of_a_text_names_the_ways_to_give_tokens():
    with pytest.raises(UsageError) as caught:
        tokenize("ฝนตก", language="th")
    assert "Thai puts no spaces between words" in str(caught.value)
    assert "parse_tokens" in str(caught.value)
    assert "--input tokens" in str(caught.value)


@pytest.mark.parametrize("language", ["", "e", "english", "e1", "日本"])
def test_what_is_no_language_code_is_refused(language):
    with pytest.raises(UsageError, match="expected a language code"):
        split_sentences("x", language)


def test_one_sentence_a_line_gives_one_source_a_line(tmp_path):
    path = written(tmp_path, "Dr. No left. He ran.\n\nYes!\r\n")
    first, second, third = read_lines(path)
    assert first.words == ("Dr.", "No", "left", ".", "He", "ran", ".")
    assert (second.text, second.tokens, second.line) == ("", (), 2)
    assert (third.text, third.words, third.line, third.start) == ("Yes!", ("Yes", "!"), 3, 22)


def test_tokenised_lines_are_parted_at_ascii_white_space_only(tmp_path):
    path = written(tmp_path, "She ca n't\tgo .\n\n 10\u00a0000  people\n")
    first, second, third = read_tokens(path)
    assert first.words == ("She", "ca", "n't", "go", ".")
    assert second.tokens == ()
    assert third.words == ("10\u00a0000", "people")
    for source in (first, second, third):
        assert_exact(source)


def test_gzipped_input_is_read_too(tmp_path):
    path = tmp_path / "input.txt.gz"
    path.write_bytes(gzip.compress(b"Yes .\n"))
    assert [one.words for one in read_tokens(path)] == [("Yes", ".")]


def test_json_lines_bring_tokens_text_tags_and_fields(tmp_path):
    lines = [
        ["She", "slept"],
        {"tokens": ["Do", "n't", "!"], "text": "Don't !", "tags": ["VB", "RB", "."], "doc": "a"},
        {"tokens": ["I", "'m"], "space_after": [0, 1]},
        {"tokens": ["I", "'m"], "space_after": [False, False], "tags": None},
        {"tokens": []},
    ]
    path = written(tmp_path, "\n\n".join(map(json.dumps, lines)))
    sources = list(read_jsonl_tokens(path))
    assert [one.text for one in sources] == ["She slept", "Don't !", "I'm", "I'm", ""]
    assert sources[1].tags == ("VB", "RB", ".")
    assert sources[1].fields == {"doc": "a"}
    assert sources[1].tokens[2] == ("!", 6, 7)
    assert [one.line for one in sources] == [1, 3, 5, 7, 9]
    assert [one.tags for one in sources].count(None) == 4
    for source in sources:
        assert_exact(source)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        ("3", 'expected an object with "tokens" or a list of strings, found int'),
        ('{"text": "a"}', "found 'text'"),
        ('{"tokens": "a b"}', "tokens"),
        ('{"tokens": ["a", 3]}', "tokens"),
        ('{"tokens": ["a", ""], "text": "a"}', "token 2 is ''"),
        ('{"tokens": ["a"], "text": 3}', "text"),
        (
            '{"tokens": ["a", "c"], "text": "a b c"}',
            "token 2 is 'c' but the text goes on with 'b c'",
        ),
        ('{"tokens": ["a"], "text": "a b"}', "the tokens end before the text"),
        ('{"tokens": ["a"], "tags": []}', "1 tokens but 0 in 'tags'"),
        ('{"tokens": ["a"], "space_after": [0, 0]}', "1 tokens but 2 in 'space_after'"),
    ],
)
def test_a_bad_line_of_json_is_named(tmp_path, line, problem):
    path = written(tmp_path, '["fine"]\n' + line)
    with pytest.raises(FormatError, match="line 2: ") as caught:
        list(read_jsonl_tokens(path))
    assert problem in str(caught.value)


def test_json_without_a_line_is_an_error(tmp_path):
    with pytest.raises(InputError, match="at least one line"):
        list(read_jsonl_tokens(written(tmp_path, "\n \n")))


@given(
    st.lists(st.tuples(st.text(min_size=1).filter(str.strip), st.sampled_from(["", " ", " \n"])))
)
def test_words_are_found_again_in_the_text_made_of_them(pairs):
    text = "".join(word + space for word, space in pairs)
    words = [word for word, _ in pairs]
    try:
        tokens = align(text, words)
    except FormatError:
        # Only a word that begins with white space can hide behind a space.
        assert any(word != word.strip() for word in words)
    else:
        assert [one.text for one in tokens] == words
        assert all(text[one.start : one.end] == one.text for one in tokens)
