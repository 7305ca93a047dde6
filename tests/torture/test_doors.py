"""A sample of the torture corpus through every door. `make torture` takes the whole."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import cleft
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
OTHERS = pytest.mark.filterwarnings("ignore::cleft.errors.LanguageWarning")


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


@OTHERS
def test_as_documents(document_model: str, tmp_path: Path) -> None:
    from tests.torture.documents import through_api, through_shell

    cases = SAMPLE[:80]
    found = through_api([*cases, LONG[1], LONG[3]], document_model, every=7)
    sound(found, 15)
    assert found["stream of documents"]["errors"].keys() == {"InputError"}
    sound(through_shell(cases[:30], document_model, tmp_path), 5)


@OTHERS
def test_as_documents_through_http(document_model: str) -> None:
    pytest.importorskip("starlette")
    from cleft.models import model_path
    from tests.server.running import in_thread
    from tests.torture.documents import through_web

    with in_thread(None, model_path(document_model)) as running:
        sound(through_web(SAMPLE[80:140], running), 10)


@OTHERS
def test_documents_that_are_parsed_at_once_never_mix(document_model: str) -> None:
    """In one stream, in worker processes and in threads each is what it is alone."""
    from tests.torture.documents import grouped

    parser = cleft.load(document_model)
    items = [item for _, item in grouped(SAMPLE[:40]) if isinstance(item, str)]
    alone = [parser.parse_document(item).to_jsonl() for item in items]
    assert len(alone) > 5
    assert [found.to_jsonl() for found in parser.stream(items, document=True)] == alone
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda item: parser.parse_document(item).to_jsonl(), items)
        assert list(found) == alone
