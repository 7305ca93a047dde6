"""Tokens: every character in one of them, and the English rules by example."""

import itertools
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import UsageError
from cleft.text import Token, tokenize
from cleft.text.segmenters import segmenter

LANGUAGES = ["en", "fr", "de", "id", "is", "fo", "es"]

ODD = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from(
            " \t\n\u00a0\u2003\u3000\u2028\x00\x1c\x7f\ud800\udfff\u200b\u200d\ufeff\ufe0f"
        ),
        st.sampled_from(".,;:!?…'’‘\"“”()[]{}<>-–—/\\@#$%&*+=_~^|`´«»„°²½"),
        st.sampled_from("abczABZ019éß\u0301👩👍🇫🏽あم"),
    ),
    max_size=80,
)
PIECES = st.lists(
    st.sampled_from(
        [
            "can't", "won’t", "John's", "'tis", "gonna", "U.S.", "e.g.", "Dr.", "No.", "5", "3/4",
            "1,000.5", "well-known", "and/or", "re-do", "http://a.b/c)", "x@y.zz", "#tag", ":-)",
            "...", "--", "'", '"', "(", ")", ".", ",", "9:00am", "'90s", "it's-", "a.b.c.", "n't",
            "'s", "“", "”", "[1,2]", "goin'", "a.b/c", "US$", "C++", "1980's",
        ]
    ),
    max_size=8,
)  # fmt: skip


def words(text: str, **options: str) -> list[str]:
    return [token.text for token in tokenize(text, **options)]  # type: ignore[arg-type]


def assert_covers(text: str, tokens: list[Token], start: int, end: int) -> None:
    """Tokens are slices in order, and only white space lies between them."""
    last = start
    for token in tokens:
        assert token.start >= last
        assert token.text == text[token.start : token.end]
        assert token.text
        assert not any(map(str.isspace, token.text))
        assert not text[last : token.start].strip()
        last = token.end
    assert last <= end
    assert not text[last:end].strip()


@given(ODD, st.sampled_from(LANGUAGES), st.sampled_from(["split", "keep", None]))
def test_every_character_of_any_text_lands_in_one_token(text, language, hyphens):
    assert_covers(text, tokenize(text, language=language, hyphens=hyphens), 0, len(text))


@given(PIECES, st.sampled_from(["", " "]), st.sampled_from(["split", "keep"]))
def test_every_character_of_english_text_lands_in_one_token(pieces, glue, hyphens):
    text = glue.join(pieces)
    assert_covers(text, tokenize(text, hyphens=hyphens), 0, len(text))


