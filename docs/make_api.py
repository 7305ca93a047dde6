"""Make docs/api.md from docstrings and signatures: `python docs/make_api.py`.

`make_api.page()` is the text; a test compares it with the committed page.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).with_name("api.md")

HEAD = """\
# The API

Made from the docstrings by `python docs/make_api.py`; do not edit. What is not listed here is \
not public and may change. Everything is typed (`py.typed`), and every example is run by the tests.
"""

MODULES: dict[str, tuple[str, ...]] = {
    "cleft": (),
    "cleft.document": ("Summary", "join_sentences"),
    "cleft.search": ("SearchOptions", "Constraints", "Parse", "Step"),
    "cleft.errors": (),
    "cleft.text": (),
    "cleft.draw": (),
    "cleft.formats.brackets": (),
    "cleft.formats.cleaning": (),
    "cleft.formats.jsonl": (),
    "cleft.formats.rst": ("RstDocument", "Relation", "SecondaryEdge", "Signal", "losses"),
    "cleft.formats.rs3": (),
    "cleft.formats.dis": (),
    "cleft.formats.rsd": (),
    "cleft.formats.registry": (),
    "cleft.convert": (),
    "cleft.relations": (),
    "cleft.metrics": (),
    "cleft.metrics.evalb": (),
    "cleft.metrics.prm": (),
    "cleft.metrics.parseval": (),
    "cleft.metrics.significance": (),
    "cleft.metrics.calibration": (),
    "cleft.metrics.evaluate": (),
    "cleft.metrics.report": (),
    "cleft.integrations.nltk": (),
    "cleft.integrations.spacy": (),
    "cleft.integrations.ray": (),
    "cleft.models": (),
    "cleft.runtime": ("Manifest", "ModelDirectory"),
}
"""The modules in order, and the names to list where those are not all of `__all__`."""

IN_FULL = ("Parser",)
"""Classes whose methods are told in full, not by a line each."""

INTERNAL = ("parse_inputs",)
"""Methods that are for other modules of cleft."""


def page() -> str:
    """The whole page."""
    modules = [importlib.import_module(name) for name in MODULES]
    contents = "\n".join(
        f"- [`{module.__name__}`](#{module.__name__.replace('.', '')}): {_summary(module)}"
        for module in modules
    )
    parts = [HEAD, contents, *(_module(module) for module in modules)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _module(module: ModuleType) -> str:
    names = MODULES[module.__name__] or tuple(
        name for name in module.__all__ if not name.startswith("__")
    )
    parts = [f"## {module.__name__}", _document(module)]
    parts += [part for name in names for part in _named(module, name)]
    return "\n\n".join(part for part in parts if part)


def _named(module: ModuleType, name: str) -> Iterator[str]:
    value = getattr(module, name)
    if inspect.isclass(value) and value.__doc__:
        yield f"### class `{name}`"
        yield from _class(name, value)
    elif inspect.isfunction(value):
        yield f"### `{name}`"
        yield _code(f"{name}{_signature(value)}")
        yield _document(value)
    else:
        yield f"### `{name}`"
        yield _constant(module, name, value)


def _constant(module: ModuleType, name: str, value: Any) -> str:
    """What is said of a value: the string after it in its source, or the class it is of."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    found = re.search(rf'^{name}\b[^\n]*=.*?\n"""(.*?)"""', source, re.M | re.S)
    if found and "\n\n" not in found.group().partition('"""')[0]:
        return inspect.cleandoc(found[1])
    kind = type(value)
    if kind.__module__.startswith("cleft"):
        return f"A `{kind.__name__}` ({kind.__module__}): {_summary(kind)}"
    return f"`{value!r}`" if isinstance(value, str | int | float) else f"A `{kind.__name__}`."


# ---------------------------------------------------------------- classes


def _class(name: str, value: type) -> Iterator[str]:
    if issubclass(value, BaseException):
        bases = ", ".join(base.__name__ for base in value.__bases__)
        yield f"An exception, a kind of `{bases}`."
    else:
        yield _code(f"{name}{_signature(value)}")
    yield _document(value)
    if name in IN_FULL:
        yield from _methods(name, value)
        return
    rows = list(_members(value))
    if rows:
        yield "\n".join(["| | |", "| --- | --- |", *rows])


