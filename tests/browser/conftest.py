"""One server with tiny real models, one browser, and a page that may not complain.

The modules that need the server or Playwright skip themselves where either is
absent; nothing here may import them before a test asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.chromium import executable, launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from tests.browser.acting import Actor
    from tests.server.running import Running

PATIENCE = 180_000
"""Milliseconds that a busy machine may take for what is done at once on an idle one."""

DELAY = int(os.environ.get("CLEFT_BROWSER_DELAY", "0"))
"""Milliseconds by which every answer of the server comes late, to find who does not wait."""

SLOWLY = """(() => {
  const { fetch, setTimeout } = window;
  window.fetch = async (...asked) => {
    const answer = await fetch(...asked);
    await new Promise((done) => setTimeout(done, DELAY));
    asked[1]?.signal?.throwIfAborted();
    return answer;
  };
})()""".replace("DELAY", str(DELAY))


def slow_down(browser: Browser) -> None:
    """Let the answers of the server come late in every context that is opened."""
    opening = browser.new_context

    def open_slowly(**options: Any) -> BrowserContext:
        context = opening(**options)
        context.add_init_script(SLOWLY)
        return context

    browser.new_context = open_slowly  # type: ignore[method-assign]


@pytest.fixture(scope="package")
def server() -> Iterator[Running]:
    from tests.server.running import in_thread

    with in_thread(None, "chars", "words") as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if executable() is None:
        pytest.skip("no Chromium: `make test-browser` installs it, or name one in CLEFT_CHROMIUM")
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    with launched() as found:
        if DELAY:
            slow_down(found)
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1100, "height": 800}, accept_downloads=True)
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; an exception in it, or anything that its policy forbids, fails the test."""
    made = context.new_page()
    complaints: list[str] = []
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("console", lambda told: complaints.append(told.text))
    yield made
    assert not [one for one in complaints if "Failed to load resource" not in one]


@pytest.fixture
def actor(page: Page, server: Running) -> Actor:
    from tests.browser.acting import Actor

    page.goto(server.url)
    return Actor(page, server)
