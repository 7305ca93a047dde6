"""Heads without history: levels at once against span by span, exact search against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cleft.search import Decoder, Masks, SearchOptions, Statistics, search
from cleft.search.beam import Decisions
from cleft.search.decode import Marks
from cleft.search.levels import Prices, best_trees, level_by_level, trees_within
from cleft.search.scorer import Recall
from cleft.span import Constraints, Span
from cleft.tasks import DISCOURSE, SYNTAX, Task

from .toy import TASKS, ToyScorer, batches, every_tree, sentence, tasks

scorers = st.builds(
    ToyScorer,
    seed=st.integers(0, 10_000),
    sharpness=st.sampled_from([0.2, 1.0, 3.0, 8.0]),
    sense=st.sampled_from([0.0, 4.0, 30.0]),
    marked=st.booleans(),
    history=st.just(False),
)


class OneByOne(ToyScorer):
    """The same model, which does not say that it needs no history."""

    def stateless(self, task: str) -> bool:
        return False


def asked(scorer: ToyScorer, sentences: list[list[str]], task: Task, beam: int) -> Statistics:
    statistics = Statistics()
    search(scorer, sentences, task, SearchOptions(beam=beam), statistics=statistics)
    return statistics


@given(scorers, tasks, batches)
def test_a_level_at_once_is_one_span_at_a_time(
    scorer: ToyScorer, task: Task, sentences: list[list[str]]
) -> None:
    plain = OneByOne(
        scorer.seed, scorer.sharpness, scorer.sense, marked=scorer.marked, history=False
    )
    for [one], [two] in zip(
        search(scorer, sentences, task), search(plain, sentences, task), strict=True
    ):
        assert (one.derivation, one.tree) == (two.derivation, two.tree)
        assert one.split_log_prob == pytest.approx(two.split_log_prob, abs=1e-12)


@given(scorers, tasks, st.integers(1, 7), st.integers(0, 9))
def test_exact_search_is_brute_force(
    scorer: ToyScorer, task: Task, length: int, first: int
) -> None:
    words = sentence(length, first)
    trees = dict(every_tree(scorer, words, task.name))
    options = SearchOptions(beam=2, prune=False, joint=False)
    [[parse]] = search(scorer, [words], task, options)
    assert parse.split_log_prob == pytest.approx(max(trees.values()), abs=1e-9)
    assert trees[parse.derivation.splits] == pytest.approx(parse.split_log_prob, abs=1e-9)


@given(scorers, tasks, batches)
def test_no_beam_beats_exact_search_and_no_span_is_asked_about_twice(
    scorer: ToyScorer, task: Task, sentences: list[list[str]]
) -> None:
    encoded = scorer.encode(sentences)
    chances = scorer.marks(encoded, task.name) if task.stops else None
    statistics = [Statistics(), Statistics()]
    scores = []
    for counted, wide in zip(statistics, (False, True), strict=True):
        decoder = Decoder(
            scorer,
            encoded,
            task.name,
            masks=Masks(encoded.lengths, stops=task.stops),
            statistics=counted,
            marks=None if chances is None else Marks(chances),
        )
        rows = np.arange(len(sentences))
        found = decoder.beam(rows, 20, best_only=True) if wide else decoder.best(rows)
        scores.append({each.sentence: each.score for each in found})
    for row, score in scores[0].items():
        assert score >= scores[1][row] - 1e-9
    every = sum(length * (length - 1) // 2 for length in encoded.lengths)
    assert all(counted.beam_rows <= every for counted in statistics)


@TASKS
def test_a_level_is_one_call_for_all_sentences(task: Task) -> None:
    scorer = ToyScorer(3, sense=30.0, history=False)
    sentences = [sentence(16, first) for first in range(20)]
    found = search(scorer, sentences, task)
    deepest = max(_depth(parse.derivation.splits) for [parse] in found)
    statistics = asked(scorer, sentences, task, beam=1)
    assert statistics.greedy_calls == deepest
    assert statistics.greedy_rows == sum(len(parse.derivation.splits) for [parse] in found)


def _depth(splits) -> int:
    return max(sum(o.left <= s.left and s.right <= o.right for o in splits) for s in splits)


@TASKS
def test_exact_search_asks_for_few_of_all_spans_if_the_model_is_sure(task: Task) -> None:
    sentences = [sentence(30, first) for first in range(4)]
    every = 4 * 30 * 29 / 2
    sure = asked(ToyScorer(1, 30.0, 1000.0, history=False), sentences, task, beam=20)
    assert sure.beam_rows < every / 3


@pytest.mark.parametrize("beam", [1, 5])
def test_required_spans_and_given_edus_hold_without_history(beam: int) -> None:
    scorer, words, options = ToyScorer(4, history=False), sentence(9), SearchOptions(beam=beam)
    spans = Constraints(spans=(Span(2, 7), Span(3, 5)))
    [[parse]] = search(scorer, [words], SYNTAX, options, constraints=[spans])
    assert {(2, 7), (3, 5)} <= {(s.left, s.right) for s in parse.derivation.splits}
    edus = Constraints(edus=(2, 3, 7, 9))
    [[parse]] = search(scorer, [words], DISCOURSE, options, constraints=[edus])
    assert [edu.span.right for edu in parse.tree.edus] == [2, 3, 7, 9]


@pytest.mark.parametrize("history", [False, True])
def test_no_table_of_all_spans_is_made_for_a_very_long_sentence(
    history: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take the square of the sentence's length."""
    scorer, words, options = ToyScorer(3, history=history), sentence(12, 3), SearchOptions(beam=4)
    [[before]] = search(scorer, [words], SYNTAX, options)

    def refuse(*_: object) -> None:
        raise AssertionError("a table of all spans")

    monkeypatch.setattr("cleft.search.decode.WIDEST", 11)
    monkeypatch.setattr(Recall, "__init__", refuse)
    [[after]] = search(scorer, [words], SYNTAX, options)
    assert after.log_prob <= before.log_prob + 1e-9


