"""Sentences of many requests in one call of the model.

One thread takes what waits and parses it; while it does, more comes in, which
makes the next call. Nothing is delayed to make a call larger. Requests take
turns, so that a long one does not keep short ones waiting. What is cancelled
before its turn costs nothing.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

from cleft.given import Given
from cleft.search import SearchOptions
from cleft.sentence import Sentence
from cleft.server.refusals import RequestError

__all__ = ["BatchKey", "Batcher", "PendingRequest"]

SENTENCES = 192
TOKENS = 2_000
SHARE = 24
"""The most of one call, and of one request at a time while others wait."""


class BatchKey(NamedTuple):
    """What sentences must have in common to be parsed in one call."""

    task: str = "both"
    options: SearchOptions = SearchOptions()


Parse = Callable[[Sequence[Given], BatchKey], list[Sentence]]


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request in the queue: what is left to parse, and what came of the rest."""

    key: BatchKey
    waiting: deque[tuple[int, Given]]
    count: int
    results: dict[int, Sentence] = field(default_factory=dict)
    done: Future[list[Sentence]] = field(default_factory=Future)

    @property
    def dropped(self) -> bool:
        """Whether nobody waits for it any more, or it has failed."""
        return self.done.done()

    def put(self, row: int, sentence: Sentence) -> None:
        """Keep the result of one sentence; the last one completes the ticket."""
        self.results[row] = sentence
        if len(self.results) == self.count and self.done.set_running_or_notify_cancel():
            self.done.set_result([self.results[row] for row in range(self.count)])

    def fail(self, error: Exception) -> None:
        """End the ticket with an error, unless it has ended."""
        if not self.dropped and self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


class PendingSentence(NamedTuple):
    """A sentence on its way: whose it is, and which of theirs."""

    ticket: PendingRequest
    number: int
    given: Given


class Batcher:
    """A queue of bounded length before one model, and the thread that empties it."""

    def __init__(self, parse: Parse, capacity: int, name: str = "model") -> None:
        self._parse = parse
        self._capacity = capacity
        self._queue: deque[PendingRequest] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"cleft-{name}", daemon=True)
        self._thread.start()

    def submit(self, sentences: Sequence[Given], key: BatchKey) -> Future[list[Sentence]]:
        """Queue the sentences of a request; their results will be in order."""
        ticket = PendingRequest(key, deque(enumerate(sentences)), len(sentences))
        if not sentences:
            ticket.done.set_result([])
            return ticket.done
        with self._changed:
            if self._stopping:
                raise RequestError(503, "the server is stopping", hint="ask another one")
            self._forget_dropped()
            if len(self._queue) >= self._capacity:
                raise RequestError(
                    429, "too many requests are waiting", hint="try again in a second"
                )
            self._queue.append(ticket)
            self._changed.notify()
        return ticket.done

    @property
    def waiting(self) -> int:
        """How many requests have sentences that wait for a call."""
        with self._changed:
            self._forget_dropped()
            return len(self._queue)

    def stop(self) -> None:
        """Take nothing more, finish what is queued, and end the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def _forget_dropped(self) -> None:
        if any(ticket.dropped for ticket in self._queue):
            self._queue = deque(ticket for ticket in self._queue if not ticket.dropped)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._stopping)
                self._forget_dropped()
                batch = self._take()
                if not batch and self._stopping:
                    return
            if batch:
                self._call(batch)

    def _take(self) -> list[PendingSentence]:
        """Sentences for one call, all of one key, a share of each request in turn."""
        batch: list[PendingSentence] = []
        others: list[PendingRequest] = []
        room = True
        while self._queue and room:
            ticket = self._queue.popleft()
            if batch and ticket.key != batch[0].ticket.key:
                others.append(ticket)
                continue
            before = len(batch)
            room = _share(ticket, batch)
            if ticket.waiting and len(batch) == before:
                self._queue.appendleft(ticket)  # its turn is the next call
            elif ticket.waiting:
                self._queue.append(ticket)
        self._queue.extendleft(reversed(others))
        return batch

    def _call(self, batch: list[PendingSentence]) -> None:
        try:
            found = self._parse([row.given for row in batch], batch[0].ticket.key)
        except Exception as error:
            if len(batch) == 1:
                batch[0].ticket.fail(error)
            else:  # the sentences of others must not fail with it
                for row in batch:
                    self._call([row])
            return
        for row, sentence in zip(batch, found, strict=True):
            row.ticket.put(row.number, sentence)


def _share(ticket: PendingRequest, batch: list[PendingSentence]) -> bool:
    """Move a request's share to a batch; whether there is room for more."""
    tokens = sum(len(row.given) for row in batch)
    for _ in range(min(SHARE, len(ticket.waiting))):
        number, given = ticket.waiting[0]
        tokens += len(given)
        if batch and (tokens > TOKENS or len(batch) >= SENTENCES):
            return False
        ticket.waiting.popleft()
        batch.append(PendingSentence(ticket, number, given))
    return True
