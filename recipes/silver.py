"""Silver trees: what a model makes of the words of treebanks, for a smaller network to learn from.

python recipes/silver.py MODEL TREEBANK.mrg [TREEBANK.mrg ...] > SILVER.mrg

The treebanks' own trees are not looked at. Sentences of 3 to 60 words, each once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

import cleft
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import cleaning

SHORTEST, LONGEST = 3, 60


def sentences(treebanks: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The words of the trees, cleaned as in training."""
    seen: set[tuple[str, ...]] = set()
    for treebank in treebanks:
        for tree in read_brackets(treebank, cleaning("ptb")):
            words = tuple(tree.words())
            if SHORTEST <= len(words) <= LONGEST and words not in seen:
                seen.add(words)
                yield words


def main() -> None:
    """Print a tree a line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model", metavar="MODEL", help="a model directory, or its name")
    options.add_argument("treebanks", metavar="TREEBANK", nargs="+")
    given = options.parse_args()
    parser = cleft.load(given.model)
    for sentence in parser.parse_tokens(sentences(given.treebanks), task="syntax"):
        if sentence.syntax is not None:
            print(sentence.syntax.brackets())


if __name__ == "__main__":
    main()
