"""Every tree of the real treebanks survives the way to splits and back."""

from collections.abc import Iterator
from pathlib import Path

from cleft import files
from cleft.formats.brackets import parse_brackets
from cleft.formats.cleaning import CLEANINGS
from cleft.formats.jsonl import parse_record
from cleft.tasks import DISCOURSE, SYNTAX, get_task
from cleft.tree import split_root

SYNTAX_TREES = 118_573
DISCOURSE_TREES = 17_011
STRIDE = 40
"""Without CLEFT_TEST_ALL=1, one line in so many is tried, of every file."""


def lines(shared: Path, pattern: str, everything: bool) -> Iterator[tuple[Path, int, str]]:
    for path in sorted((shared / "data").glob(pattern)):
        for number, line in enumerate(files.lines(path)):
            if everything or number % STRIDE == 0:
                yield path, number, line


def test_every_syntactic_tree_comes_back_from_its_splits(shared: Path, everything: bool) -> None:
    left = get_task("syntax", "left", "parent")
    count = 0
    for path, number, line in lines(shared, "syntax/*/*.mrg", everything):
        clean = CLEANINGS["keyaki" if "keyaki" in path.parent.name else "ptb"]
        tree = parse_brackets(line, clean)
        root, _ = split_root(tree)
        task = left if number % 3 else SYNTAX
        built = task.build(task.derive(tree), tree.words(), tree.tags(), root)
        assert built == tree, f"{path} line {number + 1}"
        count += 1
    print(f"{count} syntactic trees")
    assert count == SYNTAX_TREES if everything else count > SYNTAX_TREES // STRIDE


def test_every_discourse_tree_comes_back_from_its_splits(shared: Path, everything: bool) -> None:
    count = 0
    for path, number, line in lines(shared, "discourse/*/sentences-*.jsonl", everything):
        record = parse_record(line)
        tree = record.discourse
        assert tree is not None
        built = DISCOURSE.build(DISCOURSE.derive(tree), record.tokens)
        assert built == tree, f"{path} line {number + 1}"
        count += 1
    print(f"{count} discourse trees")
    assert count == DISCOURSE_TREES if everything else count > DISCOURSE_TREES // STRIDE
