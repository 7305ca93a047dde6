"""Gold and predicted trees from files, paired.

EVALB goes line by line: a blank line, or one with brackets but no word such as
`(())`, is a missing parse. That holds for files whose trees end on the line
they start on; where one goes on over several lines, blank lines mean nothing
and trees are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from cleft import files
from cleft.discourse import DiscourseTree
from cleft.errors import InputError, MetricError, UsageError
from cleft.formats.brackets import FOREST
from cleft.formats.cleaning import Cleaning, clean_tree
from cleft.formats.jsonl import Record, Relations
from cleft.formats.registry import format_of
from cleft.tree import Tree

__all__ = ["Source", "every_tree", "pair_up"]

T = TypeVar("T", Tree, DiscourseTree)


class Source:
    """A file of trees, read once, when it is first asked for something.

    An ending that tells no format is taken for brackets. `relations` says which
    names to take from JSON Lines that give both, `clean` what to take off
    constituency trees.
    """

    def __init__(
        self,
        path: files.Readable,
        format_name: str | None = None,
        relations: Relations = "coarse",
        clean: Cleaning | None = None,
    ) -> None:
        self.path = path
        self.relations = relations
        self.clean = clean
        self.name = files.source_name(path)
        if not isinstance(path, files.Text) and Path(path).is_dir():
            raise InputError(
                "expected a file, found a directory", where=self.name, hint="name a file in it"
            )
        self.format = format_of(path, format_name, default="brackets")

    @property
    def tasks(self) -> frozenset[str]:
        """What the file holds trees of."""
        if len(self.format.tasks) == 1:
            return frozenset(self.format.tasks)
        found = {record.task for record in self.records}
        return frozenset(task for task in self.format.tasks if task in found or "both" in found)

    @cached_property
    def records(self) -> list[Record]:
        """The sentences of the file, a place for each line where it goes by lines."""
        return self.format.by_line(self.path, self.relations)

    @property
    def genres(self) -> list[str]:
        """The genre of each sentence, as the key `genre` of JSON Lines tells it."""
        if self.format.name != "jsonl":
            raise UsageError(
                "only JSON Lines tell the genre of a sentence",
                where=self.name,
                hint="leave the options for genres out",
            )
        found = [record.fields.get("genre") for record in self.records]
        for number, genre in enumerate(found, start=1):
            if not isinstance(genre, str):
                raise MetricError(
                    f"expected a name as 'genre' of sentence {number}, found {genre!r}",
                    where=self.name,
                    hint="give every line a genre, or leave the options for genres out",
                )
        return [str(genre) for genre in found]

    def syntax(self) -> list[Tree | None]:
        """The constituency trees, cleaned; None where one is missing or no word is left."""
        trees = (record.syntax for record in self.records)
        return [tree and _cleaned(tree, self.clean) for tree in trees]

    def discourse(self) -> list[DiscourseTree | None]:
        """The discourse trees, None where one is missing."""
        return [record.discourse for record in self.records]


def _cleaned(tree: Tree, clean: Cleaning | None) -> Tree | None:
    """A tree without what cleaning takes off it; the trees of a forest one by one."""
    if clean is None:
        return tree
    if tree.label != FOREST:
        return clean_tree(tree, clean)
    kept = [found for one in tree.children if (found := clean_tree(one, clean)) is not None]
    return Tree(FOREST, kept) if kept else None


def pair_up(
    gold: Sequence[T | None], predicted: Sequence[T | None], names: tuple[str, str]
) -> tuple[list[T | None], list[T | None]]:
    """Both sides at the same length, or an error that names both counts.

    Where they differ, blank lines at a file's end go; and if both have the
    same number of trees, one of them none missing, it is trees that pair.

    >>> tree = Tree.from_brackets("(NP (NN rain))")
    >>> one, two = pair_up([tree, None], [tree], ("gold", "predicted"))
    >>> len(one), len(two)
    (1, 1)
    """
    one, two = list(gold), list(predicted)
    if len(one) == len(two):
        return one, two
    while one and one[-1] is None:
        one.pop()
    while two and two[-1] is None:
        two.pop()
    if len(one) == len(two):
        return one, two
    trees = every_tree(one), every_tree(two)
    if len(trees[0]) == len(trees[1]) and not (None in one and None in two):
        return list(trees[0]), list(trees[1])
    raise MetricError(
        f"{len(gold)} trees in {names[0]}, {len(predicted)} in {names[1]}",
        hint="predict one tree for each gold one, a blank line where there is none",
    )


def every_tree(entries: Sequence[T | None]) -> list[T]:
    """All trees that there are, those of a forest one by one.

    >>> every_tree([None, Tree.from_brackets("(NP (NN rain))")])
    [Tree.from_brackets('(NP (NN rain))')]
    """
    found: list[T] = []
    for tree in entries:
        if isinstance(tree, Tree) and tree.label == FOREST:
            found.extend(tree.children)
        elif tree is not None:
            found.append(tree)
    return found
