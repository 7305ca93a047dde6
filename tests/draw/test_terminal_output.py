"""Trees in the terminal: they fit, they hold every word, they are coloured only where wanted."""

import io
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree
from cleft.draw import diff, terminal
from cleft.draw.characters import columns, shown
from cleft.errors import UsageError
from cleft.evidence import Evidence
from cleft.tree import Tree
from tests.draw.samples import (
    DISCOURSE_TREES,
    SHORT,
    TREES,
    chain,
    discourse_chain,
    flat,
    left_branching,
    rain,
    right_branching,
)
from tests.strategies import discourse_trees, trees

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
LEADS = re.compile(r"^[⋯│├└─ ]*", re.MULTILINE)


def letters(drawn: str) -> str:
    """What a drawing says, without lines, breaks and spaces."""
    return "".join(LEADS.sub("", drawn).split())


@pytest.mark.parametrize("width", [20, 33, 80, 200])
@pytest.mark.parametrize("tree", [*TREES, *DISCOURSE_TREES])
def test_no_line_is_wider_than_the_terminal(tree: Tree | DiscourseTree, width: int) -> None:
    assert max(columns(line) for line in terminal(tree, width, False).split("\n")) <= width


@given(trees(), st.integers(20, 100))
def test_every_word_of_any_tree_is_there_in_order(tree: Tree, width: int) -> None:
    drawn = "".join(terminal(tree, width, False).split())
    at = 0
    for word in tree.words():
        for piece in shown(word):
            if not piece.isspace():
                at = drawn.find(piece, at) + 1
                assert at > 0


@given(discourse_trees(), st.integers(20, 100))
def test_every_edu_of_any_tree_is_there_in_order(tree: DiscourseTree, width: int) -> None:
    drawn, at = letters(terminal(tree, width, False)), 0
    for edu in tree.edus:
        at = drawn.find("".join(edu.text.split()), at) + 1
        assert at > 0


def test_a_short_sentence_is_drawn_as_a_tree() -> None:
    expected = """
                   S
      ┌────┬───────┴─────────────┐
      │    VP                    │
      │   ┌┴──────────┐          │
      NP  │           NP         │
      │   │     ┌────┬┴────┐     │
     PRP VBD   DT   JJ    NN     .
    """
    drawn = terminal(SHORT, 60, False).split("\n")
    assert drawn[-1].split() == ["She", "fed", "the", "old", "goat", "."]
    assert drawn[-2].split() == ["PRP", "VBD", "DT", "JJ", "NN", "."]
    assert "".join(drawn[0].split()) == "S"
    assert len(drawn) == len(textwrap.dedent(expected).strip("\n").split("\n")) + 1


def test_wide_words_stay_under_their_phrases() -> None:
    drawn = terminal(
        Tree.from_brackets("(IP (NP (NN 老师)) (VP (VV 教) (NP (NN 孩子们))))"), 40, False
    )
    assert drawn.split("\n")[-1] == " 老师  教  孩子们"


def test_a_label_wider_than_its_words_keeps_its_room() -> None:
    drawn = terminal(Tree.from_brackets("(S (PHRASE (X a)) (PHRASE (X b)))"), 40, False)
    assert "PHRASE  PHRASE" in drawn


def test_a_branch_at_the_edge_has_a_corner() -> None:
    odd = Tree("LONGLABEL", [Tree("A", word="a"), Tree("B", word="b")])
    assert "┴" in terminal(Tree("S", [odd, Tree("C", word="c")]), 40, False)


def test_long_sentences_become_outlines_with_flat_phrases_on_one_line() -> None:
    assert terminal(SHORT, 24, False) == textwrap.dedent("""\
        S
        ├─ NP She/PRP
        ├─ VP
        │  ├─ fed/VBD
        │  └─ NP the/DT old/JJ
        │     goat/NN
        └─ ./.""")


