"""The sides that `cleft evaluate` compares: files, and models that parse the gold file's words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleft.errors import TreeFormatError, UsageError
from cleft.files import STREAM
from cleft.metrics import percentage
from cleft.metrics.evaluate import Trees, read_trees
from cleft.models import find_models
from cleft.parser import load
from cleft.tree import Tree, fold

if TYPE_CHECKING:
    from cleft.discourse import DiscourseTree
    from cleft.formats.jsonl import Record
    from cleft.sentence import Sentence, SentenceInput

OPTIONS = ("beam", "jobs", "edus")
"""Options that need a model."""

PIPE_HINT = "say with --format what standard input holds, for example jsonl"

REPORTED = 10  # the most sentences without a tree that are reported one by one


def read_sides(args: argparse.Namespace) -> list[Any]:
    """The sides to compare, gold first."""
    against_model = args.against is not None and _is_model(args.against)
    if args.model is None and not against_model:
        for name in OPTIONS:
            if getattr(args, name) is not None:
                raise UsageError(f"--{name} is for parsing with a model", hint="give --model")
    gold = _read(args.gold, args)
    sides: list[Any] = [gold]
    for name, is_model in (
        (args.model or args.predicted, args.model is not None),
        (args.against, against_model),
    ):
        if is_model:
            edus = args.edus == "gold"
            sides.append(Model(name, gold, beam=args.beam, jobs=args.jobs, gold_edus=edus))
        elif name is not None:
            sides.append(_read(name, args))
    return sides


def _read(path: str, args: argparse.Namespace) -> Trees:
    try:
        return read_trees(path, args.format, args.relations or "coarse")
    except TreeFormatError as error:
        if path != STREAM or args.format:
            raise
        # A pipe has no ending: what comes through it was taken for brackets.
        raise TreeFormatError(error.problem, where=error.where, hint=PIPE_HINT) from error


def _is_model(name: str) -> bool:
    """Whether what is to be compared with is a model: a directory, or the name of one."""
    path = Path(name).expanduser()
    return path.is_dir() or (not path.exists() and name in {each.name for each in find_models()})


def places_of_genres(names: str | None, genres: list[str], where: str) -> list[int] | None:
    """The places of the sentences of genres, named with commas between them; None for all."""
    if names is None:
        return None
    wanted = {name.strip() for name in names.split(",")}
    unknown = wanted - set(genres)
    if unknown:
        raise UsageError(
            f"no sentence is of the genre {', '.join(map(repr, sorted(unknown)))}",
            where=where,
            hint=f"its genres are {', '.join(sorted(set(genres)))}",
        )
    return [place for place, genre in enumerate(genres) if genre in wanted]


class Model:
    """A model that predicts trees of gold sentences (a `cleft.metrics.evaluate.Predictor`).

    Syntactic trees get the gold tags, as is usual for EVALB, which drops
    punctuation by its tag. How many of the model's own tags are right is
    counted beside it.
    """

    def __init__(
        self,
        model: str,
        gold: Trees,
        *,
        beam: int | None = None,
        jobs: int | None = None,
        gold_edus: bool = False,
    ) -> None:
        if gold.format not in ("brackets", "jsonl"):
            raise UsageError(
                f"a model parses sentences, and {gold.format} files hold documents",
                where=gold.name,
                hint="extract the sentences first, with 'cleft sentences'",
            )
        self.model = model
        self.name = f"model {model}"
        self.beam = 1 if beam is None else beam
        self.jobs = 1 if jobs is None else jobs
        self.gold_edus = gold_edus
        self.failed = 0
        self.right_tags = self.tags = 0
        self._where = gold.name
        self._parser = load(model)
        self.tasks = frozenset(self._parser.manifest.tasks)

    def predict(self, task: str, gold: Sequence[Record]) -> Sequence[Tree | DiscourseTree | None]:
        """A tree of each gold sentence, in order; failures are reported."""
        sources = [self._input(record) for record in gold]
        results = self._parser.stream(sources, task=task, beam=self.beam, jobs=self.jobs)
        trees: list[Tree | DiscourseTree | None] = []
        for number, (record, result) in enumerate(zip(gold, results, strict=True), start=1):
            found = result.trees.get(task)
            if found is None:
                self._report_failure(number, result)
            elif isinstance(found, Tree):
                gold_tree = record.trees[task]
                assert isinstance(gold_tree, Tree)
                tags = gold_tree.tags()
                self._count_tags(tags, found.tags())
                found = with_tags(found, tags)
            trees.append(found)
        if self.failed > REPORTED:
            print(f"cleft: no tree for {self.failed - REPORTED} more sentences", file=sys.stderr)
        return trees

    def about(self) -> dict[str, Any]:
        """What the scores are of: the model, how it was run, its own tags."""
        found: dict[str, Any] = {"name": self.model, "beam": self.beam, "failed": self.failed}
        if self.tags:
            found["tagging"] = percentage(self.right_tags, self.tags)
        return found

    def report(self) -> Iterator[str]:
        """The same for people."""
        yield f"Parsed by the model {self.model}, beam {self.beam}"
        if self.tags:
            share = percentage(self.right_tags, self.tags)
            yield f"right of its own tags: {share:.2f} % (its trees have the gold ones)"

    def _input(self, record: Record) -> SentenceInput:
        from cleft.sentence import SentenceInput
        from cleft.span import Constraints

        bound = None
        if self.gold_edus and record.discourse is not None:
            bound = Constraints(edus=tuple(edu.span.right for edu in record.discourse.edus))
        return SentenceInput.of_words(record.tokens, constraints=bound)

    def _report_failure(self, number: int, result: Sentence) -> None:
        """Report a sentence without a tree by its number in the gold file, not in the stream."""
        self.failed += 1
        if self.failed <= REPORTED:
            why = result.error.problem if result.error else "the model gave none"
            where = f"{self._where} sentence {number}"
            print(f"cleft: {where}: no tree: {why}", file=sys.stderr)

    def _count_tags(self, gold: list[str], found: list[str]) -> None:
        if self._parser.manifest.tags:
            self.tags += len(gold)
            self.right_tags += sum(a == b for a, b in zip(gold, found, strict=True))


def with_tags(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with these tags over its words.

    >>> print(with_tags(Tree.from_brackets("(NP (X the) (X cat))"), ["DT", "NN"]))
    (NP (DT the) (NN cat))
    """
    waiting = list(tags)  # `fold` goes from the last leaf to the first
    return fold(
        tree,
        lambda leaf: Tree(waiting.pop(), (), leaf.word),
        lambda node, children: Tree(node.label, children),
    )
