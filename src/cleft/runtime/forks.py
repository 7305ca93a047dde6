"""What must be made anew in a process that was forked: locks, sessions."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Protocol

__all__ = ["Renewable", "renew_after_fork"]


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
