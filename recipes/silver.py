"""Silver trees: what a model makes of text, for another network to learn from.

python recipes/silver.py MODEL OUTPUT FILE [FILE ...]
    [--tokens N] [--task TASK] [--beam N] [--alternatives] [--veto]

MODEL is a model's directory or name, or the `best` directory of a training run, which needs
PyTorch. Each file gives a .jsonl file in OUTPUT/parts, and all of them together make
OUTPUT/trees.jsonl, which `data.syntax` and `data.discourse` of a recipe read; their genre is
`silver`. A file of brackets or of CoNLL-U gives the words of its sentences, any other its text, one
paragraph a line. With --veto a tree of a CoNLL-U sentence is left out if one of its phrases divides
what depends on a noun, by the heads of words there. Tags of a CoNLL-U file stay as they are there.
Lines are drawn at random up to N tokens a file, so that no genre drowns the others; each sentence
of a file is taken once. A record keeps the probability of each tree, by decision, as `confidence`;
with --alternatives also what else each decision could be, with its chance, where that is 2 % or
more: a student learns from these too. They need a model whose splits have no history.
What is there already is passed over: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import cleft
from cleft import files
from cleft.errors import CleftError, UsageError
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import cleaning
from cleft.parser import Parser
from cleft.search.scorer import Encoded, Floats
from cleft.sentence import Sentence, SentenceInput
from cleft.span import Span
from cleft.tasks import Derivation
from cleft.text.annotated import WordHeads, read_word_heads
from cleft.text.readers import sentences_of_text

LONGEST = 60
"""Words of a sentence; longer ones are rare, costly and mostly lists."""

LEAST = 0.02
"""The chance from which on another choice is worth learning from."""

WINDOW, AT_ONCE = 480, 32
"""Sentences that are read ahead, and those that a model is asked about at once."""

Others = dict[str, list[list[Any]]]
"""Other choices by the term of the loss: which decision, what else it could be, its chance."""

Nouns = Mapping[tuple[str, ...], list[Span]]
"""What depends on the nouns of a sentence, by its words."""

GoldTags = Mapping[tuple[str, ...], tuple[str, ...]]
"""The tags of sentences that have them, by their words."""

Ask = Callable[[Sequence[Sentence]], list[dict[str, Any]]]
"""What a record holds besides its trees, for each sentence."""


def load(model: str) -> Parser:
    """The parser of a model, or of the best network of a training run."""
    if not (Path(model) / "model.safetensors").is_file():
        return cleft.load(model)
    from cleft.nn.checkpoint import load_model

    return Parser(load_model(model))


def items(path: str, limit: int) -> Iterator[str | list[str]]:
    """Paragraphs or lists of words of a file, in an order that depends on its name alone."""
    found: list[str | list[str]]
    if path.endswith(".mrg"):
        found = [list(tree.words()) for tree in read_brackets(path, cleaning("ptb"))]
    elif path.endswith(".conllu"):
        found = [list(sentence.words) for sentence in read_word_heads(path)]
    else:
        found = [line.strip() for line in files.lines(path) if line.strip()]
    random.Random(Path(path).name).shuffle(found)  # noqa: S311 - nothing is secret here
    count = 0
    for item in found:
        if count >= limit:
            return
        count += len(item.split()) if isinstance(item, str) else len(item)
        yield item


def short_ones(
    found: Iterable[str | list[str]], language: str
) -> Iterator[SentenceInput | list[str]]:
    """The sentences that a model is asked about: not too long, each once.

    >>> [each.words for each in short_ones(["Stop! " * 2 + "no " * 61], "en")]
    [('Stop', '!')]
    """
    seen: set[tuple[str, ...]] = set()
    for item in found:
        sentences = sentences_of_text(item, language) if isinstance(item, str) else [item]
        for sentence in sentences:
            words = sentence.words if isinstance(sentence, SentenceInput) else tuple(sentence)
            if len(words) <= LONGEST and words not in seen:
                seen.add(words)
                yield sentence


def name_of(path: str) -> str:
    """What the silver of a file is called: a treebank's has the name of its directory.

    >>> name_of("data/gum/train.mrg"), name_of("data/text/poetry.txt")
    ('gum', 'poetry')
    """
    found = Path(path)
    return found.parent.name if found.suffix in (".mrg", ".conllu") else found.stem


def below_nouns(sentence: WordHeads) -> list[Span]:
    """Each noun with all that depends on it, marks at its ends left out, where that is one span.

    >>> heads = WordHeads(("the", "old", "dog", "barked"), ("DT", "JJ", "NN", "VBD"), (3, 3, 4, 0))
    >>> below_nouns(heads)
    [Span(left=0, right=3)]
    """
    below = [{place} for place in range(len(sentence.words))]
    for place in range(len(sentence.words)):
        above, seen = sentence.heads[place] - 1, {place}
        while above >= 0 and above not in seen:
            below[above].add(place)
            seen.add(above)
            above = sentence.heads[above] - 1
    found = []
    for place, tag in enumerate(sentence.tags or ()):
        if tag and tag.startswith("NN"):
            words = {w for w in below[place] if any(map(str.isalnum, sentence.words[w]))}
            left, right = min(words | {place}), max(words | {place}) + 1
            marks = {w for w in range(left, right) if w not in words | {place}}
            if marks <= below[place]:
                found.append(Span(left, right))
    return found


def is_vetoed(sentence: Sentence, nouns: Nouns) -> bool:
    """Whether a phrase of a sentence's syntax divides what depends on a noun."""
    tree = sentence.syntax
    inside = [span for span, _ in tree.spans()] if tree is not None else []
    return any(
        span.left < noun.left < span.right < noun.right
        or noun.left < span.left < noun.right < span.right
        for noun in nouns.get(sentence.words, ())
        for span in inside
    )


