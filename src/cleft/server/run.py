"""Serving: a socket, uvicorn, and an orderly end."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from cleft.errors import UsageError
from cleft.server.app import create_app
from cleft.server.connections import Protocol
from cleft.server.engines import Engine
from cleft.server.middleware import LOG
from cleft.server.settings import Settings

__all__ = ["bind", "make_server", "serve"]

BACKLOG = 512
"""Connections that may wait to be accepted."""

AT_ONCE = 64
"""Connections that are accepted before the first of them is looked at.

They are open beside those that the protocol counts: all together must be fewer
than the files that a process may usually open (1024).
"""
GRACE = 5.0
"""Seconds beyond a request's own time that the end of the server waits for it."""


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says what is in the way; port 0 is any free one."""
    where = f"{host}:{port}"
    if not 0 <= port <= 65535:
        raise UsageError(f"expected a port from 0 to 65535, found {port}", hint="as in --port 8000")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise UsageError(f"this is no address here: {error}", where=where) from error
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


class _Server(uvicorn.Server):
    """Uvicorn's, which takes one number for what may wait and what is accepted at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(BACKLOG)


def make_server(
    engines: dict[str, Engine], settings: Settings, protocol: type[Protocol] = Protocol
) -> uvicorn.Server:
    """The server, ready to run on a listening socket."""
    config = uvicorn.Config(
        create_app(engines, settings),
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


def serve(listener: socket.socket, engines: dict[str, Engine], settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; what is under way is finished first."""
    server = make_server(engines, settings)
    with _logging(), _sigterm():
        server.run(sockets=[listener])


@contextmanager
def _logging() -> Iterator[None]:
    """Our lines of JSON to standard error; of uvicorn's only errors."""
    handler = logging.StreamHandler(sys.stderr)
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # we tell of refusals ourselves
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of clients that went away
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
    old = signal.signal(signal.SIGTERM, _nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


def _nothing(number: int, frame: FrameType | None) -> None:
    pass
