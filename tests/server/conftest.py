"""One server for all tests that only ask it."""

from collections.abc import Iterator

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra cleft[serve]")
pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("uvicorn", reason="the server needs the extra cleft[serve]")

from cleft.models import model_path
from tests.server.running import Running, in_thread


@pytest.fixture(scope="package")
def server() -> Iterator[Running]:
    with in_thread(None, "lstm", "words") as running:
        yield running


@pytest.fixture(scope="package")
def documents(document_model: str) -> Iterator[Running]:
    """A server of a model with a head for documents."""
    with in_thread(None, model_path(document_model)) as running:
        yield running
