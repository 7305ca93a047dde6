"""EVALB's parameter files, and the settings in common use.

A `.prm` file has one keyword and its value a line; a line whose first
character is `#` is a comment. Lines that mean nothing are kept in `ignored`
rather than dropped in silence.

Two C programs read such files and do not count alike, so a setting also names
its dialect: `evalb` is the program of Sekine and Collins, `spmrl` the variant
of the SANCL and SPMRL shared tasks (docs/metrics.md has the differences). A
file cannot say which program it is for. Files for the variant delete the label
VROOT, so those that do are read as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from cleft import files
from cleft.errors import UsageError

__all__ = ["COLLINS", "NEW", "SETTINGS", "SPMRL", "Dialect", "Parameters", "parameters", "read_prm"]

Dialect = Literal["evalb", "spmrl"]
"""Which of the two C programs to agree with."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What EVALB counts and what it passes over.

    - `delete`: a word with one of these tags is removed, a phrase with one of
      these labels loses its bracket
    - `delete_for_length`: tags of words that a sentence's length leaves out
    - `quotes`: tags of a lone quotation mark, by which lengths that differ
      are brought together where one side deleted the mark
    - `equal_labels`, `equal_words`: pairs that count as the same
    - `labelled`: whether brackets must agree in their labels
    - `cutoff`: the second summary is of sentences up to this length
    - `max_error`: the number of errors after which EVALB gives up

    >>> COLLINS.equal_labels, COLLINS.cutoff
    ((('ADVP', 'PRT'),), 40)
    """

    delete: tuple[str, ...] = ()
    delete_for_length: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    equal_labels: Pairs = ()
    equal_words: Pairs = ()
    labelled: bool = True
    cutoff: int = 40
    max_error: int = 10
    debug: int = 0
    dialect: Dialect = "evalb"
    ignored: tuple[str, ...] = ()


COLLINS = Parameters(
    delete=("TOP", "-NONE-", ",", ":", "``", "''", "."),
    delete_for_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)
"""The usual English setting: traces, root and punctuation are deleted, ADVP equals PRT."""

NEW = replace(
    COLLINS,
    delete=("TOP", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!"),
    quotes=("``", "''", "POS", "NN", "CD", "VBZ", ":"),
)
"""As COLLINS, with the root S1, `?` and `!` deleted, and mistaken quotation marks restored."""

SPMRL = Parameters(
    delete=("TOP", "ROOT", "S1", "-NONE-", "VROOT"),
    delete_for_length=("-NONE-",),
    cutoff=70,
    max_error=10000,
    dialect="spmrl",
)
"""The SPMRL shared tasks' setting: only roots are deleted, punctuation counts."""

SETTINGS = {"collins": COLLINS, "new": NEW, "spmrl": SPMRL}
"""The settings that have a name."""

NUMBERS = {"DEBUG": "debug", "MAX_ERROR": "max_error", "CUTOFF_LEN": "cutoff"}
LISTS = {
    "DELETE_LABEL": "delete",
    "DELETE_LABEL_FOR_LENGTH": "delete_for_length",
    "QUOTE_LABEL": "quotes",
}
PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
SPACE = " \t\n\v\f\r"
LINE = re.compile(r"([^ \t\n\v\f\r]*)[ \t\n\v\f\r]*(.*)", re.DOTALL)
INTEGER = re.compile(r"[+-]?[0-9]{1,9}")


def parameters(name: str | Path) -> Parameters:
    """A setting by its name, or from a file.

    >>> parameters("spmrl").cutoff
    70
    """
    named = SETTINGS.get(str(name).lower())
    if named is not None:
        return named
    if not Path(name).exists() and not re.search(r"[./\\]", str(name)):
        known = ", ".join(SETTINGS)
        raise UsageError(
            f"no parameters are called {str(name)!r}", hint=f"use {known} or a .prm file"
        )
    return read_prm(name)


def read_prm(path: str | Path) -> Parameters:
    """The parameters in a file."""
    return parse_prm(list(files.lines(path)), files.source_name(path))


def parse_prm(lines: Iterable[str], name: str = "parameters") -> Parameters:
    """The parameters in lines of text.

    >>> parse_prm(["# a comment", "DELETE_LABEL TOP", "EQ_LABEL ADVP PRT", "SPEED 3"])
    ... # doctest: +NORMALIZE_WHITESPACE
    Parameters(delete=('TOP',), delete_for_length=(), quotes=(),
        equal_labels=(('ADVP', 'PRT'),), equal_words=(), labelled=True, cutoff=40,
        max_error=10, debug=0, dialect='evalb',
        ignored=("parameters line 4: unknown keyword 'SPEED'",))
    """
    numbers: dict[str, int] = {"labelled": 1}
    lists: dict[str, list[str]] = {field: [] for field in LISTS.values()}
    pairs: dict[str, list[tuple[str, str]]] = {field: [] for field in PAIRS.values()}
    ignored: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.rstrip(SPACE)
        if text.startswith("#") or len(text) < 3:
            continue
        keyword, value = LINE.match(text).groups()  # type: ignore[union-attr]
        problem = _set(keyword, value, numbers, lists, pairs)
        if problem:
            ignored.append(f"{name} line {number}: {problem}")
    labelled = bool(numbers.pop("labelled"))
    return Parameters(
        labelled=labelled,
        dialect="spmrl" if "VROOT" in lists["delete"] else "evalb",
        ignored=tuple(ignored),
        **{field: tuple(values) for field, values in lists.items()},  # type: ignore[arg-type]
        **{field: tuple(values) for field, values in pairs.items()},  # type: ignore[arg-type]
        **numbers,  # type: ignore[arg-type]
    )


def _set(
    keyword: str,
    value: str,
    numbers: dict[str, int],
    lists: dict[str, list[str]],
    pairs: dict[str, list[tuple[str, str]]],
) -> str:
    """Apply one line; returns the problem with it, or an empty string."""
    if not value:
        return f"{keyword!r} has no value"
    if keyword in NUMBERS or keyword == "LABELED":
        # As C's atoi: leading digits count, anything else is 0.
        found = INTEGER.match(value)
        numbers[NUMBERS.get(keyword, "labelled")] = int(found.group()) if found else 0
    elif keyword in LISTS:
        lists[LISTS[keyword]].append(value)
    elif keyword in PAIRS:
        names = value.split()
        if len(names) != 2:
            return f"{keyword} needs two values, found {len(names)}"
        pairs[PAIRS[keyword]].append((names[0], names[1]))
    else:
        return f"unknown keyword {keyword!r}"
    return ""
