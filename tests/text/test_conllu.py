"""CoNLL-U: words, multiword tokens, empty nodes, offsets; errors with their line."""

import pytest

from cleft.errors import FormatError, InputError
from cleft.text import read_conllu
from cleft.text.annotated import read_word_heads


def row(
    number: str, form: str, upos: str = "_", xpos: str = "_", misc: str = "_", head: str = "_"
) -> str:
    return "\t".join([number, form, "_", upos, xpos, "_", head, "_", "_", misc])


def written(tmp_path, *lines: str):
    path = tmp_path / "input.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_sentence_has_its_text_tokens_tags_and_comments(tmp_path):
    path = written(
        tmp_path,
        "# newpar",
        "# sent_id = s1",
        "# text = I don't  know.",
        row("1", "I", "PRON", "PRP"),
        row("2-3", "don't"),
        row("2", "do", "AUX", "VBP"),
        row("3", "n't", "PART", "RB"),
        row("3.1", "really", "ADV", "RB"),
        row("4", "know", "VERB", "VB", "SpaceAfter=No"),
        row("5", ".", "PUNCT", "."),
        "",
        "",
        row("1", "Yes", "INTJ"),
    )
    first, second = read_conllu(path)
    assert first.text == "I don't  know."
    assert [tuple(one) for one in first.tokens] == [
        ("I", 0, 1),
        ("do", 2, 4),
        ("n't", 4, 7),
        ("know", 9, 13),
        (".", 13, 14),
    ]
    assert first.tags == ("PRP", "VBP", "RB", "VB", ".")
    assert first.fields == {"newpar": True, "sent_id": "s1"}
    assert (second.words, second.tags, second.line) == (("Yes",), ("INTJ",), 13)


def test_without_its_text_a_sentence_is_put_together_from_its_words(tmp_path):
    path = written(
        tmp_path,
        row("1-2", "it's", misc="SpaceAfter=No|X=y"),
        row("1", "it"),
        row("2", "'s"),
        row("3", ","),
        row("4", "ok", misc="_"),
    )
    (source,) = read_conllu(path)
    assert source.text == "it's, ok"
    assert source.words == ("it", "'s", ",", "ok")
    assert source.tags is None


def test_a_multiword_token_that_its_words_do_not_spell_stays_whole(tmp_path):
    path = written(
        tmp_path,
        "# text = du vin",
        row("1-2", "du"),
        row("1", "de", "ADP"),
        row("2", "le", "DET"),
        row("3", "vin", "NOUN"),
    )
    (source,) = read_conllu(path)
    assert source.words == ("du", "vin")
    assert source.tags == ("ADP+DET", "NOUN")


@pytest.mark.parametrize(
    ("lines", "line", "problem"),
    [
        ([row("1", "a"), "2 b"], 2, "expected 10 columns apart by tabs, found 1"),
        ([row("x", "a")], 1, "expected a number and a word, found 'x' and 'a'"),
        ([row("1", "")], 1, "expected a number and a word, found '1' and ''"),
        ([row("1", "a"), row("3", "b")], 2, "expected word 2, found 3"),
        ([row("2-1", "a"), row("1", "a")], 1, "expected word 1, found 2"),
        ([row("1-3", "ab"), row("1", "a"), row("2", "b")], 1, "found 1-3 and the words [1, 2]"),
        ([row("1-999999999", "a"), row("1", "a")], 1, "found 1-999999999 and the words [1]"),
        ([row("1" * 5000, "a")], 1, "expected a number and a word"),
        ([row("²", "a")], 1, "expected a number and a word"),
        (["# text = a c", row("1", "a"), row("2", "b")], 1, "token 2 is 'b'"),
    ],
)
def test_a_bad_line_is_named(tmp_path, lines, line, problem):
    with pytest.raises(FormatError) as caught:
        list(read_conllu(written(tmp_path, *lines)))
    assert f"input.conllu line {line}: " in str(caught.value)
    assert problem in str(caught.value)


def test_comments_alone_are_no_sentence(tmp_path):
    with pytest.raises(InputError, match="found none"):
        list(read_conllu(written(tmp_path, "# text = a", "", "")))


def test_the_heads_of_words_are_numbered_as_tokens_are(tmp_path):
    path = written(
        tmp_path,
        "# text = il parle du vin rouge",
        row("1", "il", head="2"),
        row("2", "parle", head="0"),
        row("3-4", "du"),
        row("3", "de", head="5"),
        row("4", "le", head="3"),
        row("4.1", "bon", head="5"),
        row("5", "vin", head="2"),
        row("6", "rouge"),
        "",
        row("1", "Non", xpos="RB", head="0"),
    )
    first, second = read_word_heads(path)
    assert first.words == ("il", "parle", "du", "vin", "rouge")
    assert first.heads == (2, 0, 4, 2, -1)
    assert first.tags is None
    assert second == (("Non",), ("RB",), (0,))


@pytest.mark.parametrize("head", ["3", "x", "²", "-1", ""])
def test_a_head_that_is_no_word_is_named(tmp_path, head):
    path = written(tmp_path, row("1", "a", head="2"), row("2", "b", head=head))
    with pytest.raises(FormatError) as caught:
        list(read_word_heads(path))
    assert "input.conllu line 2: expected the number of a word, 0 or _" in str(caught.value)
    assert f"as the head of 'b', found {head!r}" in str(caught.value)
