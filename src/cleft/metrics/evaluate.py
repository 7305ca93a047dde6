"""The one evaluation: gold trees against predicted ones.

Both sides are read, cleaned alike, paired and scored; where a model predicts,
it is given the gold sentences. The command line, training, the test of an
exported model and the server differ only in where their trees come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cleft import files
from cleft.convert import genre_of
from cleft.discourse import DiscourseTree
from cleft.errors import InputError, MetricError, UsageError
from cleft.formats.brackets import FOREST
from cleft.formats.cleaning import Cleaning, clean_tree, cleaning
from cleft.formats.jsonl import Record, Relations
from cleft.formats.registry import FORMATS, DocumentFormat, format_of
from cleft.metrics.evalb import SyntaxScores
from cleft.metrics.parseval import MEASURES, DiscourseMetric, DiscourseScores
from cleft.metrics.prm import COLLINS, Parameters
from cleft.tasks import get_task, task_names
from cleft.tree import Tree

if TYPE_CHECKING:
    from cleft.metrics.significance import Rows

__all__ = [
    "Evaluation", "Predictor", "Settings", "Trees", "common_task", "evaluate", "pair_up",
    "read_trees",
]  # fmt: skip

T = TypeVar("T", Tree, DiscourseTree)
AnyTree = Tree | DiscourseTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How trees are compared.

    `clean` names what is taken off the constituency trees of both sides
    (`cleft.formats.cleaning`); `parameters` are EVALB's. For discourse,
    `metric` says which Parseval, `gold_edus` that predicted trees have the
    gold EDUs; `sentence_ends` are those inside each gold document, where they are known.
    """

    clean: str = "ptb"
    parameters: Parameters = COLLINS
    metric: DiscourseMetric = "rst"
    gold_edus: bool = False
    sentence_ends: Sequence[Sequence[int]] | None = None


# ---------------------------------------------------------------- the two sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """The trees of one side, a record for each sentence; `name` is how messages call them.

    `format` is that of their file, empty for trees of no file.

    >>> Trees.of("syntax", [Tree.from_brackets("(NP (NN rain))"), None]).tasks
    frozenset({'syntax'})
    """

    name: str
    records: Sequence[Record]
    format: str = ""

    @classmethod
    def of(cls, task: str, trees: Sequence[AnyTree | None], name: str = "trees") -> Trees:
        """Trees that are at hand, None for one that is missing."""
        rows = [Record(trees={} if tree is None else {task: tree}) for tree in trees]
        return cls(name=name, records=rows)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that there are trees of."""
        return frozenset(task for record in self.records for task in record.trees)

    @property
    def genres(self) -> list[str]:
        """The genre of each sentence, from the key `genre` of JSON Lines."""
        if self.format != "jsonl" and not any("genre" in each.fields for each in self.records):
            raise UsageError(
                "only JSON Lines, and names of files as in GUM, tell a genre",
                where=self.name,
                hint="leave the options for genres out",
            )
        found = [record.fields.get("genre") for record in self.records]
        for number, genre in enumerate(found, start=1):
            if not isinstance(genre, str):
                raise MetricError(
                    f"expected a name as 'genre' of tree {number}, found {genre!r}",
                    where=self.name,
                    hint="give every line a genre, or leave the options for genres out",
                )
        return [str(genre) for genre in found]


def read_trees(
    source: files.Readable, format_name: str | None = None, relations: Relations = "coarse"
) -> Trees:
    """The trees of a file, or of a text; a file with an unknown ending is read as brackets.

    `relations` says which names to take from JSON Lines that give both. In a folder
    every file of a format of RST is a document; its name has its genre if it is one of GUM's.

    >>> read_trees(files.Text("gold", "(NP (NN rain))")).format
    'brackets'
    """
    name = files.source_name(source)
    if not isinstance(source, files.Text) and Path(source).is_dir():
        return _read_folder(Path(source), format_name)
    found = format_of(source, format_name, default="brackets")
    return Trees(name=name, records=found.by_line(source, relations), format=found.name)


