import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import CleftError, InputError, TreeFormatError
from cleft.formats.brackets import format_brackets, parse_brackets, read_brackets, write_brackets
from cleft.formats.cleaning import CLEANINGS, PTB, SPMRL, Cleaning, clean_tree
from cleft.tree import Tree
from tests.strategies import trees

MESSY = "( (S (NP-SBJ-1 (-NONE- *T*-2)) (VP=3 (VB Go) (NP|X (-NONE- 0)) (PRT (RP on))) (. .)))"


def read(tmp_path: Path, text: str | bytes, clean: Cleaning | None = None) -> list[Tree]:
    path = tmp_path / "trees.mrg"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_brackets(path, clean))


def test_trees_may_stand_on_one_line_or_many(tmp_path: Path) -> None:
    text = "(S (NP (DT the)\n  (NN\n cat))\r\n\t(VBD slept))(X (Y y))\n\n\n(Z (W w))\n"
    assert [str(tree) for tree in read(tmp_path, text)] == [
        "(S (NP (DT the) (NN cat)) (VBD slept))",
        "(X (Y y))",
        "(Z (W w))",
    ]


def test_a_byte_order_mark_and_gzip_are_read(tmp_path: Path) -> None:
    assert len(read(tmp_path, b"\xef\xbb\xbf(S (NN x))")) == 1
    packed = tmp_path / "trees.mrg.gz"
    packed.write_bytes(gzip.compress(b"(S (NN x))"))
    assert str(next(read_brackets(packed))) == "(S (NN x))"


def test_words_may_hold_any_character_but_ascii_space_and_brackets(tmp_path: Path) -> None:
    words = ["10\u00a0000", "\u3000", "a\u2028b", "\x00", "e\u0301", "👩‍👩‍👧", "עברית", "\x85"]
    tree = Tree("S", [Tree("NN", (), word) for word in words])
    assert read(tmp_path, str(tree) + "\n")[0].words() == words


def test_words_outside_preterminals_are_kept(tmp_path: Path) -> None:
    tree = read(tmp_path, "(NP the (NN cat) sat)")[0]
    assert tree.words() == ["the", "cat", "sat"]
    assert tree.tags() == ["", "NN", ""]
    assert str(tree) == "(NP the (NN cat) sat)"


def test_brackets_and_space_in_words_are_escaped() -> None:
    tree = Tree("NP (x)", [Tree("-LRB-", (), "("), Tree("NN", (), "a b"), Tree("", (), "")])
    assert format_brackets(tree) == "(NP_-LRB-x-RRB- (-LRB- -LRB-) (NN a_b) -EMPTY-)"


@given(st.lists(trees(), min_size=1, max_size=3))
def test_what_is_written_is_read_back(found: list[Tree]) -> None:
    stream = io.StringIO()
    write_brackets(found, stream)
    lines = stream.getvalue().split("\n")
    assert [parse_brackets(line) for line in lines[:-1]] == found


@given(trees(labels=st.sampled_from(["NP-SBJ", "-NONE-", "S=2", "A|B", "-LRB-", "VP"])))
def test_cleaning_while_reading_equals_cleaning_the_tree(tree: Tree) -> None:
    for clean in (*CLEANINGS.values(), Cleaning(cut_tags="-", unescape=True, root=False)):
        if clean is None:
            continue
        expected = clean_tree(tree, clean)
        if expected is None:
            with pytest.raises(TreeFormatError, match="no word is left"):
                parse_brackets(str(tree), clean)
        else:
            assert parse_brackets(str(tree), clean) == expected


def test_cleaning_takes_off_just_what_it_says() -> None:
    tree = parse_brackets(MESSY)
    assert str(clean_tree(tree, PTB)) == "(S (VP (VB Go) (PRT (RP on))) (. .))"
    only_traces = Cleaning(cut="", root=False)
    assert str(clean_tree(tree, only_traces)) == "( (S (VP=3 (VB Go) (PRT (RP on))) (. .)))"
    spmrl = parse_brackets("(ROOT (NP-SUJ##x (-LRB- -LRB-) (N-y l\\/m)))")
    assert str(clean_tree(spmrl, SPMRL)) == "(NP (-LRB- -LRB-) (N-y l/m))"
    words = clean_tree(spmrl, Cleaning(unescape=True, cut_tags="-"))
    assert words is not None
    assert (words.words(), words.tags()) == (["(", "l/m"], ["-LRB-", "N"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "(S (NP x)\n(VP y",
            r"trees.mrg line 1 column 1: the tree .* 2 open brackets .*; add '\)\)'",
        ),
        ("(S (NP x)))", r"line 1 column 11: a closing bracket that nothing opened"),
        ("(S (NP x))\nword (S (X y))", r"line 2 column 1: expected '\(', found 'word'"),
        ("(S (NP))", r"line 1 column 7: bracket 'NP' holds neither"),
        ("()", r"line 1 column 2: bracket '' holds neither"),
        (b"(S (NN caf\xe9))", r"line 1 column 11: expected UTF-8, found byte 0xe9"),
        ("", "expected at least one tree, found none"),
        (" \n\n", "expected at least one tree, found none"),
        ("w" * 99, "found 'wwwwwwwwwwwwwwwwwwwwwwww…'"),
    ],
)
def test_bad_input_is_told_by_place_and_remedy(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(CleftError, match=message):
        read(tmp_path, text)


def test_a_tree_without_words_is_an_error_only_when_cleaned(tmp_path: Path) -> None:
    text = "(S (A a))\n(S (NP (-NONE- *)))\n"
    assert len(read(tmp_path, text)) == 2
    with pytest.raises(TreeFormatError, match=r"line 2 column 1: no word is left"):
        read(tmp_path, text, PTB)


def test_a_missing_file_or_a_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_brackets(tmp_path / "none.mrg"))
    with pytest.raises(InputError, match="found a directory"):
        list(read_brackets(tmp_path))


def test_one_tree_is_asked_for_and_one_is_given() -> None:
    assert str(parse_brackets("(NN Rain)")) == "(NN Rain)"
    for text in ("", "(A a) (B b)"):
        with pytest.raises(TreeFormatError, match="expected one tree, found"):
            parse_brackets(text)


@given(st.text(st.sampled_from("() \nabé\u00a0\x00-")))
def test_any_text_gives_trees_or_our_own_error(text: str) -> None:
    try:
        tree = parse_brackets(text)
    except CleftError:
        return
    assert parse_brackets(str(tree)) == tree
