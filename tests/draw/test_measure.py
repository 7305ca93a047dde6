"""Widths without a font engine."""

from hypothesis import given
from hypothesis import strategies as st

from cleft.draw.measure import text_width, wrap


@given(st.text(st.sampled_from("abc 网é\u0301WiÆ…→😀𝒜𠀀"), max_size=60), st.floats(20, 200))
def test_wrapped_lines_fit_and_hold_all_the_text(text: str, limit: float) -> None:
    lines = wrap(text, limit, 10)
    assert all(text_width(line, 10) <= limit + 1e-6 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_cluster_wider_than_the_limit_stands_alone() -> None:
    assert wrap("网W", 5, 10) == ("网", "W")


def test_marks_take_no_room_and_accents_none_either() -> None:
    assert text_width("e\u0301", 10) == text_width("é", 10) == text_width("e", 10)


def test_widths_grow_with_the_size() -> None:
    assert text_width("rain", 20) == 2 * text_width("rain", 10)


def test_no_text_is_narrower_than_helvetica() -> None:
    # Advance widths of Helvetica in thousandths of the size.
    known = {"She enjoys playing tennis.": 11_400, "WWW": 2832, "iii": 666, "0123": 2224}
    for text, width in known.items():
        assert width / 1000 <= text_width(text, 1) <= 1.35 * width / 1000
