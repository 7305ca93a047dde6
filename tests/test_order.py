"""Orders of splits: each can be had from the other, at any depth."""

from hypothesis import given
from hypothesis import strategies as st

from cleft.order import breadth_first, depth_first
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX


@st.composite
def derivations(draw: st.DrawFn) -> tuple[Split, ...]:
    """The splits of a random tree, with stops, in depth-first order."""
    stack, found = [Span(0, draw(st.integers(1, 25)))], []
    while stack:
        span = stack.pop()
        if span.width < 2:
            continue
        boundary = draw(st.integers(span.left + 1, span.right))
        found.append(Split(span.left, boundary, span.right))
        if boundary < span.right:
            stack += reversed(span.at(boundary))
    return tuple(found)


@given(derivations(), st.randoms())
def test_either_order_comes_from_any_order(splits, random):
    mixed = random.sample(splits, len(splits))
    assert depth_first(mixed) == splits
    assert breadth_first(mixed) == breadth_first(splits)
    assert depth_first(breadth_first(splits)) == splits


@given(derivations())
def test_breadth_first_goes_level_by_level(splits):
    level = {splits[0].span: 0} if splits else {}
    for split in splits:
        for half in split.span.at(split.split):
            level.setdefault(half, level[split.span] + 1)
    places = [(level[split.span], split.left) for split in breadth_first(splits)]
    assert places == sorted(places)


def test_a_tree_of_one_branch_may_be_deep():
    chain = tuple(Split(left, left + 1, 5000) for left in range(4999))
    assert breadth_first(chain[::-1]) == depth_first(chain[::-1]) == chain


def test_tasks_are_depth_first_unless_told():
    assert SYNTAX.order == DISCOURSE.order == "depth-first"
