"""How often parsed trees have pairs that the training trees hardly have.

    cleft parse text.txt --task syntax --format brackets -o trees.mrg
    python benchmarks/pairs.py trees.mrg [--model en]

A pair is a phrase with the tag of a word right below it, or with the label (a unary chain as
a whole) of a phrase right below it. It is rare if the training trees have it fewer than three
times, by the counts that the model keeps.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from cleft.formats.brackets import read_parses
from cleft.models import model_path
from cleft.runtime import ModelDirectory
from cleft.search.labels import FEW, Counts
from cleft.tasks import get_task
from cleft.tree import Tree


def rare_pairs(tree: Tree, known: Counts) -> Iterable[tuple[str, str, int]]:
    """The pairs of a tree that training trees have less than `FEW` times, with that number."""
    own = Counts.of(get_task("syntax"), [tree])
    for here, there in ((own.tags, known.tags), (own.labels, known.labels)):
        for parent, line in here.items():
            for child, count in line.items():
                seen = there.get(parent, {}).get(child, 0)
                if seen < FEW:
                    yield from [(parent, child, seen)] * count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", help="bracketed trees, as the model made them")
    parser.add_argument("--model", default="en")
    args = parser.parse_args()
    known = ModelDirectory(model_path(args.model)).counts("syntax")
    trees = [tree for tree in read_parses(args.trees) if tree is not None]
    found = [list(rare_pairs(tree, known)) for tree in trees]
    rare = sum(map(bool, found))
    never = sum(any(seen == 0 for _, _, seen in line) for line in found)
    print(f"{len(trees)} trees; with a rare pair {100 * rare / len(trees):.2f} %, ", end="")
    print(f"with one that training trees never have {100 * never / len(trees):.2f} %")
    for (parent, child, seen), count in Counter(chain(*found)).most_common(10):
        print(f"{count:6d}  {parent or '(root)'} over {child}, in training {seen}")


if __name__ == "__main__":
    main()
