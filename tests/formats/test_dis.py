import io
from pathlib import Path

import pytest

from cleft.discourse import DiscourseTree
from cleft.errors import CleftError, InputError
from cleft.formats.dis import read_dis, write_dis
from cleft.formats.rst import Relation, RstDocument, make_edu
from cleft.span import Span

BINARY = """\
( Root (span 1 3)\x20
  ( Satellite (leaf 1) (rel2par cause) (text _!It rained ( hard ) ,_!) )
  ( Nucleus (span 2 3) (rel2par span)
    ( Nucleus (leaf 2) (rel2par list) (text _!we left_!) )
    ( Nucleus (leaf 3) (rel2par list) (text _!and slept ._!) )
  )
)
"""


def read(tmp_path: Path, text: str | bytes) -> RstDocument:
    path = tmp_path / "doc.dis"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_dis(path)


def written(*trees: DiscourseTree) -> tuple[str, list[str]]:
    stream = io.StringIO()
    lost = write_dis(RstDocument.of(trees), stream)
    return stream.getvalue(), lost


def leaves(*texts: str) -> list[DiscourseTree]:
    made: list[DiscourseTree] = []
    for text in texts:
        start = made[-1].span.right if made else 0
        made.append(DiscourseTree.leaf(make_edu(text, start)))
    return made


def test_a_tree_is_read_and_written_back_character_for_character(tmp_path: Path) -> None:
    document = read(tmp_path, BINARY)
    (tree,) = document.trees
    assert tree.nuclearity == "SN"
    assert tree.relations == ("cause", "span")
    assert tree.children[1].relations == ("list", "list")
    assert [edu.text for edu in tree.edus] == ["It rained ( hard ) ,", "we left", "and slept ."]
    assert [edu.span for edu in tree.edus] == [Span(0, 6), Span(6, 8), Span(8, 11)]
    assert document.relations == (Relation("cause", "rst"), Relation("list", "multinuc"))
    assert written(tree) == (BINARY, [])


def test_brackets_need_no_layout(tmp_path: Path) -> None:
    squeezed = (
        BINARY.replace("\n", "").replace("  ", "").replace("( ", "(").replace("(hard", "( hard")
    )
    assert read(tmp_path, squeezed) == read(tmp_path, BINARY)
    spread = BINARY.replace("(rel2par cause)", "( rel2par\n cause )").replace(" )", "\n)\n")
    assert read(tmp_path, spread).trees[0].relations == ("cause", "span")


@pytest.mark.parametrize(
    "text",
    [
        "a ) ) b",
        "( Root (leaf 1)",
        "a _! b",
        "_!",
        "a_",
        "!a",
        "say ''yes'' `` \" \\",
        "_! ) x )",
        "//TT_ERR",
        "<P>",
        "<P> a",
    ],
)
def test_a_text_may_hold_nearly_anything(tmp_path: Path, text: str) -> None:
    tree = DiscourseTree.join(leaves(text, "b"), "NS", "cause")
    output, lost = written(tree)
    assert read(tmp_path, output).trees == (tree,)
    assert lost == []


def test_a_text_with_the_end_mark_in_it_is_changed_and_reported(tmp_path: Path) -> None:
    output, lost = written(*leaves("a _!) ) b"))
    assert read(tmp_path, output).edus[0].text == "a _ !) ) b"
    assert lost == ["1 EDU: '_!' before brackets ends a text in dis and is written '_ !'"]


def test_a_text_that_ends_like_a_paragraph_is_reported(tmp_path: Path) -> None:
    output, lost = written(*leaves("a <P>"))
    assert read(tmp_path, output).edus[0].text == "a"
    assert lost == ["1 EDU: '<P>' at the end is a paragraph mark in dis"]


def test_a_line_break_in_a_text_is_a_space(tmp_path: Path) -> None:
    assert read(tmp_path, BINARY.replace("It rained", "It\n   rained")) == read(tmp_path, BINARY)


def test_n_ary_nodes_are_read_and_written(tmp_path: Path) -> None:
    tree = DiscourseTree(leaves("a", "b", "c"), "SNS", ["cause", "span", "purpose"])
    output, lost = written(tree)
    assert lost == []
    assert output.splitlines()[0] == "( Root (span 1 3) "
    assert read(tmp_path, output).trees == (tree,)


def test_a_document_of_one_edu_is_a_leaf(tmp_path: Path) -> None:
    assert written(*leaves("Hello .")) == ("( Root (leaf 1) (text _!Hello ._!) )\n", [])
    assert read(tmp_path, written(*leaves("Hello ."))[0]).trees == tuple(leaves("Hello ."))


