"""Parameter files: every keyword, comments, and lines that mean nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import CleftError, InputError, UsageError
from cleft.metrics.prm import COLLINS, NEW, SPMRL, Parameters, parameters, parse_prm, read_prm

EVERYTHING = """\
## a comment
DEBUG 1
MAX_ERROR 25
CUTOFF_LEN 70
LABELED 0
DELETE_LABEL TOP
DELETE_LABEL ,\t
DELETE_LABEL_FOR_LENGTH -NONE-
QUOTE_LABEL ``
EQ_LABEL ADVP PRT
EQ_WORD  Example example

#DELETE_LABEL NP
"""


def test_every_keyword_is_read(tmp_path):
    path = tmp_path / "all.prm"
    path.write_text(EVERYTHING)
    assert read_prm(path) == Parameters(
        debug=1,
        max_error=25,
        cutoff=70,
        labelled=False,
        delete=("TOP", ","),
        delete_for_length=("-NONE-",),
        quotes=("``",),
        equal_labels=(("ADVP", "PRT"),),
        equal_words=(("Example", "example"),),
    )


def test_an_empty_file_means_the_defaults():
    assert parse_prm([]) == Parameters()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("SPEED 3", "unknown keyword 'SPEED'"),
        (" DELETE_LABEL NP", "unknown keyword ''"),
        ("EQ_LABEL A B C", "EQ_LABEL needs two values, found 3"),
        ("EQ_WORD a", "EQ_WORD needs two values, found 1"),
        ("DELETE_LABEL", "'DELETE_LABEL' has no value"),
    ],
)
def test_a_line_that_means_nothing_is_kept_as_a_remark(line, told):
    found = parse_prm(["# first", line], "x.prm")
    assert found.ignored == (f"x.prm line 2: {told}",)
    assert found == Parameters(ignored=found.ignored)


@pytest.mark.parametrize(
    ("text", "value"), [("12abc", 12), ("abc", 0), ("-3", -3), ("9" * 30, 999999999)]
)
def test_numbers_are_read_as_c_reads_them(text, value):
    assert parse_prm([f"CUTOFF_LEN {text}"]).cutoff == value


@given(st.lists(st.text(max_size=30)))
def test_any_text_gives_parameters(lines):
    found = parse_prm([f"EQ_LABEL {line}" for line in lines] + lines)
    assert found.cutoff == 40 or any("CUTOFF_LEN" in line for line in lines)


def test_a_setting_that_deletes_vroot_is_of_the_variant():
    assert parse_prm(["DELETE_LABEL VROOT "]).dialect == "spmrl"
    assert parse_prm(["DELETE_LABEL ROOT"]).dialect == "evalb"


def test_settings_have_names(tmp_path):
    assert [parameters(name) for name in ("collins", "NEW", "spmrl")] == [COLLINS, NEW, SPMRL]
    path = tmp_path / "mine"
    path.write_text("CUTOFF_LEN 7\n")
    assert parameters(path).cutoff == 7
    with pytest.raises(UsageError, match="no parameters are called 'colins'"):
        parameters("colins")
    with pytest.raises(InputError, match="no such file"):
        parameters("absent.prm")


def test_a_file_that_is_no_text_is_cleft_s_own_error(tmp_path):
    path = tmp_path / "x.prm"
    path.write_bytes(b"DELETE_LABEL \xff\n")
    with pytest.raises(CleftError, match="UTF-8"):
        read_prm(path)


@pytest.mark.parametrize(
    ("name", "setting"), [("collins", COLLINS), ("new", NEW), ("spmrl", SPMRL)]
)
def test_the_built_in_settings_are_those_of_the_reference(shared, name, setting):
    found = read_prm(shared / "reference" / "evalb" / name / "params.prm")
    for field in ("delete", "delete_for_length", "quotes", "equal_labels", "cutoff", "dialect"):
        assert getattr(found, field) == getattr(setting, field)
