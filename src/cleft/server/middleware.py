"""What every request passes through: headers, errors, the log, who may come in."""

from __future__ import annotations

import hmac
import json
import logging
import os
import time
import traceback
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cleft.server.bodies import JSON, encode
from cleft.server.refusals import RequestError, error_data
from cleft.server.service import Service
from cleft.server.settings import header_host, plain_host

__all__ = [
    "CROWDED",
    "HEAD_BYTES",
    "HEALTH",
    "LOG",
    "POLICY",
    "SECURITY",
    "AccessMiddleware",
    "HeadMiddleware",
    "OuterMiddleware",
    "error_response",
    "head_too_large",
    "log_event",
    "too_many_connections",
]

LOG = logging.getLogger("cleft.server")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing from elsewhere, no script or style in the page itself."""

SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

HEALTH = "/healthz"
"""Where a monitor asks whether the server works."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")

HEAD_BYTES = 16 * 2**10
HEADERS = 100
"""The most bytes of a request line with its headers, and the most headers."""

CROWDED = "crowded"
"""The key of a request's state which says that its connection came when there was no room."""

GONE = 499
"""What the log calls the status of a request whose client went away."""


def error_response(error: RequestError) -> Response:
    """An error in the one shape that all have."""
    headers = {"cache-control": "no-store"}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.status in (429, 503):
        headers["retry-after"] = "1"
    body = encode({"error": error_data(error)})
    return Response(body, status_code=error.status, headers=headers, media_type=JSON)


class OuterMiddleware:
    """The outermost layer: security headers, an answer whatever happens, one line of log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; what is no request passes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        scope["cleft.tally"] = exchange.tally
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.status = GONE
        except Exception as error:
            await exchange.fail(scope, error)
        finally:
            exchange.log(scope)


class _Exchange:
    """One request and its answer, watched on their way."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send = receive, send
        self.unread = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        self.status = 0
        self.sent = self.received = 0
        self.tally: dict[str, Any] = {}
        self.began = time.perf_counter()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self.received += len(message.get("body", b""))
            self.unread &= message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY.items():
                headers.setdefault(name, value)
            if self.unread:
                # Nobody will read the rest of the body: it must not be taken for a request.
                headers["connection"] = "close"
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    async def fail(self, scope: Scope, error: Exception) -> None:
        """Answer a fault of our own; its message may hold a text, so it is not logged."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        log_event(logging.ERROR, event="fault", error=type(error).__name__, where=where)
        if os.environ.get("CLEFT_DEBUG"):
            traceback.print_exception(error)
        if self.status:  # the answer has begun: all that is left is to end it
            return
        fault = RequestError(500, "a fault of the server's own", hint="please report it")
        await error_response(fault)(scope, self._receive, self.send)

    def log(self, scope: Scope) -> None:
        """One line of JSON; no text of the user's, and no path that is none of ours."""
        log_event(
            logging.INFO,
            event="request",
            method=scope["method"],
            path=scope["path"] if "endpoint" in scope and self.status != 404 else None,
            status=self.status or GONE,
            seconds=round(time.perf_counter() - self.began, 6),
            received=self.received,
            sent=self.sent,
            **self.tally,
        )


def log_event(level: int, **fields: Any) -> None:
    """One line of JSON in the log."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    LOG.log(level, "%s", json.dumps({"time": stamp, **fields}))


def head_too_large(found: str, limit: str) -> RequestError:
    """The refusal of a request line and headers that are too many or too long."""
    return RequestError(
        431,
        f"expected {limit} at most, found {found}",
        where="headers",
        hint="send fewer and shorter headers, and long options in a body",
    )


def too_many_connections() -> RequestError:
    """The refusal of a connection for which there is no room."""
    return RequestError(503, "too many connections", hint="try again soon", code="busy")


def _check_crowd(scope: Scope) -> None:
    """A connection that came when there was no room may only ask for the server's health."""
    if scope.get("state", {}).get(CROWDED) and scope["path"] != HEALTH:
        raise too_many_connections()


class HeadMiddleware:
    """Refuse heads that are too large, and requests that were meant for another host.

    A page of another site can give its own name the address of this machine
    (DNS rebinding). The browser then takes our answers for that site's own and
    lets its scripts read them. Only the `Host` header tells such a request.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self.app = app
        self.hosts = {*LOOPBACK, *map(plain_host, hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        try:
            if scope["type"] == "http":
                _check_head_size(scope)
                self._check_host(scope)
        except RequestError as error:
            await error_response(error)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _check_host(self, scope: Scope) -> None:
        header = Headers(scope=scope).get("host", "")
        host = header_host(header)
        # An address cannot be rebound: the one that the client reached is always right.
        reached = scope.get("server")
        if host in self.hosts or (reached and host == plain_host(reached[0])):
            return
        raise RequestError(
            421,
            f"expected the host to be localhost or a name of this server, found {header[:80]!r}",
            where="header Host",
            hint="start the server with --allow-host and this name if it is one of its own",
        )


def _check_head_size(scope: Scope) -> None:
    headers = scope["headers"]
    size = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b""))
    size += sum(len(name) + len(value) + 4 for name, value in headers)
    if size > HEAD_BYTES:
        raise head_too_large(f"{size}", f"{HEAD_BYTES} bytes")
    if len(headers) > HEADERS:
        raise head_too_large(f"{len(headers)}", f"{HEADERS} headers")


class AccessMiddleware:
    """Who may use the API, and how many at once; no body is read before."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_api = scope["path"].startswith("/v1/")
        try:
            _check_crowd(scope)
            if is_api:
                self._check(scope)
        except RequestError as error:
            await error_response(error)(scope, receive, send)
            return
        self.under_way += is_api
        try:
            await self.app(scope, receive, send)
        finally:
            self.under_way -= is_api

    def _check(self, scope: Scope) -> None:
        settings = self.service.settings
        if settings.token is not None:
            given = Headers(scope=scope).get("authorization", "")
            wanted = f"Bearer {settings.token}"
            # In constant time, so that the time tells nothing about the token.
            if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
                raise RequestError(
                    401,
                    "a token is needed",
                    where="header Authorization",
                    hint="send 'Authorization: Bearer …' with the server's token",
                )
        if self.under_way >= settings.queue:
            raise RequestError(429, "too many requests are under way", hint="try again soon")
