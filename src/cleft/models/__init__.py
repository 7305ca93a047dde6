"""The models that come with the package: directories beside this file, found by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from cleft.errors import ModelError

__all__ = ["DEFAULT", "builtin_models", "builtin_path"]

DEFAULT = "en"
"""The model that `cleft.load()` loads."""

CONFIG = "config.json"


def builtin_models() -> list[str]:
    """The names of the built-in models, sorted.

    >>> builtin_models() == sorted(set(builtin_models()))
    True
    """
    folder = _folder()
    return sorted(path.name for path in folder.iterdir() if (path / CONFIG).is_file())


def builtin_path(name: str) -> Path:
    """The directory of a built-in model.

    >>> builtin_path("no-such-model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cleft.errors.ModelError: no built-in model is called 'no-such-model'; ...
    """
    if name not in builtin_models():
        raise ModelError(f"no built-in model is called {name!r}", hint=known_names())
    return _folder() / name


def known_names() -> str:
    """The names of the built-in models, for messages."""
    names = builtin_models()
    return f"built in: {', '.join(names)}" if names else "this installation has no built-in model"


def _folder() -> Path:
    # Models are read as files: an installation always unpacks the package.
    return Path(str(files("cleft.models")))
