"""Our pieces of words against those of the `tokenizers` library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime.wordpiece import WordPiece

tokenizers = pytest.importorskip("tokenizers")

VOCABULARY = [
    *["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "heron", "##on", "##s", "##ed", "play"],
    *["é", "a", "##é", ".", ",", "!", "日", "本", "'", "’", "ß", "σ", "ς"],
    *(chr(n) for n in range(0x21, 0x7F) if chr(n) not in "!',.a"),
    *(f"##{chr(n)}" for n in range(0x61, 0x7B) if chr(n) != "s"),
]
SPECIALS = {"[CLS]": 2, "[SEP]": 3, "[MASK]": 4}

# Letters, marks, controls, punctuation, symbols, emoji: what the library's tables, which are of
# an older Unicode, and Python's agree on.
BLOCKS = [(0, 0x5FF), (0x900, 0x97F), (0x1E00, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x30FF)]
BLOCKS += [(0x4E00, 0x4E80), (0xE000, 0xE010), (0xFE00, 0xFE0F), (0xFF00, 0xFFFD)]
BLOCKS += [(0x1F300, 0x1F9FF), (0x20000, 0x20010)]
characters = st.one_of(*(st.characters(min_codepoint=a, max_codepoint=b) for a, b in BLOCKS))
words = st.text(st.one_of(st.sampled_from("theron.,!'日本é"), characters), max_size=14)


def library(lower, accents):
    model = tokenizers.models.WordPiece(
        {piece: n for n, piece in enumerate(VOCABULARY)}, unk_token="[UNK]"
    )
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=accents, lowercase=lower
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(list(SPECIALS))
    return made


def compare(word, lower, accents):
    ours = WordPiece(
        VOCABULARY, unknown="[UNK]", lower=lower, strip_accents=accents, specials=SPECIALS
    )
    theirs = library(lower, accents).encode([word], is_pretokenized=True, add_special_tokens=False)
    assert ours(word) == theirs.ids


@given(words, st.booleans(), st.booleans())
def test_pieces_equal_the_library_s(word, lower, accents):
    compare(word, lower, accents)


ODD = ["", "Herons", "playedthe", "x" * 100, "x" * 101, "a[SEP]b", "[mask]", "naïve", "日本the"]
ODD += ["Σ", "ΑΣ", "İ", "\0", "a\u00adb", "\ufffd", "e\u0301", "…", "a\u2028b", "🙂", "ﬁ"]
ODD += ["[CLS][SEP]", "\u00a0", "a\tb"]


@pytest.mark.parametrize("word", ODD)
@pytest.mark.parametrize("lower", [False, True])
def test_odd_words_are_cut_as_the_library_cuts_them(word, lower):
    compare(word, lower, lower)


def test_a_lone_surrogate_is_dropped_rather_than_an_error():
    pieces = WordPiece(VOCABULARY, unknown="[UNK]", lower=True, strip_accents=True)
    assert pieces("a\ud800") == pieces("a")
