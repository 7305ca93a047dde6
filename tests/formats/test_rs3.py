from pathlib import Path

import pytest

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError, InputError, TreeFormatError
from cleft.formats.rs3 import read_rs3
from cleft.formats.rst import Relation, RstDocument, make_edu
from cleft.span import Span
from tests.formats.rs3_files import RELATIONS, body, leaves, outline, read, rs3, trees, written


def test_a_satellite_and_its_nucleus_are_one_node(tmp_path: Path) -> None:
    assert trees(tmp_path, "1 2 cause It rained ,", "2 3 span we left .", "3 - - <span>") == [
        "( S:cause=It rained , N:span=we left .)"
    ]


def test_several_satellites_of_one_unit_are_one_node(tmp_path: Path) -> None:
    rows = ["1 2 cause a", "2 5 span b", "3 2 purpose c", "4 2 cause d", "5 - - <span>"]
    assert trees(tmp_path, *rows) == ["( S:cause=a N:span=b S:purpose=c S:cause=d)"]


def test_satellites_at_different_levels_nest(tmp_path: Path) -> None:
    rows = ["1 4 span a", "2 1 cause b", "3 4 purpose c", "4 5 span <span>", "5 - - <span>"]
    assert trees(tmp_path, *rows) == ["( N:span=( N:span=a S:cause=b) S:purpose=c)"]


def test_a_satellite_of_a_multinuclear_group_stands_over_its_nuclei(tmp_path: Path) -> None:
    rows = ["1 4 cause a", "2 4 list b", "3 4 list c", "4 5 span <multinuc>", "5 - - <span>"]
    assert trees(tmp_path, *rows) == ["( S:cause=a N:span=( N:list=b N:list=c))"]


def test_a_satellite_between_nuclei_stays_between_them(tmp_path: Path) -> None:
    rows = ["1 4 list a", "2 4 cause b", "3 4 list c", "4 - - <multinuc>"]
    assert trees(tmp_path, *rows) == ["( N:list=a S:cause=b N:list=c)"]


def test_satellites_inside_and_outside_nuclei_are_written_and_read(tmp_path: Path) -> None:
    a, *rest = leaves("abcd")
    core = DiscourseTree(rest, "NSN", ["list", "cause", "list"])
    tree = DiscourseTree([a, core], "SN", ["cause", "span"])
    text, lost = written(RstDocument.of([tree]))
    assert read(tmp_path, text).trees == (tree,)
    assert lost == []


def test_a_satellite_needs_no_span_group_above_its_nucleus(tmp_path: Path) -> None:
    rows = ["1 3 list a", "2 1 cause b", "4 3 contrast c", "3 - - <multinuc>"]
    assert trees(tmp_path, *rows) == ["( N:list=( N:span=a S:cause=b) N:contrast=c)"]


def test_groups_of_one_child_are_that_child_and_a_lost_relation_is_remarked(
    tmp_path: Path,
) -> None:
    rows = ["1 2 list a", "2 3 span <multinuc>", "3 4 span <span>", "4 - - <span>"]
    document = read(tmp_path, rs3(body(*rows)))
    assert [outline(tree) for tree in document.trees] == ["a"]
    assert document.remarks == ("group 2 has one nucleus: its relation list is left out",)


def test_segments_stand_in_file_order_whatever_their_ids(tmp_path: Path) -> None:
    rows = ["7 2 cause first", "2 10 span then", "10 - - <span>"]
    document = read(tmp_path, rs3(body(*rows)))
    assert [edu.text for edu in document.edus] == ["first", "then"]
    assert [edu.span for edu in document.edus] == [Span(0, 1), Span(1, 2)]


def test_a_detached_segment_makes_a_forest_in_text_order(tmp_path: Path) -> None:
    rows = ["1 - - A title", "2 4 list a", "3 4 list b", "4 - - <multinuc>"]
    assert trees(tmp_path, *rows) == ["A title", "( N:list=a N:list=b)"]


def test_constituents_of_a_schema_are_nuclei(tmp_path: Path) -> None:
    relations = '<rel name="Title" type="constit"/><rel name="Body" type="constit"/>'
    rows = ["1 3 Title a", "2 3 Body b", "3 - - <constit>"]
    document = read(tmp_path, rs3(body(*rows), relations))
    assert outline(document.trees[0]) == "( N:Title=a N:Body=b)"
    assert document.relations == (Relation("Title", "multinuc"), Relation("Body", "multinuc"))


def test_a_name_of_both_kinds_is_a_nucleus_in_a_multinuclear_group_only(tmp_path: Path) -> None:
    rows = ["1 3 restate a", "2 3 restate b", "3 - - <multinuc>", "4 2 restate c"]
    assert trees(tmp_path, *rows) == ["( N:restate=a N:restate=( N:span=b S:restate=c))"]


