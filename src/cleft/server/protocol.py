"""HTTP/1.1 as uvicorn speaks it, with what it leaves open: slow heads, malformed requests, a crowd.

A client that opens a connection must send the head of its request in good
time, so that nobody keeps connections by sending a byte now and then. What is
no HTTP is refused in the shape that all our refusals have.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cleft.server.refusals import RequestError
from cleft.server.shell import SECURITY, error_response, say

__all__ = ["CONNECTIONS", "HEAD_SECONDS", "Protocol"]

HEAD_SECONDS = 10.0
"""The longest that the head of a request may take."""

CONNECTIONS = 768
"""The most connections at once: fewer than the files that a process may usually open."""


class Protocol(H11Protocol):
    """One connection."""

    head_seconds = HEAD_SECONDS
    most = CONNECTIONS
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever; turn it away if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(
                RequestError(503, "too many connections", hint="try again soon", code="busy")
            )
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that has begun must end in time, however many come on a connection."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is waited for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; uvicorn calls this."""
        self._refuse(RequestError(400, "not HTTP/1.1", where="request", code="bad_request"))

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
            say(logging.INFO, event="refused", status=error.status, code=error.code)
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
