"""The part of `cleft evaluate` that parses: a model's trees of a gold file's words.

What comes out is a source of trees like a file of predictions, so that scoring
is the same for both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cleft.cli.parse_inputs import source_of_words
from cleft.discourse import DiscourseTree
from cleft.errors import InputError, UsageError
from cleft.metrics.counts import percentage
from cleft.metrics.sources import Source, every_tree
from cleft.text import Source as TextSource
from cleft.tree import Tree, fold

if TYPE_CHECKING:
    from cleft.formats.jsonl import Record
    from cleft.parser import Item, Sentence

__all__ = ["Predictions", "about_model", "check_gold", "model_lines", "with_tags"]

TOLD = 10  # sentences without a tree that are told before the rest is only counted


class Predictions:
    """A model's trees of the words of gold trees; they are parsed when asked for.

    Syntactic trees get the gold tags, as is usual for EVALB, which drops
    punctuation by its tag. How many of the model's own tags are right is
    counted beside it.
    """

    def __init__(self, model: str, gold: Source, *, args: argparse.Namespace) -> None:
        from cleft.parser import load

        parser = load(model)
        self.model = model
        self.name = f"model {model}"
        self.tasks = frozenset(parser.manifest.tasks)
        self.failed = 0
        self.right_tags = self.tags = 0
        self._parser, self._gold, self._args = parser, gold, args

    def syntax(self) -> list[Tree | None]:
        """The model's constituency trees with gold tags."""
        golds = every_tree(self._gold.syntax())
        trees: list[Tree | None] = []
        results = self._parsed("syntax", [gold.words() for gold in golds])
        for number, (gold, result) in enumerate(zip(golds, results, strict=True), start=1):
            found = result.syntax
            if found is None:
                self._tell(number, result)
            else:
                self._count_tags(gold.tags(), found.tags())
                found = with_tags(found, gold.tags())
            trees.append(found)
        self._tell_rest()
        return trees

    def discourse(self) -> list[DiscourseTree | None]:
        """The model's discourse trees; those of genres left out are not made."""
        numbers = self._wanted()
        records = self._gold.records
        for number in numbers:
            if not records[number].tokens:
                raise InputError(
                    f"sentence {number + 1} has no tokens",
                    where=self._gold.name,
                    hint="a model needs the words: give 'tokens'",
                )
        given = [_source(records[number], self._args.edus) for number in numbers]
        trees: list[DiscourseTree | None] = [None] * len(records)
        for number, result in zip(numbers, self._parsed("discourse", given), strict=True):
            trees[number] = result.discourse
            if result.discourse is None:
                self._tell(number + 1, result)
        self._tell_rest()
        return trees

    def about(self) -> dict[str, Any]:
        """What the scores are of: the model, how it was run, its own tags."""
        found: dict[str, Any] = {"name": self.model, "beam": self._args.beam}
        found["failed"] = self.failed
        if self.tags:
            found["tagging"] = percentage(self.right_tags, self.tags)
        return found

    def _wanted(self) -> list[int]:
        numbers = range(len(self._gold.records))
        if self._args.genres is None:
            return list(numbers)
        genres = self._gold.genres
        return [number for number in numbers if genres[number] in self._args.genres]

    def _parsed(self, task: str, items: Sequence[Item]) -> Iterator[Sentence]:
        """A result for each sentence, in order."""
        args = self._args
        return self._parser.stream(items, task=task, beam=args.beam, jobs=args.jobs)

    def _tell(self, number: int, result: Sentence) -> None:
        """Say why a sentence has no tree; a stream counts its sentences otherwise than we do."""
        self.failed += 1
        if self.failed <= TOLD:
            why = result.error.problem if result.error else "the model gave none"
            where = f"{self._gold.name} sentence {number}"
            print(f"cleft: {where}: no tree: {why}", file=sys.stderr)

    def _tell_rest(self) -> None:
        if self.failed > TOLD:
            print(f"cleft: no tree for {self.failed - TOLD} more sentences", file=sys.stderr)

    def _count_tags(self, gold: list[str], found: list[str]) -> None:
        if self._parser.manifest.tags:
            self.tags += len(gold)
            self.right_tags += sum(a == b for a, b in zip(gold, found, strict=True))


def about_model(source: object) -> dict[str, Any]:
    """What JSON says of the model that made the trees; nothing for trees of a file."""
    return {"model": source.about()} if isinstance(source, Predictions) else {}


def model_lines(source: object) -> Iterator[str]:
    """What a report says of the model that made the trees."""
    if isinstance(source, Predictions):
        about = source.about()
        yield ""
        yield f"Parsed by the model {about['name']}, beam {about['beam']}"
        if "tagging" in about:
            yield f"right of its own tags: {about['tagging']:.2f} % (its trees have the gold ones)"


def with_tags(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with these tags over its words.

    >>> print(with_tags(Tree.from_brackets("(NP (X the) (X cat))"), ["DT", "NN"]))
    (NP (DT the) (NN cat))
    """
    waiting = list(tags)  # leaves come last first
    return fold(
        tree,
        lambda leaf: Tree(waiting.pop(), (), leaf.word),
        lambda node, children: Tree(node.label, children),
    )


def check_gold(gold: Source) -> None:
    """Fail unless a file holds sentences, which a model can parse."""
    if gold.format.name not in ("brackets", "jsonl"):
        raise UsageError(
            f"a model parses sentences, and {gold.format.name} files hold documents",
            where=gold.name,
            hint="extract the sentences first, with 'cleft sentences'",
        )


def _source(record: Record, edus: str | None) -> TextSource:
    """A sentence to be parsed, with its gold EDUs if those are to be used."""
    assert record.discourse is not None
    ends = [edu.span.right for edu in record.discourse.edus]
    return source_of_words(record.tokens, edus=ends if edus == "gold" else None)
