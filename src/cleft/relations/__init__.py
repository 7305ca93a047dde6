"""Coarse relation classes: mappings from a treebank's relations to a few classes.

A mapping file has one class a line: its name, a colon, and the relations that
belong to it, separated by spaces; `#` begins a comment, and the line `*: *`
keeps every other relation unchanged. Built in: `gum` (32 relations in 15
classes), `rst-dt` (78 in 18), `pcc`, and `none`, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from cleft import files
from cleft.errors import FormatError, InputError, Place

__all__ = ["BUILT_IN", "RelationClasses", "load_classes", "matching_classes"]

BUILT_IN = ("gum", "rst-dt", "pcc", "none")
SUFFIXES = ("-e", "-s", "-n")
ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationClasses:
    """A mapping of relations to classes. Case does not matter, nor do RST-DT's suffixes.

    >>> classes = load_classes("rst-dt")
    >>> classes.coarse("elaboration-object-attribute-e"), classes.coarse("Problem-Solution-S")
    ('Elaboration', 'Topic-Comment')
    >>> load_classes("gum").coarse("joint-list")
    'joint'
    """

    name: str
    classes: Mapping[str, str]
    keeps_others: bool = False

    def find(self, relation: str) -> str | None:
        """The class of a relation, None where there is none."""
        name = relation.lower()
        while name not in self.classes:
            if not name.endswith(SUFFIXES):
                return relation if self.keeps_others else None
            name = name[:-2]
        return self.classes[name]

    def coarse(self, relation: str) -> str:
        """The class of a relation."""
        found = self.find(relation)
        if found is None:
            raise FormatError(
                f"the relation {relation!r} has no class in the mapping {self.name}",
                hint="add it to a mapping file, or take other relation classes",
            )
        return found


def load_classes(name: str | Path) -> RelationClasses:
    """A built-in mapping by name, or one from a file."""
    if str(name) == "none":
        return RelationClasses(name="none", classes={}, keeps_others=True)
    if str(name) in BUILT_IN:
        text = resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
        return _parsed(text.splitlines(), str(name))
    return _parsed(list(files.lines(name)), files.source_name(name))


def matching_classes(relations: Iterable[str]) -> RelationClasses:
    """The first built-in mapping that has a class for every relation; `none` where none has.

    >>> matching_classes(["joint-list", "causal-cause"]).name
    'gum'
    >>> matching_classes(["evidence", "my-relation"]).name
    'none'
    """
    names = list(relations)
    candidates = (load_classes(name) for name in BUILT_IN)
    return next(each for each in candidates if all(each.find(name) for name in names))


def _parsed(lines: Iterable[str], name: str) -> RelationClasses:
    classes: dict[str, str] = {}
    keeps_others = False
    for number, line in enumerate(lines, 1):
        entry = line.split("#")[0].strip()
        if not entry:
            continue
        coarse, colon, rest = entry.partition(":")
        coarse, fine = coarse.strip(), rest.split()
        if not colon or not coarse or not fine:
            raise FormatError(
                f"expected 'class: relation relation …', found {entry[:40]!r}",
                where=Place(name, number),
                hint="write a class, a colon and its relations",
            )
        if coarse == ANY and fine == [ANY]:
            keeps_others = True
            continue
        _add(classes, coarse, fine, Place(name, number))
    if not classes and not keeps_others:
        raise InputError("expected relation classes, found none", where=name)
    return RelationClasses(name=name, classes=classes, keeps_others=keeps_others)


def _add(classes: dict[str, str], coarse: str, fine: list[str], place: Place) -> None:
    for relation in fine:
        known = classes.setdefault(relation.lower(), coarse)
        if known != coarse:
            raise FormatError(
                f"{relation!r} belongs to {coarse!r} here but to {known!r} above",
                where=place,
                hint="give every relation one class",
            )
