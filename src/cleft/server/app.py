"""The application: its routes, their description in OpenAPI 3.1, and the page's files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Scope

from cleft import __version__
from cleft.server import requests, responses
from cleft.server.batching import ServedModel
from cleft.server.middleware import (
    HEALTH,
    AccessMiddleware,
    HeadMiddleware,
    OriginMiddleware,
    OuterMiddleware,
    error_response,
)
from cleft.server.requests import JSON, NDJSON, media_type, whole_body
from cleft.server.responses import CODES, RequestError, encode
from cleft.server.service import Counts, Service
from cleft.server.settings import Settings
from cleft.server.streaming import LineStream

Work = Callable[[bytes, Counts], Coroutine[Any, Any, bytes]]


def create_app(models: Mapping[str, ServedModel], settings: Settings | None = None) -> Starlette:
    """The ASGI application that serves these models; the first is the default."""
    settings = settings or Settings()
    service = Service(models, settings)
    middleware = [Middleware(OuterMiddleware), Middleware(HeadMiddleware, hosts=settings.hosts)]
    if settings.origins:
        middleware.append(Middleware(OriginMiddleware, origins=settings.origins))
    middleware.append(Middleware(AccessMiddleware, settings=settings))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.stop)

    app = Starlette(
        routes=_routes(service),
        middleware=middleware,
        exception_handlers={RequestError: _request_error, HTTPException: _http_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _routes(service: Service) -> list[BaseRoute]:
    files = PageFiles(packages=[("cleft.server", "static")])
    drawings = PageFiles(packages=[("cleft.draw", ".")])
    api = encode(description(service))

    async def page(request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    async def fold(request: Request) -> Response:
        return await drawings.get_response("fold.js", request.scope)

    async def health(request: Request) -> Response:
        if service.stopping:
            raise RequestError(503, "the server is stopping", hint="use another server")
        return _json(encode(service.health()))

    async def models(request: Request) -> Response:
        return _json(encode(service.describe()))

    async def openapi(request: Request) -> Response:
        return _json(api)

    async def parse(request: Request) -> ASGIApp:
        if media_type(request, JSON, NDJSON) == NDJSON:
            return LineStream(request, service, request.scope["cleft.counts"])
        return await _answer(request, service, service.parse)

    def post(name: str) -> Route:
        async def endpoint(request: Request) -> ASGIApp:
            media_type(request, JSON)
            return await _answer(request, service, getattr(service, name))

        return Route(f"/v1/{name}", endpoint, methods=["POST"])

    return [
        Route("/", page),
        Route("/static/fold.js", fold),
        Mount("/static", files),
        Route(HEALTH, health),
        Route("/openapi.json", openapi),
        Route("/v1/models", models),
        Route("/v1/parse", parse, methods=["POST"]),
        *map(post, ("segment", "document", "draw", "evaluate")),
    ]


# ---------------------------------------------------------------- requests and responses


def _json(body: bytes) -> Response:
    return Response(body, media_type=JSON, headers={"cache-control": "no-store"})


async def _answer(request: Request, service: Service, work: Work) -> Response:
    """Read the body and work on it, until the client disconnects or the time is over."""
    if request.query_params:
        # A query has the options of a stream: here they would be ignored.
        raise RequestError(
            422, "a JSON body has the options in it", where="query", hint="move them to the body"
        )
    settings = service.settings
    loop = asyncio.get_running_loop()
    end = loop.time() + settings.seconds
    try:
        async with asyncio.timeout_at(end):
            body = await whole_body(request, settings.max_body)
    except TimeoutError as error:
        raise RequestError(
            408, f"the body did not come in {settings.seconds:g} s", where="body", hint="send less"
        ) from error
    task = asyncio.create_task(work(body, request.scope["cleft.counts"]))
    return _json(await _while_connected(task, request, end - loop.time(), settings.seconds))


async def _while_connected(
    task: asyncio.Task[bytes], request: Request, left: float, seconds: float
) -> bytes:
    """The result of a task, which is cancelled if the client disconnects or the time is over."""
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


def _request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return error_response(error)


def _http_error(request: Request, error: Exception) -> Response:
    """An error of the router, in the shape of ours."""
    assert isinstance(error, HTTPException)
    headers = error.headers or {}
    if error.status_code == 405:
        allowed = headers.get("Allow", "")
        found = RequestError(405, "this address does not take this method", hint=f"use {allowed}")
    else:
        found = RequestError(
            404, "there is nothing at this address", hint="see /openapi.json for what there is"
        )
    response = error_response(found)
    response.headers.update(headers)
    return response


# ---------------------------------------------------------------- the page's files

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Types by ending: a system's own table may say something else."""


class PageFiles(StaticFiles):
    """The files of the page; a browser asks each time whether its copy is still good."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """A file, or that the browser's copy is still good."""
        path = Path(full_path)
        response = FileResponse(
            path,
            status_code=status_code,
            headers={
                # Not the time of the file, which is the same for all in some packages.
                "etag": _digest(path, stat_result.st_mtime_ns, stat_result.st_size),
                "cache-control": "no-cache",
            },
            media_type=TYPES.get(path.suffix),
            stat_result=stat_result,
        )
        if self.is_not_modified(response.headers, Request(scope).headers):
            return NotModifiedResponse(response.headers)
        return response