def test_discourse_is_an_outline_of_nuclei_and_satellites() -> None:
    assert terminal(rain(), 60, False) == textwrap.dedent("""\
        1–4
        ├─ ○ concession 1: Although it rained,
        └─ ● 2–4
           ├─ ● same-unit 2–3
           │  ├─ ● 2: the team
           │  └─ ○ elaboration 3: that had lost
           └─ ● same-unit 4: played on.""")


def test_deep_trees_slide_behind_a_mark() -> None:
    for tree in (right_branching(300), left_branching(300), discourse_chain(300, "NS")):
        lines = terminal(tree, 60, False).split("\n")
        assert any(line.startswith("⋯") for line in lines)
        assert max(map(columns, lines)) <= 60


def test_deep_chains_are_outlined_too() -> None:
    assert "X0 › X" not in terminal(chain(3), 60, False)
    assert terminal(chain(100), 400, False).startswith("X99 › X98 ›")


def test_doubts_are_told_in_numbers() -> None:
    tree = Tree("NP", flat(60).children, evidence=Evidence(label=0.6))
    assert "NP 60%" in terminal(tree, 60, False)
    sure = Tree("NP", flat(60).children, evidence=Evidence(label=0.95))
    assert "%" not in terminal(sure, 60, False)


def test_colour_changes_nothing_but_colour() -> None:
    for tree in (SHORT, rain(), diff(SHORT, SHORT)):
        painted = terminal(tree, 110, True)
        assert ESCAPES.search(painted)
        plain = "\n".join(line.rstrip() for line in ESCAPES.sub("", painted).split("\n"))
        assert plain == terminal(tree, 110, False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert not ESCAPES.search(terminal(SHORT, 60))
    monkeypatch.setattr("sys.stdout", Terminal())
    assert ESCAPES.search(terminal(SHORT, 60))
    monkeypatch.setenv("NO_COLOR", "1")
    assert not ESCAPES.search(terminal(SHORT, 60))
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not ESCAPES.search(terminal(SHORT, 60))


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    assert terminal(SHORT, colour=False) == terminal(SHORT, 24, False)


def test_differences_are_marked_side_by_side() -> None:
    other = Tree.from_brackets("(S (X (PRP She)) (VBD fed) (NP (DT the) (JJ old) (VB goat)) (. .))")
    wide = terminal(diff(SHORT, other), 120, False)
    head = wide.split("\n")[0]
    assert head.startswith("Gold") and "│ Predicted  2 of 4 phrases agree" in head  # noqa: PT018
    assert "≠NP She/PRP" in wide and "≠X She/PRP" in wide  # noqa: PT018
    assert "−VP" in wide and "goat/≠VB" in wide  # noqa: PT018
    narrow = terminal(diff(SHORT, other), 40, False)
    assert narrow.index("Gold") < narrow.index("Predicted") < narrow.index("+ only predicted")


def test_discourse_differences_are_marked() -> None:
    a, b, c, d = (DiscourseTree.leaf(edu) for edu in rain().edus)
    join = DiscourseTree.join
    other = join([join([a, b], "SN", "concession"), join([c, d], "NN", "joint")], "NN", "list")
    drawn = terminal(diff(rain(), other), 120, False)
    assert "≠same-unit 4: played on." in drawn
    assert "+list 1–2" in drawn and "−● 2–4" in drawn  # noqa: PT018


def test_trees_of_two_tasks_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="found Tree and DiscourseTree"):
        diff(SHORT, rain())  # type: ignore[type-var]


def test_words_from_right_to_left_stay_under_their_tags() -> None:
    tree = Tree.from_brackets("(S (NP (N הילדה)) (VP (V קראה) (NP (N ספר))) (. .))")
    tags, words = terminal(tree, 80, colour=False).splitlines()[-2:]
    # The marks keep a terminal from turning the line of words around; they take no column.
    assert words.split() == ["הילדה\u200e", "קראה\u200e", "ספר\u200e", "."]
    assert abs(columns(words) - columns(tags)) < 3
