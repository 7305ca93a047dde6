"""Middleware: security headers, errors, the log; which hosts, sites and clients are answered."""

from __future__ import annotations

import hmac
import json
import logging
import os
import re
import time
import traceback
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cleft.server.requests import JSON
from cleft.server.responses import Error, Failure, RequestError, encode
from cleft.server.settings import Settings

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
"""Nothing is loaded from other hosts, and no script or style stands in the page itself."""

SECURITY = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

HEALTH = "/healthz"
"""The path that monitors ask."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")

HEAD_BYTES = 16 * 2**10
HEADERS = 100
"""The most bytes of a request line with its headers, and the most headers."""

CROWDED = "crowded"
"""The key in a request's state which says that its connection is beyond the limit."""

GONE = 499
"""The status in the log of a request whose client disconnected."""


def error_response(error: RequestError) -> Response:
    """The response to a request that failed."""
    headers = {"cache-control": "no-store"}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.status in (429, 503):
        headers["retry-after"] = "1"
    if error.status == 503:
        headers["connection"] = "close"  # on another connection there may be room
    body = encode(Failure(error=Error.of(error)))
    return Response(body, status_code=error.status, headers=headers, media_type=JSON)


class OuterMiddleware:
    """The outermost layer: adds security headers, answers unexpected errors, writes the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; lifespan events are passed on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        scope["cleft.counts"] = exchange.counts
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.status = GONE
        except Exception as error:
            await exchange.fail(scope, error)
        finally:
            exchange.log(scope)


class _Exchange:
    """A request and its response, with what the log says of them."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        self._receive, self._send = receive, send
        self.unread = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        self.status = 0
        self.sent = self.received = 0
        self.counts: dict[str, Any] = {}
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
                # The rest of the body must not be read as the next request.
                headers["connection"] = "close"
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    async def fail(self, scope: Scope, error: Exception) -> None:
        """Answer an unexpected error; its message may quote a text, so it is not logged."""
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"  # noqa: PTH119
        log_event(logging.ERROR, event="fault", error=type(error).__name__, where=where)
        if os.environ.get("CLEFT_DEBUG"):
            traceback.print_exception(error)
        if self.status:  # the response has begun: it can only be cut off
            return
        internal = RequestError(500, "an error inside the server", hint="please report it")
        await error_response(internal)(scope, self._receive, self.send)

    def log(self, scope: Scope) -> None:
        """Write the line of a request: no text, and no path but our own."""
        log_event(
            logging.INFO,
            event="request",
            method=scope["method"],
            path=scope["path"] if "endpoint" in scope and self.status != 404 else None,
            status=self.status or GONE,
            seconds=round(time.perf_counter() - self.began, 6),
            received=self.received,
            sent=self.sent,
            **self.counts,
        )


def log_event(level: int, **fields: Any) -> None:
    """Write one line of JSON to the log."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    LOG.log(level, "%s", json.dumps({"time": stamp, **fields}))


def head_too_large(found: str, limit: str) -> RequestError:
    """The error of a request line and headers that are too long or too many."""
    return RequestError(
        431,
        f"expected {limit} at most, found {found}",
        where="headers",
        hint="send fewer and shorter headers, and long options in a body",
    )


def too_many_connections() -> RequestError:
    """The error of a connection beyond the limit."""
    return RequestError(503, "too many connections", hint="try again soon", code="busy")


def _check_crowded(scope: Scope) -> None:
    """On a connection beyond the limit only the server's health is answered."""
    if scope.get("state", {}).get(CROWDED) and scope["path"] != HEALTH:
        raise too_many_connections()


class HeadMiddleware:
    """Refuses heads that are too large, and requests for other hosts.

    By DNS rebinding a page of another site gives its own name the address of
    this machine. The browser then takes our answers for that site's own and
    lets its scripts read them. Only the `Host` header betrays such a request.
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
        # An address cannot be rebound: the one that the client connected to is always right.
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


def header_host(value: str) -> str | None:
    """The host that a `Host` header names, in one spelling and without its port.

    >>> header_host("LocalHost:8000"), header_host("[0:0::1]:80"), header_host("user@localhost")
    ('localhost', '::1', None)
    """
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::\d*)?", value, re.ASCII)
    return plain_host(found[1] or found[2]) if found else None


def plain_host(host: str) -> str:
    """A host name in lower case; an address in its short form, without a zone.

    >>> plain_host("Example.org."), plain_host("::ffff:10.0.0.1"), plain_host("fe80::1%eth0")
    ('example.org', '10.0.0.1', 'fe80::1')
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host.lower().removesuffix(".")
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


class OriginMiddleware(CORSMiddleware):
    """Lets pages of named origins use the API; others get an error of the usual shape."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a browser that asks on behalf of a page."""
        found = super().preflight_response(request_headers)
        if found.status_code == 200:
            return found
        refusal = RequestError(
            403,
            "this page may not send this request",
            where="header Origin",
            hint="start the server with --cors and the page's origin",
        )
        return error_response(refusal)


class AccessMiddleware:
    """Asks for the token, and bounds the requests under way; no body is read before."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_api = scope["path"].startswith("/v1/")
        try:
            _check_crowded(scope)
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
        token = self.settings.token
        if token is not None:
            given = Headers(scope=scope).get("authorization", "")
            wanted = f"Bearer {token}"
            # In constant time, so that the time tells nothing about the token.
            if not hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode()):
                raise RequestError(
                    401,
                    "a token is needed",
                    where="header Authorization",
                    hint="send 'Authorization: Bearer …' with the server's token",
                )
        if self.under_way >= self.settings.queue:
            raise RequestError(429, "too many requests are under way", hint="try again soon")