def _read_folder(folder: Path, format_name: str | None) -> Trees:
    formats = [each for each in FORMATS.values() if isinstance(each, DocumentFormat)]
    formats = [each for each in formats if format_name in (None, each.name)]
    endings = {ending: each for each in formats for ending in each.endings}
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() in endings)
    if not paths:
        raise InputError(
            "expected a file or files of RST in a folder, found a directory without them",
            where=str(folder),
            hint="name a file in it",
        )
    records, kinds = [], set()
    for path in paths:
        found = endings[path.suffix.lower()]
        trees = found.document(path).trees
        if len(trees) != 1:
            raise MetricError(
                f"expected one tree over the document, found {len(trees)}",
                where=str(path),
                hint="score it by itself",
            )
        genre = genre_of(path.stem)
        fields = {"doc": path.stem} | ({} if genre is None else {"genre": genre})
        records.append(Record(discourse=trees[0], fields=fields))
        kinds.add(found.name)
    return Trees(name=str(folder), records=records, format=min(kinds))


def _check_names(gold: Trees, predicted: Trees) -> None:
    """Fail if the documents of two folders are called differently."""
    names = [[each.fields.get("doc") for each in side.records] for side in (gold, predicted)]
    if None in names[0] or None in names[1] or names[0] == names[1]:
        return
    other = sorted({*map(str, names[0])} ^ {*map(str, names[1])})
    raise MetricError(
        f"{predicted.name} has other documents than {gold.name}, such as {other[0]}"
        if other
        else f"{predicted.name} has its documents in another order than {gold.name}",
        hint="predict one document for each gold one, under its name",
    )


class Predictor(Protocol):
    """Something that parses: a side whose trees are made when they are needed."""

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that it can make trees of."""
        ...

    def predict(self, task: str, gold: Sequence[Record]) -> Sequence[AnyTree | None]:
        """A tree of each gold sentence's tokens, in order; None where there is none."""
        ...


def common_task(
    task: str | None, sides: Sequence[Trees | Predictor], hint: str = "compare like with like"
) -> str:
    """The task, if all sides have trees of it; without one, the first task that all have.

    `hint` is what to do if there is none.
    """
    common = frozenset(task_names())
    for side in sides:
        # A file of nothing but failed parses fits either task.
        if task is not None and side.tasks and task not in side.tasks:
            raise MetricError(
                f"it has no {task} trees", where=side.name, hint="ask for no task, or for another"
            )
        common &= side.tasks or common
    if task is not None:
        return task
    if not common:
        held = ", ".join(f"{side.name} holds {' and '.join(sorted(side.tasks))}" for side in sides)
        raise MetricError(f"the sides are of different tasks: {held}", hint=hint)
    return next(name for name in task_names() if name in common)


# ---------------------------------------------------------------- scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The trees that were compared, in pairs, and their scores."""

    task: str
    settings: Settings
    gold: Sequence[Any]
    predicted: Sequence[Any]
    scores: SyntaxScores | DiscourseScores

    @property
    def values(self) -> dict[str, float]:
        """The scores by name, in per cent; `errors` is how many sentences have none."""
        return self.scores.values

    @property
    def main(self) -> float:
        """The score that a model is selected by."""
        return self.values[get_task(self.task).main]

    def data(self) -> dict[str, Any]:
        """The scores as plain data for JSON."""
        from cleft.metrics.report import scores_data

        found = scores_data(self.scores)
        cleaned = isinstance(self.scores, SyntaxScores)
        return found | {"clean": self.settings.clean} if cleaned else found

    def counts(self) -> dict[str, Rows]:
        """The counts of each sentence by measure, for intervals and tests."""
        from cleft.metrics.significance import count_rows

        names = MEASURES if isinstance(self.scores, DiscourseScores) else ("f1",)
        return {name: count_rows(self.scores, name) for name in names}

    def part(self, places: Sequence[int]) -> Evaluation:
        """The same of some sentences alone."""
        gold = [self.gold[place] for place in places]
        predicted = [self.predicted[place] for place in places]
        ends = self.settings.sentence_ends
        known = None if ends is None else [ends[place] for place in places]
        return _scored(self.task, gold, predicted, replace(self.settings, sentence_ends=known))


