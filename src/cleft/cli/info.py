"""`cleft info`, `models` and `check`: what models there are, and whether one still works."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cleft.errors import ModelError
from cleft.models import DEFAULT, FoundModel, builtin_models, find_models, model_path

if TYPE_CHECKING:
    from cleft.runtime import ModelDirectory

ABOUT = ("name", "language", "licence", "training_data")
KEPT = {*ABOUT, "scores", "network", "document_network", "cleft", "quantisation"}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        help=f"a built-in model or a directory (default: {DEFAULT}, and all names are listed)",
    )
    parser.add_argument("--labels", action="store_true", help="list all labels")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    """Read the model's manifest, and show it."""
    from cleft.runtime import ModelDirectory

    name = args.model or DEFAULT
    found = facts(ModelDirectory(model_path(name)), labels=args.labels)
    if args.model is None:
        found["built_in_models"] = builtin_models()
    if args.json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return 0
    # Only a terminal gets wrapped lines; a file or a pipe gets one line for each fact.
    columns = shutil.get_terminal_size(fallback=(0, 0)).columns or sys.maxsize
    for line in _report(found, columns):
        print(_printable(line))
    return 0


def facts(directory: ModelDirectory, *, labels: bool = False) -> dict[str, Any]:
    """The facts about a model as plain data."""
    manifest, about = directory.manifest, directory.manifest.about
    sizes = [path.stat().st_size for path in directory.path.iterdir() if path.is_file()]
    return {
        **{key: about.get(key) for key in ABOUT},
        "scores": about.get("scores") or {},
        **{key: value for key, value in about.items() if key not in KEPT},
        "tasks": list(manifest.tasks),
        "labels": {
            task: list(names) if labels else len(names) for task, names in manifest.labels.items()
        },
        "tags": list(manifest.tags) if labels else len(manifest.tags),
        "precision": manifest.precision,
        "bytes": sum(sizes),
        "files": len(sizes),
        "format": directory.json("config.json")["format"],
        "cleft": about.get("cleft"),
        "path": str(directory.path),
    }


def _report(found: Mapping[str, Any], columns: int) -> Iterator[str]:
    rows = [(key.replace("_", " "), found[key]) for key in ABOUT]
    known = {*ABOUT, *REPORTED}
    rows += [(key, value) for key, value in found.items() if key not in known]
    rows += [
        ("tasks", ", ".join(found["tasks"])),
        *((f"{task} labels", found["labels"][task]) for task in found["tasks"]),
        ("parts of speech", found["tags"] or None),
        ("precision", found["precision"]),
        ("size", f"{found['bytes'] / 1e6:.1f} MB in {found['files']} files"),
        ("format", found["format"]),
        ("made by", f"cleft {found['cleft']}" if found["cleft"] else None),
        ("path", found["path"]),
        ("built in", found.get("built_in_models")),
    ]
    width = max(len(key) for key, _ in rows)
    for key, value in rows:
        if value is not None and value != []:
            yield from _row(f"{key:<{width}}  ", _printable(_text(value)), columns)
    yield from _scores(found["scores"], columns)


def _row(lead: str, text: str, columns: int) -> list[str]:
    """One fact: its name, then its text, wrapped below the first line."""
    from cleft.cli import UNBROKEN

    below = " " * len(lead)
    room = max(columns, 2 * len(lead))
    lines = wrap(text, room, initial_indent=lead, subsequent_indent=below, **UNBROKEN)
    return lines or [lead.rstrip()]


REPORTED = (
    *("scores", "tasks", "labels", "tags", "precision", "bytes", "files", "format", "cleft"),
    *("path", "built_in_models"),
)
"""Facts that the report formats in its own way."""


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _scores(scores: Any, columns: int) -> Iterator[str]:
    """Tables of scores; those with the same measures in one table, on its side if too wide."""
    from cleft.metrics.report import table

    groups: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for name, values in _score_rows(scores):
        groups.setdefault(tuple(values), []).append((name, *values.values()))
    for measures, rows in groups.items():
        yield ""
        lines = list(table(["scores", *measures], rows))
        if max(map(len, lines)) > columns:
            head, *turned = zip(["scores", *measures], *rows, strict=True)
            lines = list(table([str(name) for name in head], turned))
        yield from lines


def _score_rows(scores: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every set of plain values with the names of what it is in."""
    if not isinstance(scores, dict):
        return
    values = {key: value for key, value in scores.items() if not isinstance(value, dict)}
    if values:
        yield name, values
    for key, part in scores.items():
        yield from _score_rows(part, f"{name} {key}".strip())


def _printable(line: str) -> str:
    """A line without control characters: a model may come from anyone."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


# ---------------------------------------------------------------- cleft check


def add_check(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `cleft check`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        nargs="?",
        default=DEFAULT,
        help=f"a built-in model or a directory (default: {DEFAULT})",
    )


def run_check(args: argparse.Namespace) -> int:
    """Load the model, which verifies it, and parse its own sentences."""
    from cleft.parser import load

    path = model_path(args.model)
    if not path.is_dir():
        load(path)  # raises the error that says what is wrong
    try:
        count = load(path).check()
    except ModelError as error:
        print(f"cleft: {error}", file=sys.stderr)
        return 1
    print(f"ok, {count} sentences")
    return 0


# ---------------------------------------------------------------- cleft models


def add_models(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `cleft models`."""
    parser.add_argument("--json", action="store_true", help="one JSON object a model")


def run_models(args: argparse.Namespace) -> int:
    """Look for models, and show what each is."""
    found = list(map(_found_facts, find_models()))
    if args.json:
        for each in found:
            print(json.dumps(each, ensure_ascii=False))
        return 0
    rows = [("model", "language", "tasks", "size", "where")]
    for each in found:
        size = f"{each['bytes'] / 1e6:.1f} MB"
        tasks = "+".join(each["tasks"]) or "unreadable"
        rows.append(
            (each["name"], str(each["language"] or "?"), tasks, size, each["error"] or each["home"])
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(_printable("  ".join(cells).rstrip()))
    return 0


def _found_facts(model: FoundModel) -> dict[str, Any]:
    """The facts about a model for the list; one that cannot be read has an error."""
    from cleft.runtime import ModelDirectory

    known: dict[str, Any] = {"language": None, "tasks": [], "bytes": 0}
    error = None
    try:
        known = facts(ModelDirectory(model.path))
    except ModelError as wrong:
        error = str(wrong)
    kept = {key: known[key] for key in ("language", "tasks", "bytes")}
    return {"name": model.name, **kept, "home": model.home, "path": str(model.path), "error": error}