@given(ODD, st.data())
def test_a_range_of_the_text_gives_offsets_in_the_text(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert_covers(text, tokenize(text, start, end), start, end)


@given(ODD)
def test_a_long_piece_is_read_like_a_remembered_one(text):
    """The cache only holds short pieces: both ways must agree."""
    joined = "".join(text.split())
    whole = tokenize(joined)
    padded = tokenize(joined + " " + "x" * 60)
    if "." not in joined:
        assert padded[:-1] == whole


def test_a_letter_that_counts_as_punctuation_is_a_token():
    assert_covers("0\u2e2f", tokenize("0\u2e2f"), 0, 2)
    assert_covers("a\u2e2fb", tokenize("a\u2e2fb"), 0, 3)


EXAMPLES = {
    # contractions and possessives
    "don't": "do n't",
    "DON'T": "DO N'T",
    "don’t": "do n’t",
    "dont": "do nt",
    "can't": "ca n't",
    "cannot": "can not",
    "won't": "wo n't",
    "shouldn't've": "should n't 've",
    "I'd've": "I 'd 've",
    "gonna": "gon na",
    "Gotta": "Got ta",
    "dunno": "du n no",
    "y'all": "y' all",
    "'tis": "'t is",
    "’Twas": "’T was",
    "John's": "John 's",
    "the dogs' bowls": "the dogs ' bowls",
    "mother-in-law's": "mother - in - law 's",
    "kept 'em 'cause": "kept 'em 'cause",
    "rock 'n' roll": "rock 'n' roll",
    "goin' home": "goin' home",
    "o'clock O'Connor d'Artagnan": "o'clock O'Connor d'Artagnan",
    "do n't , he 's": "do n't , he 's",
    # quotation marks and brackets
    '"No," he said.': '" No , " he said .',
    "“It’s ‘fine’,” she said.": "“ It ’s ‘ fine ’ , ” she said .",
    "``Hello,'' he said": "`` Hello , '' he said",
    "'quoted' 's'": "' quoted ' ' s '",
    "(see p. 5)": "( see p. 5 )",
    "[sic] {x}": "[ sic ] { x }",
    "[1,2] and [3–5]": "[ 1 , 2 ] and [ 3 – 5 ]",
    "friend(s) or box(es)": "friend(s) or box(es)",
    # abbreviations and initials
    "Dr. Smith": "Dr. Smith",
    "Mr.Smith": "Mr. Smith",
    "the U.S. and the E.U": "the U.S. and the E.U",
    "in the U.S.": "in the U.S.",
    "non-U.S. goods": "non-U.S. goods",
    "U.S.-style": "U.S. - style",
    "e.g. this, i.e. that": "e.g. this , i.e. that",
    "A.B. and Ph.D. and M.Sc.": "A.B. and Ph.D. and M.Sc.",
    "J. R. R. Vance Jr.": "J. R. R. Vance Jr.",
    "No. 5": "No. 5",
    "He said no.": "He said no .",
    "No. We won't.": "No . We wo n't .",
    "vol.14 and p.5": "vol. 14 and p. 5",
    "at Acme Inc..": "at Acme Inc. .",
    "Jr.'s": "Jr. 's",
    "Plan B.": "Plan B .",
    "in Mass. or en masse. or mass.": "in Mass. or en masse . or mass .",
    "Smith et al. (2010), etc.": "Smith et al. ( 2010 ) , etc.",
    # numbers
    "3.14, 1,000,000 and 3,5": "3.14 , 1,000,000 and 3,5",
    "-5 (+3) x-2": "-5 ( +3 ) x - 2",
    ".5 and 1/2 or ½": ".5 and 1/2 or ½",
    "20% of $5.50, US$10 and €3": "20 % of $ 5.50 , US$ 10 and € 3",
    "5:30 p.m., 9:00am": "5:30 p.m. , 9:00 am",
    "2021-03-04 or 3/4/2021": "2021-03-04 or 3/4/2021",
    "555-123-4567 or +1-555-123-4567": "555-123-4567 or +1-555-123-4567",
    "pages 12-15, 1990–95": "pages 12 - 15 , 1990 – 95",
    "5km, 2GB, 100m² but 4K and 3D": "5 km , 2 GB , 100 m² but 4K and 3D",
    "30°C": "30 ° C",
    "20th, 1920s, the '90s, 1980's, 50,000th": "20th , 1920s , the '90s , 1980's , 50,000th",
    "PM2.5 and 2.5K": "PM2.5 and 2.5K",
    "1. First": "1. First",
    "2.1. Scope": "2.1. Scope",
    "It is 5.": "It is 5 .",
    "products.23": "products . 23",
    "#1 and #tag and @jane_doe": "# 1 and #tag and @jane_doe",
    # hyphens, dashes, slashes
    "well-known": "well - known",
    "re-elected e-mail non-life-threatening": "re-elected e-mail non-life-threatening",
    "twenty-fold uh-huh": "twenty-fold uh-huh",
    "pre- and post-war": "pre- and post-war",
    "a UN-led T-shirt": "a UN - led T - shirt",
    "here—there -- so – and so": "here — there -- so – and so",
    "and/or e-mail/web": "and / or e-mail / web",
    "s/he w/o N/A": "s/he w/o N/A",
    "a->b +/- 3": "a -> b +/- 3",
    # addresses
    "see https://example.org/a_(b)?x=1,2.": "see https://example.org/a_(b)?x=1,2 .",
    "(www.example.org/x), doi:10.1/ab": "( www.example.org/x ) , doi:10.1/ab",
    "example.org/path/x!": "example.org/path/x !",
    "jane.doe+x@mail.example.co.uk's": "jane.doe+x@mail.example.co.uk 's",
    "node.js or foo.py": "node.js or foo.py",
    # what is left
    "Wait… what?! No... yes....": "Wait … what ? ! No ... yes ....",
    "C++, C#, R&D, AT&T": "C++ , C# , R&D , AT&T",
    "end.The": "end . The",
    "f**k *** ====": "f**k *** ====",
    "so :-) or <3 :D": "so :-) or <3 :D",
    "👩‍👩‍👧‍👦👍🏽🇫🇷❤️1️⃣!": "👩‍👩‍👧‍👦 👍🏽 🇫🇷 ❤️ 1️⃣ !",
    "cafe\u0301's": "cafe\u0301 's",
    "a\x00b c\u200bd": "a\x00b c\u200bd",
    "¿Qué? «Sí»": "¿ Qué ? « Sí »",
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_english_by_example(text):
    assert " ".join(words(text)) == EXAMPLES[text]


KEPT = {
    "a well-known fact": "a well-known fact",
    "and/or": "and/or",
    "1986-87": "1986-87",
    "a 3.5-inch mother-in-law's": "a 3.5-inch mother-in-law 's",
    "John's - don't": "John 's - do n't",
    "wait -- no": "wait -- no",
    "2021-03-04": "2021-03-04",
    "pre- and": "pre- and",
}


@pytest.mark.parametrize("text", KEPT)
def test_hyphens_can_be_kept(text):
    assert " ".join(words(text, hyphens="keep")) == KEPT[text]


OTHERS = {
    ("fr", "L'homme qu'on a vu aujourd'hui"): "L' homme qu' on a vu aujourd'hui",
    ("fr", "L’ex-ministre n’est-il plus qu’aujourd’hui l’« ami » de J.-P. ?"): (
        "L’ ex- ministre n’ est -il plus qu’ aujourd’hui l’ « ami » de J.-P. ?"
    ),
    ("fr", "Va-t-elle au rendez-vous ? Donne-le-moi !"): (
        "Va -t-elle au rendez-vous ? Donne -le -moi !"
    ),
    ("fr", "celui-ci, ce jour-là, peut-être : 5 mg/kg à 25°C"): (
        "celui-ci , ce jour -là , peut-être : 5 mg / kg à 25 °C"
    ),
    ("fr", "un débat politico-social à l'O.N.U. le 1er mai à 12h30"): (
        "un débat politico- social à l' O.N.U. le 1er mai à 12h30"
    ),
    ("fr", "IIb/IIIa, 1/10, et/ou, ex-il"): "IIb/IIIa , 1/10 , et / ou , ex- il",
    ("fr", "M. Dupont a 3,5 % d’eau, etc."): "M. Dupont a 3,5 % d’ eau , etc.",
    ("de", "Am 3. Oktober kam Dr. Müller, z.B. „heute“."): (
        "Am 3. Oktober kam Dr. Müller , z.B. „ heute “ ."
    ),
    ("de", "E-Mail-Adresse"): "E-Mail-Adresse",
    ("id", "anak-anak, dll."): "anak - anak , dll.",
    ("id", "Rumahnya besar, tetapi hanya ibunya yang tinggal."): (
        "Rumah nya besar , tetapi hanya ibu nya yang tinggal ."
    ),
    ("id", "Misalnya, pemberitahuannya di Jl. Melati No. 5 US$ 10"): (
        "Misalnya , pemberitahuan nya di Jl. Melati No. 5 US$ 10"
    ),
    ("id", "ibu/nya, ibu-nya"): "ibu / nya , ibu - nya",
    ("is", "17. júní, þ.e.a.s."): "17. júní , þ.e.a.s.",
    ("is", "Um 30% (0,5%) kusu t.d. mennta- og Facebook-síðu kl. 14:00."): (
        "Um 30% ( 0,5% ) kusu t.d. mennta- og Facebook-síðu kl. 14:00 ."
    ),
    ("fo", "t.d. 5. mai."): "t.d. 5. mai .",
    ("fr", "Aujourd'hui, PARLE-T-ELLE à quelqu’un ? Va-t’en, parle‑t‑on d'aujourd'hui ?"): (
        "Aujourd'hui , PARLE -T-ELLE à quelqu’un ? Va -t’ en , parle ‑t‑on d' aujourd'hui ?"
    ),
    ("es", "¿Sr. Gómez don't?"): "¿ Sr. Gómez don't ?",
    ("he", "הילדה קראה ספר (ישן) בגינה, ד״ר כהן."): "הילדה קראה ספר ( ישן ) בגינה , ד״ר כהן .",
    ("ar", "قرأت الفتاة كتابًا، أليس كذلك؟"): "قرأت الفتاة كتابًا ، أليس كذلك ؟",
}


@pytest.mark.parametrize(("language", "text"), OTHERS)
def test_other_languages_by_example(language, text):
    assert " ".join(words(text, language=language)) == OTHERS[language, text]


AFFIXED = (
    *("ex-", "anti-", "auto-", "-il", "-t-elle", "qu’", "nya", "hanya", "rendez-vous", "aujourd'"),
    *("mg/kg", "17. ", "J.-P."),
)


@pytest.mark.parametrize("language", ["fr", "id", "is", "fo", "de", "he", "ar"])
@given(
    parts=st.lists(
        st.sampled_from([*"Llaquo'’-tilnyaéÞ°C%/.,5 «»אבשلا؟", *AFFIXED]),
        max_size=20,
    ),
    hyphens=st.sampled_from([None, "split", "keep"]),
)
def test_tokens_cover_a_text_of_any_language(language, parts, hyphens):
    text = "".join(parts)
    found = tokenize(text, language=language, hyphens=hyphens)
    assert all(token.text for token in found)
    assert "".join(token.text for token in found) == "".join(text.split())
    assert all(text[token.start : token.end] == token.text for token in found)


SEGMENTED = {
    ("ja", "子供たちは二十時に公園で走った……。"): "子供たち は 二十時 に 公園 で 走っ た …… 。",
    ("ja", "雨が降るだろう　と iPhone で"): "雨 が 降る だろう と iPhone で",
    (
        "zh",
        "我在2020年1月读了well-known的书——真的。",
    ): "我 在 2020年 1月 读 了 well-known 的 书 —— 真的 。",
}
PACKAGES = {"ja": "janome", "zh": "rjieba"}


@pytest.mark.parametrize(("language", "text"), SEGMENTED)
def test_words_without_spaces_by_example(language, text):
    pytest.importorskip(PACKAGES[language], reason=f"it is of the extra cleft[{language}]")
    assert " ".join(words(text, language=language)) == SEGMENTED[language, text]


@pytest.mark.parametrize("language", PACKAGES)
@given(text=st.text(st.sampled_from("犬が走る。日本12年.-…·a \u3000\ud800\0🙂ー々"), max_size=30))
def test_words_without_spaces_cover_any_text(language, text):
    pytest.importorskip(PACKAGES[language], reason=f"it is of the extra cleft[{language}]")
    found = tokenize(text, language=language)
    assert all(token.text for token in found)
    assert "".join(token.text for token in found) == "".join(text.split())
    assert all(text[token.start : token.end] == token.text for token in found)


@pytest.mark.parametrize("language", PACKAGES)
def test_without_the_package_for_a_language_the_extra_is_named(language, monkeypatch):
    for module in (PACKAGES[language], f"{PACKAGES[language]}.tokenizer"):
        monkeypatch.setitem(sys.modules, module, None)
    segmenter.cache_clear()
    with pytest.raises(UsageError, match=rf"pip install 'cleft\[{language}\]'") as caught:
        tokenize("雨", language=language)
    assert "parse_tokens" in str(caught.value)


def test_an_unknown_choice_of_hyphens_is_refused():
    with pytest.raises(UsageError, match="expected 'split' or 'keep', found 'join'"):
        tokenize("a", hyphens="join")  # type: ignore[arg-type]


ADVERSARIES = [
    "a", "a.", "A.", "a-", "a'", "a/", "1.", "1,", "1-", "http://", "a@", "a@b.", ".", "-", "'",
    "(", "[1,", "a.b/", "www.", "’s", "n't", "👍\u200d", "x)", "#a", "$", "A$", "A&", "\u0301",
    "a*", ":-", "1.a", "x.)", "a..",
]  # fmt: skip


def seconds(text, **options):
    times = []
    for _ in range(2):
        start = time.process_time()
        tokenize(text, **options)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("unit", ADVERSARIES)
@pytest.mark.parametrize("hyphens", ["split", "keep"])
def test_time_grows_with_the_text_and_no_faster(unit, hyphens):
    """A line without spaces eight times as long may not take 40 times as long."""

    short, long = (seconds((unit * n)[:n], hyphens=hyphens) for n in (2_000, 16_000))
    assert long < 40 * max(short, 0.002)


OTHER_ADVERSARIES = [
    ("fr", "-la"), ("fr", "l'"), ("fr", "mg/"), ("fr", "o-"), ("id", "nya"), ("is", "5%"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "unit"), OTHER_ADVERSARIES)
def test_words_that_other_languages_part_take_no_longer_either(language, unit):
    short, long = (seconds("a" + (unit * n)[:n], language=language) for n in (1_500, 12_000))
    assert long < 40 * max(short, 0.002)


def test_tokens_are_tuples_of_text_and_offsets():
    first, second = itertools.islice(tokenize("Oh no"), 2)
    assert first == ("Oh", 0, 2)
    assert second == Token("no", 3, 5)