def confidence(sentence: Sentence) -> dict[str, float]:
    """The mean probability of a decision of each tree: its own, by the number of its tokens."""
    count = max(1, len(sentence.tokens))
    return {
        task: round(math.exp((tree.log_prob or 0.0) / count), 4)
        for task, tree in sentence.trees.items()
    }


def trees_alone(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    """Nothing more: the trees alone."""
    return [{} for _ in sentences]


def with_alternatives(parser: Parser) -> Ask:
    """The other choices of the decisions of trees, as the parser's model sees them."""
    if not all(map(parser.scorer.stateless, parser.manifest.tasks)):
        raise UsageError(
            "expected a model whose splits have no history, found one with it",
            where="--alternatives",
            hint="leave --alternatives out, or train with network.history = false",
        )

    def ask(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{} for _ in sentences]
        # Like lengths together, so that little is padded.
        order = sorted(range(len(sentences)), key=lambda number: len(sentences[number].words))
        for first in range(0, len(order), AT_ONCE):
            numbers = order[first : first + AT_ONCE]
            batch = [sentences[number] for number in numbers]
            encoded = parser.scorer.encode([sentence.words for sentence in batch])
            for name in batch[0].trees:
                for number, others in zip(
                    numbers, of_task(parser, encoded, name, batch), strict=True
                ):
                    found[number][name] = others
        return [{"alternatives": others} for others in found]

    return ask


def of_task(
    parser: Parser, encoded: Encoded, name: str, sentences: Sequence[Sentence]
) -> list[Others]:
    """The other choices of the trees of one task."""
    scorer, task = parser.scorer, parser.manifest.task(name)
    trees = [task.derive(sentence.trees[name]) for sentence in sentences]
    found: list[Others] = [{} for _ in sentences]
    rows, spans, targets = splits_of(trees)
    if len(rows):
        state = scorer.select(scorer.start(encoded, name), rows)
        scores, _ = scorer.split(encoded, name, rows, spans, state)
        keep(found, "split", rows, scores, targets, None)
    items = [task.labelled(tree.length, tree.splits) for tree in trees]
    rows = np.repeat(np.arange(len(trees)), [len(each) for each in items])
    if len(rows):
        labels = list(scorer.labels(name))
        scores = scorer.label(encoded, name, rows, np.array([x for each in items for x in each]))
        targets = numbers(labels, (x for tree in trees for x in tree.labels))
        keep(found, "label", rows, scores, targets, labels)
    tags = scorer.tags(encoded) if task.tags is not None else None
    if tags is not None and task.tags is not None:
        names = list(scorer.tag_names())
        rows = np.repeat(np.arange(len(trees)), [tree.length for tree in trees])
        targets = numbers(names, (x for s in sentences for x in task.tags(s.trees[name])))
        keep(found, "tag", rows, tags, targets, names)
    marks = scorer.marks(encoded, name) if task.stops else None
    if marks is not None:
        for row, tree in enumerate(trees):
            found[row]["edu"] = marked(marks[row], tree.length, set(task.leaf_ends(tree)))
    return found


def numbers(names: Sequence[str], wanted: Iterable[str]) -> np.ndarray:
    """The places of names; -1 for one that the model does not know.

    The tree of a rare phrase, made binary again, can have a label that no training tree had.
    """
    places = {name: place for place, name in enumerate(names)}
    return np.array([places.get(name, -1) for name in wanted])


def splits_of(trees: Sequence[Derivation]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sentence, the span and the split of each decision of some trees."""
    rows = np.repeat(np.arange(len(trees)), [len(tree.splits) for tree in trees])
    splits = np.array([split for tree in trees for split in tree.splits]).reshape(-1, 3)
    return rows, splits[:, [0, 2]], splits[:, 1]


def keep(
    found: list[Others],
    term: str,
    rows: np.ndarray,
    scores: Floats,
    targets: np.ndarray,
    names: Sequence[str] | None,
) -> None:
    """Put into `found` what else decisions could be, by log-probabilities (decisions, choices)."""
    first = np.searchsorted(rows, np.arange(len(found)))
    likely = scores >= math.log(LEAST)
    likely[np.arange(len(rows)), targets] = False
    likely[targets < 0] = False
    for place, choice in zip(*(each.tolist() for each in np.nonzero(likely)), strict=True):
        row = int(rows[place])
        what = choice if names is None else names[choice]
        chance = round(math.exp(scores[place, choice]), 4)
        found[row].setdefault(term, []).append([place - int(first[row]), what, chance])


def marked(marks: Floats, length: int, ends: set[int]) -> list[list[Any]]:
    """The other choices of the marks of a sentence: an EDU ends there, or none does."""
    chances = [
        (place, int(place not in ends), float(1 - marks[place] if place in ends else marks[place]))
        for place in range(1, length)
    ]
    return [[place, other, round(chance, 4)] for place, other, chance in chances if chance >= LEAST]


def windows(sentences: Iterable[Sentence], nouns: Nouns) -> Iterator[list[Sentence]]:
    """The sentences that are taken, some at a time: with trees that gold heads do not deny."""
    source = (each for each in sentences if not each.error and not is_vetoed(each, nouns))
    while window := list(islice(source, WINDOW)):
        yield window


def with_gold_tags(record: dict[str, Any], tags: tuple[str, ...]) -> dict[str, Any]:
    """A record whose syntax has these tags, of which there is no doubt.

    >>> with_gold_tags({"syntax": {"tags": ["NN"], "nodes": []}}, ("VB",))
    {'syntax': {'tags': ['VB'], 'nodes': []}}
    """
    if "syntax" in record:
        record["syntax"]["tags"] = list(tags)
        record.get("alternatives", {}).get("syntax", {}).pop("tag", None)
    return record


def line(sentence: Sentence, source: str, more: dict[str, Any], gold: GoldTags) -> str:
    """The record of a sentence."""
    record = json.loads(sentence.to_jsonl())
    for task in sentence.trees:
        for key in ("evidence", "tag_evidence", "edu_evidence"):
            record[task].pop(key, None)
    for key in ("text", "start", "offsets"):
        record.pop(key)
    record |= {"genre": "silver", "source": source, "confidence": confidence(sentence)}
    record |= more
    tags = gold.get(sentence.words)
    if tags is not None:
        record = with_gold_tags(record, tags)
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(path: str, target: Path, parser: Parser, ask: Ask, asked: argparse.Namespace) -> None:
    """Write the records of a file, whole or not at all."""
    part = target.with_suffix(".part")
    gold = list(read_word_heads(path)) if path.endswith(".conllu") else []
    tags = {sentence.words: sentence.tags for sentence in gold if sentence.tags}
    nouns = {each.words: below_nouns(each) for each in gold} if asked.veto else {}
    wanted = short_ones(items(path, asked.tokens), parser.language)
    found = parser.stream(wanted, task=asked.task, beam=asked.beam)
    with part.open("w", encoding="utf-8") as stream:
        for window in windows(found, nouns):
            for sentence, more in zip(window, ask(window), strict=True):
                stream.write(line(sentence, target.stem, more, tags))
    part.replace(target)


def main() -> None:
    """Write a file of records for each file of text."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model", metavar="MODEL", help="a model, or `best` of a training run")
    options.add_argument("output", metavar="OUTPUT", type=Path, help="the folder to write to")
    options.add_argument("files", metavar="FILE", nargs="+", help="text, or brackets (.mrg)")
    options.add_argument("--tokens", type=int, default=100_000, help="at most, of each file")
    options.add_argument("--task", default="both", help="syntax, discourse, or both (default)")
    options.add_argument("--beam", type=int, default=20)
    options.add_argument("--alternatives", action="store_true", help="keep other choices too")
    options.add_argument("--veto", action="store_true", help="leave out what gold heads deny")
    asked = options.parse_args()
    parts = asked.output / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    parser = load(asked.model)
    ask = with_alternatives(parser) if asked.alternatives else trees_alone
    for path in asked.files:
        target = parts / f"{name_of(path)}.jsonl"
        if target.exists():
            continue
        write(path, target, parser, ask, asked)
    with (asked.output / "trees.jsonl").open("wb") as joined:
        for target in sorted(parts.glob("*.jsonl")):
            joined.write(target.read_bytes())


if __name__ == "__main__":
    try:
        main()
    except CleftError as error:
        raise SystemExit(f"silver.py: {error}") from None
