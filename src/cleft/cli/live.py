"""Input that comes slowly: it is read in a thread, so that parsing knows when it would wait.

A pipe whose writer rests (`tail -f`, a person at a terminal) has to give the
results of what it has said so far; a fast one has to be parsed in large batches.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from typing import Generic, TypeVar

__all__ = ["Live", "is_live"]

T = TypeVar("T")

WAIT = 0.05
"""Seconds in which a writer that is not resting says more."""

AHEAD = 4_096
"""The most items that are read before they are asked for."""


def is_live() -> bool:
    """Whether standard input may keep its reader waiting: a pipe or a terminal, not a file."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # closed, or something in its place
        return False
    return not stat.S_ISREG(mode)


class Live(Generic[T]):
    """The items of an iterable, read ahead by a thread of their own.

    >>> items = Live(iter("ab"))
    >>> [*items], items.ready()
    (['a', 'b'], True)
    """

    def __init__(self, items: Iterable[T], *, ahead: int = AHEAD) -> None:
        self._queue: Queue[tuple[T] | BaseException | None] = Queue(ahead)
        self._next: tuple[T] | BaseException | None = None
        self._held = False
        # Nothing can end a read that waits: the thread must not keep the program from ending.
        threading.Thread(target=self._read, args=(items,), daemon=True).start()

    def __iter__(self) -> Iterator[T]:
        while True:
            if not self._held:
                self._next, self._held = self._queue.get(), True
            found = self._next
            if found is None:
                return  # and the end stays at hand
            self._held = False
            if isinstance(found, BaseException):
                raise found
            yield found[0]

    def ready(self) -> bool:
        """Whether the next item, or the end, is at hand; a short rest is waited for."""
        if not self._held:
            try:
                self._next, self._held = self._queue.get(timeout=WAIT), True
            except Empty:
                return False
        return True

    def _read(self, items: Iterable[T]) -> None:
        try:
            for item in items:
                self._queue.put((item,))
        except BaseException as error:
            self._queue.put(error)
        else:
            self._queue.put(None)
