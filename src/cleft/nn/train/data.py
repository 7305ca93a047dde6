"""Treebanks as training examples, as a recipe names them.

Reading and cleaning are those of `cleft.formats`; the decisions of a tree are
its task's. Examples hold numbers, so a vocabulary comes first. Of a document,
what is learnt is the tree above its sentences, made of the tree over its tokens.
"""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cleft import files
from cleft.convert import over_sentences
from cleft.discourse import DiscourseTree, Edu
from cleft.errors import FormatError, InputError
from cleft.formats.cleaning import cleaning
from cleft.formats.json_values import as_list
from cleft.formats.jsonl import Record, read_jsonl
from cleft.formats.registry import FORMATS, begins_as, format_of
from cleft.nn.config import NetworkConfig
from cleft.nn.features import Vocabulary
from cleft.nn.train.batches import Example, Numbers
from cleft.nn.train.batches import Others as OtherNumbers
from cleft.nn.train.recipe import DataConfig, set_name
from cleft.runtime.units import Unit
from cleft.runtime.words import plain_form
from cleft.span import Span
from cleft.tasks import Derivation, Task, get_task
from cleft.text.annotated import read_word_heads
from cleft.tree import Tree

Over = tuple[tuple[Unit, ...], DiscourseTree]
"""Units, and a tree over them."""

Others = dict[str, list[tuple[int, Any, float]]]
"""Other choices than a tree's, by the term of the loss: which decision, what else, its chance."""

TERMS = ("split", "label", "tag", "edu")
"""The terms of the loss that may have other choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The words and the gold tree of one sentence; its genre if that is known; the set it is of.

    Of a document, `words` are its sentences, and `finer` has its EDUs with a tree over them.
    """

    words: tuple[Any, ...]
    tree: Tree | DiscourseTree
    genre: str = ""
    source: str = field(default="", compare=False)
    finer: Over | None = field(default=None, compare=False)
    others: Others = field(default_factory=dict, compare=False)


def read_sentences(task: str, paths: Sequence[str], config: DataConfig) -> list[Sentence]:
    """All sentences, or documents, of some files of a task, in order."""
    read = _read_file if get_task(task).units == "tokens" else _read_documents
    found = itertools.chain.from_iterable(read(task, path, config) for path in paths)
    return list(found)


def _read_documents(task: str, path: str, config: DataConfig) -> Iterator[Sentence]:
    source = set_name(path)
    for genre, (units, tree), finer in read_documents(Path(path).expanduser()):
        if not config.genres or genre in config.genres:
            yield Sentence(words=units, tree=tree, genre=genre, source=source, finer=finer)


def read_documents(path: Path) -> Iterator[tuple[str, Over, Over]]:
    """The genre of each document of a file, its sentences and its EDUs with the trees over them."""
    for number, record in enumerate(read_jsonl(path, "coarse"), start=1):
        tree, ends = record.discourse, list(record.sentence_ends)
        if tree is None or not ends:
            raise FormatError(
                "expected a document with its sentences and a tree over it",
                where=f"{path} document {number}",
                hint="give 'sents' and 'splits', or a document that cleft wrote",
            )
        begins = set(as_list(record.fields.get("paragraphs", [0]), "paragraphs"))
        units = tuple(
            Unit(record.tokens[left:right], number in begins)
            for number, (left, right) in enumerate(pairwise([0, *ends]))
        )
        over = _worded(over_sentences(tree, ends), units)
        genre = str(record.fields.get("genre", ""))
        yield genre, (units, over), _over_edus(units, ends, tree)


def _over_edus(units: tuple[Unit, ...], ends: list[int], tree: DiscourseTree) -> Over:
    """A document's EDUs, as far as the sentence goes in which they begin, with its tree."""
    found = []
    for left, right in (edu.span for edu in tree.edus):
        number = bisect_right(ends, left)
        whole = units[number]
        start = left - (ends[number] - len(whole))
        words = whole.words[start : start + right - left]
        found.append(Unit(words, whole.begins and not start, whole.words, start))
    return tuple(found), _worded(tree, found)


def _worded(tree: DiscourseTree, units: Sequence[Unit]) -> DiscourseTree:
    """The tree with a unit for each leaf and its words as text, as the task builds trees."""
    return tree.with_edus(Edu(" ".join(unit.words), Span(k, k + 1)) for k, unit in enumerate(units))


def parts_of(document: Over, most: int | None = None) -> Iterable[Over]:
    """Every subtree below the root of two units or more, up to so many, as a document."""
    units, tree = document
    for span, node in tree.spans()[1:]:
        if 1 < span.width <= (most or span.width):
            yield units[span.left : span.right], node.moved(-span.left)


FEW = 30
"""The most EDUs of a part of a document."""


