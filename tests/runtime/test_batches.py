from hypothesis import given
from hypothesis import strategies as st

from cleft.runtime.batches import plan, windows


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 200), st.integers(1, 9))
def test_batches_hold_every_sentence_once_within_their_budget(lengths, tokens, sentences):
    batches = plan(lengths, tokens, sentences)
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    for batch in batches:
        sizes = [lengths[n] for n in batch]
        assert sizes == sorted(sizes, reverse=True)
        assert len(batch) <= sentences
        assert len(batch) == 1 or sizes[0] * len(batch) <= tokens


@given(st.lists(st.text(max_size=5), max_size=300), st.integers(1, 64), st.integers(1, 50))
def test_windows_keep_the_order_and_end_at_their_size(items, size, tokens):
    found = list(windows(items, size, tokens))
    assert [item for window in found for item in window] == items
    for window in found:
        assert len(window) <= size
        assert sum(map(len, window[:-1])) < tokens


def test_the_first_window_is_read_before_the_rest():
    read = []
    items = (read.append(n) or "a" for n in range(10_000))
    next(windows(items))
    assert len(read) == 32
