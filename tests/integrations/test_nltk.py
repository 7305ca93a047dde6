import nltk
import pytest
from hypothesis import given

from cleft.errors import TreeShapeError
from cleft.integrations.nltk import from_nltk, to_nltk
from cleft.tree import Tree
from tests.strategies import trees


@given(trees())
def test_a_tree_goes_to_nltk_and_comes_back(tree: Tree) -> None:
    there = tree.to_nltk()
    assert isinstance(there, nltk.Tree)
    assert there.leaves() == tree.words()
    assert from_nltk(there) == tree


def test_nltk_reads_our_brackets_as_we_do() -> None:
    text = "(S (NP (DT the) (NN cat)) (VP (VBD slept)) (. .))"
    assert nltk.Tree.fromstring(text) == to_nltk(Tree.from_brackets(text))


def test_bare_words_survive_and_empty_nodes_are_refused() -> None:
    tree = Tree.from_brackets("(NP the (NN cat) sat)")
    assert from_nltk(tree.to_nltk()) == tree
    with pytest.raises(TreeShapeError, match="'NP' has no children"):
        from_nltk(nltk.Tree("NP", []))
