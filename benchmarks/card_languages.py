"""The scores in the card of a language's model: its test set, and twenty everyday sentences.

    python benchmarks/card_languages.py MODEL CARD [--beam 20]

MODEL is the model's directory, whose name is the language's code; CARD is a
Markdown file whose parts between the two `scores` and `everyday` marks are
written anew. The card is then copied into the model as its README.md. The
everyday sentences lie in everyday/CODE.tsv with trees that were made by looking
at a model's: without parts of speech, in the manner of the treebank as far as it
is known. `--everyday` leaves the test set alone.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from card import evaluate, put

import cleft

SETS = {
    "fr": "sequoia-fr",
    "id": "icon-id",
    "is": "greynir-gold",
    "fo": "farpahc",
    "ja": "keyaki-ja",
}


def of_test(model: Path, beam: int) -> dict[str, Any]:
    """What `cleft evaluate --model` says of the test set."""
    options = ("--clean", "spmrl", "--prm", "spmrl", "--by-label", "--beam", str(beam))
    return evaluate(model, f"syntax/{SETS[model.name]}/test.mrg", *options)


def scores(model: Path, beam: int) -> list[str]:
    """The tables, line by line."""
    by_search = {"greedy": of_test(model, 1), f"beam {beam}": of_test(model, beam)}
    first = by_search["greedy"]
    lines = [
        f"{SETS[model.name]} test, {first['sentences']} sentences: EVALB with SPMRL parameters "
        "over gold tags; the last column is the accuracy of the model's own tags.",
        "",
        "| search | LR | LP | F1 | complete | tags |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, found in by_search.items():
        cells = [found[key] for key in ("recall", "precision", "f1", "complete")]
        cells.append(found["model"]["tagging"])
        lines.append(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    frequent = sorted(first["by_label"].items(), key=lambda item: -item[1]["gold"])[:8]
    shown = ", ".join(f"{label} {row['f1']:.1f} (of {row['gold']})" for label, row in frequent)
    return [*lines, "", f"By label, greedy F1: {shown}."]


SENTENCES = Path(__file__).parent / "everyday"


def bare(tree: cleft.Tree) -> str:
    """A tree without parts of speech."""
    return re.sub(r"\(\S+ ([^\s()]+)\)", r"\1", str(tree))


def everyday(model: Path) -> list[str]:
    """How many of the everyday sentences have the right tree, greedily, and the wrong ones."""
    rows = (SENTENCES / f"{model.name}.tsv").read_text(encoding="utf-8").splitlines()
    parser = cleft.load(model)
    wrong = []
    for text, gold in (row.split("\t") for row in rows):
        (found,) = parser.parse(text)
        tree = bare(found.syntax) if found.syntax else str(found.error)
        if tree != (expected := bare(cleft.Tree.from_brackets(gold))):
            wrong.append(f"- {text} `{tree}`, expected `{expected}`")
    right = [row.split("\t")[0] for row in rows if not any(row.split("\t")[0] in w for w in wrong)]
    return [
        f"{len(right)} of {len(rows)} trees are right, parts of speech aside.",
        "",
        *["Right: " + " ".join(right), ""],
        *(["Wrong:", "", *wrong] if wrong else []),
    ]


def main() -> None:
    """Evaluate, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("card", type=Path)
    parser.add_argument("--beam", type=int, default=20)
    parser.add_argument("--everyday", action="store_true")
    args = parser.parse_args()
    model = args.model.resolve()
    put(everyday(model), args.card, model, "everyday")
    if not args.everyday:
        put(scores(model, args.beam), args.card, model)


if __name__ == "__main__":
    main()
