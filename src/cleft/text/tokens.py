"""Sentences to tokens in the manner of the Penn Treebank, offsets exact by construction.

Text is taken apart at white space, and each piece is scanned from left to
right by one regular expression whose alternatives are bounded or possessive:
the time is linear in the text, and every character that is not white space
lands in exactly one token. A token is the slice of the text that it covers;
`penn_forms` gives the form that treebanks write.

Every character that is not white space is either a *mark* (punctuation,
symbols, emoji: the ranges below) or a *letter* (everything else: letters,
digits, combining marks, control and format characters, lone surrogates).
The two halves leave nothing out, which is why tokens cover any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from cleft.errors import UsageError, check_type
from cleft.span import Token
from cleft.text.languages import (
    CLIPPED,
    ELIDED,
    SEGMENTED,
    UNITS,
    Hyphens,
    Language,
    language_named,
)
from cleft.text.word_parts import DASH, word_ends

# ---------------------------------------------------------------- classes of characters

_MARK_RANGES = (
    r"!-/:-@\[-\^`{-~"  # ASCII, the underscore left out
    "\xa1-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6"
    "\u060c\u060d\u061b\u061e\u061f\u066a\u066d\u06d4\u0700-\u070d"
    "\u0964\u0965\u0e4f\u0e5a\u0e5b\u1360-\u1368\u1800-\u180a"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f"
    "\u3001-\u3003\u3008-\u3020\u3030\u303d"
    "\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee"
    "\U0001f000-\U0001faff"
)

LETTER = rf"[^\s{_MARK_RANGES}]"
"""Anything but white space and marks."""

STOPS = ".!?…‼⁇⁈⁉؟۔।॥։።"
"""What can end a sentence."""

OPENERS = "\"'`([{“‘„‚«»‹›¿¡"
"""What can stand before the first word of a sentence."""

CLOSERS = "\"')\\]}”’“‘»«›‹"
"""What can stand after the end of a sentence and belong to it, as a class's inside."""

_PICTURE = "[\xa9\xae\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff]"
_MODIFIER = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"

EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    f"|[0-9#*]\ufe0f?\u20e3"  # a keycap
    f"|{_PICTURE}{_MODIFIER}*+(?:\u200d{_PICTURE}{_MODIFIER}*+)*+"
)
"""One emoji with its skin tones, variation selectors and joiners."""

# ---------------------------------------------------------------- tokens

CACHED_LENGTH = 40
"""Longer pieces are rare; remembering them would only fill the cache."""

FIRST, LAST, BEFORE_NUMBER = 1, 2, 4
"""Where a piece stands; only a period in it asks."""


def tokenize(
    text: str,
    start: int = 0,
    end: int | None = None,
    *,
    language: str = "en",
    hyphens: Hyphens | None = None,
) -> list[Token]:
    """The tokens of a sentence, which is the text between two offsets.

    `hyphens` says what becomes of hyphens and slashes inside words: `split`
    makes them tokens, as GUM and later treebanks do, `keep` leaves the word
    whole, as the Penn Treebank does. By default the language decides.

    >>> [token.text for token in tokenize("She can't re-read John's e-mail.")]
    ['She', 'ca', "n't", 're-read', 'John', "'s", 'e-mail', '.']
    >>> [token.text for token in tokenize("a well-known fact")]
    ['a', 'well', '-', 'known', 'fact']
    >>> [token.text for token in tokenize("a well-known fact", hyphens="keep")]
    ['a', 'well-known', 'fact']
    """
    check_type(text, str, "a text (str)")
    check_type(language, str, "a language code (str)", hint="for example 'en', 'fr' or 'de'")
    if hyphens not in (None, "split", "keep"):
        raise UsageError(f"hyphens: expected 'split' or 'keep', found {hyphens!r}")
    rules = _rules(language, hyphens)
    stop = len(text) if end is None else end
    if rules.language.code in SEGMENTED:
        from cleft.text.segmenters import segmenter  # English needs none

        return _segmented(text, start, stop, segmenter(rules.language.code))
    tokens: list[Token] = []
    for piece, at, where in _pieces(text, start, stop):
        short = len(piece) <= CACHED_LENGTH
        begin = 0
        for until in (_ends if short else _ends.__wrapped__)(piece, where, rules):
            tokens.append(Token(piece[begin:until], at + begin, at + until))
            begin = until
    return tokens


def _segmented(
    text: str, start: int, stop: int, words: Callable[[str], Iterable[str]]
) -> list[Token]:
    """The tokens of text without spaces; where white space is, a token ends all the same."""
    tokens: list[Token] = []
    for found in _PIECE.finditer(text, start, stop):
        at = found.start()
        for word in words(_SURROGATE.sub("\ufffd", found.group())):
            tokens.append(Token(text[at : at + len(word)], at, at + len(word)))
            at += len(word)
    return tokens


