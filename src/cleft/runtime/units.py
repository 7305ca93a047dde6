"""Sentences as the units of a document: what an encoder says of them, and what the text shows.

A sentence's vector comes from the encoding that it is parsed with. Beside it
stand marks of the layout and the writing: paragraphs, headings, list items,
quotations, places and lengths. Nothing here knows a language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p

import numpy as np

from cleft.runtime.batches import firsts
from cleft.search.scorer import Floats


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence of a document: its words, and whether it begins a paragraph.

    In training it may be an EDU: then `sentence` is what it is a part of, from the token `start`.

    >>> " ".join(Unit(("So", "what", "?"), begins=True))
    'So what ?'
    """

    words: tuple[str, ...]
    begins: bool = False
    sentence: tuple[str, ...] = ()
    start: int = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)


PARTS = 3
"""What a sentence's vector is made of: its first boundary, its last one, and the mean of all."""


def sentence_vectors(boundaries: Floats, lengths: Sequence[int]) -> Floats:
    """A vector of each sentence, (sentences, PARTS · size), from their boundaries without padding.

    >>> sentence_vectors(np.array([[1.0], [3.0], [5.0], [2.0], [4.0]], np.float32), [2, 1]).tolist()
    [[1.0, 5.0, 3.0], [2.0, 4.0, 3.0]]
    """
    first = firsts(lengths)
    sizes = np.asarray(lengths, np.intp) + 1
    mean = np.add.reduceat(boundaries, first, axis=0) / sizes[:, None]
    found = [boundaries[first], boundaries[first + sizes - 1], mean]
    return np.concatenate(found, axis=1).astype(np.float32)


ENDS = (".。", "!！", "?？", ":：", ";；", ",，")
"""Final marks, those of a kind together."""

STOPS = frozenset("".join(ENDS[:5])) | {"...", "…", "?!", "!!", "!?"}
OPENING, CLOSING = (
    frozenset({"``", "“", "‘", "«", "„", "「"}),
    frozenset({"''", "”", "’", "»", "」"}),
)
BRACKETS = frozenset({")", "]", "-RRB-", "-RSB-"})
STRAIGHT = frozenset({'"', "'"})
BULLETS = frozenset("•·*-–—‣▪◦●■→")
HEADING = 12
"""A heading has so many tokens at most."""

SHORT = 3

MARKS = (
    *("stop", "exclamation", "question", "colon", "semicolon", "comma", "no final mark"),
    *("heading", "list item", "number first", "small letter first"),
    *("quotation first", "quotation opens", "quotation closes", "quotation last", "speaker"),
    *("capitals", "all capitals", "short"),
    *("first", "last", "begins a paragraph", "ends a paragraph", "is a paragraph"),
    *("before", "after", "before in the paragraph", "after in the paragraph"),
    *("length", "paragraph's length", "document's length", "share before", "share after"),
)
"""What `text_marks` tells of a sentence, in order."""


def text_marks(units: Sequence[Unit]) -> Floats:
    """What the text shows of each sentence of a document, (sentences, MARKS).

    >>> title, text = Unit(("Rain",), begins=True), Unit(("It", "rained", "."), begins=True)
    >>> found = text_marks([title, text, Unit(("So", "?"))])
    >>> [name for name, on in zip(MARKS[:16], found[0]) if on], found.shape[1] == len(MARKS)
    (['no final mark', 'heading'], True)
    """
    count = len(units)
    begins = [number for number, unit in enumerate(units) if unit.begins or not number]
    rows = [
        (*_written(units[number].words, end - start), *_placed(number, start, end, count, units))
        for start, end in pairwise([*begins, count])
        for number in range(start, end)
    ]
    return np.array(rows, np.float32).reshape(count, len(MARKS))


def _written(words: Sequence[str], alone: int) -> tuple[float, ...]:
    """The marks of a sentence's own words, in a paragraph of so many sentences."""
    first, last = words[0], words[-1]
    quoted = last in CLOSING or last in STRAIGHT
    final = words[-2] if (quoted or last in BRACKETS) and len(words) > 1 else last
    bare = final not in STOPS
    heading = bare and alone == 1 and len(words) <= HEADING
    stem = first.rstrip(".)")
    numbered = (
        0 < len(stem) <= 2 and stem.isalnum() and (stem != first or words[1:2] in ([")"], ["."]))
    )
    cased = [word for word in words if word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in cased) / len(cased) if cased else 0.0
    straight = not STRAIGHT.isdisjoint(words)
    return (
        *(final in kind for kind in ENDS),
        bare,
        heading,
        first in BULLETS or numbered,
        first.isdigit(),
        first[0].islower(),
        first in OPENING or first in STRAIGHT,
        straight or not OPENING.isdisjoint(words),
        straight or not CLOSING.isdisjoint(words),
        quoted,
        ":" in words[1:4],
        capitals,
        bool(cased) and all(word.isupper() for word in cased),
        len(words) <= SHORT,
    )


def _placed(
    number: int, start: int, end: int, count: int, units: Sequence[Unit]
) -> tuple[float, ...]:
    """The marks of a sentence's place: in its document, in its paragraph from start to end."""
    before, after = number, count - 1 - number
    return (
        not before,
        not after,
        number == start,
        number == end - 1,
        end - start == 1,
        log1p(before) / 4,
        log1p(after) / 4,
        log1p(number - start) / 2,
        log1p(end - 1 - number) / 2,
        log(len(units[number])) / 3,
        log(end - start) / 2,
        log(count) / 4,
        before / count,
        after / count,
    )
