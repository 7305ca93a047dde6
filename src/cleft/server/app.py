"""The application: which address does what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from cleft.server.assets import INDEX, asset_response, load_assets
from cleft.server.bodies import JSON, NDJSON, encode, media_type, whole_body
from cleft.server.engines import Engine
from cleft.server.middleware import (
    HEALTH,
    AccessMiddleware,
    HeadMiddleware,
    OuterMiddleware,
    error_response,
)
from cleft.server.openapi import description
from cleft.server.refusals import RequestError
from cleft.server.service import Service, Tally
from cleft.server.settings import Settings
from cleft.server.streaming import LineStream

__all__ = ["create_app"]

Work = Callable[[bytes, Tally], Coroutine[Any, Any, bytes]]


def create_app(engines: Mapping[str, Engine], settings: Settings | None = None) -> Starlette:
    """The ASGI application that serves these models; the first is the default."""
    service = Service(engines, settings or Settings())
    hosts = service.settings.hosts
    middleware = [Middleware(OuterMiddleware), Middleware(HeadMiddleware, hosts=hosts)]
    if service.settings.origins:
        middleware.append(
            Middleware(
                OriginMiddleware,
                allow_origins=list(service.settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
            )
        )
    middleware.append(Middleware(AccessMiddleware, service=service))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.stop)

    app = Starlette(
        routes=_routes(service),
        middleware=middleware,
        exception_handlers={RequestError: _refused, HTTPException: _odd},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


class OriginMiddleware(CORSMiddleware):
    """Who may ask from a page of another site; a refusal has our shape."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a browser that asks whether its page may ask."""
        found = super().preflight_response(request_headers)
        if found.status_code == 200:
            return found
        refusal = RequestError(
            403,
            "this page may not use the server so",
            where="header Origin",
            hint="start the server with --cors and the page's origin",
        )
        return error_response(refusal)


def _routes(service: Service) -> list[Route]:
    assets = load_assets()
    api = encode(description(service))

    async def page(request: Request) -> Response:
        return asset_response(request, assets, INDEX)

    async def asset(request: Request) -> Response:
        return asset_response(request, assets, request.path_params["name"])

    async def health(request: Request) -> Response:
        if service.stopping:
            raise RequestError(503, "the server is stopping")
        return _json(encode(service.health()))

    async def models(request: Request) -> Response:
        return _json(encode(service.models()))

    async def openapi(request: Request) -> Response:
        return _json(api)

    async def parse(request: Request) -> ASGIApp:
        if media_type(request, JSON, NDJSON) == NDJSON:
            return LineStream(request, service, request.scope["cleft.tally"])
        _no_query(request)
        return await _answered(request, service, service.parse)

    async def segment(request: Request) -> ASGIApp:
        media_type(request, JSON)
        _no_query(request)
        return await _answered(request, service, service.segment)

    async def evaluate(request: Request) -> ASGIApp:
        media_type(request, JSON)
        _no_query(request)
        return await _answered(request, service, service.evaluate)

    return [
        Route("/", page),
        Route("/static/{name:path}", asset),
        Route(HEALTH, health),
        Route("/openapi.json", openapi),
        Route("/v1/models", models),
        Route("/v1/parse", parse, methods=["POST"]),
        Route("/v1/segment", segment, methods=["POST"]),
        Route("/v1/evaluate", evaluate, methods=["POST"]),
    ]


def _json(body: bytes) -> Response:
    return Response(body, media_type=JSON, headers={"cache-control": "no-store"})


def _no_query(request: Request) -> None:
    """Options in the address are those of a stream: they must not be passed over."""
    if request.query_params:
        raise RequestError(
            422, "a JSON body has the options in it", where="query", hint="move them to the body"
        )


async def _answered(request: Request, service: Service, work: Work) -> Response:
    """Read the body, then work on it for as long as the client is there and time is left."""
    settings = service.settings
    loop = asyncio.get_running_loop()
    end = loop.time() + settings.seconds
    try:
        async with asyncio.timeout_at(end):
            body = await whole_body(request, settings.max_body)
    except TimeoutError as error:
        raise RequestError(408, "the body came too slowly", where="body") from error
    task = asyncio.create_task(work(body, request.scope["cleft.tally"]))
    return _json(await _while_connected(task, request, end - loop.time(), settings.seconds))


async def _while_connected(
    task: asyncio.Task[bytes], request: Request, left: float, seconds: float
) -> bytes:
    """The result of a task, which is ended when the client goes or the time is over."""
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ClientDisconnect
        raise RequestError(504, f"not done in {seconds:g} s", hint="send less at a time")
    finally:
        task.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refused(request: Request, error: Exception) -> Awaitable[Response] | Response:
    assert isinstance(error, RequestError)
    return error_response(error)


def _odd(request: Request, error: Exception) -> Response:
    """What the router refuses, in our shape."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        refusal = RequestError(405, "this method means nothing here", hint=f"use {allowed}")
    else:
        refusal = RequestError(
            404, "there is nothing at this address", hint="see /openapi.json for what there is"
        )
    response = error_response(refusal)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response
