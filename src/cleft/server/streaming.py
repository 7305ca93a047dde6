"""JSON Lines in, JSON Lines out: one result a line, in order, as soon as it is ready.

Only a small window of lines is read ahead of what the client has taken, so
that a stream of any length needs little memory. A client that does not read
while it sends is not read from any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from cleft.errors import CleftError
from cleft.server.requests import (
    NDJSON,
    check_announced_size,
    decode,
    line_request,
    stream_request,
    too_large,
)
from cleft.server.responses import Error, LineFailure, RequestError, encode
from cleft.server.service import Counts, Service, response_size
from cleft.server.settings import Settings

WINDOW = 64
"""The most lines under way at once."""

AHEAD = 16 * 2**10
"""The most bytes of lines under way at once, unless one alone has more.

Lines that are under way take turns: among many long ones the first would end
about when the last does, and miss its time limit.
"""


class _Line(NamedTuple):
    """A line under way: its number, its bytes, its answer to come."""

    number: int
    size: int
    answer: asyncio.Task[bytes]


class LineStream:
    """The response to a streamed request."""

    def __init__(self, request: Request, service: Service, counts: Counts) -> None:
        self.request = request
        self.service = service
        self.counts = counts
        check_announced_size(request, service.settings.max_stream)
        self.options = stream_request(request.query_params, service.names)
        self.pending: asyncio.Queue[_Line | None] = asyncio.Queue(WINDOW)
        self.under_way = 0
        self.freed = asyncio.Event()
        self.seconds = service.settings.seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read, parse and write at the same time."""
        headers = [(b"content-type", NDJSON.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        reader = asyncio.create_task(self._read(receive))
        writer = asyncio.create_task(self._write(send))
        try:
            done, _ = await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
            if writer not in done:  # the reader ends first only if the client has disconnected
                await reader
                raise ClientDisconnect
            await writer
        except TimeoutError as error:  # the client does not read
            raise ClientDisconnect from error
        finally:
            await self._drop(reader, writer)

    async def _drop(self, *tasks: asyncio.Task[Any]) -> None:
        """Cancel what is still under way."""
        rest: list[asyncio.Task[Any]] = list(tasks)
        while not self.pending.empty():
            line = self.pending.get_nowait()
            if line is not None:
                rest.append(line.answer)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _read(self, receive: Receive) -> None:
        """Start the work of each line; then wait until the client disconnects."""
        source = _lines(self.request, self.service.settings)
        try:
            while True:
                async with asyncio.timeout(self.seconds):
                    found = await anext(source, None)
                if found is None:
                    break
                await self._start(*found)
        except TimeoutError:
            await self._end_with(
                RequestError(408, "the next line did not come in time", where="body")
            )
        except RequestError as error:
            await self._end_with(error)
        await self.pending.put(None)
        message: Message = {"type": ""}
        while message["type"] != "http.disconnect":
            message = await receive()

    async def _start(self, number: int, line: bytes | None) -> None:
        size = len(line or b"")
        while self.under_way and self.under_way + size > AHEAD:
            self.freed.clear()
            await self.freed.wait()
        self.under_way += size
        answer = asyncio.create_task(self._answer(number, line))
        await self.pending.put(_Line(number, size, answer))

    async def _end_with(self, error: RequestError) -> None:
        async def answer() -> bytes:
            return encode(LineFailure(error=Error.of(error)))

        await self.pending.put(_Line(0, 0, asyncio.create_task(answer())))

    async def _write(self, send: Send) -> None:
        while (line := await self.pending.get()) is not None:
            body = await self._in_time(line) + b"\n"
            async with asyncio.timeout(self.seconds):  # unless the client reads
                await send({"type": "http.response.body", "body": body, "more_body": True})
            self.under_way -= line.size
            self.freed.set()
        await send({"type": "http.response.body", "body": b""})

    async def _in_time(self, line: _Line) -> bytes:
        """The answer to a line; its time starts when all before it are answered."""
        try:
            async with asyncio.timeout(self.seconds):
                return await line.answer
        except TimeoutError:
            where = f"line {line.number}"
            error = RequestError(504, f"not done in {self.seconds:g} s", where=where)
        return encode(LineFailure(line=line.number, error=Error.of(error)))

    async def _answer(self, number: int, line: bytes | None) -> bytes:
        """The result of one line, or its error."""
        try:
            return await self._parse(number, line, f"line {number}")
        except CleftError as error:
            return encode(LineFailure(line=number, error=Error.of(error)))

    async def _parse(self, number: int, line: bytes | None, where: str) -> bytes:
        service = self.service
        if line is None:
            raise too_large(service.settings.max_line, where)
        request = line_request(decode(line, where), self.options, where)
        sentences = await service.sentences(
            request, self.counts, where="query.task", source=where, waits=True
        )
        size = response_size(request, sentences)
        return await service.run(size, service.answer, request, sentences, line=number)


async def _lines(request: Request, settings: Settings) -> AsyncIterator[tuple[int, bytes | None]]:
    """The lines of a body as they come, numbered from 1, without blank ones.

    None stands for a line that is too long. A body that is too large raises an
    error.
    """
    rest, number, size, skipping = bytearray(), 0, 0, False
    async for part in request.stream():
        size += len(part)
        if size > settings.max_stream:
            raise too_large(settings.max_stream)
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
