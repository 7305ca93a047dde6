"""JSON Lines in, JSON Lines out: one result a line, in order, as soon as it is there.

No more lines are read than a small window ahead of what the client has taken,
so that a stream of any length needs little memory: a client that does not read
while it sends waits in the end for itself.
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from cleft.errors import CleftError
from cleft.server.bodies import NDJSON, check_announced, encode, lines
from cleft.server.refusals import RequestError, error_data
from cleft.server.requests import decode, line_question, stream_question
from cleft.server.service import Service, Tally, answer_size

__all__ = ["LineStream"]

WINDOW = 64
"""Lines that are under way at once."""

AHEAD = 16 * 2**10
"""Bytes of lines that are under way at once, unless one alone has more.

All that is under way takes turns: with many long lines the first would be done
about when the last is, and late for its time.
"""


class _Line(NamedTuple):
    """A line that is being worked on: its number, its bytes, its answer to come."""

    number: int
    size: int
    answer: asyncio.Task[bytes]


class LineStream:
    """The answer to a streamed request."""

    def __init__(self, request: Request, service: Service, tally: Tally) -> None:
        self.request = request
        self.service = service
        self.tally = tally
        check_announced(request, service.settings.max_stream)
        self.question = stream_question(request.query_params, service.names)
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
            if writer not in done:  # the reader only ends before it if the client is gone
                await reader
                raise ClientDisconnect
            await writer
        except TimeoutError as error:  # it takes nothing: as good as gone
            raise ClientDisconnect from error
        finally:
            await self._drop(reader, writer)

    async def _drop(self, *tasks: asyncio.Task[Any]) -> None:
        """End what is still under way: nobody waits for it."""
        rest: list[asyncio.Task[Any]] = list(tasks)
        while not self.pending.empty():
            line = self.pending.get_nowait()
            if line is not None:
                rest.append(line.answer)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def _read(self, receive: Receive) -> None:
        """Start the work of each line; then wait for the client to go."""
        source = lines(self.request, self.service.settings)
        try:
            while True:
                async with asyncio.timeout(self.seconds):
                    found = await anext(source, None)
                if found is None:
                    break
                await self._start(*found)
        except TimeoutError:
            await self._refuse(RequestError(408, "the next line did not come", where="body"))
        except RequestError as error:
            await self._refuse(error)
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

    async def _refuse(self, error: RequestError) -> None:
        async def said() -> bytes:
            return encode({"error": error_data(error)})

        await self.pending.put(_Line(0, 0, asyncio.create_task(said())))

    async def _write(self, send: Send) -> None:
        while (line := await self.pending.get()) is not None:
            body = await self._in_time(line) + b"\n"
            async with asyncio.timeout(self.seconds):  # a client that never reads
                await send({"type": "http.response.body", "body": body, "more_body": True})
            self.under_way -= line.size
            self.freed.set()
        await send({"type": "http.response.body", "body": b""})

    async def _in_time(self, line: _Line) -> bytes:
        """The answer to a line; its clock starts when all before it are answered."""
        try:
            async with asyncio.timeout(self.seconds):
                return await line.answer
        except TimeoutError:
            where = f"line {line.number}"
            error = RequestError(504, f"not done in {self.seconds:g} s", where=where)
        return encode({"line": line.number, "error": error_data(error)})

    async def _answer(self, number: int, line: bytes | None) -> bytes:
        """The result of one line, or its error."""
        try:
            return await self._parse(number, line, f"line {number}")
        except CleftError as error:
            return encode({"line": number, "error": error_data(error)})

    async def _parse(self, number: int, line: bytes | None, where: str) -> bytes:
        service = self.service
        if line is None:
            limit = service.settings.max_line
            raise RequestError(413, f"more than {limit} bytes", where=where, hint="send less")
        question = line_question(decode(line, where), self.question, where)
        sentences = await service.sentences(
            question, self.tally, where="query.task", source=where, patient=True
        )
        size = answer_size(question, sentences)
        return await service.run(size, service.answer, question, sentences, line=number)
