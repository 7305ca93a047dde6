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


def test_trees_of_a_parser_go_to_nltk_and_come_back() -> None:
    from cleft.parser import load
    from tests.runtime.models import model

    sentences = [["(", "“naïve”", "heron", ")"], ["Rain"], ["so", "she", "left", "1984", "."]]
    for words, result in zip(sentences, load(model("lstm")).parse_tokens(sentences), strict=True):
        assert result.syntax is not None
        there = result.syntax.to_nltk()
        assert there.leaves() == words
        assert there.pos() == list(zip(words, result.syntax.tags(), strict=True))
        assert from_nltk(there) == result.syntax
        assert from_nltk(nltk.Tree.fromstring(result.syntax.brackets())).tags() == (
            result.syntax.tags()
        )


def test_trees_of_chunkers_have_pairs_for_leaves() -> None:
    tree = nltk.Tree("S", [nltk.Tree("PERSON", [("Mark", "NNP")]), ("slept", "VBD")])
    assert str(from_nltk(tree)) == "(S (PERSON (NNP Mark)) (VBD slept))"
    with pytest.raises(TreeShapeError, match=r"expected a tree, a word or a pair .* found 3"):
        from_nltk(nltk.Tree("S", [3]))
