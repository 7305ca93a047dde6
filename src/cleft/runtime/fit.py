"""Files of a model that do not fit each other, told as what they are.

Every file may be whole and yet a graph may answer in another shape than the
labels, tables or other graphs ask for: then the model is wrong, not the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from cleft.errors import ModelError

__all__ = ["check_width", "fitting"]

P = ParamSpec("P")
T = TypeVar("T")

MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What NumPy and Python raise where shapes or numbers are not as they should be."""


def fitting(method: Callable[P, T]) -> Callable[P, T]:
    """Let a method that puts a model's parts together fail with a ModelError.

    >>> fitting(lambda: [][1])()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cleft.errors.ModelError: the model's files do not fit each other: IndexError: ...
    """

    @wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except MISFITS as error:
            reason = f"{type(error).__name__}: {str(error)[:160]}"
            raise ModelError(
                f"the model's files do not fit each other: {reason}",
                hint="run 'cleft check' on it; export it again",
            ) from error

    return guarded


def check_width(found: int, names: int, what: str) -> None:
    """Fail where a graph answers for more or fewer names than the model has.

    >>> check_width(2, 3, "tags")
    Traceback (most recent call last):
        ...
    cleft.errors.ModelError: the graph for tags knows 2, config.json names 3; export the model again
    """
    if found != names:
        raise ModelError(
            f"the graph for {what} knows {found}, config.json names {names}",
            hint="export the model again",
        )
