from pathlib import Path

import pytest

from cleft.errors import FormatError, InputError
from cleft.relations import BUILT_IN, load_classes, matching_classes

# The mononuclear and multinuclear relations of the RST-DT annotation manual.
MONONUCLEAR = """
analogy antithesis attribution attribution-n background cause circumstance comparison comment
concession conclusion condition consequence-n consequence-s contingency definition
elaboration-additional elaboration-set-member elaboration-part-whole elaboration-process-step
elaboration-object-attribute elaboration-general-specific enablement evaluation-n evaluation-s
evidence example explanation-argumentative hypothetical interpretation-n interpretation-s manner
means otherwise preference problem-solution-n problem-solution-s purpose question-answer-n
question-answer-s reason restatement result rhetorical-question statement-response-n
statement-response-s summary-n summary-s temporal-before temporal-same-time temporal-after
topic-drift topic-shift
"""
MULTINUCLEAR = """
Analogy Cause-Result Comparison Comment-Topic Conclusion Consequence Contrast Disjunction
Evaluation Interpretation Inverted-Sequence List Otherwise Problem-Solution Proportion
Question-Answer Reason Same-Unit Sequence Statement-Response Temporal-Same-Time
TextualOrganization Topic-Comment Topic-Drift Topic-Shift
"""
RST_DT = """
Attribution Background Cause Comparison Condition Contrast Elaboration Enablement Evaluation
Explanation Joint Manner-Means Same-Unit Summary Temporal Textual-Organization Topic-Change
Topic-Comment
"""


def test_rst_dt_has_78_relations_in_18_classes() -> None:
    names = (MONONUCLEAR + MULTINUCLEAR).split()
    assert len(names) == 78
    classes = load_classes("rst-dt")
    assert sorted({classes.coarse(name) for name in names}) == RST_DT.split()
    assert {classes.coarse(f"{name}-e") for name in names} == set(RST_DT.split())


@pytest.mark.parametrize(
    ("fine", "coarse"),
    [
        ("Elaboration-Object-Attribute-E", "Elaboration"),
        ("consequence-s-e", "Cause"),
        ("means", "Manner-Means"),
        ("same-unit", "Same-Unit"),
        ("textualorganization", "Textual-Organization"),
        ("List", "Joint"),
        ("temporal-same-time", "Temporal"),
        ("otherwise", "Condition"),
    ],
)
def test_case_and_suffixes_do_not_matter(fine: str, coarse: str) -> None:
    assert load_classes("rst-dt").coarse(fine) == coarse


def test_gum_has_32_relations_in_15_classes() -> None:
    classes = load_classes("gum")
    assert len(classes.classes) == 32
    assert len(set(classes.classes.values())) == 15
    for fine, coarse in classes.classes.items():
        assert fine == coarse or fine.startswith(f"{coarse}-")


def test_none_changes_nothing() -> None:
    assert load_classes("none").coarse("Any-Thing-e") == "Any-Thing-e"


def test_pcc_joins_the_variants_of_a_relation() -> None:
    classes = load_classes("pcc")
    assert [classes.coarse(f"evaluation-{letter}") for letter in "sn"] == ["evaluation"] * 2
    assert classes.coarse("e-elaboration") == "e-elaboration"


def test_an_unknown_relation_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"'foo-e' has no class in the mapping gum"):
        load_classes("gum").coarse("foo-e")


def test_a_mapping_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n\nlogic: cause result # both\nsame: same-unit\n*: *\n")
    classes = load_classes(path)
    assert [classes.coarse(name) for name in ("Result", "cause-e", "x")] == ["logic", "logic", "x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("logic cause", "mine.txt line 1: expected 'class: relation relation …'"),
        ("a: b\n: c", "mine.txt line 2: expected"),
        ("a: b\nc:", "mine.txt line 2: expected"),
        ("a: b\nc: B", "mine.txt line 2: 'B' belongs to 'c' here but to 'a' above"),
    ],
)
def test_a_fault_in_a_mapping_file_is_told(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        load_classes(path)
    assert expected in str(caught.value)


def test_an_empty_or_missing_mapping_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(InputError, match="expected relation classes, found none"):
        load_classes(tmp_path / "empty")
    with pytest.raises(InputError, match="no such file"):
        load_classes(tmp_path / "absent")


def test_the_matching_mapping_knows_every_relation() -> None:
    assert matching_classes(["List", "Same-Unit", "purpose"]).name == "rst-dt"
    assert matching_classes(["same-unit"]).name == BUILT_IN[0]
    assert matching_classes(["e-elaboration", "cause"]).name == "pcc"
    assert matching_classes(["e-elaboration", "joint-list"]).name == "none"
