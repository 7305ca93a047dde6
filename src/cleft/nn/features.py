"""What a network knows by number, and sentences as the tensors that an encoder takes.

A vocabulary is made from training data once and kept with the model as JSON.
Words are lower-cased; characters keep their case. Position 0 of a sentence is
its begin mark, positions 1..n its tokens, n+1 its end mark. Characters and
pieces are looked up once for each different word of a batch; pieces come in
windows that a transformer can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cleft.errors import FormatError
from cleft.nn.config import NetworkConfig
from cleft.runtime import wordpiece as runtime
from cleft.runtime.words import casing, plain_form

PAD, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unknown>", "<begin>", "<end>")


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Names in the order of their numbers.

    >>> vocabulary = Vocabulary.build([["The", "cat"], ["the", "dog"]], min_count=2)
    >>> vocabulary.words[4:], vocabulary.word_id("THE"), vocabulary.word_id("cat")
    (('the',), 4, 1)
    """

    words: tuple[str, ...] = SPECIAL
    chars: tuple[str, ...] = SPECIAL
    tags: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the names."""
        for name, values in (("words", self.words), ("chars", self.chars)):
            if tuple(values[:4]) != SPECIAL:
                raise FormatError(
                    f"expected {name} to begin with {', '.join(SPECIAL)}, found {values[:4]}",
                    where="vocabulary",
                )
        object.__setattr__(self, "_words", {word: n for n, word in enumerate(self.words)})
        object.__setattr__(self, "_chars", {char: n for n, char in enumerate(self.chars)})

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        min_count: int = 2,
        tags: Iterable[str] = (),
        labels: Mapping[str, Iterable[str]] | None = None,
        extra: Iterable[str] = (),
    ) -> Vocabulary:
        """The vocabulary of training sentences; `extra` words are kept whatever their count."""
        counts: Counter[str] = Counter()
        for sentence in sentences:
            counts.update(sentence)
        words: Counter[str] = Counter()
        chars: Counter[str] = Counter()
        for word, count in counts.items():
            words[word.lower()] += count
            for char in word:
                chars[char] += count
        kept = {word for word, count in words.items() if count >= min_count} | set(extra)
        return cls(
            words=(*SPECIAL, *sorted(kept)),
            chars=(*SPECIAL, *sorted(char for char, n in chars.items() if n >= min_count)),
            tags=tuple(sorted(set(tags))),
            labels={task: tuple(sorted(set(names))) for task, names in (labels or {}).items()},
        )

    def extend(self, other: Vocabulary) -> Vocabulary:
        """These names in their order and then those that only `other` has; its tasks.

        >>> old = Vocabulary(tags=("NN", "VB"), labels={"syntax": ("NP",)})
        >>> new = old.extend(Vocabulary(tags=("JJ", "NN"), labels={"syntax": ("ADJP", "NP")}))
        >>> new.tags, new.labels
        (('NN', 'VB', 'JJ'), {'syntax': ('NP', 'ADJP')})
        """

        def join(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(dict.fromkeys((*old, *new)))

        return Vocabulary(
            words=join(self.words, other.words),
            chars=join(self.chars, other.chars),
            tags=join(self.tags, other.tags) if other.tags else (),
            labels={task: join(self.labels.get(task, ()), x) for task, x in other.labels.items()},
        )

    def word_id(self, word: str) -> int:
        """The number of a word."""
        number: int = self._words.get(word.lower(), UNKNOWN)  # type: ignore[attr-defined]
        return number

    def char_ids(self, word: str, limit: int) -> list[int]:
        """The numbers of a word's first characters; an empty word has one unknown character."""
        chars: dict[str, int] = self._chars  # type: ignore[attr-defined]
        return [chars.get(char, UNKNOWN) for char in word[:limit]] or [UNKNOWN]

    def to_table(self) -> dict[str, Any]:
        """The vocabulary as plain values, for JSON."""
        labels = {task: list(names) for task, names in self.labels.items()}
        names = {"words": list(self.words), "chars": list(self.chars), "tags": list(self.tags)}
        return {**names, "labels": labels}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Vocabulary:
        """The vocabulary that `to_table` wrote."""
        try:
            return cls(
                words=tuple(table["words"]),
                chars=tuple(table["chars"]),
                tags=tuple(table["tags"]),
                labels={task: tuple(names) for task, names in table["labels"].items()},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise FormatError(
                f"expected words, chars, tags and labels, found {type(error).__name__}: {error}",
                where="vocabulary",
            ) from error


Numbers = npt.NDArray[np.int64]


class Marks(Protocol):
    """The marks that frame a window, and the longest window, marks included."""

    begin: int
    end: int
    pad: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Windows of pieces, and where each word's pieces stand in them."""

    ids: Tensor  # (windows, width)
    mask: Tensor  # (windows, width), 1 where there is a piece
    source: Tensor  # (pieces): position in the flattened windows
    target: Tensor  # (pieces): position in the flattened sentences (batch, n + 2)
    share: Tensor  # (pieces): one over the number of pieces of the word

    def to(self, device: torch.device) -> Windows:
        """The same on a device."""
        return Windows(**{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def make_windows(
    kinds: Numbers, lengths: Numbers, pieces: Sequence[Sequence[int]], marks: Marks
) -> Windows:
    """The windows of a batch; `kinds` says which entry of `pieces` stands at a position."""
    words = [
        [pieces[kind] for kind in row[1 : length + 1]]
        for row, length in zip(kinds, lengths, strict=True)
    ]
    found = runtime.make_windows(words, marks.begin, marks.end, marks.pad, marks.limit)
    width = kinds.shape[1]
    units = [row * width + np.arange(length + 2) for row, length in enumerate(lengths)]
    mask = np.arange(found.ids.shape[1]) < found.lengths[:, None]
    return Windows(
        ids=torch.from_numpy(found.ids),
        mask=torch.from_numpy(mask.astype(np.int64)),
        source=torch.from_numpy(found.source),
        target=torch.from_numpy(np.repeat(np.concatenate(units), found.sizes)),
        share=torch.from_numpy(np.repeat(1 / found.sizes, found.sizes).astype(np.float32)),
    )


class WordPieces(Marks, Protocol):
    """What a transformer's tokenizer has to offer."""

    def pieces(self, word: str) -> list[int]:
        """The pieces of one word, at least one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """A batch of sentences; what an encoder does not need is None."""

    lengths: Tensor  # (batch)
    words: Tensor  # (batch, n + 2)
    kinds: Tensor  # (batch, n + 2): which different word stands here
    chars: Tensor  # (different words, characters)
    casings: Tensor  # (batch, n + 2)
    windows: Windows | None = None
    vectors: Tensor | None = None  # (batch, n + 2, size): of sentences, in place of words

    def to(self, device: torch.device) -> Inputs:
        """The same on a device."""
        moved = {
            field.name: value.to(device)
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }
        return replace(self, **moved)


class Featuriser:
    """Turns sentences into `Inputs` for one vocabulary and configuration."""

    def __init__(
        self, config: NetworkConfig, vocabulary: Vocabulary, pieces: WordPieces | None = None
    ) -> None:
        self.config = config
        self.vocabulary = vocabulary
        self.pieces = pieces
        self._form: Callable[[str], str] = plain_form if config.forms == "plain" else str

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Inputs:
        """The tensors of a batch of non-empty sentences."""
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        numbers: dict[str, int] = {}
        kinds = np.zeros((len(sentences), lengths.max() + 2), dtype=np.int64)
        for row, sentence in enumerate(sentences):
            marks = [numbers.setdefault(word, len(numbers) + 3) for word in sentence]
            kinds[row, : len(marks) + 2] = [1, *marks, 2]
        different = list(map(self._form, numbers))
        word_ids = [PAD, BEGIN, END, *map(self.vocabulary.word_id, different)]
        casings = [0, 0, 0, *map(casing, different)]
        windows = None
        if self.pieces is not None:
            windows = make_windows(kinds, lengths, self._pieces(different), self.pieces)
        return Inputs(
            lengths=torch.from_numpy(lengths),
            words=torch.from_numpy(np.array(word_ids)[kinds]),
            kinds=torch.from_numpy(kinds),
            chars=torch.from_numpy(self._chars(different)),
            casings=torch.from_numpy(np.array(casings)[kinds]),
            windows=windows,
        )

    def _chars(self, different: list[str]) -> np.ndarray:
        limit = self.config.char_limit
        rows = [[UNKNOWN], [BEGIN], [END]]
        rows += [self.vocabulary.char_ids(word, limit) for word in different]
        table = np.full((len(rows), max(map(len, rows))), PAD, dtype=np.int64)
        for number, row in enumerate(rows):
            table[number, : len(row)] = row
        return table

    def _pieces(self, different: list[str]) -> list[list[int]]:
        assert self.pieces is not None
        return [[], [], [], *map(self.pieces.pieces, different)]
