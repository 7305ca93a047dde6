"""Models by name: built in, in the folders of CLEFT_MODELS, in ./models, in installed packages.

A package with a model names it by an entry point of the group `cleft.models`;
its files lie in the package that the entry point names, and none of it is run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from cleft.errors import ModelError

__all__ = ["DEFAULT", "FoundModel", "builtin_models", "find_models", "languages", "model_path"]

DEFAULT = "en"
"""The model that `cleft.load()` loads."""

CONFIG = "config.json"
FOLDERS = "CLEFT_MODELS"
"""The variable that names folders of models, apart as in PATH."""
GROUP = "cleft.models"
HERE = Path("models")


class FoundModel(NamedTuple):
    """A model, and where it was found: `built in`, a folder, or a package."""

    name: str
    path: Path
    home: str

    @property
    def about(self) -> dict[str, Any]:
        """What config.json says, unchecked; nothing where it cannot be read."""
        try:
            found = json.loads((self.path / CONFIG).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def builtin_models() -> list[str]:
    """The names of the built-in models, sorted.

    >>> builtin_models() == sorted(set(builtin_models()))
    True
    """
    return [each.name for each in _in_folder(_folder(), "built in")]


def find_models() -> list[FoundModel]:
    """All models that have a name here; of two with the same name, the first is meant.

    Built-in ones come first, then those in the folders of the variable
    CLEFT_MODELS, in ./models, and in installed packages.

    >>> find_models()[0].home
    'built in'
    """
    found: dict[str, FoundModel] = {}
    for each in _all():
        found.setdefault(each.name, each)
    return list(found.values())


def _all() -> Iterator[FoundModel]:
    yield from _in_folder(_folder(), "built in")
    for name in filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)):
        yield from _in_folder(Path(name).expanduser(), name)
    yield from _in_folder(HERE, str(HERE))
    yield from _in_packages()


def _in_folder(folder: Path, home: str) -> list[FoundModel]:
    try:
        paths = sorted(path for path in folder.iterdir() if (path / CONFIG).is_file())
    except OSError:  # it is not there, or may not be read
        return []
    return [FoundModel(path.name, path, home) for path in paths]


def _in_packages() -> Iterator[FoundModel]:
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            spec = find_spec(point.module) if "." not in point.module else None
        except (ImportError, ValueError):
            spec = None
        for place in (spec and spec.submodule_search_locations) or ():
            if (Path(place) / CONFIG).is_file():
                home = point.dist.name if point.dist else point.module
                yield FoundModel(point.name, Path(place), f"package {home}")


def languages() -> dict[str, str]:
    """The model of each language that has one: the default, the one of its name, or the first.

    >>> languages()["en"]
    'en'
    """
    models = [(each.name, str(each.about.get("language") or "")) for each in find_models()]
    models.sort(key=lambda model: (model[0] != DEFAULT, model[0] != model[1]))
    found: dict[str, str] = {}
    for name, language in models:
        if language:
            found.setdefault(language, name)
    return found


def model_path(model: str | Path) -> Path:
    """The directory of a model: of a built-in one by its name, else of a path, or of a name.

    A name that is also a model's directory here means the built-in model, then
    the directory, then a model that `find_models` finds; write `./en` for the
    directory.

    >>> model_path("en").name
    'en'
    >>> model_path("no-such-model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    cleft.errors.ModelError: no-such-model: expected a model's name or directory, found nothing; ...
    """
    path = Path(model).expanduser()
    if isinstance(model, str) and model in builtin_models():
        return _folder() / model
    if isinstance(model, str) and not (path / CONFIG).is_file():
        for each in find_models():
            if each.name == model:
                return each.path
    if not path.exists():
        raise ModelError(
            "expected a model's name or directory, found nothing", where=str(model), hint=_hint()
        )
    return path


def _hint() -> str:
    """What to do if there is no model of a name: which there are, and where more are."""
    names = ", ".join(each.name for each in find_models())
    return (
        f"{f'there are {names}' if names else 'there is no built-in model'}; models of other "
        f"languages lie in the folder models/ of cleft's repository, as in models/fr: copy them "
        f"into ./models or a folder that {FOLDERS} names, or give a model's path"
    )


def _folder() -> Path:
    # Models are mapped as files, so the package cannot be used from a zip file.
    return Path(str(files("cleft.models")))
