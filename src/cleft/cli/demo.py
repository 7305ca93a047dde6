"""`cleft demo`: a paragraph in, both trees of every sentence out, by the built-in model."""

from __future__ import annotations

import argparse
from typing import Any

TEXT = (
    "Although it rained all day, she went out to play tennis. "
    "The committee said that prices would rise, but few people believed it."
)


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("demo", help="parse a paragraph and show both trees")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show both trees of each sentence, and what else a parse tells."""
    import cleft
    from cleft.draw import terminal

    print(f"{TEXT}\n")
    for sentence in cleft.load().parse(TEXT, beam=20, n_best=2):
        assert sentence.syntax is not None
        assert sentence.discourse is not None
        print(f"── {sentence.text}\n")
        print(terminal(sentence.syntax))
        print(f"\n{terminal(sentence.discourse)}\n")
        _tell(sentence)
    print('Your own text:  cleft parse "…"  or  cleft parse FILE;  cleft parse --help')
    return 0


def _tell(sentence: Any) -> None:
    """The splits of the discourse tree with their probabilities, and the runner-up's."""
    for split in sentence.discourse.splits():
        left, right = (
            " ".join(sentence.words[slice(*ends)])
            for ends in ((split.left, split.split), (split.split, split.right))
        )
        print(f"  {split.probability:.2f}  [{left}] {split.relation} [{right}]")
    best, *others = sentence.parses["syntax"]
    print(f"  syntactic tree: log p {best.log_prob:.2f}")
    for other in others:
        print(f"  the next best:  log p {other.log_prob:.2f}  {other.tree}")
    print()
