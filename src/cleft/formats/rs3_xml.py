"""The XML of rs3 and rs4 files: read as flat records with their places, and written.

Reading knows which elements and attributes there are, not what they mean
together. expat reads a line at a time. A document type declaration is refused,
and with it every entity: nothing is expanded, nothing else is opened.

Writing has rstWeb's layout. Segments are numbered from 1 in text order, groups
after them. A node of one nucleus and satellites is a span group, one of several
nuclei a multinuclear group; the parent of a satellite is its nucleus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple, TextIO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from cleft.discourse import SPAN
from cleft.errors import InputError, Place, TreeFormatError
from cleft.formats.rst import (
    NO_XML,
    Placed,
    Relation,
    RstDocument,
    SecondaryEdge,
    check_roles,
    losses,
    nested_letters,
    placed,
    text_tokens,
    used_relations,
)
from cleft.span import Span

# What each element may say. Anything else is left out and counted.
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "rst": (),
    "header": (),
    "relations": (),
    "rel": ("name", "type"),
    "sigtypes": (),
    "sig": ("type", "subtypes"),
    "body": (),
    "segment": ("id", "parent", "relname"),
    "group": ("id", "type", "parent", "relname"),
    "secedges": (),
    "secedge": ("id", "source", "target", "relname"),
    "signals": (),
    "signal": ("source", "type", "subtype", "tokens", "status"),
}
OPTIONAL = {"parent", "relname", "tokens", "status", "subtypes", "subtype"}


class Record(NamedTuple):
    """One element: its tag, its attributes, its text, where it starts."""

    tag: str
    attributes: dict[str, str]
    text: str
    place: Place

    def get(self, name: str) -> str:
        """An attribute, '' where it is absent."""
        return self.attributes.get(name, "")


class Records:
    """The records of a file by tag, and what was left out, counted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.by_tag: dict[str, list[Record]] = {tag: [] for tag in ATTRIBUTES}
        self.left_out: Counter[str] = Counter()

    def __getitem__(self, tag: str) -> list[Record]:
        return self.by_tag[tag]


def parse(lines: Iterable[str], name: str) -> Records:
    """The records of an rs3 or rs4 file.

    >>> xml = '<rst><header/><body><segment id="1">A &amp; B</segment></body></rst>'
    >>> parse([xml], "a.rs3")["segment"][0].text
    'A & B'
    """
    handler = _Handler(name)
    empty = True
    try:
        for line in lines:
            empty = empty and not line.strip()
            handler.parser.Parse(line, False)
        if empty:
            raise InputError("expected an rs3 document, found an empty file", where=name)
        handler.parser.Parse("", True)
    except expat.ExpatError as error:
        raise TreeFormatError(
            f"expected XML, found a fault: {expat.errors.messages[error.code]}",
            where=Place(name, error.lineno, error.offset + 1),
            hint="check that the file is a complete rs3 or rs4 document",
        ) from error
    return handler.records


