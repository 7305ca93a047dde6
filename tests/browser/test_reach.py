"""The page for everyone: narrow screens, keys alone, dark, little motion, screen readers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("playwright", reason="the page's tests need the package playwright")

from playwright.sync_api import Browser, BrowserContext, Page, expect

from cleft.draw.theme import DARK, LIGHT
from cleft.models import model_path
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


FITTED = """() => {
  const all = (name) => [...document.querySelectorAll(name)];
  const seen = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight;
  };
  const told = (one) => [...one.childNodes].some((child) => child.data?.trim());
  const size = (one) => {
    const scale = one.getScreenCTM ? one.getScreenCTM().a : 1;
    return parseFloat(getComputedStyle(one).fontSize) * scale;
  };
  const sizes = all("main *").filter((one) => one.checkVisibility() && told(one));
  const panes = all(".pane .scroll").filter((one) => one.scrollWidth > one.clientWidth + 1);
  const first = ["#syntax .label", "#syntax .word"];
  return {
    outside: first.filter((name) => !seen(document.querySelector(name))),
    odd: sizes.filter((one) => size(one) < 10.95 || size(one) > 20).map((one) => one.outerHTML),
    wide: document.documentElement.scrollWidth - innerWidth,
    scrolled: panes.length,
  };
}"""
PART = "she left the island when the old heron slept because rain fell on the pier , and"


def sentence(tokens: int) -> str:
    """A sentence of so many tokens, without a full stop."""
    words = (f"{PART} " * (tokens // 16 + 1)).split()[:tokens]
    return " ".join(words).replace(" ,", ",")


@pytest.fixture(scope="module")
def english() -> Iterator[Running]:
    """The built-in model: what is in view depends on what trees are like."""
    with in_thread(None, model_path("en-fast")) as running:
        yield running


@pytest.mark.parametrize(("width", "height"), [(320, 640), (768, 1024), (1280, 800)])
def test_root_and_first_word_are_in_view_whatever_the_length(
    context: BrowserContext, english: Running, width: int, height: int
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{english.url}#beam=1&trees=1&text=")
    for tokens in (2, 25, 63, 300):
        Actor(page, english).type(sentence(tokens))
        expect(page.locator("#status")).to_contain_text(f" {tokens} tokens")
        found = page.evaluate(FITTED)
        assert found == {"outside": [], "odd": [], "wide": 0, "scrolled": 0}, tokens
        assert page.locator("#syntax .word").count() == tokens


def test_the_reader_chooses_the_view(actor: Actor) -> None:
    actor.page.set_viewport_size({"width": 320, "height": 640})
    actor.type(f"{TEXT[:-1]} because {TEXT.lower()}")
    shown = actor.page.locator("#syntax svg.tree")
    expect(shown).to_have_class("tree outline")
    chosen = actor.page.locator("#syntax .views")
    for view in ("tree", "rows", "outline"):
        chosen.select_option(view)
        expect(shown).to_have_class(f"tree {view}")
        actor.settle()
        words = actor.page.locator("#syntax .word").all_text_contents()
        assert len(words) == 14
    chosen.select_option("tree")
    expect(shown).to_have_class("tree tree")
    scroll = "document.querySelector('#syntax .scroll')"
    assert actor.page.evaluate(f"{scroll}.scrollWidth > {scroll}.clientWidth")
    assert actor.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_narrower_page_draws_the_tree_anew(actor: Actor) -> None:
    actor.type(f"{TEXT[:-1]} because {TEXT.lower()}")
    expect(actor.page.locator("#discourse svg.tree")).to_be_visible()
    before = actor.page.locator("#syntax svg.tree").get_attribute("width")
    actor.page.set_viewport_size({"width": 320, "height": 640})
    expect(actor.page.locator("#syntax svg.tree")).not_to_have_attribute("width", before or "")
    width = float(actor.page.locator("#syntax svg.tree").get_attribute("width") or 0)
    assert width <= 320


def test_an_outline_folds_by_click_and_by_key(actor: Actor) -> None:
    page = actor.page
    actor.type(TEXTS)
    page.select_option("#syntax .views", "outline")
    shown = page.locator("#syntax svg.outline")
    expect(shown).to_be_visible()
    high = float(shown.get_attribute("height") or 0)
    words = page.locator("#syntax .leaf:not(.gone)")
    count = words.count()
    page.locator("#syntax .toggle").first.click()
    expect(words).not_to_have_count(count)
    assert float(shown.get_attribute("height") or 0) < high
    expect(page.locator("#syntax .more")).to_contain_text("word")
    root = page.locator("#syntax .node").first
    expect(root).to_have_attribute("aria-expanded", "false")
    root.focus()
    actor.press("ArrowRight")
    expect(words).to_have_count(count)
    expect(root).to_have_attribute("aria-expanded", "true")
    assert float(shown.get_attribute("height") or 0) == high
    actor.press("ArrowLeft")
    expect(root).to_have_attribute("aria-expanded", "false")


def test_relations_of_a_reading_view_can_be_clicked(actor: Actor) -> None:
    actor.type()
    trees = actor.trees("discourse")
    actor.pick("discourse", max(range(len(trees)), key=lambda at: len(trees[at]["nodes"])))
    actor.page.select_option("#discourse .views", "outline")
    expect(actor.page.locator("#discourse svg.outline")).to_be_visible()
    actor.settle()
    actor.page.locator("#discourse .phrase .relation").first.click(timeout=10_000)
    expect(actor.page.locator("#discourse .panel table").first).to_be_visible()


def test_a_wide_tree_is_dragged_and_its_root_is_in_view(actor: Actor) -> None:
    page = actor.page
    page.set_viewport_size({"width": 400, "height": 700})
    actor.type(f"{TEXT[:-1]} because {TEXT.lower()}")
    page.select_option("#syntax .views", "tree")
    expect(page.locator("#syntax svg.tree.tree")).to_be_visible()
    actor.settle()
    root = page.locator("#syntax .label").first.bounding_box()
    assert root
    assert 0 <= root["x"] <= 400
    scroll = page.locator("#syntax .scroll")
    scroll.evaluate("one => one.scrollLeft = 0")
    box = scroll.bounding_box()
    assert box
    page.mouse.move(box["x"] + 250, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 8, steps=4)
    page.mouse.up()
    assert scroll.evaluate("one => one.scrollLeft") == 150
    expect(page.locator("#syntax .panel")).to_have_count(0)


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
    if page.locator("#keep").is_enabled():  # a tree without satellites has nothing to drop
        page.locator("#keep").fill("0")
    page.click("#syntax .menu summary")
    found += audit(page, "trees")
    page.keyboard.press("Escape")
    for task in ("syntax", "discourse"):
        page.select_option(f"#{task} .views", "outline")
        expect(page.locator(f"#{task} svg.outline")).to_be_visible()
    actor.settle()
    page.locator("#syntax .toggle").first.click()
    found += audit(page, "outlines")
    page.click("#compare")
    page.fill("#gold", "(S (NP (NN Rain)) (VBD fell))")
    page.click("#gold-form [type=submit]")
    expect(page.locator("#comparison svg.tree")).to_be_visible()
    found += audit(page, "comparison")
    for task in ("syntax", "discourse"):
        page.select_option(f"#{task} .views", "auto")
    actor.settle()
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
