"""The XML of rs3 and rs4 files as flat records, each with its place.

Knows which elements and attributes there are, not what they mean together.
Read by expat, a line at a time. A document type declaration is refused, and
with it every entity: nothing is expanded, nothing else is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from xml.parsers import expat

from cleft.errors import InputError, Place, TreeFormatError

__all__ = ["Record", "Records", "parse"]

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
