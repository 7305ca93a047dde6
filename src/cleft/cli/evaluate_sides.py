"""The sides that `cleft evaluate` compares: files, and models that parse the gold file's words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleft.discourse import SPAN, DiscourseTree, Edu
from cleft.errors import TreeFormatError, UsageError
from cleft.files import STREAM
from cleft.formats.rst import used_relations
from cleft.metrics import percentage
from cleft.metrics.evaluate import Trees, every_tree, read_trees
from cleft.models import find_models
from cleft.parser import load
from cleft.relations import RelationClasses, matching_classes
from cleft.sentence import SentenceInput
from cleft.span import Constraints, Span
from cleft.tasks import split_relation
from cleft.tree import Tree, fold

if TYPE_CHECKING:
    from cleft.document import Document
    from cleft.documents import DocumentInput
    from cleft.formats.jsonl import Record
    from cleft.sentence import Sentence

OPTIONS = ("beam", "jobs", "edus", "sentences")
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
            side = Model(name, gold, args)
            sides[0] = side.named_alike(sides[0], args.relations)
            sides.append(side)
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
    counted beside it. Files of documents are parsed as documents.
    """

    def __init__(self, model: str, gold: Trees, args: argparse.Namespace) -> None:
        self.model = model
        self.name = f"model {model}"
        self.beam = 1 if args.beam is None else args.beam
        self.jobs = 1 if args.jobs is None else args.jobs
        self.gold_edus = args.edus == "gold"
        self.gold_sentences = args.sentences == "gold"
        self.failed = 0
        self.right_tags = self.tags = 0
        self.documents = gold.format not in ("brackets", "jsonl") or any(
            "sentences" in record.fields for record in gold.records
        )
        if args.sentences is not None and not self.documents:
            raise UsageError("--sentences is for documents", hint="these are sentences already")
        self._where = gold.name
        self._parser = load(model)
        self.tasks = frozenset(self._parser.manifest.tasks)

    def named_alike(self, gold: Trees, relations: str | None) -> Trees:
        """The gold documents with the classes of their relations, if the model knows only those.

        JSON Lines have been read so already.
        """
        if gold.format in ("brackets", "jsonl") or relations == "fine":
            return gold
        known = {split_relation(name)[0] for name in self._parser.manifest.labels["discourse"]}
        used = {name for name, _ in used_relations(every_tree([r.discourse for r in gold.records]))}
        if used <= known:
            return gold
        classes = matching_classes(used)
        print(f"cleft: relations of {gold.name}: classes of {classes.name!r}", file=sys.stderr)
        return replace(gold, records=[_in_classes(record, classes) for record in gold.records])

    def predict(self, task: str, gold: Sequence[Record]) -> Sequence[Tree | DiscourseTree | None]:
        """A tree of each gold sentence or document, in order; failures are reported."""
        make = self._document if self.documents else self._input
        results = self._parser.stream(
            map(make, gold), document=self.documents, task=task, beam=self.beam, jobs=self.jobs
        )
        trees: list[Tree | DiscourseTree | None] = []
        for number, (record, result) in enumerate(zip(gold, results, strict=True), start=1):
            found = result.tree if self.documents else result.trees.get(task)
            if found is None or (self.documents and result.error is not None):
                self._report_failure(number, result)
            elif isinstance(found, Tree):
                gold_tree = record.trees[task]
                assert isinstance(gold_tree, Tree)
                tags = gold_tree.tags()
                self._count_tags(tags, found.tags())
                found = with_tags(found, tags)
            trees.append(found)
        if self.failed > REPORTED:
            print(f"cleft: no tree for {self.failed - REPORTED} more", file=sys.stderr)
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
        bound = None
        if self.gold_edus and record.discourse is not None:
            bound = Constraints(edus=tuple(edu.span.right for edu in record.discourse.edus))
        return SentenceInput.of_words(record.tokens, constraints=bound)

    def _document(self, record: Record) -> DocumentInput:
        """A gold document to parse: with its own sentences, or of its text alone."""
        from cleft.document import Document, paragraph_starts
        from cleft.documents import DocumentInput
        from cleft.text import Reading

        gold = record.discourse
        assert gold is not None
        whole = Document.of_record(record) if "sentences" in record.fields else None
        if whole is not None and (self.gold_sentences or self.gold_edus):
            inner = {edu.span.right for edu in gold.edus} if self.gold_edus else None
            spans = [whole.span_of(number) for number in range(len(whole.sentences))]
            rows = [_bounded(whole.words[slice(*span)], span, inner) for span in spans]
            return DocumentInput(rows, paragraphs=whole.paragraphs)
        text = whole.text if whole is not None else " ".join(edu.text for edu in gold.edus)
        found = list(Reading(language=self._parser.language).text(text))
        if self.gold_edus:
            return DocumentInput(_over_edus(found, gold.edus))
        return DocumentInput(found, text, paragraph_starts(each.paragraph for each in found))

    def _report_failure(self, number: int, result: Sentence | Document) -> None:
        """Report what has no tree by its number in the gold file, not in the stream."""
        self.failed += 1
        if self.failed <= REPORTED:
            why = result.error.problem if result.error else "the model gave none"
            where = f"{self._where} {'document' if self.documents else 'sentence'} {number}"
            what = "no tree" if not self.documents else "not all parsed"
            print(f"cleft: {where}: {what}: {why}", file=sys.stderr)

    def _count_tags(self, gold: list[str], found: list[str]) -> None:
        if self._parser.manifest.tags:
            self.tags += len(gold)
            self.right_tags += sum(a == b for a, b in zip(gold, found, strict=True))


