"""Every tree of the real treebanks survives the way to splits and back."""

import random
from pathlib import Path

import pytest

from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import CLEANINGS
from cleft.formats.jsonl import read_jsonl
from cleft.tasks import DISCOURSE, SYNTAX, SyntaxTask
from cleft.tree import split_root

pytestmark = pytest.mark.shared

SYNTAX_TREES = 118_573
DISCOURSE_TREES = 17_011


def chosen(paths: list[Path], everything: bool, count: int) -> list[Path]:
    return paths if everything else sorted(random.Random(1).sample(paths, count))


def test_every_syntactic_tree_comes_back_from_its_splits(shared: Path, everything: bool) -> None:
    found = sorted((shared / "data" / "syntax").glob("*/*.mrg"))
    left = SyntaxTask(branching="left", dummy="parent")
    count = 0
    for path in chosen(found, everything, 6):
        clean = CLEANINGS["keyaki" if "keyaki" in path.parent.name else "ptb"]
        for number, tree in enumerate(read_brackets(path, clean)):
            root, _ = split_root(tree)
            words, tags = tree.words(), tree.tags()
            task = left if number % 2 else SYNTAX
            assert task.build(task.derive(tree), words, tags, root) == tree
            count += 1
    print(f"{count} syntactic trees")
    assert count == SYNTAX_TREES if everything else count > 1000


def test_every_discourse_tree_comes_back_from_its_splits(shared: Path, everything: bool) -> None:
    found = sorted((shared / "data" / "discourse").glob("*/sentences-*.jsonl"))
    count = 0
    for path in chosen(found, everything, 3):
        for record in read_jsonl(path):
            tree = record.discourse
            assert tree is not None
            assert DISCOURSE.build(DISCOURSE.derive(tree), record.tokens) == tree
            count += 1
    print(f"{count} discourse trees")
    assert count == DISCOURSE_TREES if everything else count > 200
