"""Sentences to tokens in the manner of the Penn Treebank, offsets exact by construction.

Text is taken apart at white space, and each piece is scanned from left to
right by one regular expression whose alternatives are bounded or possessive:
the time is linear in the text, and every character that is not white space
lands in exactly one token. A token is the slice of the text that it covers;
`cleft.text.penn` gives the form that treebanks write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from cleft.errors import UsageError, check_type
from cleft.text import english
from cleft.text.affixes import head_ends, tail_ends
from cleft.text.characters import CLOSERS, EMOJI, LETTER
from cleft.text.languages import Hyphens, Language, language_named

__all__ = ["Token", "tokenize"]

CACHED_LENGTH = 40
"""Longer pieces are rare; remembering them would only fill the cache."""

FIRST, LAST, BEFORE_NUMBER = 1, 2, 4
"""Where a piece stands; only a period in it asks."""


class Token(NamedTuple):
    """A token and its place: `text` is the source between `start` and `end`."""

    text: str
    start: int
    end: int


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
    tokens: list[Token] = []
    for piece, at, where in _pieces(text, start, stop):
        short = len(piece) <= CACHED_LENGTH
        begin = 0
        for until in (_ends if short else _ends.__wrapped__)(piece, where, rules):
            tokens.append(Token(piece[begin:until], at + begin, at + until))
            begin = until
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
_START = r"(?<![\s\S])"
_URL = r"[^\s<>\"“”«»]"
_CORE = r"\d++(?:[.,:/]\d++)*+"
_UNIT = rf"(?:{_choice(english.UNITS)})[²³]?(?!{LETTER})"
_DASH = "[-\u2010\u2011]"

_WORD = (
    rf"{LETTER}++(?:"
    rf"(?:['’ʼ·/]|{_DASH}|\*++|\.(?=[a-z])|(?<=[A-Z])&(?=[A-Z])|(?<=\b[A-Z])\.(?=[A-Z]\b)|(?<=\d)[.,](?=\d))"
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
    "compound": rf"(?:{_CORE}|{LETTER}++)(?:(?:{_DASH}|[/'’])(?:{_CORE}(?!{LETTER})|{LETTER}++))++",
    "decade": rf"\d{{1,3}}0['’]s(?!{LETTER})",
    "call": r"(?:\+\d{1,3}[\d-]{5,14}|\d{3}-(?:\d{3}-)?\d{4}|\d{4}-\d\d-\d\d)(?![\w-])",
    "measure": rf"{_CORE}(?={_UNIT})",
    "number": (
        rf"(?:(?:{_START}|(?<=[(\[{{\"“‘=<>~≈±]))[+−-])?"
        rf"(?:\d++(?:[.,:/]\d++)++{LETTER}*+|\d++(?!{LETTER}))"
        rf"|(?<!{LETTER})\.\d++(?!{LETTER})"
    ),
    "money": rf"(?:US|CA|AU|HK|NZ|A|C|R|S)\$(?!{LETTER}*[^\W\d])",
    "elided": rf"(?<!{LETTER})['’‘](?:(?i:{_choice(english.ELIDED)})|\d\ds?)(?!{LETTER}|['’])"
    rf"|(?<!{LETTER})['’‘]n['’](?!{LETTER})",
    "clitic": r"['’](?i:s|m|d|re|ve|ll|tis|twas|twere|twill|twould)(?![\w'’])",
    "clipped": rf"(?=[A-Za-z]{{2,11}}['’])(?i:{_choice(english.CLIPPED)})['’](?!{LETTER})",
    "acronym": rf"(?:[^\W\d_]{{1,2}}\.){{1,12}}[^\W\d_]{{1,4}}(?!{LETTER})(?:\.(?![.\w]))?",
    "language": rf"C\+\+|[CF]#(?!{LETTER})",
    "word": rf"{_WORD}(?:-(?=\Z|[^\s\w>-]))?",
    "run": r"(?P<same>[*=~#+<>^|\\_-])(?P=same)++|[–—―]++",
    "mark": r"[\s\S]",
}

_LETTERED = (
    "url", "address", "path", "compound", "money", "clipped", "acronym", "language", "word",
)  # fmt: skip

_CLITIC = re.compile(r"(?i:n['’]t|['’](?:s|m|d|re|ve|ll))\Z")
_TAIL = re.compile(rf"[{CLOSERS}]*+\Z")
_CAPITALS = re.compile(r"(?:[A-Z]\.){1,8}[A-Z]\Z")
_CONNECTORS = "'’ʼ·/*&.,-\u2010\u2011"
_HYPHEN = re.compile(_DASH)
_DIGIT = re.compile(r"\d")
_WHOLE = frozenset(["s/he", "w/o", "c/o", "n/a", "a/c", "i/o", "b/c", "w/e"])


@lru_cache(maxsize=1 << 16)
def _ends(piece: str, where: int, rules: Rules) -> tuple[int, ...]:
    """Where the tokens of a piece end; the last one ends where the piece does."""
    if piece.isalpha():
        return tuple(_word_ends(piece, rules))
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
            ends += (position + one for one in _word_ends(word, rules))
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


# ---------------------------------------------------------------- inside a word


def _word_ends(word: str, rules: Rules) -> list[int]:
    """Where the tokens of a word end: clitics off, elisions off, joints split."""
    language = rules.language
    if word.isalpha() and len(word) > 9 and not language.suffixes:
        return [len(word)]
    if language.english_clitics:
        cuts = english.CONTRACTIONS.get(word.lower().replace("’", "'"))
        if cuts:
            return [*cuts, len(word)]
        heads, ends = [], _without_clitics(word)
    else:
        heads = head_ends(word, language)
        ends = tail_ends(word, language, heads[-1] if heads else 0)
    begin = heads[-1] if heads else 0
    joints = _joints(word[begin : ends[0]], rules)
    return [*heads, *(begin + one for one in joints), *ends]


def _without_clitics(word: str) -> list[int]:
    """The end of the stem, and the ends after it: `should|n't|'ve` gives [6, 9, 12]."""
    stop = len(word)
    ends = [stop]
    while found := _CLITIC.search(word[max(0, stop - 3) : stop]):
        stop -= found.end() - found.start()
        if stop == 0 or word[stop - 1] in _CONNECTORS:
            break
        ends.append(stop)
    ends.reverse()
    return ends


def _joints(stem: str, rules: Rules) -> list[int]:
    """The ends of the tokens that hyphens and slashes inside a word part, but for the last one."""
    split = rules.hyphens == "split"
    measures = rules.language.measures and "/" in stem and stem[0].islower()
    if not (split or measures) or stem.lower() in _WHOLE or (measures and _DIGIT.search(stem)):
        return []
    ends: list[int] = []
    begin = 0
    for segment in stem.split("/"):
        if begin:
            ends += (begin - 1, begin)
        if split:
            ends += (begin + one for one in _hyphens(segment, rules.language.english_clitics))
        begin += len(segment) + 1
    return ends


def _hyphens(segment: str, affixes: bool) -> list[int]:
    """The same for hyphens alone; with `affixes`, those of English stay joined."""
    lower = segment.lower()
    if affixes and lower in english.INTERJECTIONS:
        return []
    ends: list[int] = []
    for hyphen in _HYPHEN.finditer(segment):
        start, end = hyphen.span()
        if affixes and not ends and _is_prefix(segment[:start]):
            return []
        rest = len(segment) - end
        suffix = affixes and rest < 8 and lower[end:] in english.SUFFIXES
        if rest and not suffix:
            ends += (start, end)
    return ends


def _is_prefix(head: str) -> bool:
    return head.lower() in english.PREFIXES and (len(head) == 1 or not head.isupper())


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
