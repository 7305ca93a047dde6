from hypothesis import given
from hypothesis import strategies as st

from cleft.span import Span, Split

spans = st.tuples(st.integers(0, 12), st.integers(1, 12)).map(lambda p: Span(p[0], p[0] + p[1]))


@given(spans)
def test_the_halves_at_any_boundary_make_the_span(span: Span) -> None:
    for boundary in span.splits():
        left, right = span.at(boundary)
        assert (left.left, left.right, right.right) == (span.left, right.left, span.right)
        assert left.width + right.width == span.width
        assert span.holds(left)
        assert not span.crosses(left)


@given(spans, spans)
def test_spans_cross_when_they_share_tokens_and_neither_holds_the_other(a: Span, b: Span) -> None:
    shared = set(range(*a)) & set(range(*b))
    assert a.crosses(b) == (bool(shared) and not a.holds(b) and not b.holds(a))
    assert a.crosses(b) == b.crosses(a)


def test_a_split_at_the_right_end_is_a_stop() -> None:
    assert Split(2, 5, 5).is_stop
    assert not Split(2, 4, 5).is_stop
    assert Split(2, 4, 5).span == Span(2, 5)
    assert str(Split(2, 4, 5)) == "(2,5)→4"
