"""`Document`: sentences and one tree over them, offsets both ways, summaries."""

import math
import pickle
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cleft.convert import restricted, snapped
from cleft.discourse import DiscourseTree, Edu
from cleft.document import Document, join_sentences, paragraph_starts
from cleft.errors import FormatError, InputError, TreeShapeError, UsageError
from cleft.evidence import Evidence
from cleft.sentence import Sentence
from cleft.span import Span, Token
from tests.strategies import discourse_trees

few = settings(max_examples=40)  # a document is many draws


def sentence_of(tree: DiscourseTree) -> Sentence:
    """A sentence as `parse_tokens` gives it: the tree's words, with single spaces."""
    words = [word for edu in tree.edus for word in edu.text.split()]
    tokens, position = [], 0
    for word in words:
        tokens.append(Token(word, position, position + len(word)))
        position += len(word) + 1
    return Sentence(text=" ".join(words), tokens=tuple(tokens), trees={"discourse": tree})


def units(count: int) -> list[DiscourseTree]:
    return [DiscourseTree.leaf(Edu("", Span(k, k + 1))) for k in range(count)]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    trees = draw(st.lists(discourse_trees(max_edus=4), min_size=1, max_size=6))
    forest = units(len(trees))
    while len(forest) > 1:
        at = draw(st.integers(0, len(forest) - 2))
        letters = draw(st.sampled_from(["NS", "SN", "NN"]))
        forest[at : at + 2] = [DiscourseTree.join(forest[at : at + 2], letters, "cause")]
    paragraphs = draw(st.sets(st.integers(0, len(trees) - 1)))
    return Document.of(map(sentence_of, trees), forest[0], paragraphs=tuple(paragraphs))


@few
@given(documents())
def test_every_sentence_is_a_subtree_of_the_document(document: Document) -> None:
    assert document.tree is not None
    nodes = {tuple(edu.span for edu in node.edus): node for node in document.tree.preorder()}
    for number, sentence in enumerate(document.sentences):
        assert sentence.discourse is not None
        there = sentence.discourse.moved(document.span_of(number).left)
        assert nodes[tuple(edu.span for edu in there.edus)] == there


@few
@given(documents())
def test_offsets_hold_both_ways(document: Document) -> None:
    for number, token in enumerate(document.tokens):
        assert document.text[token.start : token.end] == token.text
        assert document.token_at(token.start) == document.token_at(token.end - 1) == number
        sentence = document.sentence_of(number)
        assert document.sentence_at(token.start) == sentence
        assert number in range(*document.span_of(sentence))
    for number, edu in enumerate(document.edus):
        assert (edu.start, edu.end) == document.characters(edu.span)
        assert document.text[edu.start : edu.end] == edu.text
        assert edu.start is not None
        assert document.edu_at(edu.start) == number
    assert [edu.span.left for edu in document.edus[1:]] == [
        e.span.right for e in document.edus[:-1]
    ]


@few
@given(documents())
def test_paragraphs_stand_apart_in_the_text_made_of_tokens(document: Document) -> None:
    blocks = document.text.split("\n\n")
    assert len(blocks) == len(document.paragraphs)
    for block, first in zip(blocks, document.paragraphs, strict=True):
        assert block.startswith(document.sentences[first].text)


@few
@given(documents())
def test_the_splits_of_a_document_count_its_tokens(document: Document) -> None:
    assert document.tree is not None
    for left, split, right, *_ in document.tree.splits():
        assert 0 <= left < split < right <= len(document.tokens)


@few
@given(documents(), st.integers(1, 7))
def test_a_summary_has_what_it_chose_and_names_the_rest(document: Document, count: int) -> None:
    summary = document.summary(count)
    assert len(summary.numbers) == min(count, len(document.sentences))
    assert list(summary.numbers) == sorted(summary.numbers)
    assert sorted(summary.numbers + summary.left_out) == list(range(len(document.sentences)))
    assert sorted(document.summary(count, keep_order=False).numbers) == list(summary.numbers)
    assert set(summary.numbers) <= set(document.summary(count + 1).numbers)


def plain_promotion(tree: DiscourseTree) -> set[Edu]:
    """Marcu's promotion set, written as it is defined."""
    if tree.edu is not None:
        return {tree.edu}
    roles = zip(tree.children, tree.nuclearity, strict=True)
    return set().union(*(plain_promotion(child) for child, role in roles if role == "N"))


@few
@given(discourse_trees())
def test_salience_is_the_depth_of_the_highest_node_that_promotes(tree: DiscourseTree) -> None:
    depths: dict[Edu, int] = {}
    level = [tree.debinarise()]
    depth = 0
    while level:
        for node in level:
            for edu in plain_promotion(node):
                depths.setdefault(edu, depth)
        level = [child for node in level for child in node.children]
        depth += 1
    assert tree.salience() == tuple(depths[edu] for edu in tree.edus)


