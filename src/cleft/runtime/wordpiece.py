"""The pieces of words as BERT's and SentencePiece's tokenizers cut them, and windows of pieces.

Words come one by one. For BERT a word is cleaned, lower-cased and stripped of
accents if the model is uncased, split at punctuation and around Chinese
characters, and each part is covered by the longest pieces from the left; a
unigram model covers it by the most probable pieces. A sentence of more
pieces than a transformer can read is read in windows that overlap by half; each
piece is taken from the window in which it stands nearest to the middle.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from cleft.search.scorer import Floats

CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
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


UNSEEN = 10.0
"""How much less probable than its rarest piece a unigram model holds a character without one."""


class Unigram(WordPiece):
    """A vocabulary of pieces with log-probabilities; a word is its most probable pieces.

    >>> vocabulary = ["<unk>", "▁a", "▁ab", "b", "c"]
    >>> pieces = Unigram(vocabulary, [0.0, -1.0, -3.0, -1.5, -2.0], unknown="<unk>", prefix="▁")
    >>> pieces("ab"), pieces("acxyb"), pieces("ａb")
    ([1, 3], [1, 4, 0, 3], [1, 3])
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        scores: Iterable[float],
        *,
        unknown: str,
        prefix: str,
        specials: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(
            vocabulary,
            unknown=unknown,
            lower=False,
            strip_accents=False,
            prefix=prefix,
            specials=specials,
        )
        self.scores = list(map(float, scores))
        self._least = min(self.scores) - UNSEEN
        self._longest = max(map(len, vocabulary))

    def _ordinary(self, text: str) -> list[int]:
        if not text:
            return []
        text = unicodedata.normalize("NFKC", text).replace(SPACE, self.prefix)
        text = text if text.startswith(self.prefix) else self.prefix + text
        found: list[int] = []
        for part in re.findall(f"{self.prefix}[^{self.prefix}]*", text):
            found += self._cover(part)
        return found

    def _cover(self, part: str) -> list[int]:
        """The most probable pieces (Viterbi); characters without one are one unknown piece."""
        count = len(part)
        best, begin, piece = (
            [-np.inf] * (count + 1),
            [0] * (count + 1),
            [self.unknown] * (count + 1),
        )
        best[0] = 0.0
        for start in range(count):
            known = False
            for end in range(start + 1, min(start + self._longest, count) + 1):
                number = self.numbers.get(part[start:end])
                if number is None:
                    continue
                known = known or end == start + 1
                if best[start] + self.scores[number] > best[end]:
                    best[end] = best[start] + self.scores[number]
                    begin[end], piece[end] = start, number
            if not known and best[start] + self._least > best[start + 1]:
                best[start + 1] = best[start] + self._least
                begin[start + 1], piece[start + 1] = start, self.unknown
        found: list[int] = []
        while count:
            if piece[count] != self.unknown or not found or found[-1] != self.unknown:
                found.append(piece[count])
            count = begin[count]
        return found[::-1]


Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Windows of pieces, and where the pieces of each unit stand in them.

    A unit is a mark or a word; they follow each other sentence by sentence,
    each sentence between its two marks.
    """

    ids: Numbers  # (windows, width)
    lengths: npt.NDArray[np.int32]  # (windows)
    source: Numbers  # (pieces): position in the flattened windows
    sizes: Numbers  # (units): how many pieces each has


def window_starts(count: int, room: int) -> list[int]:
    """Where the windows over `count` pieces begin, `room` pieces to a window.

    >>> window_starts(5, 8), window_starts(20, 8)
    ([0], [0, 4, 8, 12])
    """
    if count <= room:
        return [0]
    stride = max(1, room // 2)
    return list(range(0, count - room + stride, stride))


def _place(count: int, room: int) -> tuple[Numbers, Numbers]:
    """For each piece, the number of its window and its offset there."""
    starts = np.array(window_starts(count, room))
    if len(starts) == 1:
        return np.zeros(count, np.int64), np.arange(count)
    pieces = np.arange(count)
    middle = starts + (np.minimum(starts + room, count) - starts - 1) / 2
    # The nearest middle, the earlier of two: a line through halfway marks, not a table.
    best = np.searchsorted((middle[1:] + middle[:-1]) / 2, pieces, side="left")
    return best, pieces - starts[best]


def make_windows(
    sentences: Sequence[Sequence[Sequence[int]]], begin: int, end: int, pad: int, limit: int
) -> Windows:
    """The windows of sentences, which are lists of words, which are lists of pieces.

    >>> windows = make_windows([[[7], [8, 9]], [[5]]], begin=1, end=2, pad=0, limit=8)
    >>> windows.ids.tolist(), windows.source.tolist(), windows.sizes.tolist()
    ([[1, 7, 8, 9, 2], [1, 5, 2, 0, 0]], [0, 1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 1, 1, 1, 1])
    """
    rows: list[list[int]] = []
    sizes: list[int] = []
    places: list[tuple[Numbers, Numbers]] = []
    for words in sentences:
        flat = list(chain.from_iterable(words))
        window, offset = _place(len(flat), limit - 2)
        first = len(rows)
        rows += [
            [begin, *flat[start : start + limit - 2], end]
            for start in window_starts(len(flat), limit - 2)
        ]
        last = len(rows) - 1
        places.append(
            (
                np.concatenate([[first], first + window, [last]]),
                np.concatenate([[0], offset + 1, [len(rows[last]) - 1]]),
            )
        )
        sizes += [1, *map(len, words), 1]
    lengths = np.array([len(row) for row in rows], np.int32)
    width = int(lengths.max())
    ids = np.full((len(rows), width), pad, np.int64)
    ids[np.arange(width) < lengths[:, None]] = list(chain.from_iterable(rows))
    source = np.concatenate([window * width + offset for window, offset in places])
    return Windows(ids=ids, lengths=lengths, source=source, sizes=np.array(sizes, np.int64))


def mean_of_pieces(vectors: Floats, sizes: Numbers) -> Floats:
    """The mean over the pieces of each unit, from the vectors of all pieces.

    >>> mean_of_pieces(np.array([[1.0], [2.0], [4.0]]), np.array([1, 2])).tolist()
    [[1.0], [3.0]]
    """
    starts = np.cumsum(sizes) - sizes
    words: Floats = vectors[starts]
    # Most words are one piece: those of two or more are few, and each turn has fewer.
    more = np.flatnonzero(sizes > 1)
    if more.size:
        several, piece = more, 1
        while more.size:
            words[more] += vectors[starts[more] + piece]
            piece += 1
            more = more[sizes[more] > piece]
        words[several] /= sizes[several, None].astype(words.dtype)
    return words