def with_parts(task: str, documents: list[Sentence]) -> list[Sentence]:
    """Training data with all that can be learnt from: also the parts of documents.

    A part is a subtree over sentences, or over the EDUs of them.
    """
    if get_task(task).units == "tokens":
        return documents
    found = documents[:]
    for document in documents:
        assert document.finer is not None
        whole = (document.words, document.tree)
        for name, parts in (
            ("parts", parts_of(whole)),  # type: ignore[arg-type]
            ("edus", parts_of(document.finer, FEW)),
        ):
            found += [
                Sentence(words=units, tree=tree, genre=document.genre, source=name)
                for units, tree in parts
            ]
    return found


def is_bracketed(task: str, path: str) -> bool:
    """Whether a file of trees of a task is in brackets and not in JSON Lines.

    The ending of JSON Lines tells these; of other files it is how they begin.
    """
    if get_task(task).labels != "spans" or format_of(path, default="brackets").name == "jsonl":
        return False
    begins = (line for line in files.lines(Path(path).expanduser()) if line.strip())
    return begins_as(next(begins, "")) != "jsonl"


def _read_file(task: str, path: str, config: DataConfig) -> Iterator[Sentence]:
    file, source = Path(path).expanduser(), set_name(path)
    in_brackets = is_bracketed(task, path)
    found = FORMATS["brackets" if in_brackets else "jsonl"]
    clean = cleaning(config.clean) if in_brackets else None
    records = found.records(file, clean=clean, relations="coarse")
    for number, record in enumerate(records, start=1):
        genre = str(record.fields.get("genre", ""))
        if config.genres and genre not in config.genres:
            continue
        if _confidence(record, task, f"{file} record {number}") < config.confidence:
            continue
        tree = record.syntax if in_brackets else record.trees.get(task)
        if tree is None:
            raise InputError(
                f"expected a {task} tree in every record, found none in record {number}",
                where=str(file),
                hint="remove the line, or parse it again",
            )
        if not record.tokens:
            raise InputError(
                f"expected the words of every sentence, found none in record {number}",
                where=str(file),
                hint="give 'tokens'",
            )
        others = _others(record, task, f"{file} record {number}") if config.alternatives else {}
        yield Sentence(
            words=tuple(record.tokens), tree=tree, genre=genre, source=source, others=others
        )


def _others(record: Record, task: str, where: str) -> Others:
    """What else a record's tree could be, as `recipes/silver.py` writes it."""
    said = record.fields.get("alternatives", {})
    found = said.get(task, {}) if isinstance(said, dict) else said
    if not isinstance(found, dict) or not all(map(_is_others, found.items())):
        raise FormatError(
            "expected lists of [decision, choice, chance] for each task as 'alternatives'",
            where=where,
            hint="make the trees anew with recipes/silver.py, or leave 'alternatives' out",
        )
    return {term: [tuple(row) for row in rows] for term, rows in found.items()}


def _is_others(item: tuple[str, Any]) -> bool:
    """Whether a term of the loss and its other choices are what they should be."""
    term, rows = item
    named = str if term in ("label", "tag") else int
    if term not in TERMS or not isinstance(rows, list):
        return False
    return all(_is_choice(row, named) for row in rows)


def _is_choice(row: Any, named: type) -> bool:
    """Whether a value is a decision, another choice of it, and the chance of that."""
    if not isinstance(row, list) or len(row) != 3:
        return False
    place, choice, chance = row
    whole = isinstance(place, int) and isinstance(choice, named)
    return whole and isinstance(chance, int | float) and place >= 0 and 0 <= chance <= 1