def test_a_sentence_is_a_node_of_a_drawn_document_whatever_its_relation() -> None:
    words = [DiscourseTree.leaf(Edu("so", Span(k, k + 1))) for k in range(3)]
    listed = DiscourseTree.join(words, "NNN", "joint").binarise()
    over = DiscourseTree.join(units(3), "NNN", "joint").binarise()
    document = Document.of(map(sentence_of, (words[0], words[0], listed)), over)
    assert document.tree is not None
    assert document.tree.debinarise().nuclearity == "NNNNN"
    (drawn,) = document.flat_trees
    assert drawn.nuclearity == drawn.children[2].nuclearity == "NNN"
    assert drawn.binarise() == document.tree


def scored(tree: DiscourseTree, log_prob: float) -> DiscourseTree:
    splits = ((tree.children[0].span.right, 0.25),) if tree.children else ()
    told = {"log_prob": log_prob, "split_log_prob": log_prob, "tree_probability": 0.3}
    tree.evidence = Evidence(probability=0.5, splits=splits, **told)
    return tree


def test_a_document_keeps_probabilities_and_sums_logarithms_at_its_root() -> None:
    edus = [DiscourseTree.leaf(Edu("a b", Span(0, 2))), DiscourseTree.leaf(Edu("c", Span(2, 3)))]
    lower = [scored(DiscourseTree.join(edus, "NS", "cause"), -1.0) for _ in range(2)]
    over = scored(DiscourseTree.join(units(2), "NN", "joint"), -0.5)
    tree = Document.of(map(sentence_of, lower), over).tree
    assert tree is not None
    assert tree.log_prob == -2.5
    assert tree.evidence is not None
    assert tree.evidence.splits == ((3, 0.25),)
    inner = tree.children[1]
    assert tree.tree_probability is inner.tree_probability is inner.log_prob is None
    assert Document.of([sentence_of(lower[0])]).tree.tree_probability == 0.3
    assert inner.evidence is not None
    assert (inner.probability, inner.evidence.splits) == (0.5, ((5, 0.25),))
    assert math.isclose(lower[0].log_prob or 0, -1.0)  # what was given stays as it is


def test_a_sentence_without_a_tree_is_one_edu_and_one_without_tokens_none() -> None:
    good = sentence_of(DiscourseTree.leaf(Edu("so it", Span(0, 2))))
    bare = Sentence(text="so", tokens=(Token("so", 0, 2),), error=InputError("no tree"))
    empty = Sentence(text="", error=InputError("no tokens"))
    document = Document.of([good, empty, bare], DiscourseTree.join(units(2), "NS", "cause"))
    assert [edu.span for edu in document.edus] == [Span(0, 2), Span(2, 3)]
    assert [document.sentence_of(edu.span.left) for edu in document.edus] == [0, 2]
    assert document.error is empty.error
    assert document.summary(1).left_out == (1, 2)


def test_a_document_of_one_sentence_needs_no_tree_over_it() -> None:
    one = sentence_of(DiscourseTree.leaf(Edu("so it", Span(0, 2))))
    document = Document.of([one])
    assert document.tree == one.discourse.with_edus([Edu("so it", Span(0, 2), 0, 5)])  # type: ignore[union-attr]
    assert str(document.summary(5)) == "so it"


def test_an_empty_document_has_no_tree_and_no_summary() -> None:
    document = Document(text="", error=InputError("there is no sentence"))
    assert (document.tree, document.edus, document.tokens) == (None, (), ())
    assert document.token_at(0) is document.sentence_at(0) is document.edu_at(0) is None
    assert str(document.summary()) == ""


def test_a_tree_over_other_sentences_is_refused() -> None:
    one = sentence_of(DiscourseTree.leaf(Edu("so it", Span(0, 2))))
    with pytest.raises(TreeShapeError, match="expected 2 trees, one a leaf, found 3"):
        join_sentences(DiscourseTree.join(units(2), "NS", "cause"), [one, one, one])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda document: document.summary(0),
        lambda document: document.summary(True),
        lambda document: document.sentence_of(2),
        lambda document: document.characters(Span(1, 9)),
        lambda document: Document.of(document.sentences, paragraphs=(0, 4)),
    ],
)
def test_wrong_numbers_are_refused(wrong: Callable[[Document], object]) -> None:
    document = Document.of([sentence_of(DiscourseTree.leaf(Edu("so it", Span(0, 2))))])
    with pytest.raises(UsageError, match="expected"):
        wrong(document)


@few
@given(discourse_trees(max_edus=10), st.data())
def test_a_snapped_tree_has_every_sentence_as_a_subtree(
    tree: DiscourseTree, data: st.DataObject
) -> None:
    inner = [edu.span.right for edu in tree.edus[:-1]]
    ends = sorted(data.draw(st.sets(st.sampled_from(inner)) if inner else st.just(set[int]())))
    ends.append(tree.span.right)
    found = snapped(tree, ends)
    spans = {span for span, _ in found.spans()}
    assert {Span(*pair) for pair in pairwise([0, *ends])} <= spans
    assert found.edus == tree.edus
    assert snapped(found, ends) == found
    lone = {span for span, _ in tree.spans()}
    if {Span(*pair) for pair in pairwise([0, *ends])} <= lone:
        assert found == tree


