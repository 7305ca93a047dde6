"""Text that would like to be a program stays text."""

from urllib.parse import quote

import pytest

pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("playwright", reason="the page's tests need the package playwright")

from playwright.sync_api import Browser, Page, expect

from tests.browser.acting import TEXT, Actor
from tests.server.running import Running

SPRUNG = "window.sprung === undefined"
ATTACKS = [
    "<script>window.sprung=1</script> rain fell.",
    "<img src=x onerror=window.sprung=1> rain fell.",
    '"><svg onload=window.sprung=1> rain fell.',
    "javascript:window.sprung=1 rain fell.",
    "</textarea></title><iframe srcdoc='<script>parent.sprung=1</script>'> rain fell.",
    "' onfocus=window.sprung=1 autofocus x=' rain fell.",
    "{{constructor.constructor('window.sprung=1')()}} ${window.sprung=1} rain fell.",
    "\u202e\u2066evil\u0000\u0007\ud83d rain \u200b fell.",
]


def look_everywhere(actor: Actor) -> None:
    """Go through all that shows the text."""
    page = actor.page
    page.locator("#syntax .phrase").first.click()
    page.locator("#discourse .unit").first.click()
    for task in ("syntax", "discourse"):
        page.click(f"#{task} button:has-text('Replay')")
        page.click(f"#{task} button[aria-label='Next step']")


def assert_inert(page: Page) -> None:
    assert page.evaluate(SPRUNG)
    strange = page.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) =>"
        " ['SCRIPT', 'IFRAME', 'IMG', 'OBJECT', 'A', 'STYLE'].includes(one.tagName.toUpperCase())"
        " || [...one.attributes].some(({name, value}) =>"
        "   name.startsWith('on') || /^\\s*javascript:/i.test(value) && /^(href|src)$/.test(name)))"
        ".map((one) => one.outerHTML)"
    )
    assert strange == []


def units(text: str) -> list[int]:
    """The text as the page will hold it; a lone surrogate does not pass the driver otherwise."""
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


PASTE = """(units) => {
  const field = document.querySelector("#text");
  field.value = String.fromCharCode(...units);
  field.dispatchEvent(new Event("input"));
}"""


def test_hostile_tokens_are_inert(actor: Actor) -> None:
    for attack in ATTACKS:
        actor.page.click("#clear")
        actor.page.evaluate(PASTE, units(attack))
        actor.wait()
        look_everywhere(actor)
        assert_inert(actor.page)


def test_hostile_fragments_are_inert(page: Page, server: Running) -> None:
    for attack in ATTACKS[:-1]:
        evil = quote(attack)
        page.goto("about:blank")
        page.goto(f"{server.url}#text={evil}&model={evil}&beam={evil}&sentence={evil}&{evil}=1")
        Actor(page, server).wait()
        assert page.input_value("#text") == attack
        assert_inert(page)
    page.goto(f"{server.url}#javascript:window.sprung=1")
    assert_inert(page)


def test_hostile_labels_and_errors_are_inert(actor: Actor) -> None:
    evil = "<img src=x onerror=window.sprung=1>"

    def poison(value: object) -> object:
        if isinstance(value, dict):
            return {key: poison(one) for key, one in value.items()}
        if isinstance(value, list):
            return [poison(one) for one in value]
        return evil if isinstance(value, str) and value not in ("NS", "SN", "NN") else value

    answer = {**actor.answer(trace=True), "warnings": [evil]}
    actor.page.route("**/v1/parse", lambda route: route.fulfill(json=poison(answer)))
    actor.type(TEXT)
    expect(actor.page.locator("#warnings")).to_contain_text("<img")
    look_everywhere(actor)
    assert_inert(actor.page)
    actor.page.route(
        "**/v1/parse",
        lambda route: route.fulfill(
            status=422, json={"error": {"code": evil, "message": evil, "where": evil, "hint": evil}}
        ),
    )
    actor.page.fill("#text", "Again.")
    expect(actor.page.locator("#problem strong")).to_contain_text("<img")
    assert_inert(actor.page)


def test_the_policy_would_stop_what_came_through(browser: Browser, server: Running) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    with page.expect_console_message(lambda told: "Content Security Policy" in told.text):
        page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.sprung=1>')"
        )
    assert page.evaluate(SPRUNG)
    context.close()
