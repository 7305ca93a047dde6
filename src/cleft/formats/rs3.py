"""rs3 and rs4, the XML of RSTTool and rstWeb: read and written.

rs4 is rs3 with secondary edges and signals beside the tree; one reader reads
both. What is read and how: docs/formats-rst.md. `rs3_xml` reads and writes the
XML; here its records become a document.

Every segment and group names its parent. A child is the nucleus of a span
group (`relname="span"`), a nucleus of a multinuclear group (its relation is
declared `multinuc`), or a satellite of whatever its parent is. A unit and its
satellites are one n-ary node; a group of one child is that child.
"""

from __future__ import annotations

from cleft import files
from cleft.discourse import SPAN, DiscourseTree
from cleft.errors import InputError, TreeFormatError
from cleft.formats.rs3_xml import Record, Records, parse, write_rs3, write_rs4
from cleft.formats.rst import (
    Kind,
    Part,
    Relation,
    RstDocument,
    SecondaryEdge,
    Signal,
    joined,
    make_edu,
)
from cleft.span import Span

__all__ = ["read_rs3", "write_rs3", "write_rs4"]

# RSTTool's schemas have constituents of equal rank; its embedded relations are satellites.
KINDS: dict[str, Kind] = {
    "rst": "rst",
    "embedded": "rst",
    "multinuc": "multinuc",
    "constit": "multinuc",
}
GROUPS = {"span": "span", "multinuc": "multinuc", "constit": "multinuc"}


def read_rs3(path: files.Readable) -> RstDocument:
    """The document of an rs3 or rs4 file."""
    return document_from(parse(files.lines(path), files.source_name(path)))


def document_from(records: Records) -> RstDocument:
    """The document that records make."""
    reader = _Reader(records)
    trees = reader.build()
    edges = reader.edges()
    signals = [reader.signal(record, edges) for record in records["signal"]]
    left_out = [f"{count} × {what}: not read" for what, count in records.left_out.items()]
    return RstDocument(
        trees=trees,
        relations=reader.relations,
        edges=tuple(edges.values()),
        signals=tuple(signals),
        signal_types=tuple((sig.get("type"), sig.get("subtypes")) for sig in records["sig"]),
        remarks=(*reader.remarks, *left_out),
    )


def _fault(record: Record, problem: str, hint: str = "") -> TreeFormatError:
    what = f"{record.tag} {record.get('id')}" if record.get("id") else record.tag
    return TreeFormatError(f"{what}: {problem}", where=record.place, hint=hint)


