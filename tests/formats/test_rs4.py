from pathlib import Path

import pytest

from cleft.discourse import DiscourseTree
from cleft.errors import TreeFormatError
from cleft.formats.rst import Relation, RstDocument, SecondaryEdge, Signal, make_edu
from cleft.span import Span
from tests.formats.rs3_files import body, read, rs3, written

SIGTYPES = '<sigtypes><sig type="dm" subtypes="dm"/></sigtypes>'
BESIDE = """
<secedges>
  <secedge id="1-5" source="1" target="5" relname="purpose"/>
  <secedge id="1-4" source="1" target="4" relname="list"/>
</secedges>
<signals>
  <signal source="1" type="dm" subtype="dm" tokens="1,2" status="gold"/>
  <signal source="5" type="graphical" subtype="colon" tokens=""/>
  <signal source="1-4" type="orphan" subtype="orphan" tokens="3"/>
</signals>
"""
EXTENDED = rs3(
    body(
        "1 5 cause Since rain fell",
        "2 4 list we left",
        "3 4 list and slept",
        "4 5 span <multinuc>",
        "5 - - <span>",
    ).replace('id="1" parent="5"', 'id="1" parent="4"')
    + BESIDE,
    extra=SIGTYPES,
)


def test_secondary_edges_and_signals_are_read_by_the_edus_of_their_units(tmp_path: Path) -> None:
    document = read(tmp_path, EXTENDED)
    edge = SecondaryEdge(Span(0, 1), Span(1, 3), "list")
    assert document.edges == (SecondaryEdge(Span(0, 1), Span(0, 3), "purpose"), edge)
    assert document.signals == (
        Signal(Span(0, 1), "dm", "dm", "1,2", "gold"),
        Signal(Span(0, 3), "graphical", "colon"),
        Signal(edge, "orphan", "orphan", "3"),
    )
    assert document.signal_types == (("dm", "dm"),)


def test_rs4_keeps_everything_and_rs3_says_what_it_leaves_out(tmp_path: Path) -> None:
    document = read(tmp_path, EXTENDED)
    text, lost = written(document)
    assert read(tmp_path, text) == document
    assert lost == []
    text, lost = written(document, extended=False)
    assert "secedge" not in text
    assert "sig" not in text
    again = read(tmp_path, text)
    assert again.trees == document.trees
    assert again.relations == document.relations
    assert lost == [
        "2 secondary edges: rs3 has no place for them",
        "3 signals: rs3 has no place for them",
        "1 declared signal type: rs3 has no place for it",
    ]


def test_a_signal_of_a_unit_with_satellites_of_its_own_stays_with_its_relation(
    tmp_path: Path,
) -> None:
    rows = ["1 3 list a", "2 1 cause b", "4 3 list c", "3 - - <multinuc>"]
    text = rs3(body(*rows) + '<signal source="1" type="dm" subtype="dm"/>')
    document = read(tmp_path, text)
    assert document.signals[0].source == Span(0, 2)
    assert read(tmp_path, written(document)[0]) == document


def test_two_edges_between_the_same_units_keep_their_signals(tmp_path: Path) -> None:
    edges = tuple(SecondaryEdge(Span(0, 1), Span(1, 2), name) for name in ("cause", "why"))
    signals = tuple(Signal(edge, "dm", edge.relation) for edge in edges)
    leaves = [DiscourseTree.leaf(make_edu(text, i)) for i, text in enumerate("ab")]
    document = RstDocument(trees=tuple(leaves), edges=edges, signals=signals)
    again = read(tmp_path, written(document)[0])
    assert (again.edges, again.signals) == (edges, signals)
    assert again.relations == (Relation("cause", "rst"), Relation("why", "rst"))


@pytest.mark.parametrize(
    "source", [Span(0, 2), SecondaryEdge(Span(0, 1), Span(0, 1), "cause")], ids=["unit", "edge"]
)
def test_a_signal_of_something_that_is_not_there_is_refused(
    source: Span | SecondaryEdge,
) -> None:
    document = RstDocument(
        trees=(DiscourseTree.leaf(make_edu("a", 0)),), signals=(Signal(source, "dm", "dm"),)
    )
    with pytest.raises(TreeFormatError, match="which is not in the document"):
        written(document)
