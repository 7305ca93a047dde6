"""The rows of long sentences."""

from hypothesis import given
from hypothesis import strategies as st

from cleft.draw.syntax_rows import LINKS, Index, Row, split_rows, whole
from cleft.tree import Tree
from tests.draw.samples import left_branching, right_branching
from tests.strategies import trees


def rows_of(tree: Tree, limit: float) -> tuple[Index, list[Row]]:
    index = Index(tree)
    return index, split_rows(index, [1.0] * len(tree.words()), limit)


def is_above(index: Index, upper: int, lower: int) -> bool:
    while lower > upper:
        lower = index.parents[lower]
    return lower == upper


@given(trees(max_leaves=25), st.integers(1, 12))
def test_rows_hold_every_word_once_and_in_order(tree: Tree, limit: int) -> None:
    index, rows = rows_of(tree, limit)
    words = [node for row in rows for node in row.nodes if index.nodes[node].word is not None]
    assert words == [place for place, node in enumerate(index.nodes) if node.word is not None]
    assert all(row.span.width <= limit for row in rows)


@given(trees(max_leaves=25), st.integers(1, 12))
def test_a_row_is_a_tree_whose_lines_lead_down_the_whole_tree(tree: Tree, limit: int) -> None:
    index, rows = rows_of(tree, limit)
    for row in rows:
        below = [child for children in row.children for child in children]
        assert sorted(below) == list(range(1, len(row.nodes)))
        for place, children in enumerate(row.children):
            for child in children:
                upper, lower = row.nodes[place], row.nodes[child]
                assert is_above(index, upper, lower)
                direct = index.parents[lower] == upper
                assert direct or lower in row.skipped


@given(trees(max_leaves=25), st.integers(1, 12))
def test_every_phrase_inside_a_row_is_drawn_there_and_closed(tree: Tree, limit: int) -> None:
    index, rows = rows_of(tree, limit)
    for row in rows:
        for node in row.nodes:
            inside = row.span.holds(index.spans[node])
            assert inside != (node in row.open_left | row.open_right)
        inner = [n for n, span in enumerate(index.spans) if row.span.holds(span)]
        assert set(inner) <= set(row.nodes)


def test_a_short_sentence_is_one_row() -> None:
    index, rows = rows_of(right_branching(5), 10)
    assert rows == [whole(index)]


def test_long_chains_between_rows_are_cut_short() -> None:
    _, rows = rows_of(left_branching(100), 10)
    assert len(rows) > 9
    assert all(len(row.nodes) <= 2 * row.span.width + LINKS * row.span.width for row in rows)
    assert rows[1].crumbs[0] == "…"


def test_rows_break_high_in_the_tree() -> None:
    clause = "(S (NP (X a)) (VP (X b) (NP (X c) (X d))))"
    tree = Tree.from_brackets(f"(S {clause} {clause} {clause})")
    _, rows = rows_of(tree, 5)
    assert [row.span.left for row in rows] == [0, 4, 8]


def test_a_word_wider_than_a_row_has_a_row_of_its_own() -> None:
    index = Index(right_branching(3))
    assert len(split_rows(index, [50.0, 50.0, 50.0], 10)) == 3