def test_white_space_and_entities_of_texts_are_read(tmp_path: Path) -> None:
    text = rs3('<segment id="1">\n  A &amp;\tB &lt;&#233;&gt;\n</segment>')
    assert read(tmp_path, text).edus == [Edu("A & B <é>", Span(0, 4))]


def test_what_the_schema_does_not_know_is_remarked(tmp_path: Path) -> None:
    text = rs3(
        '<segment id="1" colour="red">a <b>c</b></segment>',
        RELATIONS + '<rel name="" type="rst"/>',
        '<encoding name="UTF-8">x</encoding>',
    )
    document = read(tmp_path, text)
    assert document.edus[0].text == "a c"
    assert set(document.remarks) == {
        "1 × <encoding>: not read",
        "1 × <b>: not read",
        "1 × attribute colour of <segment>: not read",
        "1 × <rel> without a name: not read",
    }


def test_a_relation_without_a_parent_is_remarked(tmp_path: Path) -> None:
    document = read(tmp_path, rs3('<segment id="1" relname="cause">a</segment>'))
    assert document.remarks == ("segment 1 has no parent: its relation cause is left out",)


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY a "b"><!ENTITY c "&a;&a;">]>\n<rst>&c;</rst>'
)
EXTERNAL = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rst>&x;</rst>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BOMB, "doc.rs3 line 2 column 16: expected an rs3 document without a document type"),
        (EXTERNAL, "line 1 column 13: expected an rs3 document without a document type"),
        ("<rst><body>", "line 1 column 12: expected XML, found a fault: no element found"),
        ("<rst>&x;</rst>", "line 1 column 6: expected XML, found a fault: undefined entity"),
        ("(S (NP x))", "line 1 column 1: expected XML"),
        ("<html/>", "line 1 column 1: expected <rst> as the outermost element, found <html>"),
        ("<rst>words</rst>", "line 1 column 6: expected an element, found text 'words'"),
        ("<rst><segment id='1'>a<group/></segment></rst>", "expected the end of the segment"),
        ("<rst><segment>a</segment></rst>", "line 1 column 6: <segment> has no id"),
        (rs3(""), "expected at least one segment, found none"),
        (rs3(body("1 - - a", "1 - - b")), "line 9 column 1: segment 1: this id is taken"),
        (rs3(body("1 - - ")), "segment 1: expected text, found none"),
        (rs3(body("1 9 cause a")), "segment 1: its parent 9 is not in the file"),
        (rs3(body("1 2 cause a", "2 1 cause b")), "the parents form a cycle: 1 → 2 → 1"),
        (rs3(body("1 1 cause a")), "the parents form a cycle: 1 → 1"),
        (
            rs3(body(*[f"{i} {i % 9 + 1} cause a" for i in range(1, 10)])),
            "the parents form a cycle: 1 → 2 → 3 → 4 → 5 → 6 → … → 1",
        ),
        (rs3(body("1 - - a", "2 1 unheard b")), "segment 2: unknown relation 'unheard'"),
        (rs3(body("1 - - a", "2 1  b")), "segment 2: it has a parent but no relname"),
        (rs3(body("1 - - a", "2 1 list b")), "'list' is multinuclear, but its parent 1 is no"),
        (rs3(body("1 - - a", "2 1 span b")), "its parent 1 is a segment, which spans nothing"),
        (
            rs3(body("1 3 span a", "2 3 span b", "3 - - <span>")),
            "group 3: a span group has one nucleus, but this has 2",
        ),
        (
            rs3(body("1 3 span a", "2 3 list b", "3 - - <multinuc>")),
            "group 3: one of several nuclei is tied by 'span'",
        ),
        (rs3(body("1 - - a", "2 - - <span>")), "group 2: expected a nucleus, found none"),
        (
            rs3(body("1 - - a", "2 - - b", "3 1 cause c")),
            "segment 1: EDUs 1–1 and 3–3 belong together, but others stand between them",
        ),
        (
            rs3('<segment id="1">a</segment><group id="2" type="odd"/>'),
            "group 2: expected a type of span, multinuc, constit, found 'odd'",
        ),
        (rs3(body("1 - - a"), '<rel name="x" type="y"/>'), "rel: expected type rst or"),
        (
            rs3(body("1 - - a") + '<secedge id="1-2" source="1" target="2" relname="cause"/>'),
            "secedge 1-2: there is no unit '2'",
        ),
        (
            rs3(body("1 - - a") + '<secedge id="1-1" source="1" target="1" relname="x"/>'),
            "secedge 1-1: unknown relation 'x'",
        ),
        (
            rs3(body("1 - - a") + '<secedge id="e" source="1" target="1" relname="cause"/>' * 2),
            "secedge e: this id is taken",
        ),
        (rs3(body("1 - - a") + '<signal source="4" type="dm"/>'), "signal: there is no unit '4'"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(CleftError) as caught:
        read(tmp_path, text)
    assert expected in str(caught.value)
    assert "doc.rs3" in str(caught.value)


@pytest.mark.parametrize("text", ["", " \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(InputError, match="found an empty file"):
        read(tmp_path, text)


def test_a_folder_and_another_encoding_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        read_rs3(tmp_path)
    with pytest.raises(InputError, match="expected UTF-8"):
        read(tmp_path, rs3(body("1 - - a")).encode("utf-16"))


def test_satellites_outside_several_nuclei_are_written_a_level_up_and_reported(
    tmp_path: Path,
) -> None:
    flat = DiscourseTree(leaves("abc"), "SNN", ["cause", "list", "list"])
    text, lost = written(RstDocument.of([flat]))
    assert outline(read(tmp_path, text).trees[0]) == "( S:cause=a N:span=( N:list=b N:list=c))"
    assert lost == [
        "1 node with several nuclei and satellites outside them: "
        "the nuclei are written as a node of their own"
    ]


def test_a_satellite_and_nuclei_of_one_relation_name_are_told_apart(tmp_path: Path) -> None:
    inner = DiscourseTree.join(leaves("ab"), "NN", "restate")
    tree = DiscourseTree.join([inner, DiscourseTree.leaf(make_edu("c", 2))], "NS", "restate")
    assert read(tmp_path, written(RstDocument.of([tree]))[0]).trees == (tree,)
    flat = DiscourseTree(leaves("abc"), "NSN", ["restate"] * 3)
    with pytest.raises(TreeFormatError, match="cannot tell nuclei and satellites"):
        written(RstDocument.of([flat]))


@pytest.mark.parametrize(
    ("letters", "names"),
    [("NS", ["cause", "cause"]), ("NN", ["span", "span"]), ("NS", ["span", " "])],
)
def test_roles_that_rs3_cannot_say_are_refused(letters: str, names: list[str]) -> None:
    tree = DiscourseTree(leaves("ab"), letters, names)
    with pytest.raises(TreeFormatError, match="a single nucleus carries 'span'"):
        written(RstDocument.of([tree]))


def test_characters_that_xml_does_not_allow_are_replaced_and_reported(tmp_path: Path) -> None:
    tree = DiscourseTree.leaf(make_edu("a\x00b", 0))
    text, lost = written(RstDocument.of([tree]))
    assert read(tmp_path, text).edus[0].text == "a\ufffdb"
    assert lost == ["1 EDU: characters that XML does not allow are written as U+FFFD"]


def test_the_layout_is_that_of_rstweb() -> None:
    tree = DiscourseTree.join(leaves("ab"), "SN", "cause")
    assert written(RstDocument.of([tree]), extended=False)[0] == (
        "<rst>\n\t<header>\n\t\t<relations>\n"
        '\t\t\t<rel name="cause" type="rst"/>\n'
        "\t\t</relations>\n\t</header>\n\t<body>\n"
        '\t\t<segment id="1" parent="2" relname="cause">a</segment>\n'
        '\t\t<segment id="2" parent="3" relname="span">b</segment>\n'
        '\t\t<group id="3" type="span"/>\n'
        "\t</body>\n</rst>\n"
    )


def test_no_segment_is_a_root_for_rstweb_refuses_one(tmp_path: Path) -> None:
    title, *others = leaves("abc")
    document = RstDocument.of([title, DiscourseTree.join(others, "NS", "cause")])
    text, lost = written(document, extended=False)
    assert all(" parent=" in line for line in text.splitlines() if "<segment" in line)
    assert read(tmp_path, text).trees == document.trees
    assert not lost


@pytest.mark.no_cover
def test_a_very_deep_tree_is_written_and_read(tmp_path: Path) -> None:
    edus = [DiscourseTree.leaf(make_edu("x", i)) for i in range(5001)]
    tree = edus[-1]
    for leaf in reversed(edus[:-1]):
        tree = DiscourseTree.join([leaf, tree], "NS", "cause")
    assert read(tmp_path, written(RstDocument.of([tree]))[0]).trees == (tree,)


def test_text_is_utf_8_whatever_encoding_the_file_declares(tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{rs3(body("1 - - né"))}'
    assert read(tmp_path, text).edus[0].text == "né"
    with pytest.raises(InputError, match="expected UTF-8, found byte 0xe9"):
        read(tmp_path, text.encode("latin-1"))
