"""Characters: substitutes, columns, clusters, direction, widths without a font engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.draw.characters import (
    clusters,
    columns,
    is_right_to_left,
    shown,
    text_width,
    visible,
    wrap,
    wrap_columns,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("cat", 3),
        ("网球", 4),
        ("ｆｕｌｌ", 8),
        ("e\u0301", 1),
        ("a\u200bb", 2),
        ("👩\u200d🔬", 2),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("🇨🇭", 2),
        ("🇨🇭🇫🇷", 4),
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),
        ("שלום", 4),
        ("กำ", 2),
    ],
)
def test_columns_are_those_of_a_terminal(text: str, expected: int) -> None:
    assert columns(text) == expected


@given(st.text())
def test_clusters_make_up_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text


@given(st.text(st.characters()))
def test_visible_text_is_valid_and_stays_as_it_is(text: str) -> None:
    once = visible(text)
    once.encode("utf-8")
    assert len(once) == len(text)
    assert visible(once) == once


@given(st.text(st.sampled_from("ab 网e\u0301🔬\u200d")), st.integers(2, 12))
def test_wrapped_lines_fit_and_hold_all_the_text(text: str, width: int) -> None:
    lines = wrap_columns(text, width)
    assert all(columns(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_blank_text_gets_a_sign() -> None:
    assert shown(" ") == shown("\u200b\u0301") == "␣"
    assert shown("\x00") == "␀"
    assert visible("\x7f\x80") == "␡\ufffd"


def test_direction_is_that_of_most_letters() -> None:
    assert is_right_to_left(["مرحبا", "a"])
    assert not is_right_to_left(["naïve", "12"])
    assert not is_right_to_left([])


@given(st.text(st.sampled_from("abc 网é\u0301WiÆ…→😀𝒜𠀀"), max_size=60), st.floats(20, 200))
def test_lines_of_pixels_fit_and_hold_all_the_text(text: str, limit: float) -> None:
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
