"""HTTP/1.1 by uvicorn, with what it leaves open: slow clients, malformed requests, crowds.

A client that opens a connection must send the head of its request in good
time and take its answer, so that nobody keeps connections by doing nothing.
Where there is no room for a further connection, the one that has been idle
longest makes room. What is no HTTP is refused in the shape that all our
refusals have.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cleft.server.middleware import (
    CROWDED,
    HEAD_BYTES,
    SECURITY,
    error_response,
    head_too_large,
    log_event,
    too_many_connections,
)
from cleft.server.refusals import RequestError

__all__ = ["CONNECTIONS", "HEAD_SECONDS", "READ_SECONDS", "RESERVE", "Protocol"]

HEAD_SECONDS = 10.0
"""The longest that the head of a request may take."""

READ_SECONDS = 30.0
"""The longest that a client may take nothing of an answer that waits for it."""

CONNECTIONS = 768
"""The most connections at once: fewer than the files that a process may usually open."""

RESERVE = 32
"""Connections beyond those, when none of them is idle; only the server's health is told there."""


class Protocol(H11Protocol):
    """One connection."""

    head_seconds = HEAD_SECONDS
    read_seconds = READ_SECONDS
    most = CONNECTIONS
    reserve = RESERVE
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _idle_since = 0.0
    _evicted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever; if there are too many, another one must go."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        if len(self.connections) > self.most and not self._make_room():
            if len(self.connections) > self.most + self.reserve:
                self._refuse(too_many_connections())
                return
            self.app_state = {**self.app_state, CROWDED: True}
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end in time, however many come on a connection."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._expect_head()

    def on_response_complete(self) -> None:
        """The connection is idle now, if the client takes its answer; uvicorn calls this."""
        self._idle_since = self.loop.time()
        super().on_response_complete()
        self._expect_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._stop_waiting()
        self._stop_expecting_reading()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or too much of it; uvicorn calls this."""
        error = sys.exception()
        large = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431
        if large and self._is_between_requests:
            self._refuse(head_too_large("more", f"{HEAD_BYTES} bytes"))
        else:
            self._refuse(RequestError(400, "not HTTP/1.1", where="request", code="bad_request"))

    @property
    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> bool:
        """Close the connection that has been idle longest; false if all are at work."""
        others: list[Any] = [each for each in self.connections if each is not self]
        idle = [each for each in others if each._is_between_requests and not each._evicted]
        if not idle:
            return False
        min(idle, key=lambda each: each._idle_since)._evict()
        return True

    def _evict(self) -> None:
        self._evicted = True
        if self.transport.get_write_buffer_size():  # an answer that is not taken
            self.transport.abort()
        elif self.cycle is None:
            self._refuse(too_many_connections())
        else:  # between two requests a server may always close
            self.transport.close()

    def _expect_reading(self) -> None:
        self._stop_expecting_reading()
        left = self.transport.get_write_buffer_size()
        if left:
            self._unread = self.loop.call_later(self.read_seconds, self._check_reading, left)

    def _check_reading(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._expect_reading()
        else:
            self.transport.abort()

    def _stop_expecting_reading(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(self.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self.conn.their_state is h11.IDLE:
            self._refuse(
                RequestError(408, "the head came too slowly", where="request", code="slow_head")
            )

    def _refuse(self, error: RequestError) -> None:
        """Answer, if an answer has not begun, and close."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            log_event(logging.INFO, event="refused", status=error.status, code=error.code)
            self._answer(error)
        self.transport.close()

    def _answer(self, error: RequestError) -> None:
        answer = error_response(error)
        named: list[Any] = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
        headers = [*answer.raw_headers, *named, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=error.status, headers=headers),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
