"""Bodies of requests, read no further than they may be, and JSON for answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request

from cleft.formats.json_values import dump_json
from cleft.server.refusals import RequestError
from cleft.server.settings import Settings

__all__ = ["JSON", "NDJSON", "check_announced", "encode", "lines", "media_type", "whole_body"]

JSON = "application/json"
NDJSON = "application/x-ndjson"


def encode(data: Any) -> bytes:
    """A value as JSON in UTF-8; with escapes where a text holds half a surrogate pair.

    >>> encode({"text": "é"}).decode()
    '{"text": "é"}'
    """
    return dump_json(data).encode()


def media_type(request: Request, *allowed: str) -> str:
    """The type of the body, which must be one of those allowed.

    A page of another site cannot send these types without asking first, so
    this also keeps it from using a server that does not let it.
    """
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found not in allowed:
        raise RequestError(
            415,
            f"expected the type {' or '.join(allowed)}, found {found[:60] or 'none'}",
            where="header Content-Type",
            hint=f"send 'Content-Type: {allowed[0]}'",
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError(
            415, "compressed bodies are not read", where="header Content-Encoding", hint="unpack it"
        )
    return found


def _too_large(limit: int, what: str = "body") -> RequestError:
    return RequestError(
        413,
        f"more than the {limit} bytes that are allowed",
        where=what,
        hint=f"send less at a time, or stream it as {NDJSON}",
    )


def check_announced(request: Request, limit: int) -> None:
    """Refuse a body that says itself that it is too large, before it is sent."""
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:18]) > limit:
        raise _too_large(limit)


async def whole_body(request: Request, limit: int) -> bytes:
    """The body, if it is not too large."""
    check_announced(request, limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
    return b"".join(parts)


async def lines(request: Request, settings: Settings) -> AsyncIterator[tuple[int, bytes | None]]:
    """The lines of a body as they come, numbered from 1, blank ones left out.

    None stands for a line that is too long. A body that is too large ends with
    an error.
    """
    rest, number, size, skipping = bytearray(), 0, 0, False
    async for part in request.stream():
        size += len(part)
        if size > settings.max_stream:
            raise _too_large(settings.max_stream)
        *ended, tail = part.split(b"\n")
        for piece in ended:
            number += 1
            line = bytes(rest + piece)
            rest.clear()
            if skipping or len(line) > settings.max_line:
                yield number, None
            elif line.strip():
                yield number, line
            skipping = False
        if not skipping:
            rest += tail
        if len(rest) > settings.max_line:
            skipping = True
            rest.clear()
    if skipping:
        yield number + 1, None
    elif rest.strip():
        yield number + 1, bytes(rest)