def _in_classes(record: Record, classes: RelationClasses) -> Record:
    """A record whose tree has the classes of its relations."""
    tree = record.discourse
    assert tree is not None

    def named(node: DiscourseTree, children: list[DiscourseTree]) -> DiscourseTree:
        names = [name if name == SPAN else classes.coarse(name) for name in node.relations]
        return DiscourseTree(children, node.nuclearity, names)

    return replace(record, trees={"discourse": fold(tree, lambda leaf: leaf, named)})


def _bounded(words: Sequence[str], span: Span, ends: Collection[int] | None) -> SentenceInput:
    """A sentence of these words with the EDUs that end inside it, if they are given."""
    inside = [end - span.left for end in sorted(ends or ()) if span.left < end <= span.right]
    bound = None if ends is None else Constraints(edus=tuple(sorted({*inside, span.width})))
    return SentenceInput.of_words(words, constraints=bound)


def _over_edus(sentences: Sequence[SentenceInput], edus: Sequence[Edu]) -> list[SentenceInput]:
    """Sentences of whole EDUs: those of a text, joined where an EDU goes over their edge."""
    from cleft.text import tokenize

    closed = {each.start + len(each.text) for each in sentences}
    found: list[SentenceInput] = []
    words: list[str] = []
    ends: list[int] = []
    position = -1
    for number, edu in enumerate(edus, start=1):
        words += [token.text for token in tokenize(edu.text)]
        ends.append(len(words))
        position += 1 + len(edu.text)
        if position in closed or number == len(edus):
            bound = Constraints(edus=tuple(ends))
            found.append(SentenceInput.of_words(words, constraints=bound))
            words, ends = [], []
    return found


def with_tags(tree: Tree, tags: Sequence[str]) -> Tree:
    """The tree with these tags over its words; its phrases keep their evidence.

    >>> print(with_tags(Tree.from_brackets("(NP (X the) (X cat))"), ["DT", "NN"]))
    (NP (DT the) (NN cat))
    """
    waiting = list(tags)  # `fold` goes from the last leaf to the first
    return fold(
        tree,
        lambda leaf: Tree(waiting.pop(), (), leaf.word),
        lambda node, children: Tree(node.label, children, None, node.evidence),
    )
