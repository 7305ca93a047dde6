"""Words as a text writes them; all words and trees are invented."""

import pytest

from cleft.formats.brackets import format_brackets, parse_brackets
from cleft.formats.cleaning import SPMRL, clean_tree, respell, spell
from cleft.tree import Tree


@pytest.mark.parametrize(
    ("word", "written"),
    [
        (",-,", ","),
        ("?-?", "?"),
        ("---", "---"),
        ("kata-kata", "kata-kata"),
        ("-", "-"),
        ("5-5", "5-5"),
        ("川（かわ）", "川"),
        ("高（たか）い", "高い"),
        ("（", "（"),
        ("※（「石＋也」、第9水準1-2-3）", "※（「石＋也」、第9水準1-2-3）"),
        ("かわ（かわ）", "かわ（かわ）"),
        ("-LRB-", "("),
        ("venu-LRB-e-RRB-s", "venu(e)s"),
        (r"et\/ou", "et/ou"),
        (r"\*", "*"),
        ("Snow<dash/>Man", "Snow-Man"),
        ("US$", "US$"),
        ("chat", "chat"),
    ],
)
def test_a_word_loses_what_its_treebank_added(word: str, written: str) -> None:
    assert spell(word) == written


@pytest.mark.parametrize(
    ("tree", "written"),
    [
        ("(NP (N hund$) (D $in))", "(NP (N hundin))"),
        ("(NP (N a$) (D $b$) (D $c))", "(NP (N abc))"),
        ("(NP (N Hus$) (CP (C $ið) (VB datt)))", "(NP (N Hus) (CP (C ið) (VB datt)))"),
        ("(NP (N eitt) (D $in))", "(NP (N eitt) (D in))"),
        ("(NP (N eld-$) (N $fjall))", "(NP (N eld-fjall))"),
        ("(NP (N kú$) (AP (A stór)) (D $in))", "(NP (N kú) (AP (A stór)) (D in))"),
        ("(NP (SYM US$) (SYM $) (NUM $5))", "(NP (SYM US$) (SYM $) (NUM $5))"),
        ("(NP (P à_côté_de) (N lui))", "(NP (P à) (P côté) (P de) (N lui))"),
        ("(NP (N @ma_page) (N _) (N a__b))", "(NP (N @ma_page) (N _) (N a) (N b))"),
        ("(. .-.)", "(. .)"),
        ("(N a_b)", "(N a_b)"),
    ],
)
def test_words_are_joined_and_parted_as_a_text_has_them(tree: str, written: str) -> None:
    assert str(respell(Tree.from_brackets(tree))) == written


def test_respelling_is_a_part_of_the_spmrl_cleaning_however_a_tree_is_read() -> None:
    text = (
        "( (IP-MAT (NP-SBJ (-NONE- *pro*)) (NP;*OB1* (N##case=A## bók$) (D $ina))"
        " (NP-SBJ{A+B} (N vit)) (VB=1 -LRB-) (. .-.)))"
    )
    written = "(IP (NP (N bókina)) (NP (N vit)) (VB=1 -LRB-) (. .))"
    tree = parse_brackets(text, SPMRL)
    assert format_brackets(tree) == written
    assert tree.words() == ["bókina", "vit", "(", "."]
    assert clean_tree(parse_brackets(text), SPMRL) == tree


def test_what_is_cleaned_stays_as_it_is_when_it_is_cleaned_again() -> None:
    text = "(S (NP (N par_ici) (N d$) (N $e) (N 火（ひ）)) (PU -LRB-) (. ,-,))"
    once = parse_brackets(text, SPMRL)
    assert parse_brackets(format_brackets(once), SPMRL) == once
