"""Serving over HTTP: the socket, its connections, and the end of the process.

uvicorn speaks HTTP/1.1 here; what it leaves open is added. A client must send
the head of its request in time and read its response. Where there are too many
connections, the one that has been idle longest is closed. What is not HTTP is
answered with an error of the usual shape.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from cleft.errors import UsageError
from cleft.server.app import create_app
from cleft.server.batching import ServedModel
from cleft.server.middleware import (
    CROWDED,
    HEAD_BYTES,
    LOG,
    SECURITY,
    error_response,
    head_too_large,
    log_event,
    too_many_connections,
)
from cleft.server.responses import RequestError
from cleft.server.settings import Settings

BACKLOG = 512
"""The most connections that wait to be accepted."""

AT_ONCE = 64
"""The most connections that are accepted before they are counted.

Together with the counted ones they must be fewer than the files that a process
may usually open (1024).
"""

GRACE = 5.0
"""Seconds beyond the time of a request that the server waits for it at its end."""

HEAD_SECONDS = 10.0
"""The longest that the head of a request may take."""

READ_SECONDS = 30.0
"""The longest that a client may read nothing of its response."""

CONNECTIONS = 768
"""The most connections, unless nearly all of them are at work."""

RESERVE = 32
"""The idle connections for which there is always room."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 is any free one."""
    where = f"{host}:{port}"
    if not 0 <= port <= 65535:
        raise UsageError(f"expected a port from 0 to 65535, found {port}", hint="as in --port 8000")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise UsageError(f"not an address of this machine: {error}", where=where) from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot listen there: {reason}", where=where, hint="choose another --port"
        ) from error
    return found


class Protocol(H11Protocol):
    """One connection: with time limits, and closed for a new one if it is idle."""

    head_seconds = HEAD_SECONDS
    read_seconds = READ_SECONDS
    most = CONNECTIONS
    reserve = RESERVE
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _idle_since = 0.0
    _evicted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; if there are too many connections, close an idle one."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        if len(self.connections) > self.most:
            self._make_room()
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read on; the head of every request on the connection has a time limit."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._expect_head()

    def on_response_complete(self) -> None:
        """Note that the connection is idle, and that the client must read; uvicorn calls this."""
        self._idle_since = self.loop.time()
        super().on_response_complete()
        self._expect_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_waiting()
        self._stop_expecting_reading()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, or a head that is too large; uvicorn calls this."""
        error = sys.exception()
        large = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431
        if large and self._is_between_requests:
            self._refuse(head_too_large("more", f"{HEAD_BYTES} bytes"))
        else:
            self._refuse(
                RequestError(
                    400,
                    "expected HTTP/1.1, found something else",
                    where="request",
                    code="bad_request",
                )
            )

    @property
    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> None:
        """Close the connection that has been idle longest, unless there is room.

        Where too many are at work, there is still room for a few idle ones, on
        which only the server's health is answered.
        """
        others: list[Any] = [each for each in self.connections if each is not self]
        idle = [each for each in others if each._is_between_requests and not each._evicted]
        at_work = sum(not each._is_between_requests for each in others)
        if at_work >= self.most:
            self.app_state = {**self.app_state, CROWDED: True}
        if at_work + len(idle) >= max(self.most, at_work + self.reserve):
            min(idle, key=lambda each: each._idle_since)._evict()

    def _evict(self) -> None:
        self._evicted = True
        if self.transport.get_write_buffer_size():  # a response that the client does not read
            self.transport.abort()
        elif self.cycle is None:
            self._refuse(too_many_connections())
        else:  # clients expect that between two requests
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
                RequestError(
                    408,
                    f"the head did not come in {self.head_seconds:g} s",
                    where="request",
                    hint="send it at once",
                    code="slow_head",
                )
            )

    def _refuse(self, error: RequestError) -> None:
        """Answer with an error, unless a response has begun, and close."""
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
        answer.headers["connection"] = "close"
        headers = [*answer.raw_headers, *named]
        for event in (
            h11.Response(status_code=error.status, headers=headers),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")


class _Server(uvicorn.Server):
    """uvicorn has one number for connections that wait and that are accepted at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)


def make_server(
    models: dict[str, ServedModel], settings: Settings, protocol: type[Protocol] = Protocol
) -> uvicorn.Server:
    """The server, ready to run on a listening socket."""
    config = uvicorn.Config(
        create_app(models, settings),
        http=protocol,
        backlog=AT_ONCE,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.seconds + GRACE),
    )
    return _Server(config)


def serve(listener: socket.socket, models: dict[str, ServedModel], settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; what is under way is finished first."""
    server = make_server(models, settings)
    with _logging(), _sigterm():
        server.run(sockets=[listener])


@contextmanager
def _logging() -> Iterator[None]:
    """Write our log to standard error, and of uvicorn's log only errors."""
    handler = logging.StreamHandler(sys.stderr)
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # we log refused requests ourselves
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of clients that disconnect
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.propagate = True


@contextmanager
def _sigterm() -> Iterator[None]:
    """Let SIGTERM end the server and not the process.

    After its orderly end uvicorn sends itself the signal once more, for whoever
    had a handler before: that must not kill us, as we end with 0.
    """
    old = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)
