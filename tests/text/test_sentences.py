"""Sentences and paragraphs: nothing is lost, and the English rules by example."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.text import paragraphs_of_lines, split_paragraphs, split_sentences, tokenize
from cleft.text.sentences import LONGEST
from tests.text.test_tokens import ODD

TEXT = st.one_of(
    ODD,
    st.lists(
        st.sampled_from(
            [
                "Dr.", "Smith", "left", ".", "U.S.", "The", "he", "said", "?”", "“No", "!", "…",
                "...", "[3]", "(see", "p.", "5)", "\n", "\n\n", "\r\n", "- item", "1.", "Figure 2",
                " — ", "»", "etc.", "J.", "eBay", "👍", ":)", "4", "\u2029", "\f", "。",
            ]
        ),
        max_size=20,
    ).map(" ".join),
)  # fmt: skip


@given(TEXT, st.sampled_from(["en", "fr", "de", "is", "es"]))
def test_sentences_hold_every_token_once_and_in_order(text, language):
    last = 0
    found = []
    for sentence in split_sentences(text, language):
        piece = sentence.of(text)
        assert piece == piece.strip() != ""
        assert not text[last : sentence.start].strip()
        last = sentence.end
        found += tokenize(text, sentence.start, sentence.end, language=language)
    assert not text[last:].strip()
    assert [token for token in found if token.text != text[token.start : token.end]] == []
    covered = "".join(token.text for token in found)
    assert covered == "".join(text.split())


@given(TEXT)
def test_sentences_stay_in_their_paragraph(text):
    paragraphs = list(split_paragraphs(text))
    sentences = split_sentences(text)
    for sentence in sentences:
        start, end = paragraphs[sentence.paragraph]
        assert start <= sentence.start < sentence.end <= end
    assert [one.paragraph for one in sentences] == sorted(one.paragraph for one in sentences)
    assert {one.paragraph for one in sentences} == set(range(len(paragraphs)))


@given(TEXT)
def test_a_stream_of_lines_has_the_paragraphs_of_the_text(text):
    lines = [line + "\n" for line in text.split("\n")]
    streamed = list(paragraphs_of_lines(lines))
    assert [(start, start + len(one)) for start, one in streamed] == list(
        split_paragraphs(text + "\n")
    )
    assert all(text[start : start + len(one)] == one for start, one in streamed)


EXAMPLES = [
    "Dr. Smith left. | He was tired.",
    "I live in the U.S. | It is big. | The U.S. Army came. | It was the U.S.",
    "He came at 5 p.m. | He left at 6 p.m. on foot.",
    "He saw J. K. Vance. | She takes vitamin C. | The rest is up to her.",
    "She has a Ph.D. | She teaches Ph.D. students, etc. | Smith et al. wrote it.",
    "See No. 5 and fig. 3. | No. | I won't see Fig. 3.",
    "He works for Acme Inc. in Boston. | They like Acme Inc. | The firm grew.",
    "Prices rose 3.5 per cent. | 20 people left.",
    "In Mass. it rained. | We had critical mass. | Boston was wet.",
    "“Stop!” she cried. | “Why?” | “Because I can.”",
    "“Why?” Ann Lee asked. | “Why?” | He shrugged.",
    "“Who is it?” he said. | ‘What?’ | Then he left.",
    'He said "no." | Then he left (at last). | (They stayed.) | [Really.] | OK.',
    "Yes. | (no more was said.) | Then silence.",
    "Wait… what? | Well... | OK. | Hmm... maybe. ... | Then more. | Yes.",
    "It was true. [...] | Then it ended.",
    "This is it [3]. | More.[4] | And more. [5, 6] | Done.",
    "It takes grit.23 | The rest is luck. 4 | The end.",
    "1. Buy milk. | 2. Sell it. | 3.1. Go home.",
    "a. One. | B. Two.",
    "Chapter 2. The end. | Version 2. | It works.",
    "Figure 1.3 | This map is old. | We like Figure 1.3 a lot.",
    "What?! | No way!! | Thanks! | see you there. | Is it? no.",
    "Great! 😀 | See you. :) | Bye. 👍🏽",
    "Sales rose. | eBay fell. | iPhones sell.",
    "I thought that — | What was that? | I can — I can go.",
    "You can — You can go. | Oslo, Norway — The king left. | Not that – Ann left.",
    "so this is lower case. | it has sentences. | yes.",
    "Ask Mr. and Mrs. Jones vs. Sgt. Pepper. | Cf. Smith e.g. here, i.e. there.",
    "The end. | — Anon. | A pause? — no.",
    "Hello there.How are you?",
    "She came on Jan. 5 to St. Ives, Gen. Lee said.",
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_english_by_example(example):
    text = example.replace(" | ", " ")
    assert [one.of(text) for one in split_sentences(text)] == example.split(" | ")


OTHERS = [
    ("fr", "M. Dupont l'a vu. | « Oui. » | Il dort, etc. | Elle aussi."),
    ("de", "Am 3. Oktober kam Dr. Müller, z.B. heute. | Er sagte: „Ja.“ | Gut. | »Nein.« | Ende."),
    ("id", "Dr. Sari tinggal di Jl. Merdeka No. 5. | Ia pergi."),
    ("is", "Hann kom 17. júní, þ.e. í gær. | Já."),
    ("fo", "Hann kom t.d. 5. mai. | Ja."),
    ("es", "¿Qué pasa? | ¡Nada! | El Sr. Gómez vino."),
    ("fr", "Elle a vu M. Durand. | « Viens ! » dit-elle. | Où vas-tu ? | Au no 5, p. 12. | Bien."),
    ("is", "Hún er 17. | Hann býr á 2. hæð. | „Komdu!“ sagði hún. | Kl. 14. | Við fórum."),
    ("fo", "Tann 29. juli var ólavsøka. | Hon er 17. | Hann fór."),
    ("de", "Sie ist 17. | Er kam am 17. Mai. | Im 19. Jahrhundert war Hr. Ott da. | Gut."),
    ("id", "“Ayo!” katanya. | Mereka pergi, dll. | Ia pulang."),
    ("he", "הילדה קראה ספר. | הכלב ישן! | למה?"),
    ("hi", "वह आया। | वह गई।"),
    ("ar", "هل جاء؟ | نعم. | ذهب."),
]


@pytest.mark.parametrize(("language", "example"), OTHERS)
def test_other_languages_by_example(language, example):
    text = example.replace(" | ", " ")
    assert [one.of(text) for one in split_sentences(text, language)] == example.split(" | ")


def sentences(text: str) -> list[str]:
    return [one.of(text) for one in split_sentences(text)]


def test_a_full_width_stop_needs_no_space_after_it():
    assert sentences("ABC。「DEF。」GHI") == ["ABC。", "「DEF。」", "GHI"]


def test_a_heading_without_a_stop_ends_at_the_blank_line():
    assert sentences("A heading\n\nThe text. More.") == ["A heading", "The text.", "More."]
    assert sentences("A heading\r\n \t\r\nthe text") == ["A heading", "the text"]


def test_a_wrapped_line_goes_on():
    text = (
        "This line is as wide as it can be, and\nJohn goes on here. The end of the line\nis near."
    )
    assert sentences(text) == [
        "This line is as wide as it can be, and\nJohn goes on here.",
        "The end of the line\nis near.",
    ]


def test_a_short_line_before_a_capital_was_ended_on_purpose():
    text = "Dear Ann,\nThank you for the letter, which came only today.\nYours,\nBob"
    assert sentences(text) == [
        "Dear Ann,",
        "Thank you for the letter, which came only today.",
        "Yours,",
        "Bob",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Stir it. 2. Bake it.", ["1. Stir it.", "2. Bake it."]),
        ("Steps\n1. Stir it.\n2. Bake it.", ["Steps", "1. Stir it.", "2. Bake it."]),
        ("Do this:\n1. Stir. Wait.\n2. Bake.", ["Do this:", "1. Stir.", "Wait.", "2. Bake."]),
        ("a. Stir it.\nb. Bake it.", ["a. Stir it.", "b. Bake it."]),
        ("I. Stirring\nII. Baking", ["I. Stirring", "II. Baking"]),
        ("Do this: 1. Stir it. 2. Bake it.", ["Do this: 1. Stir it.", "2. Bake it."]),
        ("1.\nStir it.\n2.\nBake it.", ["1.\nStir it.", "2.\nBake it."]),
        ("Ours is number 1. They left at 10:30. We won.",
         ["Ours is number 1.", "They left at 10:30.", "We won."]),
    ],
)  # fmt: skip
def test_the_number_of_an_item_stays_with_its_sentence(text, expected):
    assert sentences(text) == expected


def test_items_of_a_list_are_sentences():
    text = "We need\n- milk\n- bread\n2) and eggs"
    assert sentences(text) == ["We need", "- milk", "- bread", "2) and eggs"]


def test_empty_and_blank_text_have_no_sentence():
    assert split_sentences("") == split_sentences(" \n\t\n ") == []


def test_a_text_without_blank_lines_is_cut_into_paragraphs_of_bounded_length():
    line = "This is a sentence that ends.\n"
    lines = itertools.repeat(line, 3 * LONGEST // len(line))
    lengths = [len(one) for _, one in paragraphs_of_lines(lines)]
    assert len(lengths) == 3
    assert max(lengths) <= LONGEST + len(line)
    endless = itertools.repeat("no stop here\n", 5 * LONGEST // 13)
    assert max(len(one) for _, one in paragraphs_of_lines(endless)) <= 2 * LONGEST + 13


ADVERSARIES = [
    "a", ".", ". ", "? ", "! a", "a. ", "A. ", '." ', ".) ", " [1]", ". [1]", ". 👍", "… ", ". 1 ",
    "(", ' "', "\n", "a\n", "- a\n", " — A", "Dr. ", ". »", "。", "e.g. ", " ",
]  # fmt: skip


@pytest.mark.parametrize("unit", ADVERSARIES)
def test_time_grows_with_the_text_and_no_faster(unit):
    def seconds(length: int) -> float:
        text = "x" + (unit * length)[:length]
        times = []
        for _ in range(2):
            start = time.process_time()
            split_sentences(text)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(24_000) < 40 * max(seconds(3_000), 0.002)
