from dataclasses import replace

import pytest

from cleft.errors import UsageError
from cleft.formats.brackets import parse_brackets
from cleft.formats.cleaning import PTB, SPMRL, clean_tree, cleaning
from cleft.tree import Tree


def test_a_cleaning_is_found_by_name_and_its_cut_may_be_replaced() -> None:
    assert cleaning("none") is None
    assert cleaning("ptb") is PTB
    changed = cleaning("ptb", cut=";.")
    assert changed is not None
    assert (changed.cut, changed.traces) == (";.", True)
    kept = cleaning("none", cut="-")
    assert kept is not None
    assert (kept.cut, kept.traces, kept.root) == ("-", False, False)


def test_an_unknown_cleaning_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no cleaning is called 'wsj'; use one of none, ptb"):
        cleaning("wsj")


def test_tags_that_a_treebank_spells_in_its_own_way_get_their_usual_names() -> None:
    tree = Tree.from_brackets("(NP (PRPP its) (NN beak))")
    assert str(clean_tree(tree, PTB)) == "(NP (PRP$ its) (NN beak))"
    assert str(clean_tree(tree, SPMRL)) == "(NP (PRPP its) (NN beak))"


@pytest.mark.parametrize(
    ("tree", "cleaned"),
    [
        ("(NP-1 (NP-2 (NN rain)) (SBAR (-NONE- *T*)))", "(NP (NN rain))"),
        ("(NP (NP (NP (NN rain)) (PP (-NONE- *))) (-NONE- *))", "(NP (NN rain))"),
        ("(NP (NP (NN rain)))", "(NP (NP (NN rain)))"),  # no trace explains it
        ("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"),
        ("(NN (NN rain) (X (-NONE- *)))", "(NN (NN rain))"),  # a phrase over a word is no chain
    ],
)
def test_x_over_x_that_only_a_trace_explains_is_collapsed(tree: str, cleaned: str) -> None:
    clean = replace(PTB, collapse=True)
    assert str(clean_tree(Tree.from_brackets(tree), clean)) == cleaned
    assert str(parse_brackets(tree, clean)) == cleaned
