"""Sentences in batches: like lengths together, in a window of bounded size, out in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

__all__ = ["GREEDY_TOKENS", "TOKENS", "always", "plan", "windows"]

T = TypeVar("T")

TOKENS, GREEDY_TOKENS = 1_000, 2_000
SENTENCES = 192
"""The most that a batch holds; tokens count with their padding. A beam has many hypotheses of a
sentence, so that it has rows enough with fewer sentences."""

FIRST, LARGEST = 32, 2_048
"""The sentences of a stream's first window; each is twice the last one, up to the largest."""

WINDOW_TOKENS = 60_000


def plan(
    lengths: Sequence[int], tokens: int = TOKENS, sentences: int = SENTENCES
) -> list[list[int]]:
    """Batches of numbers of sentences, longest first, each at most so many padded tokens.

    A sentence longer than that is a batch by itself. Longest first, so that a
    batch's sentences are sorted as the pointer wants them.

    >>> plan([3, 50, 4, 3], tokens=12)
    [[1], [2, 0, 3]]
    """
    batches: list[list[int]] = []
    width = 0
    for number in sorted(range(len(lengths)), key=lambda number: (-lengths[number], number)):
        full = not batches or len(batches[-1]) >= sentences
        if full or (len(batches[-1]) + 1) * width > tokens:
            batches.append([])
            width = max(1, lengths[number])
        batches[-1].append(number)
    return batches


def always() -> bool:
    """The next item can be had without waiting for it, as far as anyone knows."""
    return True


def windows(
    items: Iterable[T],
    size: int = LARGEST,
    tokens: int = WINDOW_TOKENS,
    ready: Callable[[], bool] = always,
) -> Iterator[list[T]]:
    """Items in lists that grow, so that the first results come soon and memory stays bounded.

    A list ends early when its items together have so many tokens, or when the
    next item is not `ready`.

    >>> [len(window) for window in windows(["a"] * 200, size=64)]
    [32, 64, 64, 40]
    """
    window: list[T] = []
    room, weight = min(FIRST, size), 0
    for item in items:
        window.append(item)
        weight += len(item) if hasattr(item, "__len__") else 1
        full = len(window) >= room or weight >= tokens
        if full or not ready():
            yield window
            window, weight = [], 0
            room = min(2 * room, size) if full else room
    if window:
        yield window
