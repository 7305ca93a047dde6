"""What a network knows by number: words, characters, tags, labels.

A vocabulary is made from training data once and kept with the model as JSON.
Words are lower-cased; characters keep their case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cleft.errors import FormatError

__all__ = ["BEGIN", "END", "PAD", "UNKNOWN", "Vocabulary"]

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
