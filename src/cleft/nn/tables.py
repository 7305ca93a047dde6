"""Tables of plain values (TOML, JSON) into checked dataclasses.

Only what recipes and configurations need: numbers, strings, flags, choices,
lists of them, tables of those. A message names the key, what was expected and what was found.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cleft.errors import RecipeError

__all__ = ["convert", "from_table"]

T = TypeVar("T")
NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def from_table(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """A dataclass from a table; unknown keys and values of a wrong type are errors.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    >>> from_table(Size, {"width": "two"}, "size")
    Traceback (most recent call last):
    cleft.errors.RecipeError: size.width: expected a whole number, found 'two'
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"expected a table, found {table!r}", where=where)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(str(key), known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"
            raise RecipeError("no such key", where=f"{where}.{key}", hint=hint)
    missing = [
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if field.default is MISSING and field.default_factory is MISSING and field.name not in table
    ]
    if missing:
        raise RecipeError("expected a value, found none", where=f"{where}.{missing[0]}")
    hints = get_type_hints(kind)
    return kind(
        **{key: convert(hints[key], value, f"{where}.{key}") for key, value in table.items()}
    )


def convert(hint: Any, value: Any, where: str) -> Any:
    """A plain value as the type says, or an error that names the key."""
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint):
            choices = ", ".join(repr(choice) for choice in get_args(hint))
            raise RecipeError(f"expected one of {choices}, found {value!r}", where=where)
        return value
    if origin is tuple:
        return _convert_list(get_args(hint), value, where)
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise RecipeError(f"expected a table, found {value!r}", where=where)
        inner = get_args(hint)[1]
        return {str(key): convert(inner, item, f"{where}.{key}") for key, item in value.items()}
    if origin in (Union, UnionType):
        return value if value is None else convert(get_args(hint)[0], value, where)
    right = isinstance(value, hint) and isinstance(value, bool) is (hint is bool)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not right:
        raise RecipeError(f"expected {NAMES[hint]}, found {value!r}", where=where)
    return value


def _convert_list(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    # One string stands for a list of one, since most recipes name one file.
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise RecipeError(f"expected a list, found {value!r}", where=where)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(values)
    if len(values) != len(kinds):
        raise RecipeError(f"expected a list of {len(kinds)}, found {value!r}", where=where)
    return tuple(convert(kind, item, where) for kind, item in zip(kinds, values, strict=True))
