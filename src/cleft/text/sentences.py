"""Raw text to paragraphs to sentences.

A blank line ends a paragraph and a sentence never crosses it. Inside a
paragraph a stop (`.`, `!`, `?`, `…`) with white space after it is a candidate;
the word before it and the one after it decide. A single line break is white
space, unless the line was left before it was full or a list's mark follows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cleft.text.languages import CAPTIONS, REPORTING, Language, language_named
from cleft.text.tokens import CLOSERS, OPENERS, STOPS

REACH = 40
"""How far before a stop its word is looked for."""

NARROW = 40
"""No text is wrapped at fewer columns than this."""

LONGEST = 200_000
"""So many characters without a blank line are a paragraph: memory stays bounded."""

SLACK = 8
"""A line that ends this much before the first word after it would fit was ended on purpose."""


class SentenceSpan(NamedTuple):
    """A sentence's place in its text, and the number of its paragraph from 0.

    >>> SentenceSpan(0, 4, 0).of("Yes. No.")
    'Yes.'
    """

    start: int
    end: int
    paragraph: int

    def of(self, text: str) -> str:
        """The sentence's source."""
        return text[self.start : self.end]


# ---------------------------------------------------------------- paragraphs


def split_paragraphs(text: str) -> Iterator[tuple[int, int]]:
    r"""The paragraphs of a text as offsets, white space around them left out.

    >>> list(split_paragraphs("One.\nTwo.\n\nThree."))
    [(0, 9), (11, 17)]
    """
    for start, paragraph in paragraphs_of_lines(text.splitlines(keepends=True)):
        yield start, start + len(paragraph)


def paragraphs_of_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    r"""The paragraphs of a stream of lines with their offsets; one is held at a time.

    >>> list(paragraphs_of_lines(["One.\n", "Two.\n", "\n", "Three."]))
    [(0, 'One.\nTwo.'), (11, 'Three.')]
    """
    held: list[str] = []
    offset = size = 0
    for line in (line for part in lines for line in part.splitlines(keepends=True)):
        blank = not line.strip()
        if not blank or held:
            held.append(line)
        size += len(line)
        if held and (blank or line.endswith(("\u2029", "\f")) or _is_full(size, line)):
            yield _trimmed("".join(held), offset)
            held = []
        if not held:
            offset += size
            size = 0
    if held:
        yield _trimmed("".join(held), offset)


def _is_full(size: int, line: str) -> bool:
    """Whether a paragraph has grown so long that it ends with this line."""
    return size > LONGEST and (size > 2 * LONGEST or line.rstrip().endswith(tuple(STOPS)))


def _trimmed(text: str, offset: int) -> tuple[int, str]:
    return offset + len(text) - len(text.lstrip()), text.strip()


# ---------------------------------------------------------------- sentences


def split_sentences(text: str, language: str = "en") -> list[SentenceSpan]:
    """The sentences of a text.

    >>> text = "Dr. Smith left at 5 p.m. on Monday. Why? Nobody knows…"
    >>> [sentence.of(text) for sentence in split_sentences(text)]
    ['Dr. Smith left at 5 p.m. on Monday.', 'Why?', 'Nobody knows…']
    """
    rules = language_named(language)
    return [
        SentenceSpan(left, right, number)
        for number, (start, end) in enumerate(split_paragraphs(text))
        for left, right in paragraph_sentences(text, start, end, rules)
    ]


def paragraph_sentences(
    text: str, start: int, end: int, language: Language
) -> Iterator[tuple[int, int]]:
    """The sentences of one paragraph, which begins and ends without white space."""
    lines = list(_ended_lines(text, start, end))
    paragraph = _Paragraph(text, start, end, language)
    begin = start
    for stop in sorted({*lines, *paragraph.stops(lines)}):
        if begin < stop < end:
            yield begin, stop
            begin = _SPACE.match(text, stop).end()  # type: ignore[union-attr]
    yield begin, end