def evaluate(
    task: str,
    gold: Trees,
    predicted: Trees | Predictor,
    settings: Settings | None = None,
    places: Sequence[int] | None = None,
) -> Evaluation:
    """Score predicted trees against gold ones; `places` are the gold sentences to score, or all.

    >>> gold = read_trees(files.Text("gold", "( (S (NP-SBJ (PRP She)) (VP (VBD slept))))"))
    >>> predicted = read_trees(files.Text("predicted", "(S (NP (PRP She)) (VBD slept))"))
    >>> found = evaluate("syntax", gold, predicted)
    >>> round(found.main, 2), found.scores.precision
    (80.0, 100.0)
    """
    settings = settings or Settings()
    names = (gold.name, predicted.name)
    if isinstance(predicted, Trees):
        _check_names(gold, predicted)
    if places is not None and isinstance(predicted, Trees):
        if len(gold.records) != len(predicted.records):
            raise _count_error(len(gold.records), len(predicted.records), names)
        predicted = replace(predicted, records=[predicted.records[place] for place in places])
    pairs = _cleaned_pairs if get_task(task).labels == "spans" else _pairs
    every = range(len(gold.records)) if places is None else places
    one, two = pairs(task, gold, predicted, settings, every)
    ends = [gold.records[place].sentence_ends for place in every]
    return _scored(task, one, two, replace(settings, sentence_ends=ends if any(ends) else None))


def _scored(
    task: str, gold: Sequence[Any], predicted: Sequence[Any], settings: Settings
) -> Evaluation:
    scores = get_task(task).score(gold, predicted, settings)
    return Evaluation(task=task, settings=settings, gold=gold, predicted=predicted, scores=scores)


def _cleaned_pairs(
    task: str, gold: Trees, predicted: Trees | Predictor, settings: Settings, places: Sequence[int]
) -> tuple[Sequence[Tree | None], Sequence[Any]]:
    """Constituency trees of both sides, cleaned alike; a gold tree may be missing."""
    clean = _cleaner(cleaning(settings.clean))
    wanted = [clean(gold.records[place].trees.get(task)) for place in places]
    if not any(wanted):
        raise MetricError(f"it has no {task} trees", where=gold.name, hint="give at least one")
    if not isinstance(predicted, Trees):
        trees = every_tree(wanted)
        return trees, predicted.predict(task, [Record(trees={task: tree}) for tree in trees])
    found = [clean(record.trees.get(task)) for record in predicted.records]
    one, two = pair_up(wanted, found, (gold.name, predicted.name))
    if settings.clean == "none":
        return one, two
    # EVALB would count a sentence that neither side has a word of as skipped.
    pairs = [(left, right) for left, right in zip(one, two, strict=True) if left or right]
    return [left for left, _ in pairs], [right for _, right in pairs]


def _cleaner(clean: Cleaning | None) -> Callable[[AnyTree | None], Tree | None]:
    """What cleans a tree, the trees of a forest one by one; None where no word is left."""

    def cleaned(tree: AnyTree | None) -> Tree | None:
        if not isinstance(tree, Tree) or clean is None:
            return tree if isinstance(tree, Tree) else None
        if tree.label != FOREST:
            return clean_tree(tree, clean)
        kept = [found for one in tree.children if (found := clean_tree(one, clean)) is not None]
        return Tree(FOREST, kept) if kept else None

    return cleaned


def _pairs(
    task: str, gold: Trees, predicted: Trees | Predictor, settings: Settings, places: Sequence[int]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Trees of both sides; every gold sentence must have one."""
    wanted: list[Any] = []
    for place in places:
        tree = gold.records[place].trees.get(task)
        if tree is None:
            raise MetricError(
                f"sentence {place + 1} has no {task} tree",
                where=gold.name,
                hint="leave it out on both sides",
            )
        wanted.append(tree)
    if not isinstance(predicted, Trees):
        sentences = [_with_words(gold, place, task) for place in places]
        return wanted, predicted.predict(task, sentences)
    found: list[Any] = [record.trees.get(task) for record in predicted.records]
    return wanted, pair_up(wanted, found, (gold.name, predicted.name))[1]


def _with_words(gold: Trees, place: int, task: str) -> Record:
    record = gold.records[place]
    if not record.tokens:
        raise InputError(
            f"sentence {place + 1} has no tokens",
            where=gold.name,
            hint="a model needs the words: give 'tokens'",
        )
    return replace(record, trees={task: record.trees[task]})


# ---------------------------------------------------------------- pairing


def pair_up(
    gold: Sequence[T | None], predicted: Sequence[T | None], names: tuple[str, str]
) -> tuple[list[T | None], list[T | None]]:
    """Both sides at the same length, or an error that names both counts.

    Where they differ, missing trees at the end are dropped. If the lengths still
    differ, but both sides have the same number of trees and one of them misses
    none, missing trees are dropped everywhere.

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
    raise _count_error(len(gold), len(predicted), names)


def _count_error(gold: int, predicted: int, names: tuple[str, str]) -> MetricError:
    return MetricError(
        f"{gold} trees in {names[0]}, {predicted} in {names[1]}",
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