@TASKS
@pytest.mark.parametrize("beam", [1, 4])
def test_a_very_long_sentence_is_searched_step_by_step(
    task: Task, beam: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer, plain = (kind(3, 3.0, 4.0, history=False) for kind in (ToyScorer, OneByOne))
    words = [sentence(12, 1)]
    options = SearchOptions(beam=beam)
    monkeypatch.setattr("cleft.search.decode.WIDEST", 11)
    assert asked(scorer, words, task, beam) == asked(plain, words, task, beam)
    [one], [two] = (search(each, words, task, options)[0] for each in (scorer, plain))
    assert one.tree == two.tree
    monkeypatch.setattr("cleft.search.decode.WIDEST", 12)
    assert asked(scorer, words, task, beam) != asked(plain, words, task, beam)


Steps = tuple[tuple[int, int, int], ...]


class Table:
    """Random scores of all spans of some sentences, and prices of labels of spans or of splits."""

    def __init__(self, seed: int, lengths: list[int], stops: bool, sharp: float, kind: str) -> None:
        make = np.random.default_rng(seed)
        self.lengths, self.stops, self.kind = np.array(lengths), stops, kind
        width = max(lengths) + 1
        raw = make.normal(scale=sharp, size=(len(lengths), width, width, width))
        self.scores = raw - np.log(np.exp(raw).sum(axis=-1, keepdims=True))
        self.prices = -make.exponential(0.3, size=raw.shape)
        self.asked: set[tuple[int, int, int]] = set()

    def ask(self, sentence: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        spans = set(zip(sentence.tolist(), left.tolist(), right.tolist(), strict=True))
        assert len(spans) == len(sentence)
        assert not spans & self.asked
        self.asked |= spans
        columns = np.arange(self.scores.shape[-1])
        legal = (columns > left[:, None]) & (columns < (right + self.stops)[:, None])
        return np.where(legal, self.scores[sentence, left, right], -np.inf)

    def price(self, sentence: np.ndarray, table: np.ndarray) -> np.ndarray:
        split = table[:, 1] if self.kind == "splits" else 0
        return self.prices[sentence, table[:, 0], table[:, -1], split]

    @property
    def paid(self) -> Prices | None:
        return Prices(self.price, self.kind == "splits") if self.kind else None

    def trees(self, sentence: int, left: int, right: int) -> list[tuple[float, Steps]]:
        """All trees over a span, with what they score."""
        if right - left < 2:
            return [(0.0, ())]
        found = []
        for split in range(left + 1, right + self.stops):
            own = self.scores[sentence, left, right, split]
            if self.kind == "spans":
                own += self.prices[sentence, left, right, 0]
            if split == right:
                found.append((own, ((left, split, right),)))
                continue
            if self.kind == "splits":
                own += self.prices[sentence, left, right, split]
            found += [
                (own + one + two, ((left, split, right), *above, *below))
                for one, above in self.trees(sentence, left, split)
                for two, below in self.trees(sentence, split, right)
            ]
        return found


tables = st.builds(
    Table,
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    stops=st.booleans(),
    sharp=st.sampled_from([0.3, 1.0, 3.0]),
    kind=st.sampled_from(["", "spans", "splits"]),
)


def _steps(made: Decisions) -> Steps:
    return tuple(map(tuple, made.table.tolist()))


@given(tables, st.sampled_from([1, 100]), st.floats(0, 4))
def test_the_best_tree_and_all_that_lose_little_are_those_of_brute_force(
    table: Table, most: int, slack: float
) -> None:
    rows = np.arange(len(table.lengths))
    recall = Recall(table.ask, table.lengths)
    known = level_by_level(recall, rows, table.lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cleft.search.levels.MOST", most)
        best = best_trees(recall, rows, known, table.paid)
        near = trees_within(recall, rows, best, table.paid, np.full(len(rows), slack), 20)
    for row, length in enumerate(table.lengths.tolist()):
        scores = {steps: score for score, steps in table.trees(row, 0, length)}
        top = max(scores.values())
        assert scores[_steps(best[row])] == pytest.approx(top, abs=1e-9)
        said = [table.scores[row, a, b, k] for a, k, b in _steps(best[row])]
        assert best[row].scores.tolist() == said
        close = [steps for steps, score in scores.items() if score > top - slack]
        if abs(min((scores[each] - top + slack for each in scores), key=abs)) < 1e-9:
            continue  # rounding decides
        if len(close) > 20:
            assert near[row] is None
        else:
            assert sorted(map(_steps, near[row])) == sorted(close or [_steps(best[row])])


def test_a_sure_tree_is_the_best_without_another_question() -> None:
    table = Table(1, [9, 12], stops=False, sharp=1.0, kind="")
    table.scores = np.where(np.arange(13) == np.arange(13)[:, None] + 1, -0.01, -9.0)[None, :, None]
    table.scores = np.broadcast_to(table.scores, (2, 13, 13, 13))
    rows, recall = np.arange(2), Recall(table.ask, table.lengths)
    known = level_by_level(recall, rows, table.lengths)
    before = len(table.asked)
    assert best_trees(recall, rows, known) == known
    assert len(table.asked) == before == 8 + 11


@given(scorers, tasks, st.integers(2, 6), st.integers(0, 9))
def test_what_is_no_number_is_in_no_tree(
    scorer: ToyScorer, task: Task, length: int, first: int
) -> None:
    words, plain = sentence(length, first), scorer.split

    def broken(*asked):
        log_probs, state = plain(*asked)
        log_probs[asked[3][:, 1] - asked[3][:, 0] == 3] = np.nan
        return log_probs, state

    scorer.split = broken
    for parse in search(scorer, [words], task, SearchOptions(beam=2))[0:1]:
        if isinstance(parse, list):
            assert np.isfinite(parse[0].split_log_prob)
