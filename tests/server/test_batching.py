"""Many requests, one model call: nothing lost, nothing swapped, nothing done for nobody."""

import threading
from collections.abc import Sequence

import pytest

from cleft.search import SearchOptions
from cleft.sentence import Sentence, SentenceInput
from cleft.server import batching as module
from cleft.server.batching import Batcher, BatchKey, ServedModel, load_models
from cleft.server.responses import RequestError
from cleft.text import Reading
from tests.runtime.models import WORDS, model


class Slow:
    """A parse that waits for leave, and remembers its calls."""

    def __init__(self) -> None:
        self.leave = threading.Event()
        self.begun = threading.Event()
        self.calls: list[list[str]] = []

    def __call__(self, given: Sequence[SentenceInput], key: BatchKey) -> list[Sentence]:
        self.calls.append([each.text for each in given])
        self.begun.set()
        assert self.leave.wait(30)
        if any("boom" in each.text for each in given):
            raise ValueError("boom")
        return [each.result() for each in given]


@pytest.fixture
def slow() -> Slow:
    return Slow()


def given(*texts: str) -> list[SentenceInput]:
    return list(Reading().sentences(text.split() for text in texts))


def started(slow: Slow, capacity: int = 10) -> Batcher:
    """A batcher whose thread is held in a call for the sentence `first`."""
    queue = Batcher(slow, capacity)
    queue.submit(given("first"), BatchKey())
    assert slow.begun.wait(30)
    return queue


def test_what_comes_while_the_model_works_is_one_call(slow: Slow) -> None:
    queue = started(slow)
    futures = [queue.submit(given(f"a {n}", f"b {n}"), BatchKey()) for n in range(4)]
    slow.leave.set()
    found = [[sentence.text for sentence in future.result(30)] for future in futures]
    queue.stop()
    assert found == [[f"a {n}", f"b {n}"] for n in range(4)]
    assert len(slow.calls) == 2
    assert len(slow.calls[1]) == 8


def test_other_options_are_another_call_in_their_turn(slow: Slow) -> None:
    queue = started(slow)
    wide = BatchKey("both", SearchOptions(beam=2))
    order = [("a", BatchKey()), ("b", wide), ("c", BatchKey()), ("d", wide)]
    futures = [queue.submit(given(text), key) for text, key in order]
    slow.leave.set()
    for future in futures:
        future.result(30)
    queue.stop()
    assert slow.calls[1:] == [["a", "c"], ["b", "d"]]


def test_a_long_request_does_not_keep_short_ones_waiting(slow: Slow) -> None:
    queue = started(slow)
    long = queue.submit(given(*[f"long {n}" for n in range(1000)]), BatchKey())
    short = queue.submit(given("short"), BatchKey())
    slow.leave.set()
    assert [sentence.text for sentence in long.result(30)] == [f"long {n}" for n in range(1000)]
    assert short.result(30)[0].text == "short"
    queue.stop()
    assert "short" in slow.calls[1]
    assert all(len(call) <= module.SENTENCES for call in slow.calls)


def test_a_call_is_bounded_in_tokens_and_what_finds_no_room_is_next(slow: Slow) -> None:
    queue = started(slow)
    big = " ".join(["w"] * (module.TOKENS - 1))
    futures = [queue.submit(given(text), BatchKey()) for text in (big, "x y", "z")]
    slow.leave.set()
    for future in futures:
        future.result(30)
    queue.stop()
    assert slow.calls[1:] == [[big], ["x y", "z"]]


def test_cancelled_work_is_never_done(slow: Slow) -> None:
    queue = started(slow)
    dropped, kept = (queue.submit(given(text), BatchKey()) for text in ("dropped", "kept"))
    assert dropped.cancel()
    assert queue.waiting == 1
    slow.leave.set()
    kept.result(30)
    queue.stop()
    assert slow.calls[1:] == [["kept"]]


def test_cancelled_in_the_middle_of_a_call_is_no_harm(slow: Slow) -> None:
    queue = Batcher(slow, 10)
    future = queue.submit(given("first"), BatchKey())
    assert slow.begun.wait(30)
    assert future.cancel()
    slow.leave.set()
    assert queue.submit(given("second"), BatchKey()).result(30)[0].text == "second"
    queue.stop()


def test_a_full_queue_refuses_until_there_is_room(slow: Slow) -> None:
    queue = started(slow, capacity=2)
    one, _two = (queue.submit(given("x"), BatchKey()) for _ in range(2))
    with pytest.raises(RequestError) as refused:
        queue.submit(given("y"), BatchKey())
    assert refused.value.status == 429
    one.cancel()
    queue.submit(given("y"), BatchKey())
    slow.leave.set()
    queue.stop()


def test_stopping_finishes_what_is_queued_and_takes_nothing_more(slow: Slow) -> None:
    queue = started(slow)
    waiting = queue.submit(given("waiting"), BatchKey())
    ending = threading.Thread(target=queue.stop)
    ending.start()
    while not queue._stopping:
        pass
    with pytest.raises(RequestError) as refused:
        queue.submit(given("late"), BatchKey())
    assert refused.value.status == 503
    slow.leave.set()
    ending.join(30)
    assert waiting.result(0)[0].text == "waiting"


def test_a_sentence_that_fails_does_not_take_others_with_it(slow: Slow) -> None:
    queue = started(slow)
    good, bad, mixed = (
        queue.submit(given(*texts), BatchKey()) for texts in (["a", "b"], ["boom"], ["c", "boom"])
    )
    slow.leave.set()
    assert [sentence.text for sentence in good.result(30)] == ["a", "b"]
    for future in (bad, mixed):
        with pytest.raises(ValueError, match="boom"):
            future.result(30)
    queue.stop()


def test_nothing_is_done_at_once(slow: Slow) -> None:
    queue = Batcher(slow, 1)
    assert queue.submit([], BatchKey()).result(0) == []
    queue.stop()


def test_threads_get_what_the_library_gives_them() -> None:
    (served,) = load_models([model("lstm")]).values()
    asked = [[WORDS[n % 12 : n % 12 + 2 + n % 7]] for n in range(40)]
    answers: list[list[Sentence]] = [[] for _ in asked]

    def ask(served: ServedModel, number: int) -> None:
        future = served.batcher.submit(list(Reading().sentences(asked[number])), BatchKey())
        answers[number] = [each.sentence for each in future.result(60)]

    threads = [threading.Thread(target=ask, args=(served, number)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    served.batcher.stop()
    for rows, found in zip(asked, answers, strict=True):
        wanted = served.parser.parse_tokens(rows)
        assert [sentence.syntax for sentence in found] == [each.syntax for each in wanted]
        assert [sentence.discourse for sentence in found] == [each.discourse for each in wanted]
