"""Checks that a JSON value has the shape it should; each fails with what was found."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Sequence
from typing import Any

from cleft.errors import FormatError
from cleft.span import Span

__all__ = ["as_list", "as_object", "as_row", "as_span", "as_strings", "load_json"]

LONGEST = 1_000_000
"""The last boundary that a span may have: a number in a file must not decide on our memory."""


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError where a number is none that JSON can hold.

    >>> load_json('{"share": 0.5}')
    {'share': 0.5}
    >>> load_json("[1e999]")
    Traceback (most recent call last):
        ...
    ValueError: 1e999 is no number that JSON knows
    """
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(name: str) -> float:
    raise ValueError(f"{name[:20]} is no number that JSON knows")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def as_object(value: object, key: str) -> dict[str, Any]:
    """The value if it is a JSON object."""
    if not isinstance(value, dict):
        raise FormatError(f"{key!r}: expected an object, found {type(value).__name__}")
    return value


def as_list(value: object, key: str) -> list[Any]:
    """The value if it is a list."""
    if not isinstance(value, list):
        raise FormatError(f"{key!r}: expected a list, found {type(value).__name__}")
    return value


def as_strings(value: object, key: str) -> tuple[str, ...]:
    """The value as a tuple if it is a list of strings."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise FormatError(f"{key!r}: expected a list of strings")
    return tuple(value)


def as_row(value: object, count: int) -> Sequence[Any]:
    """The value if it is a list of so many entries."""
    if not isinstance(value, list | tuple) or len(value) != count:
        raise FormatError(f"expected a list of {count}, found {reprlib.repr(value)}")
    return value


def as_span(left: object, right: object) -> Span:
    """A span, if these are the two ends of one."""
    if type(left) is not int or type(right) is not int or not 0 <= left < right <= LONGEST:
        raise FormatError(
            f"expected a span [left, right] with 0 ≤ left < right ≤ {LONGEST}, "
            f"found {reprlib.repr([left, right])}"
        )
    return Span(left, right)
