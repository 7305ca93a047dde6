import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import TreeShapeError
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX, Derivation, get_task, split_relation
from cleft.tree import Tree, split_root
from tests.strategies import discourse_trees, trees

TENNIS = "(S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG playing) (NP (NN tennis))))) (. .))"


def test_the_papers_syntactic_example_gives_its_splits_and_labelled_spans() -> None:
    derivation = SYNTAX.derive(Tree.from_brackets(TENNIS))
    assert [str(split) for split in derivation.splits] == [
        "(0,5)→1",
        "(1,5)→4",
        "(1,4)→2",
        "(2,4)→3",
    ]
    spans = SYNTAX.labelled(5, derivation.splits)
    labels = {
        (span.left + 1, span.right): label
        for span, label in zip(spans, derivation.labels, strict=True)
        if span.width > 1
    }
    assert labels == {(1, 5): "S", (2, 5): "∅", (2, 4): "VP", (3, 4): "S+VP"}


def test_the_papers_discourse_example_gives_its_splits() -> None:
    spans = [Span(0, 5), Span(5, 8), Span(8, 11)]
    a, b, c = (DiscourseTree.leaf(Edu("x " * s.width, s)) for s in spans)
    inner = DiscourseTree.join([a, b], "NS", "Elaboration")
    derivation = DISCOURSE.derive(DiscourseTree.join([inner, c], "NN", "Same-Unit"))
    assert [str(split) for split in derivation.splits] == [
        "(0,11)→8", "(0,8)→5", "(0,5)→5", "(5,8)→8", "(8,11)→11",
    ]  # fmt: skip
    labelled = DISCOURSE.labelled(11, derivation.splits)
    assert dict(zip(labelled, derivation.labels, strict=True)) == {
        Split(0, 8, 11): "Same-Unit_NN",
        Split(0, 5, 8): "Elaboration_NS",
    }


@given(trees(), st.sampled_from(["left", "right"]), st.sampled_from(["one", "parent"]))
def test_a_tree_comes_back_from_its_decisions(tree: Tree, branching: str, dummy: str) -> None:
    task = get_task("syntax", branching, dummy)
    derivation = task.derive(tree)
    length = len(tree.words())
    assert len(derivation.splits) == length - 1
    assert len(derivation.labels) == 2 * length - 1
    root, _ = split_root(tree)
    assert task.build(derivation, tree.words(), tree.tags(), root) == tree


@given(discourse_trees(binary=True))
def test_a_discourse_tree_comes_back_from_its_decisions(tree: DiscourseTree) -> None:
    derivation = DISCOURSE.derive(tree)
    wide = sum(edu.span.width > 1 for edu in tree.edus)
    assert sum(split.is_stop for split in derivation.splits) == wide
    words = [word for edu in tree.edus for word in edu.text.split()]
    assert DISCOURSE.build(derivation, words) == tree
    assert DISCOURSE.build(derivation, words, tree.edus) == tree


def test_given_edus_keep_their_text_and_offsets() -> None:
    edu = Edu("It rained.", Span(0, 3), 0, 10)
    derivation = DISCOURSE.derive(DiscourseTree.leaf(edu))
    assert DISCOURSE.build(derivation, ["It", "rained", "."], [edu]).edus == [edu]


def test_legal_splits_are_inside_for_syntax_and_may_stop_for_discourse() -> None:
    assert list(SYNTAX.legal(Span(2, 5))) == [3, 4]
    assert list(DISCOURSE.legal(Span(2, 5))) == [3, 4, 5]
    assert (SYNTAX.name, DISCOURSE.name) == ("syntax", "discourse")


def test_a_one_word_sentence_has_a_label_and_no_split() -> None:
    derivation = SYNTAX.derive(Tree.from_brackets("(NP (NN Rain))"))
    assert derivation == Derivation(length=1, splits=(), labels=("NP",))
    assert SYNTAX.build(derivation, ["Rain"], ["NN"], "TOP").brackets() == "(TOP (NP (NN Rain)))"


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "end before span"),
        ([Split(0, 3, 3)], "not a legal one"),
        ([Split(0, 1, 3)], r"end before span \(1, 3\)"),
        ([Split(0, 1, 3), Split(0, 1, 3)], r"out of order: span \(1, 3\) is next"),
        ([Split(0, 1, 3), Split(1, 2, 3), Split(1, 2, 3)], "no further span"),
    ],
)
def test_splits_that_make_no_tree_are_refused(splits: list[Split], message: str) -> None:
    with pytest.raises(TreeShapeError, match=message):
        SYNTAX.labelled(3, splits)


def test_wrong_numbers_of_words_or_labels_are_refused() -> None:
    right = Derivation(length=2, splits=(Split(0, 1, 2),), labels=("S", "∅", "∅"))
    with pytest.raises(TreeShapeError, match="2 tokens expected, 1 words"):
        SYNTAX.build(right, ["a"], ["A", "B"])
    few = Derivation(length=2, splits=right.splits, labels=("S",))
    with pytest.raises(TreeShapeError, match="3 labels expected"):
        SYNTAX.build(few, ["a", "b"], ["A", "B"])
    dummy = Derivation(length=2, splits=right.splits, labels=("∅", "∅", "∅"))
    with pytest.raises(TreeShapeError, match="whole sentence carries the dummy label"):
        SYNTAX.build(dummy, ["a", "b"], ["A", "B"])
    with pytest.raises(TreeShapeError, match="2 tokens expected, 1 words"):
        DISCOURSE.build(Derivation(length=2, splits=right.splits, labels=("x_NS",)), ["a"])
    with pytest.raises(TreeShapeError, match="1 labels expected"):
        DISCOURSE.build(Derivation(length=2, splits=right.splits, labels=()), ["a", "b"])


def test_a_split_label_ends_in_its_nuclearity() -> None:
    assert split_relation("cause_result_SN") == ("cause_result", "SN")
    for bad in ("cause", "cause_XX", "NS"):
        with pytest.raises(TreeShapeError, match="does not end in _NS"):
            split_relation(bad)


def test_a_flat_and_a_deep_tree_of_5000_words_come_back() -> None:
    flat = Tree("S", [Tree("NN", (), "w") for _ in range(5000)])
    for branching in ("left", "right"):
        task = get_task("syntax", branching)
        assert task.build(task.derive(flat), flat.words(), flat.tags()) == flat
