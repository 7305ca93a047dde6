"""The pieces of words as BERT's tokenizers cut them.

Words come one by one. A word is cleaned, lower-cased and stripped of accents
if the model is uncased, split at punctuation and around Chinese characters,
and each part is covered by the longest pieces from the left.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

__all__ = ["MOST_PIECES", "WordPiece"]

CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Blocks whose characters stand alone. The sixth begins where the tokenizers that models were
trained with have it, not where Unicode has it."""

CONTROL = frozenset({"Cc", "Cf", "Co", "Cs"})
SPACE = " "
LONGEST = 100
MOST_PIECES = 100
"""A word is read as its first so many pieces: one of 10,000 marks must not cost what 10,000 words
cost, since batches and the limits of a server count words."""


@lru_cache(maxsize=20_000)
def _clean(char: str) -> str:
    """What becomes of one character: nothing, a space, itself between spaces, itself."""
    if char in "\t\n\r":
        return SPACE
    number = ord(char)
    if number in (0, 0xFFFD) or unicodedata.category(char) in CONTROL:
        return ""
    if char.isspace():
        return SPACE
    return char


def _is_cjk(char: str) -> bool:
    number = ord(char)
    return number >= 0x3400 and any(first <= number <= last for first, last in CJK)


def _is_punctuation(char: str) -> bool:
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != SPACE
    return unicodedata.category(char).startswith("P")


class WordPiece:
    """A vocabulary of pieces and the way to cover words with them.

    >>> vocabulary = ["[UNK]", "play", "##ing", ",", "e"]
    >>> pieces = WordPiece(vocabulary, unknown="[UNK]", lower=True, strip_accents=True)
    >>> pieces("Playing"), pieces("play,é"), pieces("xyz")
    ([1, 2], [1, 3, 4], [0])
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        unknown: str,
        lower: bool,
        strip_accents: bool,
        clean: bool = True,
        cjk: bool = True,
        prefix: str = "##",
        specials: Mapping[str, int] | None = None,
    ) -> None:
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown = self.numbers[unknown]
        self.lower, self.strip_accents = lower, strip_accents
        self.clean, self.cjk, self.prefix = clean, cjk, prefix
        self.specials = dict(specials or {})
        by_length = sorted(self.specials, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, by_length))) if by_length else None

    def __call__(self, word: str) -> list[int]:
        """The pieces of one word; none where it holds nothing that can be seen."""
        if self._special is None or not self._special.search(word):
            return self._ordinary(word)
        found: list[int] = []
        start = 0
        for match in self._special.finditer(word):
            found += self._ordinary(word[start : match.start()])
            found.append(self.specials[match.group()])
            start = match.end()
        return found + self._ordinary(word[start:])

    def _ordinary(self, text: str) -> list[int]:
        found: list[int] = []
        for part in self._parts(self._normal(text)):
            found += self._cover(part)
        return found

    def _normal(self, text: str) -> str:
        if text.isascii() and text.isprintable():
            return text.lower() if self.lower else text
        if self.clean:
            text = "".join(map(_clean, text))
        if self.cjk:
            text = "".join(f" {char} " if _is_cjk(char) else char for char in text)
        if self.strip_accents:
            marked = unicodedata.normalize("NFD", text)
            text = "".join(char for char in marked if unicodedata.category(char) != "Mn")
        if self.lower:
            # One by one: a final sigma is not to look at its neighbours.
            text = "".join(char.lower() for char in text)
        return text

    @staticmethod
    def _parts(text: str) -> Iterator[str]:
        """The text split at white space and around punctuation."""
        if text.isalnum():
            yield text
            return
        start = 0
        for index, char in enumerate(text):
            if char.isspace() or _is_punctuation(char):
                if index > start:
                    yield text[start:index]
                if not char.isspace():
                    yield char
                start = index + 1
        if start < len(text):
            yield text[start:]

    def _cover(self, part: str) -> list[int]:
        """The longest pieces from the left; one unknown piece if they do not reach the end."""
        if len(part) > LONGEST:
            return [self.unknown]
        found: list[int] = []
        start = 0
        while start < len(part):
            prefix = self.prefix if start else ""
            for end in range(len(part), start, -1):
                number = self.numbers.get(prefix + part[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self.unknown]
        return found
