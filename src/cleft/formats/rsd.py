"""RST dependencies, .rsd files: read only.

One EDU a line, tab-separated: number, text, attachment level, three columns
that are not read, head, relation with `_r` (satellite) or `_m` (nucleus of
the same node as its head), secondary edges, signals. The dependents of an EDU
are joined to it level by level, the lowest first; each level is one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cleft import files
from cleft.discourse import SPAN, DiscourseTree
from cleft.errors import InputError, Place, TreeFormatError
from cleft.formats.rst import Part, RstDocument, joined, make_edu, natural_number
from cleft.span import Span

__all__ = ["read_rsd"]

COLUMNS = 8
NOTHING = ("_", "")


class Row(NamedTuple):
    """A line: an EDU and what ties it to its head (0 at a root)."""

    text: str
    level: int | None
    head: int
    relation: str
    role: str
    place: Place


def read_rsd(path: files.Readable) -> RstDocument:
    """The document of an .rsd file, its dependencies made a tree of constituents."""
    name = files.source_name(path)
    rows: list[Row] = []
    beside = 0
    for number, line in enumerate(files.lines(path), 1):
        if line.strip() and not line.startswith("#"):
            columns = line.rstrip("\r\n").split("\t")
            rows.append(_row(columns, len(rows) + 1, Place(name, number)))
            beside += any(column not in NOTHING for column in columns[COLUMNS:])
    if not rows:
        raise InputError("expected one EDU a line, found none", where=name)
    remarks = [f"secondary edges and signals of {beside} EDUs: not read"] if beside else []
    return RstDocument.of(_trees(rows), remarks)


def _row(columns: list[str], expected: int, place: Place) -> Row:
    if len(columns) < COLUMNS:
        raise TreeFormatError(
            f"expected {COLUMNS} or more columns, found {len(columns)}",
            where=place,
            hint="separate the columns by tabs",
        )
    if columns[0] != str(expected):
        raise TreeFormatError(
            f"expected EDU {expected}, found {columns[0]!r}",
            where=place,
            hint="number the EDUs from 1 in text order",
        )
    head = natural_number(columns[6])
    if head is None or head == expected:
        raise TreeFormatError(
            f"expected the number of another EDU as head, or 0, found {columns[6]!r}", where=place
        )
    relation, mark, role = columns[7].rpartition("_")
    if not mark or role not in ("m", "r"):
        relation, role = columns[7], "r"
    if head and relation in (*NOTHING, SPAN):
        raise TreeFormatError(f"expected a relation, found {columns[7]!r}", where=place)
    return Row(columns[1], natural_number(columns[2]), head, relation, role, place)


def _trees(rows: Sequence[Row]) -> list[DiscourseTree]:
    """The trees under the roots, in text order."""
    dependents: list[list[int]] = [[] for _ in range(len(rows) + 1)]
    for index, row in enumerate(rows, 1):
        if row.head > len(rows):
            raise TreeFormatError(
                f"there is no EDU {row.head}", where=row.place, hint="correct the head"
            )
        dependents[row.head].append(index)
    order, stack = [], dependents[0][:]
    while stack:
        index = stack.pop()
        order.append(index)
        stack += dependents[index]
    if len(order) < len(rows):
        lost = min(set(range(1, len(rows) + 1)) - set(order))
        raise TreeFormatError(
            f"the heads of EDU {lost} form a cycle",
            where=rows[lost - 1].place,
            hint="give one EDU of the document the head 0",
        )
    parts = _leaves(rows)
    for index in reversed(order):
        parts[index] = _attached(index, dependents[index], rows, parts)
    # No part has gaps and every EDU is in one, so in text order they tile the document.
    return [part.tree for part in sorted(parts[root] for root in dependents[0])]


def _leaves(rows: Sequence[Row]) -> dict[int, Part]:
    leaves, tokens = {}, 0
    for index, row in enumerate(rows, 1):
        edu = make_edu(row.text, tokens)
        if not edu.text:
            raise TreeFormatError("the EDU has no text", where=row.place, hint="fill the column")
        tokens = edu.span.right
        leaves[index] = Part(Span(index - 1, index), DiscourseTree.leaf(edu))
    return leaves


def _attached(
    head: int, dependents: list[int], rows: Sequence[Row], parts: dict[int, Part]
) -> Part:
    """An EDU with all its dependents."""
    levels = _levels(head, dependents, rows)
    part = parts[head]
    for level in sorted(set(levels.values())):
        here = [index for index in dependents if levels[index] == level]
        for role in ("m", "r"):
            joined = [index for index in here if rows[index - 1].role == role]
            if joined:
                part = _joined(part, joined, role, rows, parts)
    return part


def _levels(head: int, dependents: list[int], rows: Sequence[Row]) -> dict[int, int]:
    """At which level each dependent is joined: as the file says, or the nearer the lower."""
    stated = {index: rows[index - 1].level for index in dependents}
    levels = {index: level for index, level in stated.items() if level is not None}
    if len(levels) == len(dependents):
        return levels
    levels, level, before = {}, 0, ("", "")
    # Of two at the same distance, the one after the head is nearer.
    for index in sorted(dependents, key=lambda index: (abs(index - head), index < head)):
        tie = rows[index - 1].relation, rows[index - 1].role
        # Nuclei of one relation are one node.
        level += tie != before or tie[1] == "r"
        levels[index], before = level, tie
    return levels


def _joined(
    core: Part, dependents: list[int], role: str, rows: Sequence[Row], parts: dict[int, Part]
) -> Part:
    """One node of what the head is so far and dependents of one role."""
    names = [rows[index - 1].relation for index in dependents]
    own = names[0] if role == "m" else SPAN
    letter = "N" if role == "m" else "S"
    pieces = [core._replace(relation=own)]
    for index, name in zip(dependents, names, strict=True):
        pieces.append(parts[index]._replace(role=letter, relation=name))
    place, hint = rows[dependents[0] - 1].place, "correct the heads or the levels in column 3"
    return joined(pieces, lambda problem: TreeFormatError(problem, where=place, hint=hint))
