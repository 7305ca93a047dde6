"""Trees do not depend on a sentence's neighbours; the same call gives the same bytes."""

import pytest

from tests.runtime.models import model, sentences
from tests.torture.determinism import TIE, compositions, differences, fresh_digest, unequal

SENTENCES = sentences(1, 2, 3, 5, 8, 13, 21, 34, 4, 6, 1, 9, 12, 30, seed=5)


@pytest.mark.parametrize("kind", ["lstm", "bert"])
def test_neighbours_do_not_matter(kind: str) -> None:
    found = compositions(model(kind), SENTENCES, jobs=1, sizes=(20, 1_000))
    assert unequal(found) == []
    assert {part["trees"] for part in found.values()} == {2 * len(SENTENCES)}


def test_fresh_processes_write_the_same_bytes() -> None:
    path = model("lstm")
    found = {fresh_digest(path, SENTENCES, beam=3, seed=seed) for seed in (1, 2)}
    assert len(found) == 1
    assert fresh_digest(path, SENTENCES[1:], beam=3) not in found


def test_a_difference_is_seen() -> None:
    """The comparison itself can fail: two models of one kind of sentence do not agree."""
    import cleft

    parsers = [cleft.load(model(kind)) for kind in ("lstm", "bert")]
    one, two = (parser.parse_tokens(SENTENCES, alternatives=1) for parser in parsers)
    found = differences(one, two)
    assert found["different"] > 5
    assert found["largest_margin"] > TIE
    assert len(unequal({"two models": found})) == 1
