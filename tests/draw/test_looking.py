"""The checks of drawings notice what they are there to notice."""

import pytest

from cleft.draw import Layout, lay_out, svg
from cleft.draw.layout import Stroke
from tests.draw import looking
from tests.draw.samples import SHORT


def changed(**changes: float) -> Layout:
    layout = lay_out(SHORT)
    first = layout.texts[0]._replace(**changes)  # type: ignore[arg-type]
    return Layout(
        width=layout.width,
        height=layout.height,
        texts=(first, *layout.texts[1:]),
        strokes=layout.strokes,
    )


def test_overlapping_boxes_are_noticed() -> None:
    other = lay_out(SHORT).texts[3]
    with pytest.raises(AssertionError):
        looking.check_layout(changed(x=other.x, y=other.y))


def test_a_box_outside_the_drawing_is_noticed() -> None:
    with pytest.raises(AssertionError, match="leaves"):
        looking.check_layout(changed(x=-1.0))


def test_a_box_too_narrow_for_its_text_is_noticed() -> None:
    with pytest.raises(AssertionError, match="wider"):
        looking.check_layout(changed(width=3.0))


def test_a_line_through_a_text_is_noticed() -> None:
    layout = lay_out(SHORT)
    label = layout.texts[0]
    middle = label.y + label.height / 2
    stroke = Stroke((("M", (0.0, middle)), ("L", (layout.width, middle))), "bar")
    crossed = Layout(
        width=layout.width, height=layout.height, texts=layout.texts, strokes=(stroke,)
    )
    assert ("bar", "S") in looking.crossings(crossed)


def test_small_type_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"at 8\.0 px"):
        looking.check_svg(svg(SHORT).replace('font-size="15"', 'font-size="8"'))


def test_words_out_of_order_are_noticed() -> None:
    layout = lay_out(SHORT)
    with pytest.raises(AssertionError, match="order"):
        looking.check_order(layout.mirrored(), "word")
