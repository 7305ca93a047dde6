"""Our pieces of words against those of the `tokenizers` library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime.wordpiece import Unigram, WordPiece

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


# ---------------------------------------------------------------- unigram models

SCORED = [
    *[("</s>", 0.0), ("<unk>", 0.0), ("▁", -4.0), ("▁the", -2.5), ("▁her", -3.5), ("her", -5.0)],
    *[("on", -3.25), ("th", -4.5), ("▁heron", -8.0), ("▁▁", -9.0), ("日本", -6.0), ("…", -7.0)],
    *((letter, -6.0 - n / 8) for n, letter in enumerate("theron.,'日é1/")),
]


def unigram_library():
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(SCORED, unk_id=1, byte_fallback=False))
    made.normalizer = tokenizers.normalizers.NFKC()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(
        replacement="▁", prepend_scheme="always"
    )
    made.add_special_tokens(["</s>", "<unk>"])
    return made


def compare_unigram(word):
    names, scores = zip(*SCORED, strict=True)
    specials = {"</s>": 0, "<unk>": 1}
    ours = Unigram(names, scores, unknown="<unk>", prefix="▁", specials=specials)
    theirs = unigram_library().encode([word], is_pretokenized=True, add_special_tokens=False)
    assert ours(word) == theirs.ids


@given(words)
def test_probable_pieces_equal_the_library_s(word):
    compare_unigram(word)


@pytest.mark.parametrize("word", [*ODD, "▁the", "the▁her", "½", "ｔｈｅ", "xthexx", "</s>the", "¨"])
def test_odd_words_are_cut_into_probable_pieces_as_the_library_does(word):
    compare_unigram(word)


def test_pieces_are_those_of_sentencepiece(tmp_path):
    """A model that SentencePiece itself trained and cuts by."""
    library = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    stems, ends = ["heron", "wait", "parl", "mang", "chant"], ["s", "ed", "er", "ons", "ent", "é"]
    vocabulary = [stem + end for stem in stems for end in ends]
    text = [" ".join(vocabulary[n % 7 :: 3]) for n in range(60)]
    library.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_prefix=str(tmp_path / "m"), vocab_size=40,
        model_type="unigram", hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    cut = library.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    numbers = range(cut.get_piece_size())
    names, scores = map(cut.id_to_piece, numbers), list(map(cut.get_score, numbers))
    scores[:3] = [min(scores)] * 3  # marks, which no word holds
    ours = Unigram(list(names), scores, unknown="<unk>", prefix="▁")
    for word in [*vocabulary, "parlait", "on", "héron", "xwaitz", "chantons-nous"]:
        assert ours(word) == cut.encode(word), word