def test_several_trees_count_on_or_start_again(tmp_path: Path) -> None:
    one, two, three = leaves("A title", "a", "b")
    forest = (one, DiscourseTree.join([two, three], "NN", "list"))
    output, _ = written(*forest)
    assert "( Root (span 2 3) " in output
    assert read(tmp_path, output).trees == forest
    again = output.replace("2 3", "1 2").replace("leaf 2", "leaf 1").replace("leaf 3", "leaf 2")
    assert read(tmp_path, again).trees == forest


def test_marks_of_rst_dt_are_left_out_and_remarked(tmp_path: Path) -> None:
    text = BINARY.replace("slept .", "slept . <P>").replace("span)\n", "span)  //TT_ERR x\n")
    document = read(tmp_path, text)
    assert document.trees == read(tmp_path, BINARY).trees
    assert document.remarks == (
        "1 × //TT_ERR mark: not read",
        "1 × paragraph mark <P>: not read",
    )


def test_a_relation_name_with_brackets_is_changed_and_reported(tmp_path: Path) -> None:
    output, lost = written(DiscourseTree.join(leaves("a", "b"), "NS", "cause (of)"))
    assert read(tmp_path, output).trees[0].relation == "cause _of_"
    assert lost == ["the relation name 'cause (of)' is changed in dis"]


LEAF = "( Root (leaf 1) (text _!a_!) )"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            BINARY[:-2],
            "line 7 column 1: 1 bracket still open at the end of the file, the outermost",
        ),
        (BINARY + ")", "line 8 column 1: ')' closes nothing"),
        ("x" + BINARY, "line 1 column 1: expected '(' or ')', found 'x( Root"),
        ("(S (NP x))", "line 1 column 1: expected ( Root, found (S"),
        ("(span 1 2)", "expected ( Root, found (span"),
        (BINARY.replace("Root", "Nucleus"), "expected Root, found Nucleus"),
        (BINARY.replace("( Satellite", "( Root"), "line 2 column 3: expected Nucleus or Satellite"),
        (BINARY.replace("rel2par cause", "rel cause"), "line 2 column 24: expected a node or span"),
        (BINARY.replace("(rel2par cause)", ""), "line 2 column 3: the node has no rel2par"),
        (
            BINARY.replace("(rel2par cause)", "(rel2par )"),
            "line 2 column 3: the node has no rel2par",
        ),
        (BINARY.replace("leaf 1", "leaf one"), "expected 1 number after (leaf, found 'one'"),
        (BINARY.replace("leaf 1", "leaf ¹"), "expected 1 number after (leaf, found '¹'"),
        (BINARY.replace("span 2 3", "span 2"), "expected 2 numbers after (span, found '2'"),
        (BINARY.replace("leaf 2", "leaf 5"), "line 4 column 5: expected EDU 2, found 5"),
        (
            BINARY.replace("span 2 3", "span 1 3"),
            "line 3 column 3: expected span 2 3 by the leaves",
        ),
        (BINARY.replace("(leaf 2)", ""), "line 4 column 5: a leaf has no (leaf …)"),
        (BINARY.replace("(text _!we left_!)", ""), "a leaf has no (text …)"),
        (BINARY.replace("_!we left_!", "_! _!"), "line 4 column 5: EDU 2 has no text"),
        (BINARY.replace("_!we left", "we left"), "line 4 column 39: expected _! after (text"),
        (BINARY.replace("slept ._!", "slept ."), "line 5 column 39: the text is not closed"),
        (BINARY.replace("(span 2 3)", "(leaf 2)"), "line 3 column 3: a leaf has children"),
        (
            BINARY.replace("(span 1 3)", "(span 1 (3)"),
            "line 1 column 8: expected one value and ')'",
        ),
        (
            BINARY.replace("Nucleus (span", "Satellite (span"),
            "is not made of N and S with at least",
        ),
        (f"( Root {LEAF.replace('Root', 'Nucleus (rel2par span)')} )", "a node has one child"),
        ("( Root )", "a discourse node needs either an EDU or children"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(CleftError) as caught:
        read(tmp_path, text)
    assert expected in str(caught.value)
    assert "doc.dis" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="found an empty file"):
        read(tmp_path, text)


def test_a_file_of_marks_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a discourse tree"):
        read(tmp_path, "//TT_ERR\n")


@pytest.mark.no_cover
def test_a_very_deep_tree_is_written_and_read(tmp_path: Path) -> None:
    edus = leaves(*["x"] * 5001)
    tree = edus[-1]
    for leaf in reversed(edus[:-1]):
        tree = DiscourseTree.join([leaf, tree], "NS", "cause")
    output, _ = written(tree)
    assert len(output) < 10_000_000
    assert read(tmp_path, output).trees == (tree,)


def test_white_space_without_end_takes_no_time(tmp_path: Path) -> None:
    for head in ("( Root (rel2par ", "( Root (leaf 1) (text _!", "( Root (leaf 1) (text _!a_!"):
        with pytest.raises(CleftError):
            read(tmp_path, head + " " * 200_000)
