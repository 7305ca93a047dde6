"""The built-in models: directories beside this file, found by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from cleft.errors import ModelError

__all__ = ["DEFAULT", "builtin_models", "model_path"]

DEFAULT = "en"
"""The model that `cleft.load()` loads."""

CONFIG = "config.json"
REPOSITORY = Path(__file__).parents[3]
"""The root of the clone, if the package is used from one; `_hint` looks for models there."""


def builtin_models() -> list[str]:
    """The names of the built-in models, sorted.

    >>> builtin_models() == sorted(set(builtin_models()))
    True
    """
    folder = _folder()
    return sorted(path.name for path in folder.iterdir() if (path / CONFIG).is_file())


def model_path(model: str | Path) -> Path:
    """The directory of a built-in model, by its name, or that of any other, by its path.

    A name that is also a directory here means the built-in model; write
    `./en` for the directory.

    >>> model_path("en").name
    'en'
    >>> model_path("no-such-model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cleft.errors.ModelError: no-such-model: expected a model's directory, found nothing; ...
    """
    if isinstance(model, str) and model in builtin_models():
        return _folder() / model
    path = Path(model).expanduser()
    if not path.exists():
        raise ModelError(
            "expected a model's directory, found nothing", where=str(model), hint=_hint(path)
        )
    return path


def _hint(path: Path) -> str:
    """What to do if there is no model at a path: where models are."""
    names = builtin_models()
    known = f"built in: {', '.join(names)}" if names else "this installation has no built-in model"
    nearby = (Path("models") / path, REPOSITORY / "models" / path)
    found = [each for each in nearby if len(path.parts) == 1 and (each / CONFIG).is_file()]
    if found:
        return f"{known}; a model of this name is at {found[0]}: give its path"
    return (
        f"name a built-in model ({known}) or the directory of another; models of other "
        "languages lie in the folder models/ of cleft's repository, as in models/fr"
    )


def _folder() -> Path:
    # Models are mapped as files, so the package cannot be used from a zip file.
    return Path(str(files("cleft.models")))
