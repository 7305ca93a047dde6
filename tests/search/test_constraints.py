"""Given EDUs and required spans: never violated, never a dead end, contradictions reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.errors import CleftError, ConstraintError
from cleft.search import Constraints, Parse, SearchOptions, search
from cleft.span import Span, Split
from cleft.tasks import DISCOURSE, SYNTAX

from .toy import ToyScorer, every_tree, sentence

Splits = tuple[Split, ...]


def spans_of(splits: Splits, length: int) -> set[Span]:
    """All spans of the tree, one-token ones and EDUs included."""
    halves = [half for split in splits if not split.is_stop for half in split.span.at(split.split)]
    return {Span(0, length), *halves}


def edus_of(splits: Splits, length: int) -> set[Span]:
    inner = {split.span for split in splits if not split.is_stop}
    return spans_of(splits, length) - inner


@st.composite
def random_splits(draw: st.DrawFn, length: int, stops: bool) -> Splits:
    """Some tree over so many tokens."""
    stack, done = [Span(0, length)], []
    while stack:
        span = stack.pop()
        if span.width > 1:
            split = Split(
                span.left, draw(st.integers(span.left + 1, span.right - 1 + stops)), span.right
            )
            done.append(split)
            stack += [] if split.is_stop else reversed(span.at(split.split))
    return tuple(done)


@st.composite
def constrained(draw: st.DrawFn, stops: bool, longest: int) -> tuple[int, Constraints]:
    """A length, and demands that some tree of that length obeys."""
    length = draw(st.integers(1, longest))
    splits = draw(random_splits(length, stops))
    spans = draw(st.sets(st.sampled_from(sorted(spans_of(splits, length)))))
    edus = None
    if stops and draw(st.booleans()):
        edus = tuple(sorted(edu.right for edu in edus_of(splits, length)))
    return length, Constraints(edus=edus, spans=tuple(spans))


def best(result: list[Parse] | CleftError) -> Parse:
    assert isinstance(result, list), result
    return result[0]


@given(constrained(stops=False, longest=7), st.integers(0, 500))
def test_a_wide_beam_finds_the_best_syntactic_tree_with_the_required_spans(
    case: tuple[int, Constraints], seed: int
) -> None:
    length, demands = case
    scorer, words = ToyScorer(seed, 1.0), sentence(length, seed)
    wanted = [
        score
        for splits, score in every_tree(scorer, words, "syntax")
        if set(demands.spans) <= spans_of(splits, length)
    ]
    options = SearchOptions(beam=132, prune=False, joint=False)
    parse = best(search(scorer, [words], SYNTAX, options, constraints=[demands])[0])
    assert parse.split_log_prob == pytest.approx(max(wanted), abs=1e-9)
    named = {span for span, node in parse.tree.spans() if not node.is_preterminal}
    assert set(demands.spans) <= named  # as phrases: the dummy label is masked


@given(constrained(stops=True, longest=6), st.integers(0, 500))
def test_a_wide_beam_finds_the_best_discourse_tree_that_obeys(
    case: tuple[int, Constraints], seed: int
) -> None:
    length, demands = case
    scorer, words = ToyScorer(seed, 1.0), sentence(length, seed)
    forced = demands.edus is not None
    wanted = [
        score
        for splits, score in every_tree(scorer, words, "discourse", free_stops=forced)
        if set(demands.spans) <= spans_of(splits, length)
        and (not forced or edus_of(splits, length) == set(demands.edu_spans()))
    ]
    options = SearchOptions(beam=188, prune=False, joint=False)
    parse = best(search(scorer, [words], DISCOURSE, options, constraints=[demands])[0])
    assert parse.split_log_prob == pytest.approx(max(wanted), abs=1e-9)


@given(
    st.lists(constrained(stops=True, longest=15), min_size=1, max_size=5),
    st.integers(0, 500),
    st.integers(1, 6),
    st.integers(1, 3),
)
def test_constraints_are_never_violated_in_a_batch(
    cases: list[tuple[int, Constraints]], seed: int, beam: int, n_best: int
) -> None:
    scorer = ToyScorer(seed, 4.0)
    sentences = [sentence(9, seed)] + [sentence(length, seed) for length, _ in cases]
    options = SearchOptions(beam=beam, n_best=n_best)
    demands = [None, *(given for _, given in cases)]
    free, *results = search(scorer, sentences, DISCOURSE, options, constraints=demands)
    for (length, given_here), result in zip(cases, results, strict=True):
        assert isinstance(result, list)
        for parse in result:
            splits = parse.derivation.splits
            assert set(given_here.spans) <= spans_of(splits, length)
            if given_here.edus is not None:
                assert [edu.span for edu in parse.tree.edus] == given_here.edu_spans()
    alone = search(scorer, sentences[:1], DISCOURSE, options)[0]
    assert best(free).log_prob == best(alone).log_prob  # the neighbours' demands are not its own


def test_given_edus_are_forced_and_cost_nothing() -> None:
    scorer, words = ToyScorer(8), sentence(5)
    [result] = search(scorer, [words], DISCOURSE, constraints=[Constraints(edus=(5,))])
    parse = best(result)
    assert parse.derivation.splits == (Split(0, 5, 5),)
    assert parse.split_log_prob == parse.log_prob == 0.0
    assert parse.tree.probability == 1.0
    options = SearchOptions(alternatives=3, trace=True)
    [result] = search(scorer, [words], DISCOURSE, options, constraints=[Constraints(edus=(5,))])
    assert best(result).tree.evidence.splits == ()
    assert best(result).steps[0].probability == 1.0
    assert best(result).steps[0].distribution[5] < 1.0  # the pointer's own opinion is kept


@pytest.mark.parametrize(
    ("task", "demands", "message"),
    [
        (SYNTAX, {"spans": (Span(0, 3), Span(2, 5))}, r"\(0, 3\) and \(2, 5\) cross"),
        (SYNTAX, {"spans": (Span(1, 6), Span(1, 4), Span(3, 5))}, r"\(1, 4\) and \(3, 5\) cross"),
        (SYNTAX, {"spans": (Span(4, 9),)}, r"\(4, 9\) does not lie in \(0, 6\)"),
        (SYNTAX, {"spans": (Span(-1, 2),)}, r"\(-1, 2\) does not lie in \(0, 6\)"),
        (SYNTAX, {"spans": (Span(3, 3),)}, r"\(3, 3\) does not lie in \(0, 6\)"),
        (SYNTAX, {"edus": (3, 6)}, "EDUs are given for a syntactic tree"),
        (DISCOURSE, {"edus": ()}, r"must rise from above 0 to 6.*found \[\]"),
        (DISCOURSE, {"edus": (3, 5)}, r"found \[3, 5\]"),
        (DISCOURSE, {"edus": (0, 6)}, r"found \[0, 6\]"),
        (DISCOURSE, {"edus": (3, 3, 6)}, r"found \[3, 3, 6\]"),
        (DISCOURSE, {"edus": (3, 6), "spans": (Span(1, 2),)}, r"\(1, 2\) divides the EDU \(0, 3\)"),
        (DISCOURSE, {"edus": (3, 6), "spans": (Span(0, 2),)}, r"\(0, 2\) divides the EDU \(0, 3\)"),
        (DISCOURSE, {"edus": (3, 6), "spans": (Span(0, 4),)}, r"\(0, 4\) divides the EDU \(3, 6\)"),
    ],
)
def test_contradictions_are_the_result_of_their_sentence_alone(task, demands, message) -> None:
    sentences = [sentence(6), sentence(6, 1), sentence(6, 2)]
    demand = Constraints(**demands)
    first, bad, last = search(ToyScorer(), sentences, task, constraints=[None, demand, None])
    assert isinstance(first, list)
    assert isinstance(last, list)
    assert isinstance(bad, ConstraintError)
    assert bad.where == "sentence 2"
    with pytest.raises(ConstraintError, match=message):
        raise bad


def test_an_edu_that_is_required_too_and_plain_tuples_and_lists_are_fine() -> None:
    for edus in ((3, 6), [3, 6]):
        demands = Constraints(edus=edus, spans=((0, 3), (0, 6), (0, 6)))
        [result] = search(ToyScorer(), [sentence(6)], DISCOURSE, constraints=[demands])
        assert best(result).derivation.splits == (Split(0, 3, 6), Split(0, 3, 3), Split(3, 6, 6))
