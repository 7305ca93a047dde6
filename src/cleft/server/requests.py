"""Requests: what the API takes, as structs of msgspec.

A struct says once which keys a body has, which values they take and what they
are by default. Bodies are checked against it, and /openapi.json describes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, inspect, structs
from starlette.requests import Request

from cleft.draw import Theme, View
from cleft.formats.jsonl import Relations
from cleft.metrics.parseval import DiscourseMetric
from cleft.search import SearchOptions
from cleft.server.responses import RequestError
from cleft.tasks import DISCOURSE, get_task, task_names

JSON = "application/json"
NDJSON = "application/x-ndjson"
BODY = "body"
"""What messages call the body of a request."""

BEAM = 64
N_BEST = 64
ALTERNATIVES = 20
"""The most that a request may ask for."""

Text = Annotated[str, Meta(description="raw text, of any number of sentences")]
Tokens = Annotated[list[list[str]], Meta(description="the tokens of each sentence")]
Beam = Annotated[int, Meta(ge=1, le=BEAM, description="width of the search")]
Width = Annotated[int, Meta(ge=240, le=100_000, description="pixels that a drawing may take")]
Trees = Annotated[
    str | list[dict[str, Any]],
    Meta(description="brackets, JSON Lines or rs3 as text, or a list of JSON Lines records"),
]


class ParseOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of /v1/parse: keys of its body, or of the query of a stream."""

    task: Annotated[str, Meta(description="which trees, or both")] = "both"
    beam: Beam = 1
    n_best: Annotated[int, Meta(ge=1, le=N_BEST, description="trees of each sentence")] = 1
    alternatives: Annotated[
        int, Meta(ge=0, le=ALTERNATIVES, description="runner-up labels and boundaries")
    ] = 0
    trace: Annotated[bool, Meta(description="the distributions over boundaries")] = False
    joint: Annotated[
        bool, Meta(description="structure and labels together; else structure first")
    ] = True
    model: str | UnsetType = UNSET
    formats: list[Literal["brackets", "jsonl", "rs3", "svg", "forest", "qtree"]] = []
    theme: Theme = "auto"
    width: Width | None = 1200
    view: View = "auto"

    @property
    def search(self) -> SearchOptions:
        """The options of the search."""
        return SearchOptions(
            beam=self.beam,
            n_best=self.n_best,
            alternatives=self.alternatives,
            trace=self.trace,
            joint=self.joint,
        )


