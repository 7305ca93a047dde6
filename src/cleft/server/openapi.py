"""The description of the API: OpenAPI 3.1, with an example for every request."""

from __future__ import annotations

from typing import Any

from cleft import __version__
from cleft.server.bodies import JSON, NDJSON
from cleft.server.refusals import CODES
from cleft.server.schemas import options, schemas
from cleft.server.service import Service

__all__ = ["EXAMPLES", "STREAMED", "description"]

GOLD = "(S (NP (PRP She)) (VP (VBD waved)) (. .))"
WRONG = "(S (NP (PRP She)) (VBD waved) (. .))"

EXAMPLES: dict[str, dict[str, dict[str, Any]]] = {
    "parse": {
        "text": {"text": "Although it rained, she went out."},
        "tokens": {"tokens": [["She", "waved", "."]], "task": "syntax"},
        "everything": {
            "text": "The heron waited. Nobody came.",
            "beam": 4,
            "n_best": 3,
            "alternatives": 3,
            "trace": True,
            "formats": ["brackets", "jsonl", "rs3", "svg"],
            "theme": "light",
        },
    },
    "segment": {"text": {"text": "Although it rained, she went out."}},
    "evaluate": {
        "brackets": {"gold": GOLD, "predicted": WRONG},
        "records": {
            "gold": [
                {"tokens": ["Rain", "fell", "."], "edus": [[0, 3]], "splits": []},
            ],
            "predicted": [
                {"tokens": ["Rain", "fell", "."], "edus": [[0, 3]], "splits": []},
            ],
            "metric": "original",
        },
    },
}
"""Bodies that the API takes, by operation and name."""

STREAMED = '"The heron waited."\n["She", "waved", "."]\n{"text": "It rained. We left."}\n'
"""A body of JSON Lines."""


def description(service: Service) -> dict[str, Any]:
    """The OpenAPI document of a server."""
    protected = service.settings.token is not None
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "cleft",
            "version": __version__,
            "description": "Syntactic and discourse trees from text. Offsets count Unicode code "
            "points; spans count the boundaries between tokens.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _paths(service),
        "components": {"schemas": schemas(service.names)},
    }
    if protected:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, item in found["paths"].items():
            if path.startswith("/v1/"):
                for operation in item.values():
                    operation["security"] = [{"token": []}]
    return found


def _paths(service: Service) -> dict[str, Any]:
    parse = _post("parse", "Parse a text or tokenised sentences", "ParseRequest", "ParseAnswer")
    parse["requestBody"]["content"][NDJSON] = {
        "schema": {"type": "string"},
        "example": STREAMED,
    }
    parse["responses"]["200"]["content"][NDJSON] = {
        "schema": {"type": "string", "description": "a LineAnswer a line"}
    }
    parse["parameters"] = [
        {"name": name, "in": "query", "schema": schema, "description": STREAM_ONLY}
        | ({"style": "form", "explode": False} if name == "formats" else {})
        for name, schema in options(service.names).items()
    ]
    return {
        "/v1/parse": {"post": parse},
        "/v1/segment": {
            "post": _post(
                "segment", "Elementary discourse units only", "SegmentRequest", "SegmentAnswer"
            )
        },
        "/v1/evaluate": {
            "post": _post(
                "evaluate",
                "Score predicted trees against gold ones",
                "EvaluateRequest",
                "EvaluateAnswer",
            )
        },
        "/v1/models": {
            "get": _get("models", "The models and the limits", "Models", 401, 421, 429, 431)
        },
        "/healthz": {"get": _get("health", "Whether the server works", "Health", 421, 431, 503)},
    }


STREAM_ONLY = f"for a body of {NDJSON} only; a JSON body has it in itself"


def _refusals(*statuses: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Failure"}
    return {
        str(status): {"description": CODES[status], "content": {JSON: {"schema": schema}}}
        for status in statuses
    }


def _answer(name: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": "done", "content": {JSON: {"schema": schema}}}


def _get(name: str, summary: str, answer: str, *refusals: int) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": _answer(answer), **_refusals(*refusals)},
    }


def _post(name: str, summary: str, asked: str, answer: str) -> dict[str, Any]:
    examples = {key: {"value": value} for key, value in EXAMPLES[name].items()}
    content = {"schema": {"$ref": f"#/components/schemas/{asked}"}, "examples": examples}
    statuses = [status for status in CODES if status not in (404, 405)]
    return {
        "operationId": name,
        "summary": summary,
        "requestBody": {"required": True, "content": {JSON: content}},
        "responses": {"200": _answer(answer), **_refusals(*statuses)},
    }