class _Reader:
    """The units of a file and what is built of them."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.relations = _declared(records["rel"])
        self.kinds: dict[str, set[Kind]] = {}
        for name, kind in self.relations:
            self.kinds.setdefault(name, set()).add(kind)
        self.units = self._by_id()
        self.children: dict[str, list[Record]] = {key: [] for key in self.units}
        self.leaves = self._leaves()
        self.wholes: dict[str, Part] = {}
        self.cores: dict[str, Span] = {}  # units without their satellites
        self.tied: dict[str, Span] = {}  # what the unit's own relation ties
        self.remarks: list[str] = []

    def _by_id(self) -> dict[str, Record]:
        units: dict[str, Record] = {}
        for record in self.records["segment"] + self.records["group"]:
            key = record.get("id")
            if key in units:
                raise _fault(record, "this id is taken", "give every segment and group its own id")
            if record.tag == "group" and record.get("type") not in GROUPS:
                known = ", ".join(GROUPS)
                raise _fault(record, f"expected a type of {known}, found {record.get('type')!r}")
            units[key] = record
        if not self.records["segment"]:
            raise InputError(
                "expected at least one segment, found none",
                where=self.records.name,
                hint="check that the file is an rs3 or rs4 document with text",
            )
        return units

    def _leaves(self) -> dict[str, Part]:
        """The EDUs, in file order: ids may have been given in any other."""
        leaves, tokens = {}, 0
        for index, record in enumerate(self.records["segment"]):
            edu = make_edu(record.text, tokens)
            tokens = edu.span.right
            if not edu.text:
                raise _fault(record, "expected text, found none", "remove or fill the segment")
            leaves[record.get("id")] = Part(Span(index, index + 1), DiscourseTree.leaf(edu))
        return leaves

    def build(self) -> tuple[DiscourseTree, ...]:
        """The trees, in text order."""
        roots = [record for record in self.units.values() if not self._parent(record)]
        order, stack = [], roots[:]
        while stack:
            record = stack.pop()
            order.append(record)
            stack += self.children[record.get("id")]
        if len(order) < len(self.units):
            raise self._cycle({record.get("id") for record in order})
        for record in reversed(order):
            self.wholes[record.get("id")] = self._whole(record)
        # No part has gaps and every EDU is in one of them: in order they tile the document.
        parts = sorted(self.wholes[record.get("id")] for record in roots)
        return tuple(part.tree for part in parts)

    def _parent(self, record: Record) -> Record | None:
        """The parent of a unit, after adding the unit to its children; None at a root."""
        key = record.get("parent")
        if not key:
            if record.get("relname"):
                what = f"{record.tag} {record.get('id')} has no parent"
                self.remarks.append(f"{what}: its relation {record.get('relname')} is left out")
            return None
        if key not in self.units:
            raise _fault(
                record,
                f"its parent {key} is not in the file",
                "add the parent, or remove the attribute to make this a root",
            )
        self.children[key].append(record)
        return self.units[key]

    def _cycle(self, reached: set[str]) -> TreeFormatError:
        """The error for units that no root reaches: following parents must come round."""
        record = next(unit for key, unit in self.units.items() if key not in reached)
        path: dict[str, None] = {}
        while record.get("id") not in path:
            path[record.get("id")] = None
            record = self.units[record.get("parent")]
        ring = [*path][[*path].index(record.get("id")) :]
        shown = " → ".join([*ring[:6], *["…"] * (len(ring) > 6), ring[0]])
        return _fault(
            record, f"the parents form a cycle: {shown}", "give one of them another parent"
        )

    def _whole(self, record: Record) -> Part:
        """A unit with its satellites, as a child of its parent."""
        key = record.get("id")
        nuclei, satellites = self._roles(record)
        core = self.leaves.get(key)
        if core is None:
            nuclei = self._checked_nuclei(record, nuclei)
            left, right = nuclei[0].span.left, nuclei[-1].span.right
            inner = [part for part in satellites if left < part.span.left < right]
            satellites = [part for part in satellites if not left < part.span.left < right]
            core = self._joined(record, nuclei + inner)
        self.cores[key] = core.span
        whole = self._joined(record, [core, *satellites])
        self.tied[key] = core.span if record.get("relname") == SPAN else whole.span
        return Part(whole.span, whole.tree, self._role(record), record.get("relname"))

    def _checked_nuclei(self, record: Record, nuclei: list[Part]) -> list[Part]:
        if not nuclei:
            raise _fault(record, "expected a nucleus, found none", "remove the group or add one")
        if len(nuclei) == 1:
            if nuclei[0].relation != SPAN:
                what = f"group {record.get('id')} has one nucleus"
                self.remarks.append(f"{what}: its relation {nuclei[0].relation} is left out")
        elif GROUPS[record.get("type")] == "span":
            raise _fault(
                record,
                f"a span group has one nucleus, but this has {len(nuclei)}",
                'make it type="multinuc" or give the others a relation',
            )
        elif any(part.relation == SPAN for part in nuclei):
            raise _fault(
                record,
                "one of several nuclei is tied by 'span'",
                "give every nucleus of a multinuc group its relation",
            )
        return sorted(nuclei)

    def _roles(self, record: Record) -> tuple[list[Part], list[Part]]:
        """The nuclei and the satellites among a unit's children, which are built."""
        parts = [self.wholes.pop(child.get("id")) for child in self.children[record.get("id")]]
        nuclei = [part for part in parts if part.role == "N"]
        return nuclei, [part for part in parts if part.role != "N"]

    def _role(self, record: Record) -> str:
        """N or S, by the relation and what the parent is; N at a root."""
        parent, name = self.units.get(record.get("parent")), record.get("relname")
        if parent is None:
            return "N"
        group = GROUPS.get(parent.get("type")) if parent.tag == "group" else None
        if name == SPAN:
            if group is None:
                raise _fault(
                    record, f"its parent {parent.get('id')} is a segment, which spans nothing"
                )
            return "N"
        kinds = self.kinds.get(name)
        if kinds is None:
            what = f"unknown relation {name!r}" if name else "it has a parent but no relname"
            raise _fault(record, what, "declare the relation in the header")
        if group == "multinuc" and "multinuc" in kinds:
            return "N"
        if "rst" not in kinds:
            raise _fault(
                record,
                f"{name!r} is multinuclear, but its parent {parent.get('id')} is no multinuc group",
                'declare the relation as type="rst" too, or change the parent',
            )
        return "S"

    def _joined(self, record: Record, parts: list[Part]) -> Part:
        """Parts side by side as one node; one part is itself."""
        if len(parts) == 1:
            return parts[0]
        hint = "attach them so that the tree's branches do not cross"
        return joined(parts, lambda problem: _fault(record, problem, hint))

    def edges(self) -> dict[str, SecondaryEdge]:
        """The secondary edges by id."""
        edges: dict[str, SecondaryEdge] = {}
        for record in self.records["secedge"]:
            if record.get("id") in edges:
                raise _fault(record, "this id is taken", "give every edge its own id")
            edges[record.get("id")] = self._edge(record)
        return edges

    def _edge(self, record: Record) -> SecondaryEdge:
        name = record.get("relname")
        if name not in self.kinds:
            raise _fault(record, f"unknown relation {name!r}", "declare it in the header")
        ends = [self._end(record, record.get(side)) for side in ("source", "target")]
        return SecondaryEdge(ends[0], ends[1], name)

    def _end(self, record: Record, key: str) -> Span:
        if key not in self.cores:
            raise _fault(record, f"there is no unit {key!r}", "name a segment or a group")
        return self.cores[key]

    def signal(self, record: Record, edges: dict[str, SecondaryEdge]) -> Signal:
        """A signal, of a unit or of a secondary edge."""
        key = record.get("source")
        return Signal(
            edges.get(key) or self.tied.get(key) or self._end(record, key),
            record.get("type"),
            record.get("subtype"),
            record.get("tokens"),
            record.attributes.get("status"),
        )


def _declared(records: list[Record]) -> tuple[Relation, ...]:
    found: dict[Relation, None] = {}
    for record in records:
        kind = KINDS.get(record.get("type"))
        if kind is None:
            raise _fault(
                record, f"expected type {' or '.join(KINDS)}, found {record.get('type')!r}"
            )
        found[Relation(record.get("name"), kind)] = None
    return tuple(found)