class ParseRequest(ParseOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of /v1/parse: a text or tokens, and options."""

    text: Text | UnsetType = UNSET
    tokens: Tokens | UnsetType = UNSET


class LineRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a stream that is an object: a text, or tokens."""

    text: Text | UnsetType = UNSET
    tokens: Tokens | UnsetType = UNSET


class SegmentRequest(LineRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of /v1/segment."""

    beam: Beam = 1
    model: str | UnsetType = UNSET


class DocumentRequest(LineRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of /v1/document: one text, or the sentences of one as tokens."""

    paragraphs: Annotated[
        list[Annotated[int, Meta(ge=0, le=1_000_000)]],
        Meta(description="of tokens: the numbers of the sentences that begin a paragraph"),
    ] = []
    task: Annotated[str, Meta(description="which trees of sentences, or both")] = "both"
    beam: Beam = 1
    n_best: Annotated[int, Meta(ge=1, le=N_BEST, description="trees over the whole text")] = 1
    summary: Annotated[int, Meta(ge=0, le=1_000, description="sentences of a summary")] = 0
    model: str | UnsetType = UNSET
    formats: list[Literal["jsonl", "rs3", "rs4", "dis", "svg", "html"]] = []
    theme: Theme = "auto"


class DrawRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of /v1/draw: one tree over tokens, as a record of JSON Lines holds it."""

    tokens: list[str]
    syntax: dict[str, Any] | UnsetType = UNSET
    discourse: dict[str, Any] | UnsetType = UNSET
    gold: Annotated[str, Meta(description="brackets to compare the syntax with")] | UnsetType = (
        UNSET
    )
    width: Width | None = None
    view: View = "auto"
    nested: Annotated[bool, Meta(description="draw nuclei of a relation as nested pairs")] = False


class EvaluateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of /v1/evaluate: trees on two sides, and the options of `cleft evaluate`."""

    gold: Trees
    predicted: Trees
    format: Literal["brackets", "jsonl", "rs3"] | UnsetType = UNSET
    task: Annotated[str, Meta(description="what to score")] | UnsetType = UNSET
    prm: Literal["collins", "new", "spmrl"] | UnsetType = UNSET
    clean: Literal["ptb", "spmrl", "keyaki", "none"] | UnsetType = UNSET
    metric: DiscourseMetric | UnsetType = UNSET
    gold_edus: bool | UnsetType = UNSET
    relations: Relations | UnsetType = UNSET


# ---------------------------------------------------------------- checking


def decode(raw: bytes, where: str = BODY) -> Any:
    """The value of a JSON text.

    The standard library reads it: msgspec refuses half a surrogate pair in a
    string, which a text may have.

    >>> decode(b'{"beam": 2}')
    {'beam': 2}
    """
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise RequestError(
            400, "the JSON is nested too deeply", where=where, hint="send a flat object"
        ) from error
    except ValueError as error:  # not UTF-8, not JSON, a number of too many digits
        reason = getattr(error, "msg", None) or getattr(error, "reason", None) or str(error)
        raise RequestError(
            400, f"not JSON: {reason}", where=where, hint="send UTF-8 JSON"
        ) from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


AnyStruct = TypeVar("AnyStruct", bound=Struct)


def check(value: Any, kind: type[AnyStruct], where: str = BODY) -> AnyStruct:
    """A decoded JSON value as a struct; an error names the key that is wrong.

    >>> check({"text": "It rained.", "beam": 2}, SegmentRequest).beam
    2
    """
    if not isinstance(value, dict):
        found = type(value).__name__
        raise RequestError(422, f"expected an object, found {found}", where=where, hint="use {…}")
    _check_keys(value, kind, where)
    _check_task(value.get("task"), kind, where)
    # JSON has one kind of number: 2.0 is 2.
    table = {
        key: int(one) if isinstance(one, float) and one.is_integer() else one
        for key, one in value.items()
    }
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise _invalid(error, value, kind, where) from error
    except UnicodeEncodeError as error:
        raise RequestError(
            422, "a name holds half a surrogate pair", where=where, hint="send Unicode characters"
        ) from error


def _check_task(task: Any, kind: type[Struct], where: str) -> None:
    """Tasks are checked here and not by a type, since any may be registered."""
    known = task_choices(kind)
    if task is not None and "task" in kind.__struct_fields__ and task not in known:
        problem = f"expected one of {', '.join(known)}, found {_shown(task)}"
        raise RequestError(422, problem, where=f"{where}.task")


def task_choices(kind: type[Struct]) -> tuple[str, ...]:
    """The tasks that a request may name; to parse is to ask for one, or for all that there are."""
    names = tuple(name for name in task_names() if get_task(name).units == "tokens")
    return names if kind is EvaluateRequest else ("both", *names)


def _check_keys(table: dict[str, Any], kind: type[Struct], where: str) -> None:
    fields = structs.fields(kind)
    names = [field.name for field in fields]
    for key in table:
        if key not in names:
            shown = key if len(key) <= 40 else f"{key[:37]}..."
            hint = f"use {', '.join(names)}; /openapi.json describes them"
            raise RequestError(422, "unknown key", where=f"{where}.{shown}", hint=hint)
    for field in fields:
        if field.required and field.name not in table:
            expected = _expected(inspect.type_info(field.type))
            place = f"{where}.{field.name}"
            raise RequestError(422, f"expected {expected}, found nothing", where=place)


def _invalid(
    error: msgspec.ValidationError, value: Any, kind: type[Struct], where: str
) -> RequestError:
    """What is wrong with a value, by the path that msgspec's message ends with."""
    path = re.search(r" - at `\$(.*)`$", str(error))
    info: inspect.Type = inspect.type_info(kind)
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path[1] if path else ""):
        info = _part(info, key)
        value = value[key or int(index)]
    place = where + (path[1] if path else "")
    return RequestError(422, f"expected {_expected(info)}, found {_shown(value)}", where=place)


def _part(info: inspect.Type, key: str) -> inspect.Type:
    """The type of a key of an object, or of an item of a list."""
    if isinstance(info, inspect.Metadata):
        return _part(info.type, key)
    if isinstance(info, inspect.UnionType):
        return _part(next(one for one in info.types if isinstance(one, inspect.ListType)), key)
    if isinstance(info, inspect.ListType):
        return info.item_type
    assert isinstance(info, inspect.StructType)
    return next(field.type for field in info.fields if field.name == key)


WORDS = {inspect.BoolType: "true or false", inspect.StrType: "a string"}


def _expected(info: inspect.Type) -> str:
    """A type in words."""
    if isinstance(info, inspect.Metadata):
        return _expected(info.type)
    if isinstance(info, inspect.IntType):
        return f"a whole number from {info.ge} to {info.le}"
    if isinstance(info, inspect.LiteralType):
        return f"one of {', '.join(map(str, info.values))}"
    if isinstance(info, inspect.ListType):
        return f"a list of {_several(info.item_type)}"
    if isinstance(info, inspect.UnionType):
        return " or ".join(map(_expected, info.types))
    return WORDS.get(type(info), "an object")


def _several(info: inspect.Type) -> str:
    """A type in words, in the plural."""
    if isinstance(info, inspect.ListType):
        return f"lists of {_several(info.item_type)}"
    if isinstance(info, inspect.LiteralType):
        return ", ".join(map(str, info.values))
    return "strings" if isinstance(info, inspect.StrType) else "objects"


def _shown(value: Any) -> str:
    """A value in a message: itself if it is short, else its type."""
    try:
        shown = json.dumps(value, default=str)
    except RecursionError:  # nested as deeply as could just be read
        shown = ""
    return shown if 0 < len(shown) <= 40 else type(value).__name__


# ---------------------------------------------------------------- requests to parse


def parse_request(value: Any, models: Sequence[str]) -> ParseRequest:
    """The body of /v1/parse, checked; the first model is the default."""
    request = check(value, ParseRequest)
    _check_source(request, BODY)
    return structs.replace(request, model=_model(request.model, models, BODY))


def segment_request(value: Any, models: Sequence[str]) -> ParseRequest:
    """The body of /v1/segment as the request to parse that it stands for."""
    request = check(value, SegmentRequest)
    _check_source(request, BODY)
    return ParseRequest(
        text=request.text,
        tokens=request.tokens,
        beam=request.beam,
        model=_model(request.model, models, BODY),
        task=DISCOURSE.name,
    )


def document_request(value: Any, models: Sequence[str]) -> DocumentRequest:
    """The body of /v1/document, checked."""
    request = check(value, DocumentRequest)
    _check_source(request, BODY)
    if request.paragraphs and request.tokens is UNSET:
        raise RequestError(
            422,
            "a text tells its own paragraphs",
            where=f"{BODY}.paragraphs",
            hint="leave them out, or send tokens",
        )
    count = len(request.tokens or ())
    wrong = [number for number in request.paragraphs if number >= count]
    if wrong:
        problem = f"expected numbers of the {count} sentences, found {wrong[0]}"
        raise RequestError(422, problem, where=f"{BODY}.paragraphs", hint="count from 0")
    return structs.replace(request, model=_model(request.model, models, BODY))


def stream_request(query: Mapping[str, str], models: Sequence[str]) -> ParseRequest:
    """The options in the query of a stream; its lines have the texts."""
    where = "query"
    options = check(_typed(query), ParseOptions, where)
    model = _model(options.model, models, where)
    return ParseRequest(**{**structs.asdict(options), "model": model})


def line_request(value: Any, options: ParseRequest, where: str) -> ParseRequest:
    """A line of a stream: a text, the tokens of a sentence, or an object with either."""
    if isinstance(value, str):
        return structs.replace(options, text=value)
    if isinstance(value, list):
        value = {"tokens": [value]}
    rows = value.get("tokens") if isinstance(value, dict) else None
    if isinstance(rows, list) and rows and all(isinstance(token, str) for token in rows):
        value = {**value, "tokens": [rows]}
    line = check(value, LineRequest, where)
    _check_source(line, where)
    return structs.replace(options, text=line.text, tokens=line.tokens)


def _typed(query: Mapping[str, str]) -> dict[str, Any]:
    """The strings of a query as the values that a body would have."""
    table: dict[str, Any] = dict(query)
    for key in ("beam", "n_best", "alternatives"):
        if key in table and table[key].isascii() and table[key].isdigit():
            table[key] = int(table[key][:9])
    for key in ("trace", "joint"):
        if table.get(key) in ("true", "false"):
            table[key] = table[key] == "true"
    if "formats" in table:
        table["formats"] = [name for name in table["formats"].split(",") if name]
    return table


def _check_source(request: ParseRequest | LineRequest, where: str) -> None:
    given = [name for name in ("text", "tokens") if getattr(request, name) is not UNSET]
    if len(given) != 1:
        found = "both" if given else "neither"
        raise RequestError(422, f"expected one of 'text' and 'tokens', found {found}", where=where)


def _model(name: str | UnsetType, models: Sequence[str], where: str) -> str:
    if name is UNSET:
        return models[0]
    if name not in models:
        problem = f"expected one of {', '.join(models)}, found {_shown(name)}"
        raise RequestError(422, problem, where=f"{where}.model", hint="GET /v1/models lists them")
    return str(name)


# ---------------------------------------------------------------- reading the body


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
            415,
            "expected a body that is not compressed",
            where="header Content-Encoding",
            hint="send it uncompressed",
        )
    return found


def too_large(limit: int, where: str = BODY) -> RequestError:
    """The error of a body or a line of too many bytes."""
    return RequestError(
        413,
        f"expected {limit} bytes at most, found more",
        where=where,
        hint=f"send less at a time, or stream it as {NDJSON}",
    )


def check_announced_size(request: Request, limit: int) -> None:
    """Refuse a body whose Content-Length is too large before it is sent."""
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:18]) > limit:
        raise too_large(limit)


async def whole_body(request: Request, limit: int) -> bytes:
    """The body, read no further than the limit."""
    check_announced_size(request, limit)
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large(limit)
        parts.append(part)
    return b"".join(parts)