_SPACE = re.compile(r"\s*+")
_NOTE = r"(?:\s?\[\d{1,4}(?:[,–-]\s?\d{1,4}){0,20}\])"
_FEELING = (
    r"(?:\s[:;]-?[()DP](?!\w)"
    "|\\s?[\u2600-\u27bf\U0001f300-\U0001faff][\ufe0e\ufe0f\u200d\U0001f3fb-\U0001f3ff]*+)"
)
_STOP = re.compile(
    rf"(?<![{STOPS}])(?P<stop>[{STOPS}]++)(?:[{CLOSERS}]|\s[»›](?!\w))*+{_NOTE}*+{_FEELING}*+(?=\s)"
    rf"|(?<=[a-z)\"”])(?P<note>\.)\d{{1,3}}(?=\s+[A-Z])"
    r"|[。！？｡]++(?![」』]++(?:と|って|、))[」』”’）]*+"  # 「はい。」と言った goes on
    r"|(?<=[^\W\dA-Z_] )(?P<dash>--|[–—])(?=\s[A-Z])"
)
_FOLLOWER = re.compile(
    rf"\s*+(?P<open>(?:[{re.escape(OPENERS)}–—-]\s?)*+)"
    r"(?P<word>[^\W_]*+(?:['’]\w++)?)"
)
_BEFORE = re.compile(r"[^\s(\[{\"“‘«„]+\Z")
_LISTED = re.compile(r"\W*(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[IVXivx]{1,5})\Z")
_AFTER_COLON = re.compile(r"[:;]\s+\(?\d{1,2}\Z")
_CAPTION = re.compile(r"\W*([A-Za-z]{3,10})\s\d{1,3}(?:[.-]\d{1,3}){0,3}\Z")
_NUMBER_OF_CAPTION = re.compile(r"(?:Figure|Table)\s\d{1,3}(?:[.-]\d{1,3}){0,3}(?=\s[A-Z(])")
_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.){1,8}[^\W\d_]{1,3}\Z")
_FOOTNOTE = re.compile(r"\s\d{1,3}(?=\s([A-Z][a-z]{0,12})(?![\w.]))")
_OMISSION = re.compile(r"\.\.|…|\[(?:\.\.|…)")
_ELLIPSIS = re.compile(r"\.{2,}+|…+\.*+")