@cache
def _digest(path: Path, changed: int, size: int) -> str:
    return f'"{sha256(path.read_bytes()).hexdigest()[:32]}"'


# ---------------------------------------------------------------- OpenAPI

EXAMPLES: dict[str, dict[str, dict[str, Any]]] = json.loads(
    resources.files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
)
"""Bodies that the API takes, by operation and name."""

STREAMED = '"The heron waited."\n["She", "waved", "."]\n{"text": "It rained. We left."}\n'
"""A body of JSON Lines."""


def description(service: Service) -> dict[str, Any]:
    """The OpenAPI document of a server."""
    schemas = _schemas(service.names)
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "cleft",
            "version": __version__,
            "description": "Syntactic and discourse trees from text. Offsets count Unicode code "
            "points; spans count the boundaries between tokens.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _paths(schemas),
        "components": {"schemas": schemas},
    }
    if service.settings.token is not None:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, item in found["paths"].items():
            if path.startswith("/v1/"):
                for operation in item.values():
                    operation["security"] = [{"token": []}]
    return found


def _schemas(models: list[str]) -> dict[str, Any]:
    """The schemas of all structs by name, with what a struct cannot say of itself."""
    kinds = [requests.ParseRequest, requests.SegmentRequest, requests.EvaluateRequest]
    kinds += [requests.ParseOptions, responses.ParseAnswer, responses.SegmentAnswer]
    kinds += [responses.LineAnswer, responses.LineFailure, responses.EvaluateAnswer]
    kinds += [requests.DrawRequest, responses.Drawing]
    kinds += [requests.DocumentRequest, responses.DocumentAnswer]
    kinds += [responses.Models, responses.Health, responses.Failure]
    _, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    for name in ("ParseRequest", "SegmentRequest", "ParseOptions", "DocumentRequest"):
        schemas[name]["properties"]["model"] |= {"enum": models, "default": models[0]}
    with_task = (requests.ParseRequest, requests.ParseOptions, requests.DocumentRequest)
    for kind in (*with_task, requests.EvaluateRequest):
        task = schemas[kind.__name__]["properties"]["task"]
        task["enum"] = list(requests.task_choices(kind))
    for name in ("ParseRequest", "SegmentRequest", "DocumentRequest"):
        schemas[name]["oneOf"] = [{"required": ["text"]}, {"required": ["tokens"]}]
    schemas["DrawRequest"]["oneOf"] = [{"required": ["syntax"]}, {"required": ["discourse"]}]
    return schemas


def _paths(schemas: dict[str, Any]) -> dict[str, Any]:
    parse = _post("parse", "Parse a text or tokenised sentences", "ParseAnswer")
    parse["requestBody"]["content"][NDJSON] = {"schema": {"type": "string"}, "example": STREAMED}
    parse["responses"]["200"]["content"][NDJSON] = {
        "schema": {"type": "string", "description": "a LineAnswer or a LineFailure on each line"}
    }
    only = f"for a body of {NDJSON} only; a JSON body has it in itself"
    parse["parameters"] = [
        {"name": name, "in": "query", "schema": schema, "description": only}
        | ({"style": "form", "explode": False} if name == "formats" else {})
        for name, schema in schemas["ParseOptions"]["properties"].items()
    ]
    others = {
        "segment": ("Elementary discourse units only", "SegmentAnswer"),
        "document": ("One discourse tree over a document", "DocumentAnswer"),
        "draw": ("Where the parts of a tree's drawing stand", "Drawing"),
        "evaluate": ("Score predicted trees against gold ones", "EvaluateAnswer"),
    }
    return {
        "/v1/parse": {"post": parse},
        **{f"/v1/{name}": {"post": _post(name, *about)} for name, about in others.items()},
        "/v1/models": {
            "get": _get("models", "The models and the limits", "Models", 401, 421, 429, 431)
        },
        HEALTH: {"get": _get("health", "Whether the server works", "Health", 421, 431, 503)},
    }


def _content(name: str) -> dict[str, Any]:
    return {JSON: {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _failures(*statuses: int) -> dict[str, Any]:
    return {
        str(status): {"description": CODES[status], "content": _content("Failure")}
        for status in statuses
    }


def _get(name: str, summary: str, answer: str, *failures: int) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {"description": "done", "content": _content(answer)},
            **_failures(*failures),
        },
    }


def _post(name: str, summary: str, answer: str) -> dict[str, Any]:
    statuses = [status for status in CODES if status not in (404, 405)]
    content = _content(f"{name.capitalize()}Request")
    content[JSON]["examples"] = {key: {"value": value} for key, value in EXAMPLES[name].items()}
    return _get(name, summary, answer, *statuses) | {
        "requestBody": {"required": True, "content": content}
    }
