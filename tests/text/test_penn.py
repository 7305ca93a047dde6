"""The forms that treebanks write."""

from cleft.text import penn_forms


def test_brackets_quotes_dashes_and_apostrophes_get_their_penn_form():
    text = "“ It ’s ” ( a ) [ b ] { c } ‘ d ’ – — … don’t « e »"
    assert " ".join(penn_forms(text.split())) == (
        "`` It 's '' -LRB- a -RRB- -LSB- b -RSB- -LCB- c -RCB- ` d ' -- -- ... don't `` e ''"
    )


def test_straight_quotes_open_and_close_by_turns():
    assert penn_forms(['"', "a", '"', '"', "b", '"']) == ["``", "a", "''", "``", "b", "''"]


def test_brackets_can_be_left_alone():
    assert penn_forms(["(", "a", "]", "“", ""], brackets=False) == ["(", "a", "]", "``", ""]
