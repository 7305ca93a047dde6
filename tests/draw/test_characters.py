"""Characters: substitutes, columns, clusters, direction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.draw.characters import clusters, columns, is_right_to_left, shown, visible, wrap_columns


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
