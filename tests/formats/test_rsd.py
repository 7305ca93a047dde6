from pathlib import Path

import pytest

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, InputError
from cleft.formats.rsd import read_rsd
from cleft.formats.rst import RstDocument


def read(tmp_path: Path, *rows: str) -> RstDocument:
    """Rows written short: text, level, head, relation; numbers are added."""
    lines = []
    for number, row in enumerate(rows, 1):
        text, level, head, relation = row.split("|")
        lines.append(f"{number}\t{text}\t{level}\t_\t_\t_\t{head}\t{relation}\t_\t_\n")
    return read_text(tmp_path, "".join(lines))


def read_text(tmp_path: Path, text: str) -> RstDocument:
    path = tmp_path / "doc.rsd"
    path.write_text(text, encoding="utf-8")
    return read_rsd(path)


def shape(tree: DiscourseTree) -> str:
    """A tree in brackets, satellites in small ones: [a (b)]."""
    done: list[str] = []
    for node in reversed(tree.preorder()):
        if node.edu is not None:
            done.append(node.edu.text)
        else:
            below = [done.pop() for _ in node.children]
            parts = [
                part if letter == "N" else f"({part})"
                for part, letter in zip(below, node.nuclearity, strict=True)
            ]
            done.append(f"[{' '.join(parts)}]")
    return done[0]


def test_levels_say_how_satellites_nest(tmp_path: Path) -> None:
    low_left = read(tmp_path, "a|0|2|cause_r", "b|0|0|ROOT", "c|1|2|purpose_r")
    low_right = read(tmp_path, "a|1|2|cause_r", "b|0|0|ROOT", "c|0|2|purpose_r")
    level = read(tmp_path, "a|0|2|cause_r", "b|0|0|ROOT", "c|0|2|purpose_r")
    assert shape(low_left.trees[0]) == "[[(a) b] (c)]"
    assert shape(low_right.trees[0]) == "[(a) [b (c)]]"
    assert shape(level.trees[0]) == "[(a) b (c)]"
    assert low_left.trees[0].relations == ("span", "purpose")


def test_nuclei_at_one_level_are_one_node(tmp_path: Path) -> None:
    rows = ["a|0|0|ROOT", "b|0|1|same-unit_m", "c|1|1|list_m", "d|1|1|list_m"]
    (tree,) = read(tmp_path, *rows).trees
    assert shape(tree) == "[[a b] c d]"
    assert tree.relations == ("list", "list", "list")
    assert tree.children[0].relations == ("same-unit", "same-unit")


def test_without_levels_the_nearer_is_joined_first(tmp_path: Path) -> None:
    rows = ["a|_|3|cause_r", "b|_|3|cause_r", "c|_|0|ROOT", "d|_|3|list_m", "e|_|3|list_m"]
    (tree,) = read(tmp_path, *rows).trees
    assert shape(tree) == "[(a) [[(b) [c d]] e]]"
    rows = ["a|_|0|ROOT", "b|_|1|list_m", "c|_|1|list_m", "d|_|1|purpose_r"]
    assert shape(read(tmp_path, *rows).trees[0]) == "[[a b c] (d)]"


def test_a_relation_without_a_mark_ties_a_satellite(tmp_path: Path) -> None:
    (tree,) = read(tmp_path, "a|0|0|ROOT", "b|0|1|cause_result").trees
    assert (tree.nuclearity, tree.relation) == ("NS", "cause_result")


def test_several_roots_make_a_forest(tmp_path: Path) -> None:
    document = read(tmp_path, "a|0|0|ROOT", "b|0|3|cause_r", "c|0|0|ROOT")
    assert [shape(tree) for tree in document.trees] == ["a", "[(b) c]"]


def test_comments_and_empty_lines_are_passed_over_and_what_is_beside_is_remarked(
    tmp_path: Path,
) -> None:
    text = "# a comment\n\n1\ta b\t0\t_\t_\t_\t0\tROOT\t_\tdm-so-1-_\n"
    document = read_text(tmp_path, text)
    assert document.edus[0].text == "a b"
    assert document.remarks == ("secondary edges and signals of 1 EDUs: not read",)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["a|0|5|cause_r"], "line 1: there is no EDU 5"),
        (["a|0|1|cause_r"], "line 1: expected the number of another EDU as head, or 0, found '1'"),
        (["a|0|x|cause_r"], "found 'x'"),
        (["a|0|0|ROOT", "b|0|1|_"], "line 2: expected a relation, found '_'"),
        (["a|0|0|ROOT", "b|0|1|span_r"], "line 2: expected a relation, found 'span_r'"),
        (["a|0|0|ROOT", " |0|1|cause_r"], "line 2: the EDU has no text"),
        (["a|0|0|ROOT", "b|0|3|cause_r", "c|0|2|cause_r"], "the heads of EDU 2 form a cycle"),
        (
            ["a|0|3|cause_r", "b|0|4|cause_r", "c|0|0|ROOT", "d|0|3|cause_r"],
            "EDUs 2–2 and 4–4 belong together, but others stand between them",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, rows: list[str], expected: str) -> None:
    with pytest.raises(CleftError) as caught:
        read(tmp_path, *rows)
    assert expected in str(caught.value)
    assert "doc.rsd line" in str(caught.value)


def test_lines_that_are_not_rsd_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CleftError, match="expected 8 or more columns, found 2"):
        read_text(tmp_path, "1\ta\n")
    with pytest.raises(CleftError, match="expected EDU 1, found '2'"):
        read_text(tmp_path, "2\ta\t0\t_\t_\t_\t0\tROOT\n")
    with pytest.raises(InputError, match="expected one EDU a line"):
        read_text(tmp_path, "\n")


def test_a_very_long_chain_is_read(tmp_path: Path) -> None:
    rows = [f"x|0|{max(0, number - 1)}|cause_r" for number in range(1, 5002)]
    assert len(read(tmp_path, *rows).edus) == 5001
