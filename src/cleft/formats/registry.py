"""Which format a file is in: by its ending, by name, or by what it begins with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cleft.errors import UsageError

__all__ = ["FORMATS", "Format", "begins_as", "format_of"]

# Opening brackets, a whole preterminal in them, and again a bracket: no prose begins so.
TREE = (
    r"(?:\(\(\)\)\s*+)*+(?:\(\s*+[^\s()]*+\s*+(?=\())++"
    r"\(\s*+[^\s()]++\s++[^\s()]++\s*+\)\s*+(?:[()]|\Z)"
)
RECORD = r'(?:\[\s*+)?\{\s*+"[^"\n]*+"\s*+:|\[\s*+"(?:[^"\\\n]|\\.)*+"\s*+[],]'
XML = r"<\?xml\b|<rst\b"
UNDECIDED = re.compile(r"\s*+(?:(?:\(\(\)\)\s*+)*+(?:\(\s*+[^\s()]*+\s*+)*+|[\[{\s]*+)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, its files' endings, the tasks whose trees it holds.

    `begins` is a regular expression of what its files begin with, where that tells them.

    >>> format_of("trees.mrg").name
    'brackets'
    """

    name: str
    endings: tuple[str, ...]
    syntax: bool = False
    discourse: bool = False
    writes: bool = True
    begins: str = ""


FORMATS = {
    found.name: found
    for found in (
        Format(
            name="brackets",
            endings=(".mrg", ".ptb", ".psd", ".parse", ".brackets", ".txt"),
            syntax=True,
            begins=TREE,
        ),
        Format(
            name="jsonl",
            endings=(".jsonl", ".ndjson"),
            syntax=True,
            discourse=True,
            begins=RECORD,
        ),
        Format(name="rs3", endings=(".rs3",), discourse=True, begins=XML),
        Format(name="rs4", endings=(".rs4",), discourse=True),
        Format(
            name="dis",
            endings=(".dis",),
            discourse=True,
            begins=r"\(\s*(?:Root|Nucleus|Satellite)\s+\((?:span|leaf)\b",
        ),
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


def begins_as(text: str) -> str | None:
    r"""The format that a text begins as; empty for none, None while too little of it is known.

    >>> begins_as("( (S (NP (PRP It)) (VP (VBD rained))))"), begins_as("(It rained.) We left.")
    ('brackets', '')
    >>> begins_as('{"tokens": ["It", "rained"]}'), begins_as("(\n (S")
    ('jsonl', None)
    """
    for name, pattern in BEGINNINGS.items():
        if pattern.match(text):
            return name
    return None if UNDECIDED.match(text) else ""


# What .dis files begin with also begins a tree in brackets.
BEGINNINGS = {
    found.name: re.compile(rf"\s*+(?:{found.begins})", re.ASCII)
    for found in reversed(FORMATS.values())
    if found.begins
}
