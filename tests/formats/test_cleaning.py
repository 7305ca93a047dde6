import pytest

from cleft.errors import UsageError
from cleft.formats.brackets import parse_brackets
from cleft.formats.cleaning import PTB, PTB_TEXT, SPMRL, clean_tree, cleaning
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


def test_a_phrase_that_a_trace_leaves_with_its_own_label_is_one_phrase() -> None:
    text = "( (S (NP-SBJ (NP (DT the) (NN man)) (-NONE- *)) (VP (VBD left) (NP (NP (NN home))))))"
    trees = [str(parse_brackets(text, cleaning(name))) for name in ("ptb", "ptb-text")]
    assert trees == [
        "(S (NP (NP (DT the) (NN man))) (VP (VBD left) (NP (NP (NN home)))))",
        "(S (NP (DT the) (NN man)) (VP (VBD left) (NP (NN home))))",
    ]
    whole = clean_tree(parse_brackets(text), PTB_TEXT)
    assert str(whole) == trees[1]
