"""ONNX Runtime sessions of a model's graphs: made when first used, in every process anew.

A session is safe to use from many threads. It does not survive a fork (its
threads are gone in the child), so after one every session is made again. Files
that do not fit each other are told as a fault of the model, not of the caller.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy.typing as npt

from cleft.errors import ModelError, check_number
from cleft.runtime.directory import ModelDirectory


class Renewable(Protocol):
    """Something that does not survive a fork as it is."""

    def renew(self) -> None:
        """Make it usable in the child."""
        ...


_alive: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_after_fork(thing: Renewable) -> None:
    """Have a thing renewed in every process that is forked while it lives."""
    _alive.add(thing)


def _renew_all() -> None:
    alive = list(_alive)
    for thing in alive:
        thing.renew()
    if alive:
        _end_without_destructors()


def _end_without_destructors() -> None:
    """Let the child end when Python is done, before native libraries wait for their threads.

    ONNX Runtime's threads did not come along, and its farewell would wait for
    them for ever. What Python does at its end has been done by then.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # glibc
        library.on_exit(library._exit, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

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


Array = npt.NDArray[Any]


class Sessions:
    """The graphs of a model, by the names of their files without the ending."""

    def __init__(self, directory: ModelDirectory, threads: int = 1) -> None:
        self.directory = directory
        self.threads = check_number("threads", threads, 1)
        self._open: dict[str, Any] = {}
        self._names: dict[str, list[str]] = {}
        self._inputs: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()
        renew_after_fork(self)

    def run(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """All results of a graph, by name."""
        session = self._open.get(name) or self._start(name)
        try:
            found: list[Array] = session.run(self._names[name], inputs)
        except Exception as error:  # ONNX Runtime has no one class for its errors
            raise ModelError(
                f"the graph {name} failed: {str(error)[:200]}",
                hint="the sentence may be too long for the memory here; else verify the model",
            ) from error
        return dict(zip(self._names[name], found, strict=True))

    def inputs(self, name: str) -> frozenset[str]:
        """The names of what a graph is given."""
        if name not in self._inputs:
            self._start(name)
        return self._inputs[name]

    def _start(self, name: str) -> Any:
        with self._lock:
            if name not in self._open:
                session = self._make(f"{name}.onnx")
                self._names[name] = [each.name for each in session.get_outputs()]
                self._inputs[name] = frozenset(each.name for each in session.get_inputs())
                self._open[name] = session
            return self._open[name]

    def _make(self, file: str) -> Any:
        # Its builds report to their maker and leave an identifier in the home directory, from
        # the import on; whoever wants that sets the variable to 0.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A model has several sessions: one that is idle must not keep a core busy.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        data = self.directory.graph(file)
        try:
            return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime has no one class for its errors
            raise ModelError(
                f"ONNX Runtime cannot use the graph: {str(error)[:200]}",
                where=str(self.directory.path / file),
                hint="export the model again, or upgrade onnxruntime",
            ) from error

    def renew(self) -> None:
        """Forget the parent process's sessions without ending their threads: they are gone."""
        for session in self._open.values():
            # Never to be freed: to free it would wait for threads that do not exist here.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))
        self._open = {}
        self._lock = threading.Lock()
