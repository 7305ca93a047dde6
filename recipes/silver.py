"""Silver trees: what a model makes of text, for another network to learn from.

python recipes/silver.py MODEL OUTPUT FILE [FILE ...] [--tokens N] [--beam N]

MODEL is a model's directory or name, or the `best` directory of a training run, which needs
PyTorch. Each file gives a .jsonl file in OUTPUT/parts, and all of them together make
OUTPUT/trees.jsonl, which `data.syntax` and `data.discourse` of a recipe read; their genre is
`silver`. A file of brackets gives the words of its trees, any other its text, one paragraph a line.
Lines are drawn at random up to N tokens a file, so that no genre drowns the others; each sentence
of a file is taken once. A record keeps the probability of each tree, by decision, as `confidence`.
What is there already is passed over: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import cleft
from cleft import files
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import cleaning
from cleft.parser import Parser
from cleft.sentence import Sentence

LONGEST = 60
"""Words of a sentence; longer ones are rare, costly and mostly lists."""


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
    else:
        found = [line.strip() for line in files.lines(path) if line.strip()]
    random.Random(Path(path).name).shuffle(found)  # noqa: S311 - nothing is secret here
    count = 0
    for item in found:
        if count >= limit:
            return
        count += len(item.split()) if isinstance(item, str) else len(item)
        yield item


def name_of(path: str) -> str:
    """What the silver of a file is called: a treebank's has the name of its directory.

    >>> name_of("data/gum/train.mrg"), name_of("data/text/poetry.txt")
    ('gum', 'poetry')
    """
    found = Path(path)
    return found.parent.name if found.suffix == ".mrg" else found.stem


def confidence(sentence: Sentence) -> dict[str, float]:
    """The mean probability of a decision of each tree: its own, by the number of its tokens."""
    count = max(1, len(sentence.tokens))
    return {
        task: round(math.exp((tree.log_prob or 0.0) / count), 4)
        for task, tree in sentence.trees.items()
    }


def records(sentences: Iterable[Sentence], source: str) -> Iterator[str]:
    """A line for each sentence that has all its trees, once."""
    seen: set[tuple[str, ...]] = set()
    for sentence in sentences:
        if sentence.error or len(sentence.words) > LONGEST or sentence.words in seen:
            continue
        seen.add(sentence.words)
        record = json.loads(sentence.to_jsonl())
        for task in sentence.trees:
            record[task].pop("evidence", None)
            record[task].pop("tag_evidence", None)
        for key in ("text", "start", "offsets"):
            record.pop(key)
        record |= {"genre": "silver", "source": source, "confidence": confidence(sentence)}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def main() -> None:
    """Write a file of records for each file of text."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model", metavar="MODEL", help="a model, or `best` of a training run")
    options.add_argument("output", metavar="OUTPUT", type=Path, help="the folder to write to")
    options.add_argument("files", metavar="FILE", nargs="+", help="text, or brackets (.mrg)")
    options.add_argument("--tokens", type=int, default=100_000, help="at most, of each file")
    options.add_argument("--beam", type=int, default=20)
    asked = options.parse_args()
    parts = asked.output / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    parser = load(asked.model)
    for path in asked.files:
        target = parts / f"{name_of(path)}.jsonl"
        if target.exists():
            continue
        part = target.with_suffix(".part")
        with part.open("w", encoding="utf-8") as stream:
            found = parser.stream(items(path, asked.tokens), beam=asked.beam)
            stream.writelines(records(found, target.stem))
        part.replace(target)
    with (asked.output / "trees.jsonl").open("wb") as joined:
        for target in sorted(parts.glob("*.jsonl")):
            joined.write(target.read_bytes())


if __name__ == "__main__":
    main()