class _Paragraph:
    """One paragraph while its sentences are looked for."""

    def __init__(self, text: str, start: int, end: int, language: Language) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.language = language
        # Where nothing is in upper case, lower case says nothing about beginnings.
        self.casual = not any(map(str.isupper, text[start:end]))

    def stops(self, lines: Sequence[int]) -> Iterator[int]:
        """Where sentences end, but for the last one; `lines` are ends of lines that end one too."""
        begin = self.start
        ended = iter([*lines, self.end])
        line = next(ended)
        if caption := _NUMBER_OF_CAPTION.match(self.text, self.start, self.end):
            begin = caption.end()
            yield begin
        for found in _STOP.finditer(self.text, self.start, self.end):
            while line < found.start():
                begin, line = max(begin, line), next(ended)
            if self._ends_sentence(found, begin):
                begin = self._after_footnote(found.end())
                yield begin

    def _ends_sentence(self, found: re.Match[str], begin: int) -> bool:
        stop = found["stop"]
        follower = _FOLLOWER.match(self.text, found.end(), self.end)
        assert follower is not None
        if found["dash"]:
            return self._breaks_off(found.start(), begin, follower)
        if stop is None:
            return True
        closed = self.text[found.end("stop") : found.end()].lstrip()  # French: a space before »
        quoted = closed.startswith(('"', "'", "”", "’", "»", "“"))
        if self._goes_on(follower) and not ("!" in stop and not quoted):
            return False
        if quoted and stop != "." and self._is_reported(follower):
            return False
        if stop == ".":
            return self._period_ends(found.start(), begin, follower)
        # An ellipsis that opens a sentence does not end it.
        before = self.text[begin : min(found.start(), begin + REACH)]
        return not (_ELLIPSIS.fullmatch(stop) and not re.search(r"\w", before))

    def _after_footnote(self, end: int) -> int:
        """The end of a sentence with the number of a footnote, as in *of men. 4 The*."""
        found = _FOOTNOTE.match(self.text, end, self.end)
        return found.end() if found and found[1].lower() in self.language.starters else end

    def _goes_on(self, follower: re.Match[str]) -> bool:
        """Whether what follows reads on: lower case, or the dots of an omission."""
        word = follower["word"]
        if not word:
            return _OMISSION.match(self.text, follower.end(), self.end) is not None
        # A name such as eBay begins a sentence, and so may an aside in brackets.
        plain = word.islower() and not follower["open"].startswith("(")
        return plain and not self.casual

    def _breaks_off(self, at: int, begin: int, follower: re.Match[str]) -> bool:
        """Whether a speaker leaves a sentence at a dash, as in *I thought — What was that?*."""
        word = follower["word"]
        again = self.text.startswith(word, begin)
        if again or word[0] == "I":
            return False
        # After a name it is a dateline: *Oslo, Norway — The …*
        previous = self.text[max(begin, at - REACH) : at].split()[-1:]
        return previous[0].islower() and self._starts(follower, default=False)

    def _is_reported(self, follower: re.Match[str]) -> bool:
        """Whether `he said` or `Ann Lee asked` comes next."""
        if follower["open"]:
            return False
        after = self.text[follower.start("word") : follower.start("word") + REACH].split()[:3]
        return any(word.strip(",.:;").lower() in REPORTING for word in after[1:])

    def _period_ends(self, at: int, begin: int, follower: re.Match[str]) -> bool:
        """Whether a single period, which stands at `at`, ends a sentence."""
        language = self.language
        low = max(begin, at - REACH)
        before = self.text[low:at]
        found = _BEFORE.search(before)
        word = found.group() if found else ""
        lower = word.lower().lstrip("'’")
        after = follower["word"]
        number = after[:1].isdigit()
        letter = len(word) == 1 and word.isalpha()
        opens = self._opens_item(before, after, begins=low == begin)
        if opens or (letter and language.is_title(word)):
            return False
        if language.ordinals and word.isdigit() and len(word) < 3:
            return self._ordinal_ends(follower)
        if lower in language.numbered and lower in language.ambiguous:
            return not number
        if letter:
            return self._initial_ends(before[: -len(word)], follower)
        if language.may_end(word) or _INITIALS.match(word):
            return not number and (lower == "etc" or self._starts(follower))
        return not language.is_title(word)

    def _ordinal_ends(self, follower: re.Match[str]) -> bool:
        """Whether a small number and its period are the end: *er 17. Sie* but *am 17. Mai*."""
        if self.language.capital_nouns:
            return self._starts(follower, default=False)
        return follower["word"][:1].isupper()

    @staticmethod
    def _opens_item(before: str, after: str, *, begins: bool) -> bool:
        """Whether what stands before a period is the number of a list's item or a caption.

        Items stand where a sentence begins, and after a colon: *Then: 1. Stir. 2. Bake.*
        """
        if not after:
            return False
        if _AFTER_COLON.search(before) or (begins and _LISTED.match(before)):
            return True
        caption = _CAPTION.match(before) if begins else None
        return caption is not None and caption[1].lower() in CAPTIONS

    def _initial_ends(self, before: str, follower: re.Match[str]) -> bool:
        """Whether a single letter with its period is the end: *vitamin C. The* but *J. The*."""
        previous = before.split()[-1:]
        return bool(previous) and previous[0].islower() and self._starts(follower)

    def _starts(self, follower: re.Match[str], default: bool = True) -> bool:
        """Whether the next word is one that begins sentences; `default` where none are known."""
        word = follower["word"]
        if not self.language.starters or (self.casual and word):
            return default
        known = word.lower().replace("’", "'") in self.language.starters
        abbreviated = self.text[follower.end() : follower.end() + 1] == "."
        return known and not abbreviated and not word.islower()


# ---------------------------------------------------------------- line breaks

_LINE = re.compile(r"[^\n\r\v\x85\u2028]++")
_BULLET = r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])"
_ITEM = re.compile(rf"{_BULLET}\s+\S")
_BARE = re.compile(rf"\s*{_BULLET}\s*")


def _ended_lines(text: str, start: int, end: int) -> Iterator[int]:
    """The ends of lines inside a paragraph that end a sentence whatever stands there."""
    lines = [found.span() for found in _LINE.finditer(text, start, end)]
    width = max(NARROW, max((right - left for left, right in lines), default=0))
    for (left, right), (after, until) in itertools.pairwise(lines):
        head = _FOLLOWER.match(text, after, until)
        assert head is not None
        item = _ITEM.match(text, _SPACE.match(text, after).end(), until)  # type: ignore[union-attr]
        short = right - left + head.end() - after + SLACK < width
        bare = _BARE.fullmatch(text, left, right)  # a number alone on a line has its item below
        first = head["word"][:1]
        if item or (short and not bare and (first.isupper() or first.isdigit())):
            yield left + len(text[left:right].rstrip())