def _confidence(record: Record, task: str, where: str) -> float:
    """How sure the parser was that made a record's tree; gold trees, which say nothing, are 1."""
    said = record.fields.get("confidence", {})
    found = said.get(task, 1.0) if isinstance(said, dict) else None
    if not isinstance(found, int | float) or not 0 <= found <= 1:
        raise FormatError(
            f"expected a number from 0 to 1 for each task as 'confidence', found {said!r}",
            where=where,
            hint="leave 'confidence' out for gold trees",
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """A sentence and the decisions of its gold tree; labels and tags are still names."""

    words: tuple[Any, ...]
    splits: Numbers  # (steps, 3): left, split, right
    items: Numbers  # (labelled, 2 or 3)
    labels: tuple[str, ...]  # (labelled)
    tags: tuple[str, ...] | None = None
    edus: Numbers | None = None  # (n + 1): 1 where an EDU ends, -1 at both ends
    heads: Numbers | None = None  # (n): the word that each depends on, from 1; 0 is the root
    has_tree: bool = True
    others: Others = field(default_factory=dict)


def read_heads(path: str, config: NetworkConfig) -> list[Decisions]:
    """The sentences of a CoNLL-U file: no tree, but the heads of words, and their tags."""
    return [
        Decisions(
            words=words,
            splits=_numbers([]).reshape(-1, 3),
            items=_numbers([]).reshape(-1, 2),
            labels=(),
            tags=tags if config.tags else None,
            heads=_numbers(heads),
            has_tree=False,
        )
        for words, tags, heads in read_word_heads(Path(path).expanduser())
    ]


def derive_sentences(
    task: str, sentences: Iterable[Sentence], config: NetworkConfig
) -> list[Decisions]:
    """The decisions of all gold trees of a task."""
    kind = config.task(task)
    return [_derive(kind, sentence, config) for sentence in sentences]


def _derive(task: Task[Any], sentence: Sentence, config: NetworkConfig) -> Decisions:
    derivation = task.derive(sentence.tree)
    items = _numbers(task.labelled(len(sentence.words), derivation.splits))
    tags = task.tags(sentence.tree) if config.tags and task.tags is not None else None
    with_edus = task.stops and config.edu_boundaries != "none"
    splits = _numbers(derivation.splits).reshape(-1, 3)
    _check_others(sentence, splits, len(items))
    return Decisions(
        words=sentence.words,
        splits=splits,
        others=sentence.others,
        items=items.reshape(-1, 2 if task.labels == "spans" else 3),
        labels=tuple(map(sys.intern, derivation.labels)),  # few names, many trees
        tags=None if tags is None else tuple(map(sys.intern, tags)),
        edus=_leaf_ends(task, derivation) if with_edus else None,
    )


def _check_others(sentence: Sentence, splits: Numbers, labelled: int) -> None:
    """Fail if other choices are of decisions that the tree does not have."""
    sizes = {"split": len(splits), "label": labelled, "tag": len(sentence.words)}
    sizes["edu"] = len(sentence.words) + 1
    for term, rows in sentence.others.items():
        for place, choice, _ in rows:
            fits = place < sizes[term]
            if fits and term == "split":
                fits = splits[place, 0] < choice <= splits[place, 2]
            if not fits or (term == "edu" and choice not in (0, 1)):
                raise InputError(
                    f"expected other choices of the decisions of a tree, found {choice!r} for "
                    f"decision {place} ({term}) of {' '.join(map(str, sentence.words))[:60]!r}",
                    where=sentence.source,
                    hint="network.branching must be that of the parser that made the trees; or "
                    "set alternatives = false",
                )


def make_vocabulary(
    data: dict[str, list[Decisions]],
    config: NetworkConfig,
    *,
    min_count: int,
    label_min_count: int = 1,
    extra: Iterable[str] = (),
) -> Vocabulary:
    """The vocabulary of training sentences of each task."""
    labels = {}
    for task, rows in data.items():
        counts = Counter(itertools.chain.from_iterable(row.labels for row in rows))
        labels[task] = {label for label, count in counts.items() if count >= label_min_count}
    everything = list(itertools.chain.from_iterable(data.values()))
    # What the network looks up is the form that it reads, so that is what has a number.
    form: Callable[[str], str] = plain_form if config.forms == "plain" else str
    spoken = [rows for task, rows in data.items() if config.task(task).units == "tokens"]
    heard = itertools.chain.from_iterable(spoken)
    return Vocabulary.build(
        (tuple(map(form, row.words)) for row in heard),
        min_count=min_count,
        tags={tag for row in everything for tag in row.tags or ()},
        labels=labels,
        extra=extra,
    )


def make_examples(task: str, rows: Iterable[Decisions], vocabulary: Vocabulary) -> list[Example]:
    """The sentences of one task by number; a label or tag that is unknown counts as -1."""
    labels = {label: number for number, label in enumerate(vocabulary.labels[task])}
    tags = {tag: number for number, tag in enumerate(vocabulary.tags)}
    return [
        Example(
            task=task,
            words=row.words,
            splits=row.splits,
            items=row.items,
            labels=_numbers([labels.get(label, -1) for label in row.labels]),
            tags=None if row.tags is None else _numbers([tags.get(tag, -1) for tag in row.tags]),
            edus=row.edus,
            heads=row.heads,
            has_tree=row.has_tree,
            others=_numbered(row.others, {"label": labels, "tag": tags}),
        )
        for row in rows
    ]


def _numbered(others: Others, numbers: dict[str, dict[str, int]]) -> dict[str, OtherNumbers]:
    """Other choices as arrays; those whose label or tag is unknown are left out."""
    found = {}
    for term, rows in others.items():
        known = numbers.get(term)
        kept = [
            (place, choice if known is None else known[choice], chance)
            for place, choice, chance in rows
            if known is None or choice in known
        ]
        if kept:
            places, choices, chances = zip(*kept, strict=True)
            found[term] = _numbers(places), _numbers(choices), np.array(chances)
    return found


def _leaf_ends(task: Task[Any], derivation: Derivation) -> Numbers:
    """1 where a leaf ends inside a sentence, 0 elsewhere inside, -1 at both ends."""
    ends = np.zeros(derivation.length + 1, dtype=np.int64)
    ends[list(task.leaf_ends(derivation))] = 1
    ends[[0, -1]] = -1
    return ends


def _numbers(values: Sequence[Any]) -> Numbers:
    return np.array(values, dtype=np.int64)


def is_blank(path: str | Path) -> bool:
    """Whether a dev file has nothing in it; a run without dev sentences is allowed."""
    return not any(line.strip() for line in files.lines(Path(path).expanduser()))
