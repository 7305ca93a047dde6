import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cleft.convert import (
    INSIDE_TOKEN,
    NO_SUBTREE,
    NOT_ALIGNED,
    Extraction,
    format_sentence,
    read_sentences,
    sentence_trees,
)
from cleft.discourse import DiscourseTree
from cleft.errors import FormatError, InputError
from cleft.formats.rst import RstDocument, make_edu
from cleft.relations import load_classes
from cleft.span import Span


def leaves(*texts: str) -> list[DiscourseTree]:
    made: list[DiscourseTree] = []
    for text in texts:
        start = made[-1].span.right if made else 0
        made.append(DiscourseTree.leaf(make_edu(text, start)))
    return made


def extract(trees: Sequence[DiscourseTree], *sentences: str) -> Extraction:
    return sentence_trees(RstDocument.of(trees), [sentence.split() for sentence in sentences])


def three() -> DiscourseTree:
    """Two EDUs that belong together and one before them."""
    a, b, c = leaves("It rained .", "We left", "to sleep .")
    return DiscourseTree.join([a, DiscourseTree.join([b, c], "NS", "purpose")], "SN", "cause")


def test_a_sentence_of_one_subtree_or_one_edu_is_kept() -> None:
    found = extract([three()], "It rained .", "We left to sleep .")
    assert [each.number for each in found.kept] == [1, 2]
    assert found.dropped == ()
    second = found.kept[1].tree
    assert second.relations == ("span", "purpose")
    assert [(edu.text, edu.span) for edu in second.edus] == [
        ("We left", Span(0, 2)),
        ("to sleep .", Span(2, 5)),
    ]
    assert found.summary() == "2 sentences kept, 0 dropped"


def test_a_sentence_whose_edus_are_no_subtree_is_dropped() -> None:
    found = extract([three()], "It rained . We left", "to sleep .")
    assert [each.number for each in found.kept] == [2]
    assert found.dropped == ((1, NO_SUBTREE),)
    assert found.summary() == ("1 sentence kept, 1 dropped: 1 because its EDUs are not one subtree")


def test_a_sentence_whose_edge_is_inside_an_edu_is_dropped() -> None:
    found = extract([three()], "It rained", ". We left to sleep .")
    assert found.dropped == ((1, NOT_ALIGNED), (2, NOT_ALIGNED))


def test_a_sentence_with_an_edu_that_begins_inside_a_token_is_dropped() -> None:
    found = extract([three()], "It rained .", "We leftto sleep .")
    assert found.dropped == ((2, INSIDE_TOKEN),)


def test_part_of_a_multinuclear_node_is_a_subtree_only_at_its_right_end() -> None:
    tree = DiscourseTree.join(leaves("a", "b", "c"), "NNN", "list")
    assert [each.number for each in extract([tree], "a", "b c").kept] == [1, 2]
    assert [each.number for each in extract([tree], "a b", "c").kept] == [2]


def test_satellites_after_the_nucleus_are_bound_before_those_in_front() -> None:
    tree = DiscourseTree(leaves("a", "b", "c"), "SNS", ["cause", "span", "purpose"])
    assert [each.number for each in extract([tree], "a", "b c").kept] == [1, 2]
    assert [each.number for each in extract([tree], "a b", "c").kept] == [2]


def test_a_split_between_nuclei_of_two_relations_takes_the_first() -> None:
    tree = DiscourseTree(leaves("a", "b"), "NN", ["same-unit", "list"])
    assert extract([tree], "a b").kept[0].tree.relations == ("same-unit", "same-unit")


def test_trees_of_a_forest_stay_apart() -> None:
    found = extract(leaves("A title", "a b"), "A title", "a b")
    assert len(found.kept) == 2
    assert extract(leaves("A title", "a b"), "A title a b").dropped == ((1, NO_SUBTREE),)


def test_tokens_may_be_finer_than_the_edus_words() -> None:
    tree = DiscourseTree.join(leaves("It rained,", "we left."), "SN", "cause")
    (sentence,) = extract([tree], "It rained , we left .").kept
    assert [edu.span for edu in sentence.tree.edus] == [(0, 3), (3, 6)]


def test_a_corrected_letter_is_counted_and_another_document_is_refused() -> None:
    found = extract([three()], "it rained .", "We left to sleep .")
    assert found.differences == 1
    assert found.summary().endswith("; 1 character differs between the sentences and the EDUs")
    two = extract([three()], "it rained .", "we left to sleep .")
    assert two.summary().endswith("; 2 characters differ between the sentences and the EDUs")
    with pytest.raises(FormatError, match=r"sentence 2 and the EDUs differ: 'Hesawuslater\.'"):
        extract([three()], "It rained .", "He saw us later .")


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["It rained ."], "sentence 1 and the EDUs differ: '' in the sentences, 'Welefttosleep.'"),
        (["It rained .", "We left to sleep . Then"], "sentence 2 and the EDUs differ: 'Then'"),
        (["It rained .", "We all left to sleep ."], "sentence 2 and the EDUs differ: 'alllef"),
    ],
)
def test_sentences_of_another_length_are_refused(sentences: list[str], expected: str) -> None:
    with pytest.raises(FormatError) as caught:
        extract([three()], *sentences)
    assert expected in str(caught.value)


def test_a_line_has_coarse_and_fine_relations() -> None:
    tree = DiscourseTree.join(
        [leaves("a")[0], DiscourseTree.join(leaves("x", "b", "c")[1:], "NS", "purpose-goal")],
        "SN",
        "causal-cause",
    )
    (sentence,) = extract([tree], "a b c").kept
    line = format_sentence(sentence, "GUM_news_made-up", load_classes("gum"))
    inner = ["purpose", "purpose-goal", "NS", [1, 2], [2, 3]]
    assert json.loads(line) == {
        "doc": "GUM_news_made-up",
        "sent": "GUM_news_made-up-1",
        "genre": "news",
        "text": None,
        "tokens": ["a", "b", "c"],
        "space_after": None,
        "edus": [[0, 1], [1, 2], [2, 3]],
        "splits": [[0, 1, 3, "causal_SN"], [1, 2, 3, "purpose_NS"]],
        "splits_fine": [[0, 1, 3, "causal-cause_SN"], [1, 2, 3, "purpose-goal_NS"]],
        "tree": ["causal", "causal-cause", "SN", [0, 1], inner],
    }


@pytest.mark.parametrize(
    ("doc", "genre"), [("gcdt_bio_x", "bio"), ("my_own_notes", None), ("GUM_x", None)]
)
def test_only_names_of_gum_and_gcdt_tell_a_genre(doc: str, genre: str | None) -> None:
    (sentence,) = extract(leaves("a"), "a").kept
    line = format_sentence(sentence, doc, load_classes("none"))
    assert json.loads(line)["genre"] == genre


@pytest.mark.no_cover
def test_a_very_deep_sentence_is_extracted_and_formatted() -> None:
    edus = leaves(*["x"] * 5001)
    tree = edus[-1]
    for leaf in reversed(edus[:-1]):
        tree = DiscourseTree.join([leaf, tree], "NS", "cause")
    (sentence,) = extract([tree], " ".join(["x"] * 5001)).kept
    line = format_sentence(sentence, "deep", load_classes("none"))
    assert line.endswith(", [5000, 5001]" + "]" * 5000 + "}")


def test_sentences_are_read_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x.sents.txt"
    path.write_text("a b\n\n  c\n")
    assert read_sentences(path) == [("a", "b"), ("c",)]
    path.write_text("\n")
    with pytest.raises(InputError, match="expected one sentence a line, found none"):
        read_sentences(path)
