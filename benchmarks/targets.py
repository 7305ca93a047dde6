"""What runs are held against: the aims of a TOML file, and which of them were reached.

A `[[target]]` names a recipe, a scored set and the least values of its
measures, or another recipe (a peer's, too) whose values it must not fall below:

    decisions = ["A sentence on what the ablation decided."]

    [[target]]
    recipe = "minilm-discourse"
    set = "gum test"
    edus = "given"
    least = { span = 91, relation = 69 }
    note = "Why it was missed, if it was."

A `[[document]]` is the same for trees of whole documents by the built-in models:
`way` (as documents.py names it), `least` (of original Parseval, and of `edus`) and `note`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from records import NONE, Run, command, name, number, set_title, sets, widths
from report import table

from cleft import files
from cleft.errors import InputError

TARGETS = """\
## Targets

What was expected, and what was reached: *met* says by which search, or by how much the better of \
the two missed.
"""
NOTES = "### On the misses\n"
HEAD = ("recipe", "set", "EDUs", "measure", "target", "greedy", "beam", "met", "command")
WORDS = {(True, True): "yes", (True, False): "by greedy", (False, True): "by the beam"}


@dataclass(frozen=True, kw_only=True)
class Target:
    """What one recipe is to reach on one set.

    - `recipe`: the name of the recipe, with what `--set` changed, as in `small epochs=5`
    - `least`: the least value by measure; of a measure that is only reported, 0
    - `not_below`: a recipe whose values, search by search, are the least
    """

    recipe: str
    set: str
    edus: str = ""
    least: Mapping[str, float]
    not_below: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Aims:
    """All targets, those for documents, and what the ablation decided."""

    targets: tuple[Target, ...] = ()
    documents: tuple[Mapping[str, Any], ...] = ()
    decisions: tuple[str, ...] = ()


KINDS: Mapping[str, type] = {"least": dict}
NEEDED = frozenset({"recipe", "set", "least"})


def read_aims(path: str | Path) -> Aims:
    """The aims of a TOML file."""
    try:
        table = tomllib.loads(files.read_text(path))
    except ValueError as error:
        raise InputError(f"expected TOML: {error}", where=str(path)) from error
    found = [_target(each, f"{path}, target {n}") for n, each in _tables(table, path)]
    decisions = table.get("decisions", [])
    if not isinstance(decisions, list) or not all(isinstance(text, str) for text in decisions):
        raise InputError("expected a list of sentences as 'decisions'", where=str(path))
    documents = table.get("document", [])
    if not all({"way", "least"} <= set(each) <= {"way", "least", "note"} for each in documents):
        raise InputError("expected 'way', 'least' and 'note' as [[document]]", where=str(path))
    return Aims(targets=tuple(found), documents=tuple(documents), decisions=tuple(decisions))


def _tables(table: Mapping[str, Any], path: str | Path) -> Iterator[tuple[int, Any]]:
    unknown = sorted(set(table) - {"target", "document", "decisions"})
    if unknown or not isinstance(table.get("target", []), list):
        found = ", ".join(unknown) or "another 'target'"
        raise InputError(
            f"expected [[target]] tables and 'decisions', found {found}", where=str(path)
        )
    yield from enumerate(table.get("target", []), start=1)


def _target(entry: Any, where: str) -> Target:
    known = {field.name for field in fields(Target)}
    if not isinstance(entry, dict) or not NEEDED <= set(entry) <= known:
        raise InputError(
            f"expected the keys {', '.join(sorted(known))}, found {entry!r}",
            where=where,
            hint=f"{', '.join(sorted(NEEDED))} must be there",
        )
    for key, value in entry.items():
        if not isinstance(value, KINDS.get(key, str)):
            raise InputError(f"expected another kind of value, found {value!r}", where=where)
    if not all(isinstance(value, int | float) for value in entry["least"].values()):
        raise InputError(f"expected numbers as 'least', found {entry['least']}", where=where)
    return Target(**entry)


# ---------------------------------------------------------------- the tables


@dataclass(frozen=True)
class _Reached:
    """The scores of one run on the set of a target, and what that set is called."""

    run: Run
    title: str
    greedy: Mapping[str, Any]
    beam: Mapping[str, Any]


def _reached(runs: Sequence[Run], recipe: str, target: Target) -> Iterator[_Reached]:
    for run in runs:
        if name(run) != recipe or "final" not in run:
            continue
        for task in ("syntax", "discourse"):
            for one in sets(run, task):
                given = "given" if one["given_edus"] else "found"
                greedy, beam, _ = widths(one)
                asked = f"{one['name']} {one['part']}" == target.set
                if asked and target.edus in ("", given) and set(target.least) <= set(greedy):
                    yield _Reached(run, set_title(one), greedy, beam or greedy)


def _rows(runs: Sequence[Run], target: Target) -> Iterator[list[str]]:
    edus = target.edus or NONE
    other = next(_reached(runs, target.not_below, target), None) if target.not_below else None
    found = list(_reached(runs, target.recipe, target))
    for measure, least in target.least.items():
        for one in found:
            scores = (one.greedy[measure], one.beam[measure])
            bars = (other.greedy[measure], other.beam[measure]) if other else (least, least)
            yield [
                target.recipe,
                one.title,
                edus,
                measure,
                _bar(target, bars),
                *map(number, scores),
                _met(scores, bars),
                f"`{command(one.run)}`",
            ]
        if not found:
            bar = _bar(target, (least, least))
            yield [target.recipe, target.set, edus, measure, bar, NONE, NONE, "no run", NONE]


def _bar(target: Target, bars: tuple[float, float]) -> str:
    if target.not_below:
        return (
            f"{target.not_below}: {', '.join(map(number, bars))}" if any(bars) else target.not_below
        )
    return f"{bars[0]:g}" if bars[0] else "reported"


def _met(scores: tuple[float, float], bars: tuple[float, float]) -> str:
    """Scores are compared as they are shown, to two places.

    >>> _met((87.6, 88.2), (88, 88)), _met((87.6, 87.75), (88, 88)), _met((50.0, 51.0), (0, 0))
    ('by the beam', 'missed by 0.25', '–')
    """
    if not any(bars):
        return NONE
    over = [round(score, 2) - round(bar, 2) for score, bar in zip(scores, bars, strict=True)]
    word = WORDS.get((over[0] >= 0, over[1] >= 0))
    return word or f"missed by {number(-max(over))}"


def target_blocks(runs: Sequence[Run], targets: Sequence[Target]) -> list[str]:
    """The sections of the page, none without targets."""
    if not targets:
        return []
    rows = [row for target in targets for row in _rows(runs, target)]
    blocks = [f"{TARGETS}\n{table(HEAD, rows)}"]
    notes = [f"- {each.recipe}, {each.set}: {each.note}\n" for each in targets if each.note]
    if notes:
        blocks.append(NOTES + "\n" + "".join(notes))
    return blocks
