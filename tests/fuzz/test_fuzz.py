"""A few examples of every target; `make fuzz` tries many."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import http, models, readers
from tests.fuzz.cases import Target
from tests.fuzz.trying import Tally, attempt

FEW = 20
FEWER = 8  # of what takes longer


def some(target: Target, count: int) -> Tally:
    """Try a few cases, the same in every run."""
    target.warm()
    tally = Tally()

    @settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(target.cases)
    def tried(case: object) -> None:
        attempt(target, case, tally)

    tried()
    return tally


@pytest.mark.parametrize("target", readers.targets(), ids=lambda target: target.name)
def test_readers_raise_errors_of_cleft_only(target: Target) -> None:
    assert some(target, FEW).examples >= FEW


@pytest.mark.parametrize("target", models.targets(), ids=lambda target: target.name)
def test_models_are_used_or_refused(target: Target) -> None:
    assert some(target, FEWER).examples >= FEWER


@pytest.mark.parametrize("target", http.targets(), ids=lambda target: target.name)
def test_the_server_answers_whatever_comes(target: Target) -> None:
    assert some(target, FEWER).examples >= FEWER


def test_a_fault_of_a_reader_is_seen() -> None:
    """The harness itself: what is none of cleft's errors comes out, what is slow is told."""

    def fails(case: bytes) -> None:
        raise KeyError(case)

    for target, error in (
        (Target(name="wrong", cases=st.binary(), run=fails), KeyError),
        (
            Target(name="slow", cases=st.binary(), run=lambda case: None, seconds=0.0),
            AssertionError,
        ),
    ):
        with pytest.raises(error):
            attempt(target, b"", Tally())