class _Handler:
    """Collects records from expat's events."""

    def __init__(self, name: str) -> None:
        self.records = Records(name)
        self.open: Record | None = None
        self.text: list[str] = []
        self.depth = 0
        self.skipping = 0  # the depth of the element that is left out, 0 where none is
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.refuse

    def place(self) -> Place:
        """Where expat stands."""
        parser = self.parser
        return Place(self.records.name, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def refuse(self, name: str, *_: object) -> None:
        """Stop at a document type declaration."""
        raise TreeFormatError(
            f"expected an rs3 document without a document type, found <!DOCTYPE {name}>",
            where=self.place(),
            hint="remove the declaration and its entities",
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an element of the schema, count one that is not."""
        place = self.place()
        self.depth += 1
        if self.depth == 1 and tag != "rst":
            raise TreeFormatError(
                f"expected <rst> as the outermost element, found <{tag}>",
                where=place,
                hint="check that the file is an rs3 or rs4 document",
            )
        known = ATTRIBUTES.get(tag)
        if known is None:
            self.records.left_out[f"<{tag}>"] += 1
            self.skipping = self.skipping or self.depth
            return
        for name in attributes.keys() - set(known):
            self.records.left_out[f"attribute {name} of <{tag}>"] += 1
        if tag == "rel" and not attributes.get("name", "").strip():
            # Some annotation tools declare an empty relation; nothing can refer to it.
            self.records.left_out["<rel> without a name"] += 1
            return
        self.check(tag, known, attributes, place)
        record = Record(tag, attributes, "", place)
        if tag == "segment":
            self.open, self.text = record, []
        else:
            self.records[tag].append(record)

    def check(
        self, tag: str, known: tuple[str, ...], attributes: dict[str, str], place: Place
    ) -> None:
        """Refuse an element inside a segment and one without what it needs."""
        if self.open is not None:
            raise TreeFormatError(
                f"expected the end of the segment, found <{tag}>",
                where=place,
                hint="add </segment>",
            )
        for name in known:
            if name not in OPTIONAL and not attributes.get(name, "").strip():
                raise TreeFormatError(f"<{tag}> has no {name}", where=place, hint=f'add {name}="…"')

    def end(self, tag: str) -> None:
        """Close an element; a segment gets its text."""
        if self.depth == self.skipping:
            self.skipping = 0
        self.depth -= 1
        if tag == "segment" and self.open is not None:
            self.records["segment"].append(self.open._replace(text="".join(self.text)))
            self.open = None

    def characters(self, text: str) -> None:
        """Keep the text of segments, refuse text elsewhere in the body."""
        if self.open is not None:
            self.text.append(text)
        elif text.strip() and not self.skipping:
            raise TreeFormatError(
                f"expected an element, found text {text.strip()[:20]!r}",
                where=self.place(),
                hint="put the text into a <segment>",
            )


# ---------------------------------------------------------------- writing


class Tie(NamedTuple):
    """The parent's id and the relation to it; both '' at a root."""

    parent: str = ""
    relation: str = ""


class Group(NamedTuple):
    """A group to write."""

    key: str
    type: str
    tie: Tie


def write_rs3(document: RstDocument, stream: TextIO) -> list[str]:
    """Write a document as rs3; returns what rs3 cannot hold."""
    _write(document, stream, extended=False)
    return losses(document, "rs3")


def write_rs4(document: RstDocument, stream: TextIO) -> list[str]:
    """Write a document as rs4: with secondary edges and signals; returns what it cannot hold."""
    _write(document, stream, extended=True)
    return losses(document, "rs4")


def _write(document: RstDocument, stream: TextIO, extended: bool) -> None:
    check_roles(document, where="rs3 output")
    layout = _Layout(document)
    lines = ["<rst>", "\t<header>", "\t\t<relations>"]
    lines += [_tag("rel", 3, name=name, type=kind) for name, kind in layout.relations]
    lines += ["\t\t</relations>"]
    if extended:
        sigs = [_tag("sig", 3, type=kind, subtypes=sub) for kind, sub in document.signal_types]
        lines += ["\t\t<sigtypes>", *sigs, "\t\t</sigtypes>"]
    lines += ["\t</header>", "\t<body>", *layout.segments(), *layout.groups()]
    if extended:
        lines += _beside(document, layout.ids)
    lines += ["\t</body>", "</rst>", ""]
    stream.write("\n".join(lines))


def _tag(tag: str, depth: int, text: str | None = None, **attributes: str | None) -> str:
    """One element on a line; attributes that are None are left out."""
    shown = "".join(
        f" {name}={quoteattr(_allowed(value))}"
        for name, value in attributes.items()
        if value is not None
    )
    if text is None:
        return "\t" * depth + f"<{tag}{shown}/>"
    return "\t" * depth + f"<{tag}{shown}>{escape(_allowed(text))}</{tag}>"


def _allowed(text: str) -> str:
    return NO_XML.sub("\ufffd", text)


class _Layout:
    """The groups that the nodes of a document become, and the parent of each unit."""

    def __init__(self, document: RstDocument) -> None:
        self.rows = placed(document.trees)
        self.relations = _inventory(document)
        kinds: dict[str, set[str]] = {}
        for name, kind in self.relations:
            kinds.setdefault(name, set()).add(kind)
        self.ambiguous = {name for name, found in kinds.items() if len(found) > 1}
        self.free = count(1)
        self.ids: dict[Span, str] = {}
        self._number()
        self.ties: dict[Span, Tie] = {}
        self.made: list[Group] = []
        self.nuclear = {row.span: row.node.nuclearity.count("N") for row in self.rows}
        for row in self.rows:
            if row.children:
                self._group(row)
            elif row.span not in self.ties:
                # rstWeb's converter refuses a segment without a parent.
                root = str(next(self.free))
                self.made.append(Group(root, "span", Tie()))
                self.ties[row.span] = Tie(root, SPAN)

    def _number(self) -> None:
        """Segments first, then the nodes above them."""
        for leaf in (True, False):
            for row in self.rows:
                if row.node.is_leaf is leaf:
                    self.ids[row.span] = str(next(self.free))

    def _group(self, row: Placed) -> None:
        letters, tie = row.node.nuclearity, self.ties.get(row.span, Tie())
        key = self.ids[row.span]
        if letters.count("N") == 1:
            self.made.append(Group(key, "span", tie))
            nucleus = row.children[letters.index("N")]
            self.ties[nucleus] = Tie(key, SPAN)
            self._hang(row, self.ids[nucleus], multinuc=self.nuclear[nucleus] > 1)
            return
        if letters != nested_letters(letters):
            # The satellites outside are children of the nuclei, which need a span group above them.
            self.made.append(Group(key, "span", tie))
            key, tie = str(next(self.free)), Tie(key, SPAN)
        self.made.append(Group(key, "multinuc", tie))
        for child, letter, name in zip(row.children, letters, row.node.relations, strict=True):
            if letter == "N":
                self.ties[child] = Tie(key, name)
        self._hang(row, key, multinuc=True)

    def _hang(self, row: Placed, key: str, multinuc: bool) -> None:
        """Tie a node's satellites to the unit that is their nucleus."""
        names = row.node.relations
        satellites = [index for index, role in enumerate(row.node.nuclearity) if role == "S"]
        if multinuc and any(names[index] in self.ambiguous for index in satellites):
            key = self._wrapped(row, key)
        for index in satellites:
            self.ties[row.children[index]] = Tie(key, names[index])

    def _wrapped(self, row: Placed, key: str) -> str:
        """A span group over a multinuclear one: all its other children are satellites."""
        if row.node.nuclearity.count("N") > 1:
            raise TreeFormatError(
                f"EDUs {row.span.left + 1}–{row.span.right}: rs3 cannot tell nuclei and satellites "
                "of one relation name in one node",
                where="rs3 output",
                hint="give the mononuclear and the multinuclear relation different names",
            )
        nucleus = row.children[row.node.nuclearity.index("N")]
        wrapper = str(next(self.free))
        self.made.append(Group(wrapper, "span", self.ties[nucleus]))
        self.ties[nucleus] = Tie(wrapper, SPAN)
        return wrapper

    def segments(self) -> list[str]:
        """The lines of the segments."""
        lines = []
        for row in self.rows:
            if row.node.edu is not None:
                text = " ".join(text_tokens(row.node.edu.text))
                tie = self.ties.get(row.span, Tie())
                lines.append(_tag("segment", 2, text, id=self.ids[row.span], **_tied(tie)))
        return lines

    def groups(self) -> list[str]:
        """The lines of the groups."""
        made = sorted(self.made, key=lambda group: int(group.key))
        return [_tag("group", 2, id=key, type=kind, **_tied(tie)) for key, kind, tie in made]


def _tied(tie: Tie) -> dict[str, str | None]:
    return {"parent": tie.parent or None, "relname": tie.relation or None}


def _inventory(document: RstDocument) -> list[Relation]:
    """The declared relations, and after them those that are used without being declared."""
    found = dict.fromkeys([*document.relations, *used_relations(document.trees)])
    names = {relation.name for relation in found}
    for edge in document.edges:
        if edge.relation not in names:
            found[Relation(edge.relation, "rst")] = None
    return list(found)


def _beside(document: RstDocument, ids: dict[Span, str]) -> list[str]:
    """The lines of the secondary edges and the signals."""
    keys: dict[SecondaryEdge, str] = {}
    edges, taken = [], set[str]()
    for edge in document.edges:
        source, target = _end(ids, edge.source), _end(ids, edge.target)
        key = f"{source}-{target}"
        while key in taken:
            key += "'"
        taken.add(key)
        keys[edge] = key
        edges.append(
            _tag("secedge", 3, id=key, source=source, target=target, relname=edge.relation)
        )
    signals = []
    for of, kind, subtype, tokens, status in document.signals:
        key = keys.get(of, "") if isinstance(of, SecondaryEdge) else _end(ids, of)
        if not key:
            raise _lost(of)
        signals.append(
            _tag("signal", 3, source=key, type=kind, subtype=subtype, tokens=tokens, status=status)
        )
    lines = ["\t\t<secedges>", *edges, "\t\t</secedges>"] if edges else []
    return [*lines, "\t\t<signals>", *signals, "\t\t</signals>"]


def _end(ids: dict[Span, str], span: Span) -> str:
    if span not in ids:
        raise _lost(span)
    return ids[span]


def _lost(of: object) -> TreeFormatError:
    return TreeFormatError(
        f"a secondary edge or signal speaks of {of}, which is not in the document",
        where="rs4 output",
        hint="drop the edges and signals when the trees change",
    )
