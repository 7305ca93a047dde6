"""Comparison of gold and predicted trees."""

import pytest
from hypothesis import given

from cleft.discourse import DiscourseTree, Edu
from cleft.draw import diff, svg
from cleft.errors import MetricError
from cleft.span import Span
from cleft.tree import Tree
from tests.draw import looking
from tests.draw.samples import SHORT, join, leaves, rain
from tests.strategies import discourse_trees, trees


@given(trees())
def test_a_tree_agrees_with_itself(tree: Tree) -> None:
    found = diff(tree, tree)
    assert not found.gold_marks and not found.predicted_marks  # noqa: PT018
    assert found.agree == found.total == sum(node.word is None for node in tree.preorder())


@given(discourse_trees())
def test_a_discourse_tree_agrees_with_itself(tree: DiscourseTree) -> None:
    found = diff(tree, tree)
    assert not found.gold_marks and not found.predicted_marks  # noqa: PT018


def test_unary_chains_are_compared_label_by_label() -> None:
    gold = Tree.from_brackets("(S (VP (VP (VB go))))")
    found = diff(gold, Tree.from_brackets("(VP (X (VB go)))"))
    assert found.gold_marks == {0: "changed", 2: "missed"}
    assert found.predicted_marks == {1: "changed"}


def test_tags_are_compared_but_not_counted() -> None:
    found = diff(SHORT, Tree.from_brackets(str(SHORT).replace("VBD", "VBN")))
    assert found.agree == found.total
    assert list(found.gold_marks.values()) == ["changed"]
    marked = looking.of_role(looking.parse(svg(found)), "changed")
    assert marked == ["≠ VBD", "≠ VBN"]


def test_other_words_are_refused_with_the_first_that_differs() -> None:
    other = Tree.from_brackets("(S (NP (PRP He)) (VP (VBD fed)))")
    with pytest.raises(MetricError, match="word 1 is 'She' in gold, 'He' in predicted"):
        diff(SHORT, other)
    with pytest.raises(MetricError, match="6 words in gold, 1 in predicted"):
        diff(SHORT, Tree("PRP", word="She"))


def test_segments_may_differ() -> None:
    gold = join(leaves("it rained", "so we left"), "NS", "cause")
    found = diff(gold, leaves("it rained so we left")[0])
    assert found.gold_marks == {1: "missed", 2: "missed"}
    assert found.summary == "0 of 2 spans agree"


def test_marks_are_drawn_with_signs_and_lines_not_by_colour_alone() -> None:
    a, b, c, d = (DiscourseTree.leaf(edu) for edu in rain().edus)
    other = join([a, join([b, join([c, d], "SN", "cause")], "NN", "joint")], "SN", "condition")
    picture = svg(diff(rain(), other))
    root = looking.check_svg(picture)
    relations = looking.of_role(root, "relation")
    assert relations == [
        "≠ concession", "− same-unit", "≠ elaboration", "≠ condition", "≠ joint", "≠ cause",
    ]  # fmt: skip
    assert 'class="bar missed-line"' in picture
    assert 'class="bar wrong-line"' in picture
    assert looking.of_role(root, "heading") == ["Gold", "Predicted"]


def test_wide_trees_stand_one_above_the_other() -> None:
    headings = {}
    for width in (240, None):
        from cleft.draw import lay_out

        layout = lay_out(diff(SHORT, SHORT), width)
        headings[width] = [text.y for text in layout.texts if text.role == "heading"]
    assert headings[240][0] < headings[240][1]
    assert headings[None][0] == headings[None][1]


def test_comparisons_render_in_notebooks() -> None:
    found = diff(SHORT, SHORT)
    assert found._repr_svg_() == svg(found)
    assert svg(found) in found._repr_html_()


def test_trees_over_other_tokens_are_not_compared_by_number() -> None:
    trees = [
        join([DiscourseTree.leaf(Edu(text, Span(*span))) for text, span in edus], "NS", "causal")
        for edus in (
            [("It rained,", (0, 3)), ("so we left.", (3, 7))],
            [("It rained,", (0, 2)), ("so we left.", (2, 5))],
        )
    ]
    with pytest.raises(MetricError, match=r"gold has the tokens \(0, 7\), predicted \(0, 5\)"):
        diff(*trees)
