"""Treebanks as training examples, as a recipe names them.

Reading and cleaning are those of `cleft.formats`; the decisions of a tree are
its task's. Examples hold numbers, so a vocabulary comes first.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cleft import files
from cleft.discourse import DiscourseTree
from cleft.errors import InputError
from cleft.formats.cleaning import cleaning
from cleft.formats.registry import FORMATS
from cleft.nn.batches import Example
from cleft.nn.config import NetworkConfig
from cleft.nn.recipe import DataConfig, set_name
from cleft.nn.vocab import Vocabulary
from cleft.order import breadth_first
from cleft.runtime.forms import plain_form
from cleft.tasks import Derivation, DiscourseTask, SyntaxTask
from cleft.tree import Tree

__all__ = [
    "Sentence",
    "file_hash",
    "is_blank",
    "make_examples",
    "make_vocabulary",
    "read_sentences",
    "task_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """The words and the gold tree of one sentence; its genre if that is known; the set it is of."""

    words: tuple[str, ...]
    tree: Tree | DiscourseTree
    genre: str = ""
    source: str = field(default="", compare=False)


def read_sentences(task: str, paths: Sequence[str], config: DataConfig) -> list[Sentence]:
    """All sentences of some files of a task, in order."""
    found = itertools.chain.from_iterable(_read_file(task, path, config) for path in paths)
    return list(found)


def _read_file(task: str, path: str, config: DataConfig) -> Iterator[Sentence]:
    file, source = Path(path).expanduser(), set_name(path)
    in_brackets = task == "syntax" and ".jsonl" not in file.suffixes
    found = FORMATS["brackets" if in_brackets else "jsonl"]
    clean = cleaning(config.clean) if in_brackets else None
    records = found.records(file, clean=clean, relations="coarse")
    for number, record in enumerate(records, start=1):
        genre = str(record.fields.get("genre", ""))
        if config.genres and genre not in config.genres:
            continue
        tree = record.syntax if task == "syntax" else record.discourse
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
        yield Sentence(words=tuple(record.tokens), tree=tree, genre=genre, source=source)


def task_of(name: str, config: NetworkConfig) -> SyntaxTask | DiscourseTask:
    """The task with the binarisation and the order that a network is made for."""
    return _syntax(config) if name == "syntax" else DiscourseTask(order=config.order)


def _syntax(config: NetworkConfig) -> SyntaxTask:
    return SyntaxTask(branching=config.branching, dummy=config.dummy, order=config.order)


def _derive(sentence: Sentence, config: NetworkConfig) -> Derivation:
    if isinstance(sentence.tree, Tree):
        return _syntax(config).derive(sentence.tree)
    return DiscourseTask(order=config.order).derive(sentence.tree)


def make_vocabulary(
    data: dict[str, list[Sentence]],
    config: NetworkConfig,
    *,
    min_count: int,
    label_min_count: int = 1,
    extra: Iterable[str] = (),
) -> Vocabulary:
    """The vocabulary of training sentences of each task."""
    labels = {}
    for task, sentences in data.items():
        derived = (_derive(sentence, config).labels for sentence in sentences)
        counts = Counter(itertools.chain.from_iterable(derived))
        labels[task] = {label for label, count in counts.items() if count >= label_min_count}
    tags: set[str] = set()
    if config.tags:
        for sentence in data.get("syntax", []):
            assert isinstance(sentence.tree, Tree)
            tags.update(sentence.tree.tags())
    # What the network looks up is the form that it reads, so that is what has a number.
    form: Callable[[str], str] = plain_form if config.forms == "plain" else str
    everything = itertools.chain.from_iterable(data.values())
    return Vocabulary.build(
        (tuple(map(form, sentence.words)) for sentence in everything),
        min_count=min_count,
        tags=tags,
        labels=labels,
        extra=extra,
    )


def make_examples(
    task: str, sentences: Iterable[Sentence], config: NetworkConfig, vocabulary: Vocabulary
) -> list[Example]:
    """The sentences of one task by number; a label or tag that is unknown counts as -1."""
    labels = {label: number for number, label in enumerate(vocabulary.labels[task])}
    tags = {tag: number for number, tag in enumerate(vocabulary.tags)}
    return [_example(task, sentence, config, labels, tags) for sentence in sentences]


def _example(
    task: str,
    sentence: Sentence,
    config: NetworkConfig,
    labels: dict[str, int],
    tags: dict[str, int],
) -> Example:
    derivation = _derive(sentence, config)
    splits = np.array(derivation.splits, dtype=np.int64).reshape(-1, 3)
    length = len(sentence.words)
    if isinstance(sentence.tree, Tree):
        spans = _syntax(config).labelled(length, derivation.splits)
        items, edus = np.array(spans, dtype=np.int64).reshape(-1, 2), None
        marks = _numbers([tags.get(tag, -1) for tag in sentence.tree.tags()]) if tags else None
    else:
        items, marks = splits[splits[:, 1] < splits[:, 2]], None
        edus = np.zeros(length + 1, dtype=np.int64)
        edus[[edu.span.right for edu in sentence.tree.edus]] = 1
        edus[[0, length]] = -1
    numbers = _numbers([labels.get(label, -1) for label in derivation.labels])
    if config.order == "breadth-first":  # of the decoder's steps; labels stay where they are
        splits = np.array(breadth_first(derivation.splits), dtype=np.int64).reshape(-1, 3)
    return Example(
        task=task,
        words=sentence.words,
        splits=splits,
        items=items,
        labels=numbers,
        tags=marks,
        edus=edus if config.edu_boundaries != "none" else None,
    )


def _numbers(values: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


def is_blank(path: str | Path) -> bool:
    """Whether a dev file has nothing in it; a run without dev sentences is allowed."""
    return not any(line.strip() for line in files.lines(Path(path).expanduser()))


def file_hash(path: str | Path) -> str:
    """The SHA-256 of a file, for the record of a run."""
    digest = hashlib.sha256()
    with open(Path(path).expanduser(), "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
