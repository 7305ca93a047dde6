import pickle

import pytest
from hypothesis import given

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import TreeShapeError
from cleft.evidence import Evidence
from cleft.span import Span
from tests.strategies import discourse_trees


def leaves(count: int) -> list[DiscourseTree]:
    return [DiscourseTree.leaf(Edu(f"e{i}", Span(i, i + 1))) for i in range(count)]


@pytest.mark.parametrize(
    ("children", "nuclearity", "relations", "message"),
    [
        (0, "", [], "either an EDU or children"),
        (1, "N", ["x"], "has one child"),
        (2, "N", ["x", "x"], "one letter and one relation a child"),
        (2, "NS", ["x"], "one letter and one relation a child"),
        (2, "SS", ["x", "y"], "at least one N"),
        (2, "NX", ["x", "y"], "not made of N and S"),
    ],
)
def test_impossible_nodes_are_refused(
    children: int, nuclearity: str, relations: list[str], message: str
) -> None:
    with pytest.raises(TreeShapeError, match=message):
        DiscourseTree(leaves(children), nuclearity, relations)


def test_relation_is_that_of_the_satellite_or_of_all_nuclei() -> None:
    one, two, three = leaves(3)
    assert DiscourseTree.join([one, two], "SN", "cause").relation == "cause"
    assert DiscourseTree.join([one, two, three], "NNN", "joint").relation == "joint"
    mixed = DiscourseTree([one, two, three], "SNS", ["attribution", "span", "purpose"])
    assert mixed.relation == "attribution/purpose"
    assert one.relation == ""
    assert DiscourseTree([one, two], "NN", ["span", "span"]).relation == "span"


def test_several_satellites_nest_around_their_nucleus() -> None:
    a, b, c, d = leaves(4)
    tree = DiscourseTree([a, b, c, d], "SNSS", ["r", "span", "s", "t"])
    assert [tuple(split)[:5] for split in tree.splits()] == [
        (0, 1, 4, "r", "SN"),
        (1, 3, 4, "t", "NS"),
        (1, 2, 3, "s", "NS"),
    ]


def test_a_satellite_between_nuclei_goes_to_the_nucleus_before_it() -> None:
    a, b, c = leaves(3)
    tree = DiscourseTree([a, b, c], "NSN", ["joint", "purpose", "joint"])
    assert [tuple(split)[:5] for split in tree.splits()] == [
        (0, 2, 3, "joint", "NN"),
        (0, 1, 2, "purpose", "NS"),
    ]


def test_many_nuclei_branch_to_the_right_and_come_back() -> None:
    tree = DiscourseTree.join(leaves(4), "NNNN", "joint")
    assert [split[:3] for split in tree.splits()] == [(0, 1, 4), (1, 2, 4), (2, 3, 4)]
    assert tree.binarise().is_binary
    assert tree.binarise().debinarise() == tree


@given(discourse_trees())
def test_binarising_keeps_the_edus_and_every_relation(tree: DiscourseTree) -> None:
    binary = tree.binarise()
    assert binary.is_binary
    assert binary.edus == tree.edus
    assert binary.binarise() == binary
    names = {name for node in tree.preorder() for name in node.relations}
    assert {name for node in binary.preorder() for name in node.relations} <= names | {"span"}


@given(discourse_trees())
def test_spans_agree_with_the_span_of_each_node(tree: DiscourseTree) -> None:
    for span, node in tree.spans():
        assert span == node.span
    assert (tree == tree.binarise()) == tree.is_binary


@given(discourse_trees())
def test_a_discourse_tree_crosses_to_another_process(tree: DiscourseTree) -> None:
    back = pickle.loads(pickle.dumps(tree))
    assert back == tree
    assert hash(back) == hash(tree)
    assert tree != "a tree"


def test_a_deep_discourse_tree_needs_no_recursion() -> None:
    tree = DiscourseTree.join(leaves(5000), "N" * 5000, "joint").binarise()
    assert tree.debinarise().nuclearity == "N" * 5000
    assert tree.span == Span(0, 5000)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert str(tree).count("\n") == 9998


def test_only_a_run_to_the_right_of_one_relation_is_one_node() -> None:
    a, b, c, d = leaves(4)
    join = DiscourseTree.join
    inner = join([c, d], "NN", "joint")
    tree = join([join([a, b], "NN", "joint"), inner], "NN", "joint")
    assert str(tree.debinarise()).count("joint (NN)") == 1  # the first pair is a group of its own
    assert tree.kept_places() == [0, 1, 2, 3, 5, 6]
    other = join([a, join([b, inner], "NS", "joint")], "NN", "joint")
    assert other.debinarise() == other
    assert other.kept_places() == list(range(7))


def test_outline_and_evidence_are_shown() -> None:
    evidence = Evidence(probability=0.75, log_prob=-2.0, split_log_prob=-1.0)
    tree = DiscourseTree(leaves(2), "NS", ["span", "cause"], evidence=evidence)
    assert str(tree) == "cause (NS)\n  N: e0\n  S: e1"
    assert repr(tree) == "<DiscourseTree: 2 EDUs, cause>"
    assert tree.splits()[0].probability == tree.probability == 0.75
    assert (tree.log_prob, tree.split_log_prob) == (-2.0, -1.0)
    assert (leaves(1)[0].log_prob, leaves(1)[0].split_log_prob) == (None, None)
