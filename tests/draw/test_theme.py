"""Contrast of text and lines, in both palettes."""

from collections.abc import Mapping

import pytest

from cleft.draw import Options, svg
from cleft.draw.layout import tone_of
from cleft.draw.theme import DARK, LIGHT, page_colours, style
from cleft.errors import UsageError
from tests.draw.samples import SHORT

TONES = ("clause", "noun", "verb", "modifier", "other")
MARKS = ("wrong", "missed", "changed")


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_reaches_contrast_aa(palette: Mapping[str, str]) -> None:
    for name in ("ink", "muted"):
        assert contrast(palette[name], palette["ground"]) >= 4.5
        assert contrast(palette[name], palette["page"]) >= 4.5
    for name in (*TONES, *MARKS):
        assert contrast(palette[name], palette[f"{name}-tint"]) >= 4.5
        assert contrast(palette[name], palette["ground"]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_lines_reach_contrast_aa(palette: Mapping[str, str]) -> None:
    for name in ("line", "ink", "doubt", *TONES, *MARKS):
        assert contrast(palette[name], palette["ground"]) >= 3


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_a_fixed_theme_holds_only_its_own_colours() -> None:
    assert LIGHT["ink"] in style("light")
    assert DARK["ink"] not in style("light")
    assert DARK["ink"] in svg(SHORT, Options(theme="dark"))
    assert LIGHT["ink"] in style("auto")
    assert DARK["ink"] in style("auto")
    assert DARK["page"] in page_colours("dark")
    assert "@media" not in page_colours("light")


def test_every_label_has_a_tone() -> None:
    labels = ("WHNP", "WHPP", "ADJP", "QP", "IP", "CP-REL", "", "-LRB-", "ROOT", "VP-TPC")
    assert [tone_of(label) for label in labels] == [
        "noun", "modifier", "modifier", "modifier", "clause", "clause", "other", "other", "clause",
        "verb",
    ]  # fmt: skip


def test_unknown_themes_and_tiny_widths_are_refused() -> None:
    with pytest.raises(UsageError, match="no theme is called 'blue'; use one of auto, light, dark"):
        Options(theme="blue")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least 240"):
        Options(width=10)