def _pieces(text: str, start: int, stop: int) -> Iterator[tuple[str, int, int]]:
    """What white space parts: each piece, its offset, and where it stands."""
    where = FIRST
    found = _PIECE.search(text, start, stop)
    while found is not None:
        follower = _PIECE.search(text, found.end(), stop)
        piece = found.group()
        if "." not in piece:
            where = 0
        elif follower is None:
            where |= LAST
        elif text[follower.start()].isdigit():
            where |= BEFORE_NUMBER
        yield piece, found.start(), where
        found, where = follower, 0


# ---------------------------------------------------------------- the rules


@dataclass(frozen=True, eq=False)
class Rules:
    """A language with the choice about hyphens, and the scanners made for both.

    Compared by identity: they are a key of the cache, looked up for every piece.
    """

    language: Language
    hyphens: Hyphens

    @cached_property
    def anywhere(self) -> re.Pattern[str]:
        """One expression that matches a token, or several at once, at any position."""
        return self._scanner(_ALTERNATIVES)

    @cached_property
    def at_letter(self) -> re.Pattern[str]:
        """The same with those alternatives only that can begin with a letter."""
        return self._scanner({name: _ALTERNATIVES[name] for name in _LETTERED})

    def _scanner(self, alternatives: Mapping[str, str]) -> re.Pattern[str]:
        parts = dict(alternatives)
        if self.hyphens == "split":
            parts.pop("compound")
        if not self.language.english_clitics:
            for name in ("elided", "clitic", "clipped"):
                parts.pop(name, None)
        if self.language.elisions:  # before a quotation or initials: *l'« affaire »*
            words = _choice(" ".join(self.language.elisions))
            elision = rf"(?<!{LETTER})(?i:{words})['’](?:(?!{LETTER})|(?=[A-Z]\.[A-Z]))"
            parts = {"elision": elision, "initials": r"[A-Z]\.-[A-Z]\.", **parts}
        if self.language.measures:
            parts = {"degree": rf"°[CF](?!{LETTER})", **parts}
        return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()))


@lru_cache(maxsize=64)
def _rules(language: str, hyphens: Hyphens | None) -> Rules:
    found = language_named(language)
    return Rules(found, hyphens or found.hyphens)


