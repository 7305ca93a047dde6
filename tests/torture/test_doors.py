"""A sample of the torture corpus through every door. `make torture` takes the whole."""

from pathlib import Path
from typing import Any

import pytest

from tests.torture.api import through_api
from tests.torture.corpus import Case, sample
from tests.torture.shell import through_shell

SAMPLE = sample(300, longest=400)
LONG = [
    Case("long", 0, "a" * 10_000),
    Case("long", 1, ["!" * 10_000, "rained"]),
    Case("long", 2, ["c" * 10_001]),
    Case("long", 3, "e" + "\u0301" * 9_000),
    Case("long", 4, ["word"] * 20_001),
    Case("long", 5, "word " * 300),
]


def sound(found: dict[str, Any], count: int) -> None:
    """All inputs were seen by every part, and nothing is wrong with any."""
    parts = {name: part for name, part in found.items() if isinstance(part, dict)}
    assert {name: part["faults"] for name, part in parts.items() if part["faults"]} == {}
    assert max(part["inputs"] for part in parts.values()) >= count


@pytest.mark.parametrize("kind", ["tiny", "tiny_words"])
def test_through_python(kind: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(kind)
    found = through_api([*SAMPLE, *LONG], model, jobs=1, every=7)
    sound(found, len(SAMPLE) + len(LONG))
    assert found["stream"]["errors"].keys() == {"InputError"}


def test_through_the_shell(tiny_words: Path, tmp_path: Path) -> None:
    cases = SAMPLE[:60]
    found = through_shell(cases, tiny_words, tmp_path, drawn=40, most=3, formats=("rs3",))
    sound(found, 30)
    assert found["what is not UTF-8"]["errors"]["refused"] == 3


def test_through_http(tiny_words: Path) -> None:
    pytest.importorskip("starlette")
    from tests.server.running import in_thread
    from tests.torture.web import through_web

    with in_thread(None, "lstm") as running:
        found = through_web([*SAMPLE, *LONG], running, every=5)
    sound(found, len(SAMPLE))
    assert found["JSON Lines"]["errors"].keys() <= {"sentence", "invalid", "bad_json", "too_large"}


def test_through_spacy(tiny_words: Path) -> None:
    pytest.importorskip("spacy")
    from tests.torture.pipeline import through_spacy

    found = through_spacy([*SAMPLE, *LONG], tiny_words)
    sound(found, len(SAMPLE))
