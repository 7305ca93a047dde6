"""Which format a file is in, by its ending or by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cleft.errors import UsageError

__all__ = ["FORMATS", "Format", "format_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, its files' endings, the tasks whose trees it holds.

    >>> format_of("trees.mrg").name
    'brackets'
    """

    name: str
    endings: tuple[str, ...]
    syntax: bool = False
    discourse: bool = False
    writes: bool = True


FORMATS = {
    found.name: found
    for found in (
        Format(
            name="brackets",
            endings=(".mrg", ".ptb", ".psd", ".parse", ".brackets", ".txt"),
            syntax=True,
        ),
        Format(name="jsonl", endings=(".jsonl", ".ndjson"), syntax=True, discourse=True),
        Format(name="rs3", endings=(".rs3",), discourse=True),
        Format(name="rs4", endings=(".rs4",), discourse=True),
        Format(name="dis", endings=(".dis",), discourse=True),
        Format(name="rsd", endings=(".rsd",), discourse=True, writes=False),
    )
}
"""All formats by name."""


def format_of(path: str | Path, name: str | None = None) -> Format:
    """The format of a file: the one named, else the one its ending tells (`.gz` is passed over).

    >>> format_of("notes.rs4").discourse, format_of("-", "dis").name
    (True, 'dis')
    """
    if name is not None:
        if name not in FORMATS:
            raise UsageError(f"no format is called {name!r}", hint=f"use one of {_names()}")
        return FORMATS[name]
    ending = Path(str(path).removesuffix(".gz")).suffix.lower()
    for found in FORMATS.values():
        if ending in found.endings:
            return found
    raise UsageError(
        f"the ending {ending!r} tells no format" if ending else "the name has no ending",
        where=str(path),
        hint=f"name the format: one of {_names()}",
    )


def _names() -> str:
    return ", ".join(FORMATS)
