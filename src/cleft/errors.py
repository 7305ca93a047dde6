"""All exceptions that cleft raises, below `CleftError`, and its one warning.

Every message says where the fault is, what was expected, what was found, and
what to do about it. Bad input raises a `CleftError` and nothing else, so a
caller can catch that.
"""

from __future__ import annotations

from operator import index
from pathlib import Path
from typing import Any

__all__ = [
    "CleftError", "ConstraintError", "FormatError", "InputError", "LanguageWarning",
    "LossError", "MetricError", "ModelError", "OutputError", "Place", "RecipeError",
    "TreeFormatError", "TreeShapeError", "UsageError", "WorkerError",
]  # fmt: skip


class Place:
    """A position in a source: a name, and a line and column counted from 1.

    >>> str(Place("train.mrg", 14, 3))
    'train.mrg line 14 column 3'
    >>> str(Place("train.mrg"))
    'train.mrg'
    """

    __slots__ = ("column", "line", "name")

    def __init__(
        self, name: str | Path, line: int | None = None, column: int | None = None
    ) -> None:
        self.name = str(name)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        parts = [self.name]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.column is not None:
            parts.append(f"column {self.column}")
        return " ".join(parts)


class CleftError(Exception):
    """Base of every error that cleft raises.

    >>> print(CleftError("2 brackets still open", where="a.mrg line 3", hint="add '))'"))
    a.mrg line 3: 2 brackets still open; add '))'
    """

    def __init__(self, problem: str, *, where: str | Place = "", hint: str = "") -> None:
        self.problem = problem
        self.where = str(where)
        self.hint = hint
        head = f"{self.where}: " if self.where else ""
        tail = f"; {hint}" if hint else ""
        super().__init__(f"{head}{problem}{tail}")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the parts: worker processes send errors to their parent."""
        return _rebuild, (type(self), self.problem, self.where, self.hint)


def _rebuild(kind: type[CleftError], problem: str, where: str, hint: str) -> CleftError:
    return kind(problem, where=where, hint=hint)


class UsageError(CleftError):
    """A call or a command line with arguments that are wrong or do not go together."""


class InputError(CleftError):
    """A source that cannot be read at all: missing, a directory, not UTF-8, empty."""


class OutputError(CleftError):
    """A target that cannot be written."""


class FormatError(CleftError):
    """A source that can be read but does not hold what its format promises."""


class TreeFormatError(FormatError):
    """A tree that is not well formed in the format it is written in."""


class LossError(CleftError):
    """A conversion that must keep everything (`strict`), to a format that cannot."""


class TreeShapeError(CleftError):
    """A tree or a set of splits that cannot be built or converted as asked."""


class ConstraintError(CleftError):
    """Constraints on a parse that contradict each other or the sentence."""


class ModelError(CleftError):
    """A model that is missing or damaged, or whose output cannot be used."""


class MetricError(CleftError):
    """Gold and predicted trees that cannot be scored against each other."""


class RecipeError(CleftError):
    """A training recipe with an unknown key or an invalid value."""


class WorkerError(CleftError):
    """A worker process that ended before its work was done."""


class LanguageWarning(UserWarning):
    """A text that looks like another language than that of the model.

    It is parsed all the same. `warnings.simplefilter("ignore", LanguageWarning)`
    keeps it quiet, "error" refuses such text.
    """


# ---------------------------------------------------------------- checks of arguments


def check_type(value: object, kind: Any, what: str, hint: str = "") -> None:
    """Fail with a UsageError unless a value is of a kind.

    >>> check_type(b"It rained.", str, "a text (str)")
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: expected a text (str), found bytes
    """
    if not isinstance(value, kind):
        raise UsageError(f"expected {what}, found {type(value).__name__}", hint=hint)


def check_number(name: str, value: object, least: int, hint: str = "") -> int:
    """An argument that must be a whole number (NumPy integers included), as an int.

    >>> check_number("beam", "5", 1)
    Traceback (most recent call last):
        ...
    cleft.errors.UsageError: beam is '5', expected a whole number, 1 or more
    """
    number = whole(value)
    if number is None:
        raise UsageError(
            f"{name} is {value!r}, expected a whole number, {least} or more", hint=hint
        )
    if number < least:
        raise UsageError(f"{name} is {number}, expected {least} or more", hint=hint)
    return number


def whole(value: object) -> int | None:
    """A whole number as an int; None for everything else, including `True` and `False`."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
