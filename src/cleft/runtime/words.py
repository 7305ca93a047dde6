"""Vectors and pieces of words, each looked up or computed once.

The form in which a word is read, its casing, its row in a table of vectors,
and what its characters add.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from itertools import chain

import numpy as np

from cleft.errors import ModelError
from cleft.runtime.directory import ModelDirectory
from cleft.runtime.manifest import Manifest, PieceRules
from cleft.runtime.sessions import Array, Sessions, check_width, renew_after_fork
from cleft.runtime.wordpiece import MOST_PIECES
from cleft.search.scorer import Floats, Ints

_PLAIN = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"',
    "`": "'", "‘": "'", "’": "'", "‚": "'", "‛": "'", "´": "'",
    "…": "...", "–": "--", "—": "--", "―": "--",
}  # fmt: skip


def plain_form(word: str) -> str:
    r"""A word in the form that a model of plain forms reads.

    >>> [plain_form(word) for word in ("-LRB-", "``", "“", "n’t", r"and\/or", "—", "cat")]
    ['(', '"', '"', "n't", 'and/or', '--', 'cat']
    """
    found = _PLAIN.get(word)
    if found is not None:
        return found
    if "’" in word:
        word = word.replace("’", "'")
    if "\\" in word:
        word = word.replace("\\/", "/").replace("\\*", "*")
    return word


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


UNKNOWN, BEGIN, END = 1, 2, 3
MOST = 50_000
CHUNK = 2_000
LONGEST_KEPT = 64
"""Longer words are rare; remembering them would only fill the memory. Of words with vectors, this
is the mean: when all together have more characters, all are forgotten."""


def form_reader(manifest: Manifest) -> Callable[[str], str]:
    """What makes of a word the form that the model reads."""
    return plain_form if manifest.forms == "plain" else str


class WordVectors:
    """Vectors of words, rows of one growing table.

    Row 0 is for padding, 1 and 2 for the marks before and after a sentence.
    """

    def __init__(self, directory: ModelDirectory, sessions: Sessions) -> None:
        manifest = directory.manifest
        vocabulary = directory.json("vocabulary.json")
        try:
            words, chars = vocabulary["words"], vocabulary["chars"]
            self._words = {word: number for number, word in enumerate(words)}
            self._chars = {char: number for number, char in enumerate(chars)}
        except (KeyError, TypeError) as error:
            where = str(directory.path / "vocabulary.json")
            raise ModelError(f"expected words and chars, found no {error}", where=where) from error
        self._table = directory.table("words.npy") if manifest.has_words else None
        if self._table is not None and len(self._table) != len(words):
            raise ModelError(
                f"{len(self._table)} vectors for {len(words)} words",
                where=str(directory.path / "words.npy"),
            )
        self._limit = manifest.char_limit
        self._form = form_reader(manifest)
        self._sessions = sessions
        self._known: dict[str, int] = {}
        self._letters = 0
        self._vectors: Floats = np.zeros((0, 0), np.float32)
        self._lock = threading.Lock()
        renew_after_fork(self)

    def renew(self) -> None:
        """Start afresh in a process that was forked: another thread may have been at work here."""
        self._lock = threading.Lock()
        self._known = {}

    def __call__(self, sentences: Sequence[Sequence[str]], grid: Ints, real: Array) -> Floats:
        """The vectors (positions, sentences, size); `grid` is (sentences, positions) of zeros."""
        with self._lock:
            self._learn(dict.fromkeys(chain.from_iterable(sentences)))
            known = self._known
            flat: list[int] = []
            for sentence in sentences:
                flat.append(1)
                flat += [known[word] for word in sentence]
                flat.append(2)
            grid[real] = flat
            vectors: Floats = self._vectors[grid.T]
            return vectors

    def _learn(self, words: Collection[str]) -> None:
        new = [word for word in words if word not in self._known]
        if not new and self._known:
            return
        self._letters += sum(map(len, new))
        full = len(self._known) + len(new) > MOST or self._letters > LONGEST_KEPT * MOST
        if not self._known or full:
            self._known = {}
            self._letters = sum(map(len, words))
            new = list(words)
            marks = self._make([UNKNOWN, BEGIN, END], [[UNKNOWN], [BEGIN], [END]])
            self._vectors = marks
        for start in range(0, len(new), CHUNK):
            part = new[start : start + CHUNK]
            forms = list(map(self._form, part))
            numbers = [self._words.get(word.lower(), UNKNOWN) for word in forms]
            made = self._make(numbers, [self._char_numbers(word) for word in forms])
            first = len(self._known) + 3
            self._reserve(first + len(part), made.shape[1])
            self._vectors[first : first + len(part)] = made
            self._known.update({word: first + n for n, word in enumerate(part)})

    def _reserve(self, rows: int, size: int) -> None:
        if rows > len(self._vectors):
            larger = np.zeros((max(rows, 2 * len(self._vectors)), size), np.float32)
            larger[: len(self._vectors)] = self._vectors
            self._vectors = larger

    def _char_numbers(self, word: str) -> list[int]:
        return [self._chars.get(char, UNKNOWN) for char in word[: self._limit]] or [UNKNOWN]

    def _make(self, numbers: list[int], chars: list[list[int]]) -> Floats:
        parts: list[Floats] = []
        if self._limit:
            lengths = np.array([len(row) for row in chars], np.int32)
            grid = np.zeros((len(chars), int(lengths.max())), np.int64)
            for number, row in enumerate(chars):
                grid[number, : len(row)] = row
            inputs: dict[str, Array] = {"chars": np.ascontiguousarray(grid.T), "lengths": lengths}
            parts.append(self._sessions.run("chars", inputs)["vectors"])
        if self._table is not None:
            parts.append(self._table[numbers])
        made: Floats = np.concatenate(parts, axis=1, dtype=np.float32)
        return made


class WordPieces:
    """The pieces and the casing of words."""

    def __init__(self, directory: ModelDirectory, rules: PieceRules) -> None:
        vocabulary = directory.lines("pieces.txt")
        scores: list[float] = []
        if rules.kind == "unigram":
            scores = list(map(float, directory.table("piece-scores.npy").values.ravel()))
            check_width(len(scores), len(vocabulary), "scores of pieces")
        try:
            self._cut = rules.cutter(vocabulary, scores)
        except KeyError as error:
            raise ModelError(
                f"the piece {error} is missing", where=str(directory.path / "pieces.txt")
            ) from error
        self._form = form_reader(directory.manifest)
        self._known: dict[str, tuple[list[int], int]] = {}

    def __call__(self, word: str) -> tuple[list[int], int]:
        """The pieces of one word, at least one, and its casing."""
        found = self._known.get(word)
        if found is None:
            form = self._form(word)
            found = (self._cut(form)[:MOST_PIECES] or [self._cut.unknown]), casing(form)
            if len(self._known) >= MOST:
                self._known = {}
            if len(word) <= LONGEST_KEPT:
                self._known[word] = found
        return found
