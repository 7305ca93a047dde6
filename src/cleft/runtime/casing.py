"""A word's casing as a feature, for encoders that read lower-cased pieces."""

from __future__ import annotations

__all__ = ["CASINGS", "casing"]

CASINGS = ("mark", "lower", "title", "upper", "mixed", "digits", "other")
"""The kinds of casing that an uncased transformer may be told of."""


def casing(word: str) -> int:
    """The kind of casing of a word, as a number into `CASINGS`.

    >>> [CASINGS[casing(word)] for word in ("cat", "Cat", "CAT", "iPhone", "1984", "...")]
    ['lower', 'title', 'upper', 'mixed', 'digits', 'other']
    """
    if any(char.isdigit() for char in word):
        return 5
    if word.islower():
        return 1
    if word.isupper():
        return 3 if len(word) > 1 else 2
    if word[:1].isupper() and word[1:].islower():
        return 2
    return 4 if any(char.isalpha() for char in word) else 6