@few
@given(discourse_trees(mixed=True), st.data())
def test_a_restricted_tree_says_of_the_rest_what_the_whole_said(
    tree: DiscourseTree, data: st.DataObject
) -> None:
    edus = tree.edus
    keep = data.draw(st.sets(st.integers(0, len(edus) - 1), min_size=1))
    found = restricted(tree, keep)
    assert found.edus == [edus[number] for number in sorted(keep)]
    wholes = [{edu for edu in node.edus if edu in found.edus} for node in tree.preorder()]
    assert all(set(node.edus) in wholes for node in found.preorder())


def test_a_tree_of_no_edu_is_refused() -> None:
    with pytest.raises(TreeShapeError, match="needs an EDU"):
        restricted(DiscourseTree.leaf(Edu("so it", Span(0, 2))), ())


def test_paragraphs_by_number() -> None:
    assert paragraph_starts([None, None]) == (0,)
    assert paragraph_starts([]) == (0,)
    assert paragraph_starts([3, 4, 4, 4, 5]) == (0, 1, 4)


def test_a_document_goes_through_pickle() -> None:
    document = Document.of([sentence_of(DiscourseTree.leaf(Edu("so it", Span(0, 2))))], id="one")
    again = pickle.loads(pickle.dumps(document))
    assert (again.tree, again.tokens, again.id) == (document.tree, document.tokens, "one")


@few
@given(documents())
def test_a_document_comes_back_from_its_line(document: Document) -> None:
    again = Document.from_jsonl(document.to_jsonl())
    assert again.tree == document.tree
    assert again.tokens == document.tokens
    assert (again.text, again.paragraphs) == (document.text, document.paragraphs)
    pairs = zip(again.sentences, document.sentences, strict=True)
    assert all((a.text, a.start, a.discourse) == (b.text, b.start, b.discourse) for a, b in pairs)
    assert again.to_jsonl() == document.to_jsonl()


def test_probabilities_names_and_errors_stand_in_the_line() -> None:
    edus = [DiscourseTree.leaf(Edu("a b", Span(0, 2))), DiscourseTree.leaf(Edu("c", Span(2, 3)))]
    one = sentence_of(scored(DiscourseTree.join(edus, "NS", "cause"), -1.0))
    bad = Sentence(text="", error=InputError("there are no tokens", hint="give some"))
    fields = {"genre": "essay", "text": "not this"}
    document = Document.of([one, bad], id="notes/1", fields=fields)
    again = Document.from_jsonl(document.to_jsonl())
    assert (again.id, again.fields) == ("notes/1", {"genre": "essay"})
    assert str(again.error) == str(again.sentences[1].error) == "there are no tokens; give some"
    assert again.tree is not None
    assert again.tree.log_prob == -1.0
    assert again.text == document.text != "not this"


CORPUS = (
    '{"doc": "x_1", "genre": "x", "sents": [{"tokens": ["It", "rains", "."], "text": "It rains.", '
    '"newpar": true}, {"tokens": ["So", "?"], "text": "So?", "newpar": true}], '
    '"edus": [[0, 3], [3, 5]], "splits_fine": [[0, 3, 5, "topic-question_NS"]]}'
)


def test_a_line_of_a_corpus_is_a_document_with_coarse_relations() -> None:
    document = Document.from_jsonl(CORPUS)
    assert document.text == "It rains.\n\nSo?"
    assert document.tree is not None
    assert document.tree.splits() == [(0, 3, 5, "topic", "NS", None)]
    assert [(edu.text, edu.start, edu.end) for edu in document.edus] == [
        ("It rains.", 0, 9),
        ("So?", 11, 14),
    ]
    assert document.fields == {"doc": "x_1", "genre": "x"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ('{"cleft": 1, "tokens": ["a"]}', "'sentences': expected a list"),
        ('{"cleft": 1, "tokens": ["a"], "sentences": [1]}', "expected an object"),
        ('{"cleft": 1, "tokens": ["a"], "sentences": [{"tokens": ["a", "b"]}]}', "1 tokens, but"),
        ('{"cleft": 1, "tokens": ["a"], "sentences": [{"tokens": [1]}]}', "list of strings"),
        (
            '{"cleft": 1, "tokens": ["a"], "sentences": [{"tokens": ["a"]}], "paragraphs": [2]}',
            "'paragraphs': expected numbers",
        ),
        (
            '{"cleft": 1, "tokens": ["a"], "sentences": [{"tokens": ["a"], "offsets": []}]}',
            "1 tokens, but 0 'offsets'",
        ),
        (
            '{"cleft": 1, "tokens": ["a"], "sentences": [{"tokens": ["a"], "start": "x"}]}',
            "where it starts",
        ),
        (CORPUS.replace("_NS", ""), "does not end in _NS"),
        (CORPUS.replace('"sents": [', '"sents": [4, '), "'sents': expected an object"),
    ],
)
def test_a_line_that_is_no_document_is_refused(wrong: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        Document.from_jsonl(wrong)