def _methods(name: str, value: type) -> Iterator[str]:
    """Every public method and property with all that is said of it."""
    for own, member in vars(value).items():
        if own.startswith("_") or own in INTERNAL:
            continue
        yield f"#### `{name}.{own}`"
        if inspect.isfunction(member):
            yield _code(f"{own}{_signature(member)}")
        yield _document(member)


def _said(value: type) -> dict[str, object]:
    """What the class has, and its bases in cleft."""
    found: dict[str, object] = {}
    for base in value.__mro__:
        if base.__module__.partition(".")[0] == "cleft":
            found = found | {n: m for n, m in vars(base).items() if n not in found}
    return found


def _members(value: type) -> Iterator[str]:
    """A row for each public method and property that the class or a base of ours has."""
    fields = {field.name for field in dataclasses.fields(value)} if _is_data(value) else set()
    for name, member in _said(value).items():
        if name.startswith("_") or name in fields:
            continue
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(plain, property):
            yield f"| `.{name}` | {_cell(_summary(plain))} |"
        elif inspect.isfunction(plain) and plain.__doc__:
            shown = _signature(plain, short=True)
            yield f"| `.{name}{_cell(shown)}` | {_cell(_summary(plain))} |"


def _is_data(value: type) -> bool:
    return dataclasses.is_dataclass(value)


# ---------------------------------------------------------------- text


def _signature(value: Any, *, short: bool = False) -> str:
    """A signature; in a `short` one names alone."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    shown: list[str] = []
    star = False
    for each in found.parameters.values():
        if each.name in ("self", "cls"):
            continue
        if each.kind is each.KEYWORD_ONLY and not star:
            star = True
            shown.append("*")
        shown.append(each.name if short else _parameter(each))
    result = "" if short else _annotation(found.return_annotation)
    arrow = f" -> {result}" if result and result != "None" else ""
    return f"({', '.join(shown)}){arrow}"


def _parameter(each: inspect.Parameter) -> str:
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    kind = _annotation(each.annotation)
    text = f"{stars}{each.name}" + (f": {kind}" if kind else "")
    if each.default is each.empty:
        return text
    default = getattr(each.default, "__name__", None) or repr(each.default)
    shown = "…" if default.startswith("<") or len(default) > 40 else default
    return f"{text}{' = ' if kind else '='}{shown}"


def _annotation(value: Any) -> str:
    """An annotation as its author wrote it, whatever Python made of it."""
    if value is inspect.Parameter.empty:
        return ""
    if value is None:
        return "None"
    if isinstance(value, type) and not hasattr(value, "__args__"):
        return value.__name__
    text = getattr(value, "__forward_arg__", None) or str(value)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", text.strip("'")).replace('"', "")


def _code(line: str) -> str:
    """A signature as code, one argument a line if it is long."""
    if len(line) > 92:
        name, rest = line.split("(", 1)
        inner, arrow, result = rest.rpartition(") -> ")
        if not arrow:
            inner, arrow, result = rest.removesuffix(")"), ")", ""
        arguments = textwrap.indent(",\n".join(_arguments(inner)), "    ")
        line = f"{name}(\n{arguments},\n{arrow}{result}"
    return f"```text\n{line}\n```"


def _arguments(inner: str) -> list[str]:
    """The arguments of a signature: cut at commas outside of brackets."""
    found, depth = [""], 0
    for character in inner:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [each.strip() for each in found]


def _document(value: Any) -> str:
    """A docstring with its examples as code."""
    lines = (inspect.getdoc(value) or "").splitlines()
    out: list[str] = []
    inside = False
    for line in lines:
        if line.startswith(">>>") and not inside:
            out += ["```python"]
            inside = True
        elif inside and not line:
            out += ["```"]
            inside = False
        out.append(line.replace("`", "") if inside and line.startswith("```") else line)
    return "\n".join([*out, "```"] if inside else out)


def _summary(value: Any) -> str:
    """The first sentence of a docstring, on one line."""
    first = (inspect.getdoc(value) or "").split("\n\n")[0]
    return " ".join(first.split()).removesuffix(".")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
