"""A text as a whole on the page: to be read, with less of it, and its tree on demand."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("playwright", reason="the page's tests need the package playwright")
pytest.importorskip("cleft.documents", reason="no part of this cleft parses whole documents")

from playwright.sync_api import Page, expect

from cleft.models import model_path
from tests.browser.acting import Actor
from tests.server.running import Running, in_thread

TEXT = "The Day\n\nAnn slept because it rained. But Ben left.\n\nEva won. So Tom smiled."


@pytest.fixture(scope="module")
def documents(document_model: str) -> Iterator[Running]:
    with in_thread(None, model_path(document_model)) as running:
        yield running


def test_a_text_is_read_shortened_and_drawn_as_a_whole(page: Page, documents: Running) -> None:
    page.goto(documents.url)
    Actor(page, documents).type(TEXT)
    card = page.locator("#document")
    expect(card).to_be_visible()
    tree = documents.post("/v1/document", {"text": TEXT, "beam": 8}).json["tree"]
    parts = card.locator(".part")
    expect(parts).to_have_text(tree["texts"])
    expect(card.locator(".prose p")).to_have_count(3)
    page.locator("#levels").focus()
    page.keyboard.press("Home")
    gist = sum(level == 0 for level in tree["levels"])
    expect(card.locator(".part:not(.left-out)")).to_have_count(gist)
    assert 0 < gist < len(tree["texts"])
    page.keyboard.press("End")
    expect(card.locator(".left-out")).to_have_count(0)
    card.locator("button", has_text="Tree").click()
    expect(card.locator("svg.tree .unit")).to_have_count(len(tree["texts"]))
    card.locator("button", has_text="Tree").click()
    expect(card.locator("svg.tree")).to_be_hidden()


def test_one_sentence_is_no_document(page: Page, documents: Running) -> None:
    page.goto(documents.url)
    actor = Actor(page, documents)
    actor.type(TEXT)
    expect(page.locator("#document")).to_be_visible()
    actor.type("Ann slept.")
    expect(page.locator("#document")).to_be_hidden()
