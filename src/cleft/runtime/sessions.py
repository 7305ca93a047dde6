"""ONNX Runtime sessions of a model's graphs: made when first used, in every process anew.

A session is safe to use from many threads. It does not survive a fork (its
threads are gone in the child), so after one every session is made again.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from cleft.errors import ModelError, check_number
from cleft.runtime.directory import ModelDirectory
from cleft.runtime.forks import renew_after_fork

__all__ = ["Array", "Sessions"]

Array = npt.NDArray[Any]


class Sessions:
    """The graphs of a model, by the names of their files without the ending."""

    def __init__(self, directory: ModelDirectory, threads: int = 1) -> None:
        self.directory = directory
        self.threads = check_number("threads", threads, 1)
        self._open: dict[str, Any] = {}
        self._lock = threading.Lock()
        renew_after_fork(self)

    def run(self, name: str, inputs: Mapping[str, Array]) -> list[Array]:
        """All results of a graph, in its order."""
        session = self._open.get(name) or self._start(name)
        try:
            found: list[Array] = session.run(None, inputs)
        except Exception as error:  # ONNX Runtime has no one class for its errors
            raise ModelError(
                f"the graph {name} failed: {str(error)[:200]}",
                hint="the sentence may be too long for the memory here; else verify the model",
            ) from error
        return found

    def inputs(self, name: str) -> frozenset[str]:
        """The names of what a graph is given."""
        session = self._open.get(name) or self._start(name)
        return frozenset(each.name for each in session.get_inputs())

    def _start(self, name: str) -> Any:
        with self._lock:
            if name not in self._open:
                self._open[name] = self._make(f"{name}.onnx")
            return self._open[name]

    def _make(self, file: str) -> Any:
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
