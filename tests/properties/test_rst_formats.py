"""Random documents through every RST format, and random damage into every reader."""

import io
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.discourse import DiscourseTree, Edu
from cleft.errors import CleftError
from cleft.formats.dis import read_dis, write_dis
from cleft.formats.rs3 import read_rs3, write_rs3, write_rs4
from cleft.formats.rsd import read_rsd
from cleft.formats.rst import (
    RstDocument,
    SecondaryEdge,
    Signal,
    as_text,
    losses,
    make_edu,
    placed,
)
from tests.strategies import discourse_trees

Reader = Callable[[str | Path], RstDocument]
Writer = Callable[[RstDocument, TextIO], list[str]]

# Characters that XML holds; '_', '!' and brackets come often, since they matter in .dis.
TEXTS = st.lists(
    st.text(
        st.sampled_from("_!()<>&\"'é\u00a0\u2028\U0001f600")
        | st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=" \ufffe\uffff"),
        min_size=1,
        max_size=6,
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


def through(document: RstDocument, write: Writer, read: Reader) -> tuple[RstDocument, list[str]]:
    stream = io.StringIO()
    lost = write(document, stream)
    return reading(read, stream.getvalue().encode()), lost


def reading(read: Reader, data: bytes) -> RstDocument:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "doc"
        path.write_bytes(data)
        return read(path)


@st.composite
def forests(draw: st.DrawFn) -> RstDocument:
    """A document of one to three trees with texts of any kind."""
    shapes = draw(st.lists(discourse_trees(), min_size=1, max_size=3))
    trees, start = [], 0
    for shape in shapes:
        edus = []
        for _ in shape.edus:
            edus.append(make_edu(draw(TEXTS), start))
            start = edus[-1].span.right
        trees.append(_dressed(shape, edus))
    return RstDocument.of(trees)


def _dressed(shape: DiscourseTree, edus: list[Edu]) -> DiscourseTree:
    stack: list[DiscourseTree] = []
    for node in reversed(shape.preorder()):
        if node.is_leaf:
            stack.append(DiscourseTree.leaf(edus.pop()))
        else:
            below = [stack.pop() for _ in node.children]
            stack.append(DiscourseTree(below, node.nuclearity, node.relations))
    return stack[0]


@st.composite
def extended(draw: st.DrawFn) -> RstDocument:
    """A document with secondary edges and signals beside its trees."""
    document = draw(forests())
    units = st.sampled_from([row.span for row in placed(document.trees)])
    names = st.sampled_from(["cause", "list"])
    edges = draw(st.lists(st.builds(SecondaryEdge, units, units, names), unique=True, max_size=4))
    sources = units | st.sampled_from(edges) if edges else units
    signals = st.builds(
        Signal, sources, names, names, st.just("1,2"), st.sampled_from(["gold", None])
    )
    return RstDocument(
        trees=document.trees,
        relations=document.relations,
        edges=tuple(edges),
        signals=tuple(draw(st.lists(signals, max_size=4))),
        signal_types=(("dm", "dm"),),
    )


@given(forests())
def test_rs3_gives_back_any_forest(document: RstDocument) -> None:
    again, lost = through(document, write_rs3, read_rs3)
    assert again == document
    assert lost == []


@given(extended())
def test_rs4_gives_back_edges_and_signals_too(document: RstDocument) -> None:
    again, lost = through(document, write_rs4, read_rs3)
    assert (again.trees, again.edges, again.signals, again.signal_types) == (
        document.trees,
        document.edges,
        document.signals,
        document.signal_types,
    )
    assert lost == []


# What rstWeb's converters look for, a line at a time; its importer counts attributes.
RSTWEB = {
    "rel": r'<rel name="([^":;,]+)" type="(rst|multinuc)"/>',
    "segment": r'<segment id="(\d+)" parent="(\d+)" relname="([^"]+)">(\S.*?)</segment>',
    "group": r'<group id="(\d+)" type="(span|multinuc)"(?: parent="(\d+)" relname="([^"]+)")?/>',
}


@pytest.mark.parametrize("write", [write_rs3, write_rs4])
@given(tree=discourse_trees(binary=True))
def test_a_document_keeps_the_rules_of_rstweb(write: Writer, tree: DiscourseTree) -> None:
    stream = io.StringIO()
    write(RstDocument.of([as_text(tree.debinarise())]), stream)
    found: dict[str, list[tuple[str, ...]]] = {tag: [] for tag in RSTWEB}
    for line in stream.getvalue().splitlines():
        for tag, pattern in RSTWEB.items():
            if line.lstrip().startswith(f"<{tag} "):
                match = re.fullmatch(pattern, line.strip())
                assert match is not None, line
                found[tag].append(match.groups(default=""))
    # Ids count from 1: segments in the order of the text, then groups.
    units = {row[0]: row for row in found["segment"] + found["group"]}
    assert list(units) == [str(1 + k) for k in range(len(units))]
    assert len(found["segment"]) == len(tree.edus)
    # One root, which is a group; every other unit has its parent in the file.
    assert sum(not row[2] for row in found["group"]) == 1
    ties = [row[1:3] for row in found["segment"]] + [row[2:] for row in found["group"] if row[2]]
    assert all(parent in units for parent, _ in ties)
    # In a multinuclear group, whatever bears a name of a multinuclear relation is a nucleus:
    # all bear one name, and twice or more. Satellites hang elsewhere, or have other names.
    nuclei: dict[str, list[str]] = {}
    for parent, name in ties:
        kinds = {kind for known, kind in found["rel"] if known == name}
        assert kinds or name == "span"
        if units[parent][1] == "multinuc" and "multinuc" in kinds:
            nuclei.setdefault(parent, []).append(name)
        else:
            assert "rst" in kinds or name == "span"
    assert all(len(names) > 1 and len(set(names)) == 1 for names in nuclei.values())


@given(forests())
def test_dis_gives_back_any_forest_or_says_what_it_changes(document: RstDocument) -> None:
    again, lost = through(document, write_dis, read_dis)
    assert lost == losses(document, "dis")
    assert (again.trees == document.trees) is not bool(lost)
    assert len(again.edus) == len(document.edus)


@given(forests())
def test_rs4_to_dis_to_rs4_keeps_the_trees(document: RstDocument) -> None:
    middle, lost = through(document, write_dis, read_dis)
    again, _ = through(middle, write_rs4, read_rs3)
    assert (again.trees == document.trees) is not bool(lost)


READERS: list[Reader] = [read_rs3, read_dis, read_rsd]


@pytest.mark.parametrize("read", READERS)
@given(data=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_readers_of_any_bytes_raise_only_our_errors(read: Reader, data: bytes) -> None:
    with pytest.raises(CleftError):
        reading(read, data)


XML = b"""<rst>
<header><relations><rel name="a" type="rst"/><rel name="b" type="multinuc"/></relations>
<sigtypes><sig type="dm" subtypes="dm"/></sigtypes></header>
<body>
<segment id="1" parent="2" relname="a">x &amp; y</segment>
<segment id="2" parent="6" relname="span">z</segment>
<segment id="3" parent="5" relname="b">u</segment>
<segment id="4" parent="5" relname="b">v</segment>
<group id="5" type="multinuc" parent="6" relname="a"/>
<group id="6" type="span" parent="7" relname="span"/>
<group id="7" type="span"/>
<secedges><secedge id="1-3" source="1" target="3" relname="a"/></secedges>
<signals><signal source="1-3" type="dm" subtype="dm" tokens="1" status="x"/></signals>
</body>
</rst>
"""
LISP = b"""( Root (span 1 3)
  ( Satellite (leaf 1) (rel2par a) (text _!x ( y )_!) )
  ( Nucleus (span 2 3) (rel2par span)
    ( Nucleus (leaf 2) (rel2par b) (text _!z_!) ) //TT_ERR
    ( Nucleus (leaf 3) (rel2par b) (text _!u <P>_!) )
  )
)
"""
TABLE = b"""1\tx\t0\t_\t_\t_\t2\ta_r\t_\t_
2\ty\t0\t_\t_\t_\t0\tROOT\t_\t_
3\tz\t1\t_\t_\t_\t2\tb_m\t_\t_
4\tu\t0\t_\t_\t_\t3\ta_r\t_\t_
"""
VALID: list[tuple[Reader, bytes]] = [(read_rs3, XML), (read_dis, LISP), (read_rsd, TABLE)]


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A valid file with pieces taken out, doubled, swapped for others, or bytes changed."""
    pieces = st.integers(0, len(data))
    for _ in range(draw(st.integers(1, 4))):
        left, right = sorted((draw(pieces), draw(pieces)))
        start, end = sorted((draw(pieces), draw(pieces)))
        new = draw(st.binary(max_size=3) | st.just(data[start:end]))
        data = data[:left] + new + data[min(right, left + draw(st.integers(0, 20))) :]
    return data


@pytest.mark.parametrize(("read", "valid"), VALID)
def test_the_files_to_be_damaged_are_valid(read: Reader, valid: bytes) -> None:
    assert len(reading(read, valid).trees) == 1


@pytest.mark.parametrize(("read", "valid"), VALID)
@given(data=st.data())
def test_readers_of_damaged_files_raise_only_our_errors(
    read: Reader, valid: bytes, data: st.DataObject
) -> None:
    broken = data.draw(damaged(valid))
    with suppress(CleftError):
        document = reading(read, broken)
        # What could be read can be written, or is refused with one of our errors.
        for write in (write_rs4, write_dis):
            with suppress(CleftError):
                write(document, io.StringIO())
