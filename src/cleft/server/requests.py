"""What a client asks for, checked key by key; a RequestError says which one is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, get_args

from cleft.draw import Theme
from cleft.errors import UsageError
from cleft.given import Given, Reading
from cleft.search import SearchOptions
from cleft.server.batching import BatchKey
from cleft.server.downloads import FORMATS, Wish
from cleft.server.refusals import RequestError
from cleft.server.settings import ALTERNATIVES, BEAM, N_BEST, Settings
from cleft.text import Source, Token

__all__ = [
    "BODY",
    "Keys",
    "Question",
    "decode",
    "line_question",
    "parse_question",
    "ready",
    "segment_question",
    "stream_question",
]

BODY = "body"
TASKS = ("both", "syntax", "discourse")


def decode(raw: bytes, where: str = BODY) -> Any:
    """The value of a JSON text.

    >>> decode(b'{"beam": 2}')
    {'beam': 2}
    """
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except RecursionError as error:
        raise RequestError(400, "the JSON is nested too deeply", where=where) from error
    except ValueError as error:  # not UTF-8, not JSON, a number of too many digits
        reason = getattr(error, "msg", None) or getattr(error, "reason", None) or str(error)
        raise RequestError(
            400, f"not JSON: {reason}", where=where, hint="send UTF-8 JSON"
        ) from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")


class Keys:
    """The keys of a JSON object, taken one by one; what nobody takes is an error."""

    def __init__(self, table: Any, where: str = BODY) -> None:
        if not isinstance(table, dict):
            found = type(table).__name__
            raise RequestError(
                422, f"expected an object, found {found}", where=where, hint="use {…}"
            )
        self.table = dict(table)
        self.where = where

    def fail(self, key: str, expected: str, found: object, hint: str = "") -> RequestError:
        """The refusal of one key's value, which is shown if it is short."""
        try:
            shown = json.dumps(found, default=str)
        except RecursionError:  # nested as deeply as could just be read
            shown = ""
        what = shown if 0 < len(shown) <= 40 else type(found).__name__
        where = f"{self.where}.{key}"
        return RequestError(422, f"expected {expected}, found {what}", where=where, hint=hint)

    def number(self, key: str, low: int, high: int, default: int) -> int:
        """A whole number in a range."""
        value = self.table.pop(key, default)
        if type(value) is float and value.is_integer():
            value = int(value)  # JSON has one kind of number: 1.0 is 1
        if type(value) is not int or not low <= value <= high:
            raise self.fail(key, f"a whole number from {low} to {high}", value)
        return value

    def switch(self, key: str) -> bool:
        """True or false, and false where nothing is said."""
        value = self.table.pop(key, False)
        if not isinstance(value, bool):
            raise self.fail(key, "true or false", value)
        return value

    def choice(self, key: str, known: Sequence[str], default: str) -> str:
        """One of some names."""
        value = self.table.pop(key, default)
        if not isinstance(value, str) or value not in known:
            raise self.fail(key, f"one of {', '.join(known)}", value)
        return value

    def choices(self, key: str, known: Sequence[str]) -> tuple[str, ...]:
        """Any of some names, each once."""
        value = self.table.pop(key, [])
        if not isinstance(value, list) or not all(
            isinstance(one, str) and one in known for one in value
        ):
            raise self.fail(key, f"a list of {', '.join(known)}", value)
        return tuple(dict.fromkeys(value))

    def finish(self) -> None:
        """Refuse keys that mean nothing."""
        for key in self.table:
            shown = key if len(key) <= 40 else f"{key[:37]}..."
            raise RequestError(
                422,
                "this key means nothing here",
                where=f"{self.where}.{shown}",
                hint="see /openapi.json for those that do",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request to parse: which model, with which options, what of it, and what to answer."""

    model: str
    key: BatchKey
    text: str | None = None
    tokens: Sequence[Any] = ()
    wish: Wish = field(default_factory=Wish)


def parse_question(table: Any, models: Sequence[str], where: str = BODY) -> Question:
    """What a body of /v1/parse asks for; the first model is the default."""
    keys = Keys(table, where)
    text, tokens = _source(keys)
    question = Question(text=text, tokens=tokens, **_common(keys, models))
    keys.finish()
    return question


def segment_question(table: Any, models: Sequence[str]) -> Question:
    """What a body of /v1/segment asks for."""
    keys = Keys(table)
    text, tokens = _source(keys)
    beam = keys.number("beam", 1, BEAM, 1)
    model = keys.choice("model", models, models[0])
    keys.finish()
    key = BatchKey("discourse", SearchOptions(beam=beam))
    return Question(model=model, key=key, text=text, tokens=tokens)


def _source(keys: Keys) -> tuple[str | None, Sequence[Any]]:
    table = keys.table
    if ("text" in table) is ("tokens" in table):
        found = "both" if "text" in table else "neither"
        raise RequestError(
            422, f"expected one of 'text' and 'tokens', found {found}", where=keys.where
        )
    if "text" in table:
        text = table.pop("text")
        if not isinstance(text, str):
            raise keys.fail("text", "a string", text)
        return text, ()
    rows = table.pop("tokens")
    if not isinstance(rows, list):
        raise keys.fail("tokens", "a list of lists of strings", rows)
    for number, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(token, str) for token in row):
            raise keys.fail(f"tokens[{number}]", "a list of strings", row)
    return None, rows


def _common(keys: Keys, models: Sequence[str]) -> dict[str, Any]:
    """The choices that a body and the query of a stream share."""
    task = keys.choice("task", TASKS, "both")
    options = SearchOptions(
        beam=keys.number("beam", 1, BEAM, 1),
        n_best=keys.number("n_best", 1, N_BEST, 1),
        alternatives=keys.number("alternatives", 0, ALTERNATIVES, 0),
        trace=keys.switch("trace"),
    )
    theme = keys.choice("theme", get_args(Theme), "auto")
    return {
        "model": keys.choice("model", models, models[0]),
        "key": BatchKey(task, options),
        "wish": Wish(formats=keys.choices("formats", FORMATS), theme=theme),  # type: ignore[arg-type]
    }


def _query_table(query: Mapping[str, str]) -> dict[str, Any]:
    """The options of a stream, which its address holds, as a body would have them."""
    table: dict[str, Any] = dict(query)
    for key in ("beam", "n_best", "alternatives"):
        if key in table and table[key].isascii() and table[key].isdigit():
            table[key] = int(table[key][:9])
    if table.get("trace") in ("true", "false"):
        table["trace"] = table["trace"] == "true"
    if "formats" in table:
        table["formats"] = [name for name in table["formats"].split(",") if name]
    return table


def stream_question(query: Mapping[str, str], models: Sequence[str]) -> Question:
    """What the address of a streamed request asks for; the lines have the texts."""
    keys = Keys(_query_table(query), "query")
    question = Question(**_common(keys, models))
    keys.finish()
    return question


def line_question(value: Any, asked: Question, where: str) -> Question:
    """What a line of a stream asks for: a text, the tokens of a sentence, an object with either."""
    if isinstance(value, str):
        value = {"text": value}
    elif isinstance(value, list):
        value = {"tokens": [value]}
    keys = Keys(value, where)
    rows = keys.table.get("tokens")
    if isinstance(rows, list) and rows and all(isinstance(token, str) for token in rows):
        keys.table["tokens"] = [rows]
    text, tokens = _source(keys)
    keys.finish()
    return replace(asked, text=text, tokens=tokens)


def ready(
    question: Question, settings: Settings, where: str = BODY, language: str = "en"
) -> list[Given]:
    """The sentences to parse, in order, if they are not too many; texts by a language's rules."""
    if question.text is not None:
        given = _of_text(question.text, where, language)
    else:
        given = list(_of_tokens(question.tokens))
    total = sum(map(len, given))
    if total > settings.max_tokens:
        raise RequestError(
            413,
            f"{total} tokens, expected {settings.max_tokens} at most",
            where=where,
            hint="send fewer at a time, or stream them as JSON Lines",
        )
    options = question.key.options
    if options.trace:
        numbers = options.n_best * sum(len(each) ** 2 for each in given)
        if numbers > settings.max_trace:
            raise RequestError(
                413,
                f"the trace would hold {numbers} numbers, expected {settings.max_trace} at most",
                where=where,
                hint="send shorter sentences, ask for fewer trees, or for no trace",
            )
    return given


def _of_text(text: str, where: str, language: str) -> list[Given]:
    try:
        return list(Reading(language=language).text(text))
    except UsageError as error:  # a language without spaces
        hint = "send tokens instead of text"
        raise RequestError(422, error.problem, where=f"{where}.text", hint=hint) from error


def _of_tokens(rows: Sequence[Sequence[str]]) -> Iterator[Given]:
    """Token lists as sentences of a text in which each stands on a line of its own."""
    texts = [" ".join(row) for row in rows]
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    items: list[Any] = []
    for row, text, start in zip(rows, texts, starts, strict=False):
        ends = accumulate(len(token) + 1 for token in row)
        tokens = tuple(
            Token(token, end - 1 - len(token), end - 1)
            for token, end in zip(row, ends, strict=True)
        )
        # A list that cannot be parsed stays as it is: its result will say why.
        whole = bool(row) and all(row)
        items.append(Source(text=text, tokens=tokens, start=start) if whole else row)
    for given, text, start in zip(Reading().sentences(items), texts, starts, strict=False):
        result = replace(given.result, text=text, start=start)
        yield replace(given, result=result) if given.result.error is not None else given
