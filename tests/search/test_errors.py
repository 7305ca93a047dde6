"""Bad input and bad models: an error for its sentence, and the others are parsed."""

import numpy as np
import pytest

from cleft.errors import CleftError, InputError, ModelError, UsageError
from cleft.search import Parse, SearchOptions, search
from cleft.tasks import DISCOURSE, SYNTAX, Task
from cleft.tree import is_dummy

from .toy import SYNTAX_LABELS, ToyScorer, sentence

TASKS = pytest.mark.parametrize("task", [SYNTAX, DISCOURSE], ids=lambda task: task.name)


def one(result: list[Parse] | CleftError) -> Parse:
    assert isinstance(result, list), result
    assert len(result) == 1
    return result[0]


@TASKS
@pytest.mark.parametrize("beam", [1, 3])
def test_an_empty_sentence_is_an_error_and_the_others_are_parsed(task: Task, beam: int) -> None:
    results = search(
        ToyScorer(), [[], sentence(4), [], sentence(3)], task, SearchOptions(beam=beam)
    )
    for place in (0, 2):
        assert isinstance(results[place], InputError)
        assert f"sentence {place + 1}: there are no tokens" in str(results[place])
    assert one(results[1]).derivation.length == 4
    assert one(results[3]).derivation.length == 3
    scorer = ToyScorer()
    assert isinstance(search(scorer, [[]], task)[0], InputError)
    assert scorer.asked == []


@TASKS
@pytest.mark.parametrize("options", [{}, {"beam": 4}, {"beam": 4, "prune": False}])
def test_a_model_that_gives_no_numbers_is_reported_for_its_sentence(
    task: Task, options: dict[str, int]
) -> None:
    class Broken(ToyScorer):
        def split(self, encoded, task, rows, spans, state):
            log_probs, state = super().split(encoded, task, rows, spans, state)
            log_probs[rows == 1] = np.nan
            return log_probs, state

    sentences = [sentence(5), sentence(4), sentence(6)]
    results = search(Broken(), sentences, task, SearchOptions(**options))
    assert isinstance(results[1], ModelError)
    assert "sentence 2: the model gave no usable probability" in str(results[1])
    good = search(ToyScorer(), sentences, task, SearchOptions(**options))
    assert one(results[0]).log_prob == one(good[0]).log_prob
    assert one(results[2]).log_prob == one(good[2]).log_prob


@pytest.mark.parametrize("n_best", [1, 3])
def test_labels_that_are_no_numbers_are_reported_for_their_sentence(n_best: int) -> None:
    class Broken(ToyScorer):
        def label(self, encoded, task, rows, items):
            log_probs = super().label(encoded, task, rows, items)
            log_probs[rows == 0, 3] = np.nan
            return log_probs

    options = SearchOptions(n_best=n_best)
    bad, good = search(Broken(), [sentence(3), sentence(4)], SYNTAX, options)
    assert isinstance(bad, ModelError)
    assert isinstance(good, list)


def test_a_root_whose_phrase_labels_have_no_probability_is_still_a_phrase() -> None:
    class Flat(ToyScorer):
        def label(self, encoded, task, rows, items):
            log_probs = np.full((len(rows), len(SYNTAX_LABELS)), -np.inf)
            log_probs[:, SYNTAX_LABELS.index("∅")] = 0.0
            return log_probs

    parse = one(search(Flat(), [sentence(3)], SYNTAX)[0])
    assert not is_dummy(parse.derivation.labels[0])
    assert all(is_dummy(label) for label in parse.derivation.labels[1:])


def test_rounding_never_makes_a_probability_above_one() -> None:
    class Rounded(ToyScorer):
        def split(self, encoded, task, rows, spans, state):
            log_probs, state = super().split(encoded, task, rows, spans, state)
            return np.full_like(log_probs, 1e-7), state

    parse = one(search(Rounded(), [sentence(3)], DISCOURSE)[0])
    assert {evidence.split for evidence in parse.evidence.values()} <= {1.0, None}
    assert all(evidence.probability <= 1.0 for evidence in parse.evidence.values())


@TASKS
@pytest.mark.parametrize("options", [{}, {"beam": 4}, {"beam": 4, "prune": False}])
def test_zero_probabilities_leave_no_hypothesis_without_a_child(
    task: Task, options: dict[str, int]
) -> None:
    class Sure(ToyScorer):
        """All its probability is on the last boundary; the rest has none at all."""

        def split(self, encoded, task, rows, spans, state):
            log_probs, state = super().split(encoded, task, rows, spans, state)
            ends = log_probs.shape[1] - 1
            return np.where(np.arange(ends + 1) == ends, 0.0, -np.inf) + 0 * log_probs[:, :1], state

    parse = one(search(Sure(), [sentence(5)], task, SearchOptions(**options))[0])
    assert parse.derivation.length == 5
    assert len(parse.derivation.splits) == (4 if task is SYNTAX else 1)


def test_a_model_with_dummies_only_is_an_error() -> None:
    scorer = ToyScorer()
    scorer.labels = lambda task: ["∅", "∅NP"]
    with pytest.raises(ModelError, match="no label for syntax but the dummy"):
        search(scorer, [sentence(3)], SYNTAX)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"beam": 0}, "beam is 0, expected 1 or more"),
        ({"n_best": 0}, "n_best is 0, expected 1 or more"),
        ({"margin": -1.0}, "margin is -1.0, expected a number, 0 or more"),
        ({"margin": float("nan")}, "margin is nan"),
        ({"alternatives": -1}, "alternatives is -1, expected 0 or more"),
    ],
)
def test_options_that_cannot_mean_anything_are_refused(wrong, message) -> None:
    with pytest.raises(UsageError, match=message):
        SearchOptions(**wrong)


def test_lists_of_the_wrong_length_are_refused() -> None:
    with pytest.raises(UsageError, match="1 constraints for 2 sentences"):
        search(ToyScorer(), [["a"], ["b"]], SYNTAX, constraints=[None])
    with pytest.raises(UsageError, match="3 lists of tags for 2 sentences"):
        search(ToyScorer(), [["a"], ["b"]], SYNTAX, tags=[None] * 3)
