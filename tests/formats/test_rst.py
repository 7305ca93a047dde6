import pytest

from cleft.discourse import DiscourseTree, Edu
from cleft.evidence import Evidence
from cleft.formats.rst import (
    Relation,
    RstDocument,
    SecondaryEdge,
    Signal,
    losses,
    make_edu,
    placed,
    text_tokens,
    used_relations,
)
from cleft.span import Span


def leaves(texts: str) -> list[DiscourseTree]:
    return [DiscourseTree.leaf(make_edu(text, i)) for i, text in enumerate(texts)]


def test_nodes_are_placed_by_their_edus_through_all_trees() -> None:
    a, b, c, d = leaves("abcd")
    inner = DiscourseTree.join([b, c], "NN", "list")
    rows = placed([a, DiscourseTree.join([inner, d], "NS", "cause")])
    assert [row.span for row in rows] == [(0, 1), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4)]
    assert rows[1].children == ((1, 3), (3, 4))
    assert rows[2].node == inner
    assert placed([]) == []


def test_a_relation_is_used_as_what_it_ties() -> None:
    inner = DiscourseTree.join(leaves("ab"), "NN", "restate")
    tree = DiscourseTree.join([inner, leaves("c")[0]], "NS", "restate")
    assert used_relations([tree]) == (Relation("restate", "multinuc"), Relation("restate", "rst"))


def test_only_ascii_white_space_separates_tokens() -> None:
    assert text_tokens("10\u00a0000\u3000x\tEuro\n") == ["10\u00a0000\u3000x", "Euro"]


EDGE = SecondaryEdge(Span(0, 1), Span(1, 2), "cause")
FULL = RstDocument(
    trees=tuple(leaves("ab")),
    relations=(Relation("cause", "rst"), Relation("list", "multinuc")),
    edges=(EDGE,),
    signals=(Signal(EDGE, "dm", "dm"),),
    signal_types=(("dm", "dm"),),
    remarks=("1 × <x>: not read",),
)


@pytest.mark.parametrize("target", ["dis", "jsonl"])
def test_formats_of_trees_alone_lose_what_is_beside_them(target: str) -> None:
    assert losses(FULL, target) == [  # type: ignore[arg-type]
        "1 × <x>: not read",
        f"1 secondary edge: {target} has no place for it",
        f"1 signal: {target} has no place for it",
        f"1 declared signal type: {target} has no place for it",
        f"2 declared relations that no node uses: {target} has no place for them",
    ]


def test_rs4_loses_only_what_the_reader_left_out() -> None:
    assert losses(FULL, "rs4") == ["1 × <x>: not read"]


def test_what_a_parser_adds_is_lost_outside_jsonl() -> None:
    edus = [Edu("It  rained", Span(0, 2), 0, 10), Edu("(we left)", Span(2, 6), 11, 20)]
    tree = DiscourseTree(
        [DiscourseTree.leaf(edu) for edu in edus],
        "SN",
        ["cause", "span"],
        None,
        Evidence(split=0.5),
    )
    document = RstDocument.of([tree])
    assert losses(document, "jsonl") == []
    for target in ("rs3", "rs4", "dis"):
        assert losses(document, target) == [  # type: ignore[arg-type]
            f"2 EDUs: {target} has no place for character offsets",
            "1 EDU: white space is written as single spaces",
            f"1 EDU: token offsets are not those of white space in {target}",
            f"1 node with probabilities: {target} has no place for it",
        ]


def test_a_name_that_xml_cannot_hold_is_reported() -> None:
    tree = DiscourseTree.join(leaves("ab"), "NS", "cau\x01se")
    assert losses(RstDocument.of([tree]), "rs3") == [
        "the relation name 'cau\\x01se' is changed in rs3"
    ]
