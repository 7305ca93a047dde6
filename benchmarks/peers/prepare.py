"""Clean a treebank for the peers, in the shape each of them wants.

    python benchmarks/peers/prepare.py            # wsj-sample
    python benchmarks/peers/prepare.py genia      # another one, to train on

Runs in cleft's own environment and writes to the cache directory:

- `data/{train,dev,test}.{TOP,ROOT,none}.mrg`: the same cleaned trees, one a
  line, under a root TOP (SuPar, benepar), ROOT (Stanza) or none (parsing, scoring)
- `data/length/N.mrg`: sentences of exactly N tokens, made by joining test
  sentences and dropping what is too much (wsj-sample only)

Another treebank's trees go to `data/NAME`.

The data is not free to pass on, so nothing of it goes into the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from places import LENGTHS, TREEBANK, TREEBANKS, data

from cleft.formats.brackets import read_brackets, write_brackets
from cleft.formats.cleaning import PTB
from cleft.tree import Tree, fold

SPLITS = ("train", "dev", "test")
ROOTS = ("TOP", "ROOT", None)
SIZES = (10, 20, 40, 80, 160, 320, 640, 1000, 2000)
EACH = 5


def write(trees: Iterable[Tree], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "w", encoding="utf-8") as stream:
        write_brackets(trees, stream)
    print(target)


def shorten(tree: Tree, length: int) -> Tree:
    """The tree over the first `length` words."""
    surplus = len(tree.words()) - length

    def leaf(old: Tree) -> Tree | None:
        # `fold` meets the last word first.
        nonlocal surplus
        surplus -= 1
        return None if surplus >= 0 else old

    def node(old: Tree, children: list[Tree | None]) -> Tree | None:
        kept = tuple(child for child in children if child is not None)
        return Tree(old.label, kept) if kept else None

    short = fold(tree, leaf, node)
    assert short is not None
    return short


def joined(trees: list[Tree], first: int, length: int) -> Tree:
    """A sentence of `length` tokens that begins with the tree `first`."""
    parts: list[Tree] = []
    tokens = 0
    while tokens < length:
        part = trees[(first + len(parts)) % len(trees)]
        parts.append(part)
        tokens += len(part.words())
    return shorten(Tree("S", tuple(parts)), length)


def write_lengths(trees: list[Tree]) -> None:
    for size in SIZES:
        starts = range(0, len(trees), len(trees) // EACH)
        write(
            [joined(trees, first, size) for first in list(starts)[:EACH]], LENGTHS / f"{size}.mrg"
        )


def main(treebank: str = TREEBANK) -> None:
    for name in SPLITS:
        trees = list(read_brackets(TREEBANKS / treebank / f"{name}.mrg", PTB))
        for root in ROOTS:
            rooted = trees if root is None else [Tree(root, (tree,)) for tree in trees]
            write(rooted, data(treebank) / f"{name}.{root or 'none'}.mrg")
    if treebank == TREEBANK:
        write_lengths(trees)


if __name__ == "__main__":
    main(*sys.argv[1:])
