"""The page for everyone: narrow screens, keys alone, dark, little motion, screen readers."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("playwright", reason="the page's tests need the package playwright")

from playwright.sync_api import Browser, Page, expect

from cleft.draw.theme import DARK, LIGHT
from tests.browser.acting import TEXT, TEXTS, Actor
from tests.draw.test_theme import contrast
from tests.server.running import GERMAN, Running, in_thread

AXE = Path(__file__).parents[2] / ".venv/axe/package/axe.min.js"

SEEN = """() => {
  const one = document.activeElement;
  if (one === document.body) return null;
  const ring = one.querySelector(".hit");
  if (ring && getComputedStyle(ring).stroke !== "none") return true;
  const parts = [one, one.nextElementSibling].filter(Boolean);
  return parts.some((each) => getComputedStyle(each).outlineStyle !== "none") || one.outerHTML;
}"""


def colour(page: Page, of: str = "body", name: str = "backgroundColor") -> str:
    found = page.evaluate(f"getComputedStyle(document.querySelector('{of}')).{name}")
    numbers = [int(part) for part in found.split("(")[1].rstrip(")").split(",")[:3]]
    return "#" + "".join(f"{number:02x}" for number in numbers)


def test_nothing_sticks_out_of_a_narrow_screen(actor: Actor) -> None:
    page = actor.page
    page.set_viewport_size({"width": 320, "height": 640})
    long = "The old grey heron waits, so she left because rain fell on the old heron and she can't."
    actor.type(f"{long} {'Donaudampfschifffahrt' * 8}. {TEXT}")
    page.locator("#syntax .phrase").first.click()
    page.click("#discourse button:has-text('Replay')")
    expect(page.locator("#discourse .replay")).to_be_visible()
    expect(page.locator("#syntax .panel")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    outside = page.evaluate(
        "[...document.querySelectorAll('button, select, input, summary')]"
        ".filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > 320)"
        ".map((one) => one.outerHTML)"
    )
    assert outside == []
    scroll = "document.querySelector('#syntax .scroll')"
    assert page.evaluate(f"{scroll}.scrollWidth > {scroll}.clientWidth")
    page.click("#syntax button:has-text('Fit')")
    assert page.evaluate(f"{scroll}.scrollWidth <= {scroll}.clientWidth")


def test_all_can_be_done_by_keys_alone(actor: Actor) -> None:
    expect(actor.focused).to_have_id("text")
    actor.page.keyboard.type(TEXT)
    actor.wait()
    for _ in range(40):
        actor.press("Tab")
        if actor.page.evaluate("document.activeElement.getAttribute('role')") == "treeitem":
            break
    expect(actor.focused).to_have_attribute("aria-level", "1")
    assert colour(actor.page, ":focus .hit", "stroke") == LIGHT["clause"]
    actor.press("ArrowDown")
    expect(actor.focused).to_have_attribute("aria-level", "2")
    actor.press("Enter")
    expect(actor.page.locator("#syntax .panel")).to_be_visible()
    expect(actor.focused).to_have_attribute("aria-selected", "true")
    actor.press("Escape")
    expect(actor.page.locator("#syntax .panel")).to_have_count(0)
    expect(actor.focused).to_have_attribute("aria-level", "2")
    actor.press("ArrowUp")
    expect(actor.focused).to_have_attribute("aria-level", "1")
    actor.press("End")
    assert "leaf" in (actor.focused.get_attribute("class") or "")


def test_every_stop_of_the_tab_key_shows_where_it_is(actor: Actor) -> None:
    actor.type(TEXTS)
    actor.page.locator("#text").focus()
    unseen = []
    for _ in range(30):
        actor.press("Tab")
        seen = actor.page.evaluate(SEEN)
        if seen is None:  # the end of the page
            break
        if seen is not True:
            unseen.append(seen)
    assert unseen == []


def test_dark_follows_the_system_and_the_switch(browser: Browser, server: Running) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(server.url)
    assert colour(page) == DARK["page"]
    page.locator("#theme input").nth(1).check()
    assert colour(page) == LIGHT["page"]
    page.reload()
    assert colour(page) == LIGHT["page"]
    page.locator("#theme input").nth(2).check()
    page.emulate_media(color_scheme="light")
    assert colour(page) == DARK["page"]
    page.locator("#theme input").nth(0).check()
    assert colour(page) == LIGHT["page"]
    context.close()


def test_nothing_moves_for_those_who_want_little_motion(actor: Actor) -> None:
    page = actor.page
    page.emulate_media(reduced_motion="reduce")
    actor.type()
    page.click("#syntax button:has-text('Replay')")
    page.click("#syntax button[aria-label='Next step']")
    assert page.evaluate("document.getAnimations().length") == 0
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.share')).animationName") == "none"
    )


def test_what_happens_is_told_to_screen_readers(actor: Actor) -> None:
    status = actor.page.locator("#status[role=status]")
    expect(status).to_have_text("")
    actor.type(TEXTS)
    expect(status).to_contain_text("2 sentences, 12 tokens")
    tree = actor.page.get_by_role("tree", name="Syntax tree of: Rain fell, so she left.")
    items = tree.get_by_role("treeitem")
    assert items.count() == len(actor.trees("syntax", TEXTS)[0]["nodes"]) + 7
    assert "Rain fell , so she left ." in (items.first.get_attribute("aria-label") or "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, server: Running, scheme: Any) -> None:
    if not AXE.is_file():
        pytest.skip(f"axe-core is not here ({AXE}): `make test-browser` fetches it")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(server.url)
    page.add_script_tag(path=AXE)
    actor = Actor(page, server)
    found = audit(page, "empty")
    actor.type(TEXTS)
    page.locator("#syntax .phrase").nth(1).click()
    actor.pick("discourse", 2)
    page.locator("#keep").fill("0")
    page.click("#syntax .menu summary")
    found += audit(page, "trees")
    page.keyboard.press("Escape")
    for task in ("syntax", "discourse"):
        page.click(f"#{task} button:has-text('Replay')")
        page.click(f"#{task} button[aria-label='Next step']")
    found += audit(page, "replay")
    page.fill("#text", "rain " * 10_001)
    actor.settle()
    expect(page.locator("#problem")).to_be_visible()
    found += audit(page, "problem")
    expect(page.locator("#problem")).to_be_visible()
    page.fill("#text", "")
    actor.settle()
    expect(page.locator("#empty")).to_be_visible()
    found += audit(page, "emptied")
    context.close()
    assert found == []


def audit(page: Page, state: str) -> list[str]:
    """What axe-core calls serious or critical, each with where it is."""
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{state}: {one['id']} at {node['target']}: {node['failureSummary']}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_note_on_a_text_can_be_read(browser: Browser, scheme: Any) -> None:
    with in_thread(None, "chars") as running:
        running.declare("en")
        context = browser.new_context(color_scheme=scheme, viewport={"width": 320, "height": 640})
        page = context.new_page()
        page.goto(running.url)
        Actor(page, running).type(GERMAN)
        ink, ground = colour(page, "#warnings p", "color"), colour(page, "#warnings p")
        assert ground == {"light": LIGHT, "dark": DARK}[scheme]["modifier-tint"]
        assert contrast(ink, ground) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        context.close()
