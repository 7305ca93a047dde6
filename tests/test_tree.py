import copy
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import TreeShapeError
from cleft.evidence import Evidence
from cleft.span import Span
from cleft.tree import Tree, binarise, debinarise, fold, is_dummy, split_chain, split_root
from tests.strategies import trees

CAT = "(S (NP (DT the) (JJ old) (NN cat)) (VP (VBD slept)) (. .))"


def deep(depth: int) -> Tree:
    tree = Tree("NN", (), "word")
    for index in range(depth):
        tree = Tree("S", (Tree("DT", (), "a"), tree) if index % 2 else (tree,))
    return tree


def test_a_node_needs_either_a_word_or_children() -> None:
    with pytest.raises(TreeShapeError, match="neither a word nor children"):
        Tree("NP")
    with pytest.raises(TreeShapeError, match="both a word and children"):
        Tree("NP", [Tree("NN", word="x")], "y")


@given(trees())
def test_spans_agree_with_the_words_below_each_node(tree: Tree) -> None:
    words = tree.words()
    for span, node in tree.spans():
        assert node.words() == words[span.left : span.right]
    assert tree.spans()[0][0] == Span(0, len(words))
    assert [node for _, node in tree.spans()] == tree.preorder()


@given(trees(), st.sampled_from(["left", "right"]), st.sampled_from(["one", "parent"]))
def test_binarising_is_undone_exactly(tree: Tree, branching: str, dummy: str) -> None:
    binary = binarise(tree, branching, dummy)  # type: ignore[arg-type]
    for node in binary.preorder():
        assert len(node.children) in (0, 2) or node.children[0].is_preterminal
    assert debinarise(binary) == tree


def test_left_and_right_binarisation_differ_in_where_the_rest_goes() -> None:
    tree = Tree.from_brackets("(NP (A a) (B b) (C c) (D d))")
    assert str(binarise(tree, "right")) == "(NP (A a) (∅ (B b) (∅ (C c) (D d))))"
    assert str(binarise(tree, "left", "parent")) == "(NP (∅NP (∅NP (A a) (B b)) (C c)) (D d))"


def test_labels_that_look_like_our_marks_are_kept_apart_from_them() -> None:
    tree = Tree.from_brackets(r"(∅X (A+B (\ (NN x))))")
    label = binarise(tree).label
    assert not is_dummy(label)
    assert split_chain(label) == ["∅X", "A+B", "\\"]


def test_a_dummy_root_cannot_be_made_a_tree() -> None:
    with pytest.raises(TreeShapeError, match="dummy label '∅'"):
        debinarise(Tree.from_brackets("(∅ (A a) (B b))"))


def test_the_root_bracket_comes_off_only_over_one_child() -> None:
    assert split_root(Tree.from_brackets("( (S (NN x)))"))[0] == ""
    assert split_root(Tree.from_brackets("(TOP (S (NN x)))"))[0] == "TOP"
    two = Tree.from_brackets("( (S (NN x)) (. .))")
    assert split_root(two) == (None, two)
    assert split_root(Tree.from_brackets(CAT))[0] is None


@given(trees(), trees())
def test_equality_is_that_of_the_brackets(one: Tree, two: Tree) -> None:
    assert (one == two) == (repr(one) == repr(two))
    assert one == copy.deepcopy(one)
    assert hash(one) == hash(copy.deepcopy(one))
    assert one != "a tree"


def test_trees_with_other_words_labels_or_shapes_differ() -> None:
    tree = Tree.from_brackets("(NP (DT the) (NN cat))")
    for other in ("(NP (DT a) (NN cat))", "(XP (DT the) (NN cat))", "(NP (DT the))"):
        assert tree != Tree.from_brackets(other)


def test_evidence_survives_the_way_to_another_process() -> None:
    evidence = Evidence(label=0.5, split=0.25, log_prob=-1.5, split_log_prob=-1.0)
    tree = Tree("NP", [Tree("NN", word="x")], evidence=evidence)
    back = pickle.loads(pickle.dumps(tree))
    assert back.evidence == evidence
    assert (back.probability, back.log_prob, back.split_log_prob) == (0.5, -1.5, -1.0)
    assert (Tree("NN", word="x").probability, Tree("NN", word="x").log_prob) == (None, None)
    assert Tree("NN", word="x").split_log_prob is None


def test_a_very_deep_tree_needs_no_recursion() -> None:
    tree = deep(5000)
    assert debinarise(binarise(tree)) == tree
    assert Tree.from_brackets(tree.brackets()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(tree) == hash(copy.copy(tree))
    assert fold(tree, lambda leaf: 1, lambda node, values: 1 + max(values)) == 5001


@pytest.mark.parametrize("branching", ["left", "right"])
def test_a_very_flat_tree_costs_no_more_than_its_size(branching: str) -> None:
    tree = Tree("NP", [Tree("NN", word="x")] * 40_000)
    binary = binarise(tree, branching)  # type: ignore[arg-type]
    began = time.process_time()
    assert len(debinarise(binary).children) == 40_000
    assert time.process_time() - began < 10  # copying at every bracket took a minute


def test_leaves_words_and_tags_are_in_order() -> None:
    tree = Tree.from_brackets(CAT)
    assert tree.words() == ["the", "old", "cat", "slept", "."]
    assert tree.tags() == ["DT", "JJ", "NN", "VBD", "."]
    assert [leaf.is_preterminal for leaf in tree.leaves()] == [True] * 5
    assert not tree.is_preterminal