def _choice(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


_PIECE = re.compile(r"\S+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_START = r"(?<![\s\S])"
_URL = r"[^\s<>\"“”«»]"
_CORE = r"\d++(?:[.,:/]\d++)*+"
_UNIT = rf"(?:{_choice(UNITS)})[²³]?(?!{LETTER})"

_WORD = (
    rf"{LETTER}++(?:"
    rf"(?:['’ʼ·/]|{DASH}|\*++|\.(?=[a-z])|(?<=[A-Z])&(?=[A-Z])|(?<=\b[A-Z])\.(?=[A-Z]\b)|(?<=\d)[.,](?=\d))"
    rf"{LETTER}++)*+(?:\(e?s\)(?!{LETTER}))?"
)

_ALTERNATIVES = {
    "url": rf"(?:[A-Za-z][A-Za-z+]{{1,9}}://|www\.|doi:|mailto:){_URL}++",
    "address": r"[\w][\w.+-]{0,63}@(?:[\w-]{1,63}\.){1,8}\w{2,24}",
    "path": rf"(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}[a-z]{{2,10}}/{_URL}*+",
    "emoji": EMOJI,
    "face": rf"{_START}(?:[:;=]['’]?-?[()\[\]DPp|/\\*]++|<3)(?!{LETTER})",
    "tag": rf"(?<!{LETTER})[#@](?=[^\W\d]){LETTER}++",
    "dots": r"\.{2,}+|…++\.?",
    "arrow": r"\+/[-−]|<?[-=]{1,3}>|<[-=]{1,2}(?!\w)|``|''",
    "citation": r"\[\d{1,4}(?:[,;–-]\d{1,4}){1,40}\]",
    "compound": rf"(?:{_CORE}|{LETTER}++)(?:(?:{DASH}|[/'’])(?:{_CORE}(?!{LETTER})|{LETTER}++))++",
    "decade": rf"\d{{1,3}}0['’]s(?!{LETTER})",
    "call": r"(?:\+\d{1,3}[\d-]{5,14}|\d{3}-(?:\d{3}-)?\d{4}|\d{4}-\d\d-\d\d)(?![\w-])",
    "measure": rf"{_CORE}(?={_UNIT})",
    "number": (
        rf"(?:(?:{_START}|(?<=[(\[{{\"“‘=<>~≈±]))[+−-])?"
        rf"(?:\d++(?:[.,:/]\d++)++{LETTER}*+|\d++(?!{LETTER}))"
        rf"|(?<!{LETTER})\.\d++(?!{LETTER})"
    ),
    "money": rf"(?:US|CA|AU|HK|NZ|A|C|R|S)\$(?!{LETTER}*[^\W\d])",
    "elided": rf"(?<!{LETTER})['’‘](?:(?i:{_choice(ELIDED)})|\d\ds?)(?!{LETTER}|['’])"
    rf"|(?<!{LETTER})['’‘]n['’](?!{LETTER})",
    "clitic": r"['’](?i:s|m|d|re|ve|ll|tis|twas|twere|twill|twould)(?![\w'’])",
    "clipped": rf"(?=[A-Za-z]{{2,11}}['’])(?i:{_choice(CLIPPED)})['’](?!{LETTER})",
    "acronym": rf"(?:[^\W\d_]{{1,2}}\.){{1,12}}[^\W\d_]{{1,4}}(?!{LETTER})(?:\.(?![.\w]))?",
    "language": rf"C\+\+|[CF]#(?!{LETTER})",
    "word": rf"{_WORD}(?:-(?=\Z|[^\s\w>-]))?",
    "run": r"(?P<same>[*=~#+<>^|\\_-])(?P=same)++|[–—―]++",
    "mark": r"[\s\S]",
}

_LETTERED = (
    "url", "address", "path", "compound", "money", "clipped", "acronym", "language", "word",
)  # fmt: skip

_TAIL = re.compile(rf"[{CLOSERS}]*+\Z")
_CAPITALS = re.compile(r"(?:[A-Z]\.){1,8}[A-Z]\Z")


@lru_cache(maxsize=1 << 16)
def _ends(piece: str, where: int, rules: Rules) -> tuple[int, ...]:
    """Where the tokens of a piece end; the last one ends where the piece does."""
    if piece.isalpha():
        return tuple(word_ends(piece, rules.language, rules.hyphens))
    ends: list[int] = []
    position = 0
    anywhere, at_letter = rules.anywhere.match, rules.at_letter.match
    while position < len(piece):
        found = at_letter(piece, position) if piece[position].isalpha() else None
        # A few letters (U+2E2F) are punctuation to the patterns of words.
        found = found or anywhere(piece, position)
        assert found is not None  # the last alternative takes anything
        kind, end = found.lastgroup, found.end()
        if kind in ("word", "compound", "clipped", "clitic"):
            word = found.group()
            ends += (position + one for one in word_ends(word, rules.language, rules.hyphens))
            if _keeps_period(piece, end, word, where, rules.language):
                end = ends[-1] = end + 1
        elif kind == "citation":
            ends += (position + one.end() for one in re.finditer(r"\d+|\D", found.group()))
        else:
            end = _adjusted(piece, position, end, kind, where, rules.language)
            ends.append(end)
        position = end
    return tuple(ends)


def _adjusted(
    piece: str, start: int, end: int, kind: str | None, where: int, language: Language
) -> int:
    """The end of an address without the punctuation after it, or of a number with its period."""
    if kind in ("url", "path"):
        return start + _url_length(piece[start:end])
    if kind != "number":
        return end
    if language.percents and piece.startswith("%", end):
        return end + 1
    if len(piece) == end + 1 and piece[end] == "." and not where & LAST:
        listed = start == 0 and where & FIRST
        if listed or language.ordinals:
            return end + 1
    return end


def _url_length(address: str) -> int:
    """How much of a match is the address: not the punctuation of the sentence around it."""
    opened = address.count("(") - address.count(")")
    length = len(address)
    while length > 1:
        last = address[length - 1]
        if last == ")" and opened < 0:
            opened += 1
        elif last not in ".,;:!?'’*]}…—":
            break
        length -= 1
    return length


def _keeps_period(piece: str, end: int, word: str, where: int, language: Language) -> bool:
    """Whether the period after a word belongs to it."""
    if piece[end : end + 1] != "." or len(word) > 12:
        return False
    after = piece[end + 1 : end + 2]
    lower = word.lower()
    if after.isalnum():
        known = language.numbered if after.isdigit() else language.titles
        return lower in known and not after.islower()
    if after == ".":
        return len(piece) == end + 2 and language.is_abbreviation(word)
    if lower in language.numbered and lower in language.ambiguous:
        return bool(where & BEFORE_NUMBER)
    last = bool(where & LAST) and _TAIL.match(piece, end + 1) is not None
    if language.is_abbreviation(word):
        return not (last and lower in language.ambiguous)
    initial = len(word) == 1 and word.isalpha() and not last
    return initial or _CAPITALS.search(word) is not None


# ---------------------------------------------------------------- the forms of the Penn Treebank

_FIXED = {
    "(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-",
    "“": "``", "„": "``", "«": "``", "”": "''", "»": "''", "‘": "`", "‚": "`", "’": "'",
    "…": "...", "–": "--", "—": "--", "―": "--",
}  # fmt: skip
_OPENING = "``"
_CLOSING = "''"


def penn_forms(words: Iterable[str], *, brackets: bool = True) -> list[str]:
    """The words of one sentence in Penn form; `brackets=False` leaves brackets alone.

    Straight quotation marks open and close by turns.

    >>> penn_forms(["“", "It", "’s", "(", "almost", ")", '"', "done", '"', "…", "”"])
    ['``', 'It', "'s", '-LRB-', 'almost', '-RRB-', '``', 'done', "''", '...', "''"]
    """
    forms = []
    opened = False
    for word in words:
        if word == '"':
            opened = not opened
            forms.append(_OPENING if opened else _CLOSING)
        elif word in "()[]{}" and not brackets:
            forms.append(word)
        else:
            forms.append(_FIXED.get(word) or word.replace("’", "'"))
    return forms
