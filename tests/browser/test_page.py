"""What the page does, by mouse and keyboard, over a real server."""

import json
import xml.etree.ElementTree as ElementTree
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the server needs the extra cleft[serve]")
pytest.importorskip("playwright", reason="the page's tests need the package playwright")

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

import cleft
from cleft import Tree
from cleft.draw import diff, lay_out
from cleft.draw.svg_output import path_data
from cleft.files import Text
from cleft.formats.brackets import read_brackets
from cleft.formats.cleaning import PTB
from cleft.formats.jsonl import parse_record
from cleft.server.settings import Settings
from tests.browser.acting import TEXT, TEXTS, Actor
from tests.runtime.models import model
from tests.server.running import ENGLISH, GERMAN, Running, in_thread


def test_typing_shows_both_trees_with_few_requests(actor: Actor) -> None:
    asked: list[str] = []
    actor.page.on("request", lambda request: asked.append(request.url))
    actor.page.locator("#text").press_sequentially(TEXT, delay=5)
    actor.wait()
    expect(actor.page.locator("#discourse svg.tree")).to_be_visible()
    actor.draws(actor.trees("syntax")[0])
    actor.reads("Rain", "fell", ",", "so", "she", "left", ".")
    expect(actor.page.locator("#syntax .word")).to_have_count(7)
    assert sum("/v1/parse" in url for url in asked) < len(TEXT) / 2


def test_an_answer_that_is_overtaken_is_dropped(actor: Actor) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "heron" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    actor.page.route("**/v1/parse", hold)
    with actor.page.expect_event("requestfailed") as given_up:
        with actor.page.expect_request("**/v1/parse"):
            actor.page.fill("#text", "The old heron waits.")
        actor.type(TEXT)
    assert "heron" in (given_up.value.post_data or "")
    assert held
    actor.reads("Rain")


def test_the_trees_are_busy_until_they_are_those_of_the_text(page: Page, server: Running) -> None:
    """An answer to an older text may be shown, but not as that of the present one."""
    page.clock.install(time=datetime(2020, 1, 1, tzinfo=UTC))
    page.goto(server.url)
    actor, trees, held = Actor(page, server), page.locator("#trees"), list[Route]()
    actor.settle()
    page.clock.pause_at(datetime(2020, 1, 2, tzinfo=UTC))  # from here time passes as we say
    page.route("**/v1/parse", lambda route: held.extend([route]))
    page.fill("#text", "The old heron waits.")
    with page.expect_request("**/v1/parse"):
        page.clock.run_for(250)
    page.fill("#text", TEXT)
    held[0].continue_()
    actor.reads("The", "old", "heron")
    expect(trees).to_have_attribute("aria-busy", "true")
    with page.expect_request("**/v1/parse"):
        page.clock.run_for(250)
    expect(trees).to_have_attribute("aria-busy", "true")
    held[1].continue_()
    actor.wait()
    actor.reads("Rain")


def test_an_empty_page_offers_examples(actor: Actor) -> None:
    examples = actor.page.locator("#examples button")
    expect(examples).to_have_count(2)
    examples.first.click()
    actor.wait()
    expect(actor.page.locator("#empty")).to_be_hidden()
    assert actor.page.input_value("#text") == examples.first.text_content()
    actor.page.click("#clear")
    expect(actor.page.locator("#empty")).to_be_visible()
    expect(actor.page.locator("#syntax")).to_be_hidden()


def test_an_empty_page_promises_only_what_the_models_can_do(page: Page, server: Running) -> None:
    def french(route: Route) -> None:
        answer = route.fetch().json()
        for one in answer["models"]:
            one.update(language="fr", tasks=["syntax"])
        route.fulfill(json=answer)

    page.goto(server.url)
    expect(page.locator("#empty")).to_contain_text("Two trees")
    page.route("**/v1/models", french)
    page.reload()
    expect(page.locator("#promise")).to_have_text(
        "The tree of each sentence: how its phrases nest."
    )
    expect(page.locator("#examples")).to_be_hidden()


def test_the_n_best_trees_can_be_stepped_through(actor: Actor) -> None:
    actor.type()
    trees = actor.trees("syntax")
    pills = actor.page.locator("#syntax .pills input")
    expect(pills).to_have_count(len(trees))
    pills.first.focus()
    for tree in trees[1:]:
        actor.press("ArrowRight")
        actor.draws(tree)
    expect(pills.nth(len(trees) - 1)).to_be_checked()
    # Two trees may have the same labels: wait for the drawing itself.
    expect(actor.page.locator("#syntax .novel")).not_to_have_count(0)


def kept_units(tree: Any, keep: int) -> list[str]:
    """The EDUs that stand inside at most so many satellites, found the long way round."""
    found = []
    for (left, right), text in zip(tree["edus"], tree["texts"], strict=True):
        depth = 0
        for at, (start, end, nuclearity, _) in enumerate(tree["nodes"]):
            inside = start <= left and right <= end
            # The first child of a binary node ends where the second begins.
            step = next(s for s in tree["steps"] if s["span"] == [start, end])
            depth += inside and nuclearity[left >= step["split"]] == "S"
            assert at < len(tree["nodes"])
        if depth <= keep:
            found.append(text)
    return found


def test_the_slider_keeps_only_nuclei(actor: Actor) -> None:
    actor.type()
    trees = actor.trees("discourse")
    with_satellites = [at for at, tree in enumerate(trees) if "S" in str(tree["nodes"])]
    at = max(with_satellites)
    actor.pick("discourse", at)
    prose = actor.page.locator("#summary .prose")
    expect(prose).to_contain_text(" ".join(trees[at]["texts"]))
    actor.page.locator("#keep").focus()
    actor.press("Home")
    kept = kept_units(trees[at], 0)
    assert 0 < len(kept) < len(trees[at]["texts"])
    dropped = actor.page.locator("#discourse .unit.dropped")
    expect(dropped).to_have_count(len(trees[at]["texts"]) - len(kept))
    said = (prose.text_content() or "").replace("⋯", "")
    assert said.split() == " ".join(kept).split()
    actor.press("End")
    expect(dropped).to_have_count(0)


def test_replay_shows_every_decision_and_ends_in_the_tree(actor: Actor) -> None:
    actor.type()
    tree = actor.trees("syntax", trace=True)[0]
    actor.page.click("#syntax button:has-text('Replay')")
    replay = actor.page.locator("#syntax .replay")
    expect(replay.locator(".count")).to_have_text(f"0 / {len(tree['steps'])}")
    expect(replay.locator(".phrase:not(.unborn)")).not_to_have_count(len(tree["nodes"]))
    for step in tree["steps"]:
        replay.locator("button[aria-label='Next step']").click()
        left, right = step["span"]
        expect(replay.locator(".share")).to_have_count(right - left + 1)
        expect(replay.locator(".share.chosen")).to_have_count(1)
        share = max(step["distribution"][step["split"]], step["probability"])
        height = float(replay.locator(".share.chosen").get_attribute("height") or 0)
        assert abs(height - max(1.5, 78 * share)) < 0.2
    expect(replay.locator(".phrase.unborn")).to_have_count(0)
    actor.draws(tree, "#syntax .replay")


def test_replay_of_discourse_reveals_the_drawn_tree(actor: Actor) -> None:
    actor.type()
    trees = actor.trees("discourse")
    at = max(range(len(trees)), key=lambda one: len(trees[one]["nodes"]))
    actor.pick("discourse", at)
    tree = trees[at]
    assert tree["nodes"]
    actor.page.click("#discourse button:has-text('Replay')")
    replay = actor.page.locator("#discourse .replay")
    units, inner = len(tree["edus"]), len(tree["nodes"])
    expect(replay.locator(".bar:not(.unborn)")).to_have_count(1)
    expect(replay.locator(".bar.open:not(.unborn)")).to_have_count(1)  # not yet decided
    expect(replay.locator(".phrase:not(.unborn)")).to_have_count(0)
    expect(replay.locator(".unit.pending")).to_have_count(units)
    replay.locator("button[aria-label='Next step']").click()
    expect(replay.locator(".bar:not(.unborn)")).to_have_count(3)
    expect(replay.locator(".phrase:not(.unborn)")).to_have_count(1)
    replay.locator("button[aria-label='Last step']").click()
    expect(replay.locator(".phrase:not(.unborn)")).to_have_count(inner)
    expect(replay.locator(".bar:not(.unborn):not(.open)")).to_have_count(units + inner)
    expect(replay.locator(".pending, .unborn, .open")).to_have_count(0)


def test_replay_waits_for_a_tree_that_is_not_drawn_yet(actor: Actor) -> None:
    actor.type()
    held: list[Route] = []
    actor.page.route("**/v1/draw", lambda route: held.append(route))  # noqa: PLW0108
    with actor.page.expect_request("**/v1/draw"):
        actor.pick("syntax", 1)
    actor.page.click("#syntax button:has-text('Replay')")
    expect(actor.page.locator("#syntax .replay")).to_have_count(0)
    held[0].continue_()
    expect(actor.page.locator("#syntax .replay")).to_be_visible()


def drawn(actor: Actor, task: str) -> list[str]:
    """The lines of the tree that is shown."""
    paths = actor.page.locator(f"#{task} svg.tree path")
    return paths.evaluate_all("all => all.map((one) => one.getAttribute('d'))")


def test_the_page_draws_what_the_library_lays_out(actor: Actor) -> None:
    actor.type()
    sentence = cleft.load(model("chars")).parse(TEXT, beam=8, n_best=5, alternatives=5)[0]
    for task, tree in (("syntax", sentence.syntax), ("discourse", sentence.discourse)):
        layout = lay_out(tree)
        width = actor.page.locator(f"#{task} svg.tree").get_attribute("width")
        assert abs(float(width or 0) - layout.width) < 0.1
        assert drawn(actor, task) == [path_data(stroke) for stroke in layout.strokes]


def test_a_drawing_that_is_overtaken_is_not_shown(actor: Actor) -> None:
    actor.type()
    first = drawn(actor, "syntax")
    held: list[Route] = []
    actor.page.route("**/v1/draw", lambda route: held.append(route))  # noqa: PLW0108
    with actor.page.expect_request("**/v1/draw"):
        actor.pick("syntax", 1)
    expect(actor.page.locator("#trees")).to_have_attribute("aria-busy", "true")
    actor.pick("syntax", 0)  # it is drawn already
    held[0].continue_()
    actor.settle()
    assert drawn(actor, "syntax") == first
    actor.pick("syntax", 1)
    actor.settle()
    assert drawn(actor, "syntax") != first


def test_a_tree_that_the_server_does_not_draw_is_told_of(actor: Actor) -> None:
    told = {"code": "internal", "where": "", "message": "an error", "hint": ""}
    body = json.dumps({"error": told})
    actor.page.route("**/v1/draw", lambda route: route.fulfill(status=500, body=body))
    actor.page.fill("#text", TEXT)
    problem = actor.page.locator("#problem")
    expect(problem).to_contain_text("Something went wrong in the server.")
    actor.page.unroute("**/v1/draw")
    problem.locator("button").click()
    actor.wait()
    expect(problem).to_be_hidden()


def test_replay_goes_by_keys_and_by_itself(actor: Actor) -> None:
    actor.type()
    actor.page.locator("#discourse button:has-text('Replay')").focus()
    actor.press("Enter")
    count = actor.page.locator("#discourse .count")
    expect(count).to_contain_text("0 /")
    actor.press("ArrowRight")
    expect(count).to_contain_text("1 /")
    expect(actor.page.locator("#discourse .told")).to_contain_text("Rain fell, so she left.")
    actor.press("ArrowLeft")
    actor.press("Enter")  # the focus is on the play button
    expect(count).not_to_contain_text("0 /")
    actor.press("Escape")
    expect(actor.page.locator("#discourse .replay")).to_have_count(0)
    expect(actor.focused).to_have_text("Replay")


def test_a_click_on_a_node_shows_what_the_model_table(actor: Actor) -> None:
    actor.type()
    tree = actor.trees("syntax")[0]
    at = next(at for at, (_, left, right) in enumerate(tree["nodes"]) if (left, right) != (0, 7))
    label, left, right = tree["nodes"][at]
    actor.page.locator("#syntax .phrase").nth(at).click()
    panel = actor.page.locator("#syntax .panel")
    expect(panel.locator(".badge")).to_have_text(label)
    sentence = actor.answer()["sentences"][0]
    start, end = sentence["tokens"][left]["start"], sentence["tokens"][right - 1]["end"]
    expect(panel.locator("blockquote")).to_have_text(TEXT[start:end])
    evidence = tree["evidence"][at]
    right_with, rows = (panel.locator("table").nth(number).locator("tr") for number in (0, 1))
    expect(right_with.locator(".amount")).to_have_text(f"{round(100 * evidence['probability'])} %")
    expect(rows).to_have_count(1 + len(evidence["labels"]))
    expect(rows.first.locator(".amount")).to_have_text(f"{round(100 * evidence['label'])} %")
    panel.locator(".close").click()
    expect(panel).to_have_count(0)


def test_offsets_count_characters_and_not_utf16_units(actor: Actor) -> None:
    text = "🦩🦩 fell, so 🦩 left."
    actor.type(text)
    actor.page.locator("#syntax .leaf").last.click()
    expect(actor.page.locator("#syntax blockquote")).to_have_text(".")
    actor.page.locator("#syntax .phrase").first.click()
    expect(actor.page.locator("#syntax blockquote")).to_have_text(text)


def saved(actor: Actor, task: str, item: str) -> tuple[str, str]:
    with actor.page.expect_download() as waiting:
        actor.menu(task, item)
    path = waiting.value.path()
    return waiting.value.suggested_filename, Path(path).read_text("utf-8")


def test_every_format_downloads(actor: Actor) -> None:
    actor.type()
    actor.pick("syntax", 1)
    tree = actor.trees("syntax")[1]
    name, brackets = saved(actor, "syntax", "Download brackets")
    assert name == "cleft-syntax-1.mrg"
    assert str(Tree.from_brackets(brackets)) == tree["brackets"]
    _, record = saved(actor, "syntax", "Download JSON")
    syntax = parse_record(record.strip()).syntax
    assert str(syntax) == tree["brackets"]
    name, picture = saved(actor, "syntax", "Download SVG")
    assert name == "cleft-syntax-1.svg"
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    name, text = saved(actor, "syntax", "Download LaTeX")
    assert name == "cleft-syntax-1.tex"
    assert r"\begin{forest}" in text
    name, rs3 = saved(actor, "discourse", "Download rs3")
    assert name == "cleft-discourse-1.rs3"
    assert ElementTree.fromstring(rs3).tag == "rst"


def test_brackets_and_links_are_copied(context: BrowserContext, actor: Actor) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    actor.type()
    actor.menu("syntax", "Copy brackets")
    expect(actor.page.locator("#status")).to_have_text("Copied as brackets.")
    copied = actor.page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == actor.trees("syntax")[0]["brackets"]
    actor.page.click("#share")
    expect(actor.page.locator("#status")).to_have_text("Link copied.")
    link = actor.page.evaluate("navigator.clipboard.readText()")
    other = context.new_page()
    other.goto(link)
    Actor(other, actor.server).wait()
    assert other.input_value("#text") == TEXT
    # A fragment that no longer tells what is shown goes.
    other.fill("#text", "Rain fell.")
    other.wait_for_function("location.hash === ''")


def test_a_link_brings_text_settings_and_sentence(page: Page, server: Running) -> None:
    with page.expect_request("**/v1/parse") as asked:
        page.goto(f"{server.url}#text={TEXTS}&model=words&beam=16&trees=3&sentence=2")
    body = json.loads(asked.value.post_data or "")
    assert (body["text"], body["model"], body["beam"], body["n_best"]) == (TEXTS, "words", 16, 3)
    Actor(page, server).wait()
    expect(page.locator("#sentences input").nth(1)).to_be_checked()
    Actor(page, server).reads("The")


def test_a_link_of_nonsense_is_passed_over(page: Page, server: Running) -> None:
    page.goto(f"{server.url}#text={TEXT}&model=none&beam=-3&trees=1e9&sentence=99&%%%=&keep")
    Actor(page, server).wait()
    expect(page.locator("#model")).to_have_value("chars")
    expect(page.locator("#beam")).to_have_value("8")


def test_model_and_beam_can_be_switched(actor: Actor) -> None:
    actor.type()
    with actor.page.expect_request("**/v1/parse") as asked:
        actor.page.select_option("#model", "words")
    assert json.loads(asked.value.post_data or "")["model"] == "words"
    with actor.page.expect_request("**/v1/parse") as asked:
        actor.page.select_option("#beam", "1")
    assert json.loads(asked.value.post_data or "")["beam"] == 1
    actor.page.select_option("#trees-asked", "1")
    actor.wait()
    expect(actor.page.locator("#syntax .pills")).to_have_count(0)
    actor.draws(actor.trees("syntax", model="words", beam=1, n_best=1)[0])


def test_a_text_in_another_language_has_a_note_until_it_is_in_the_models(page: Page) -> None:
    with in_thread(None, "chars", "words") as running:
        running.declare("en")
        page.goto(running.url)
        actor, note = Actor(page, running), page.locator("#warnings[role=status] p")
        actor.type(GERMAN)
        expect(note).to_have_text(
            "The text looks like German, but the model was trained on English: "
            "its trees make no sense."
        )
        above, below = note.bounding_box(), page.locator("#syntax").bounding_box()
        assert above
        assert below
        assert above["y"] + above["height"] <= below["y"]
        actor.type(ENGLISH)
        expect(note).to_have_count(0)
        actor.type(GERMAN)
        expect(note).to_be_visible()
        page.locator("#model").select_option("words")  # it names no language
        actor.wait()
        expect(note).to_have_count(0)
        page.locator("#model").select_option("chars")
        actor.wait()
        expect(note).to_be_visible()
        page.fill("#text", "")
        actor.settle()
        expect(note).to_have_count(0)


def test_a_note_that_stays_is_told_once(page: Page) -> None:
    """A live region is read out whenever it changes: not at each letter, then."""
    with in_thread(None, "chars") as running:
        running.declare("en")
        page.goto(running.url)
        actor = Actor(page, running)
        actor.type(GERMAN)
        page.evaluate(
            "window.changes = 0; new MutationObserver(() => window.changes++)"
            ".observe(document.getElementById('warnings'), {childList: true, subtree: true})"
        )
        actor.type(f"{GERMAN} {GERMAN}")
        actor.reads("Der")
        assert page.evaluate("window.changes") == 0
        actor.type(ENGLISH)
        assert page.evaluate("window.changes") == 1


def test_sentences_can_be_stepped_through(actor: Actor) -> None:
    actor.type(TEXTS)
    expect(actor.page.locator("#sentences .note")).to_have_text("1 of 2")
    actor.page.click("#sentences button[aria-label='Next sentence']")
    expect(actor.page.locator("#sentences .note")).to_have_text("2 of 2")
    actor.reads("The")
    expect(actor.page.locator("#sentences button[aria-label='Next sentence']")).to_be_disabled()
    actor.page.locator("#sentences input").nth(1).focus()
    actor.press("ArrowUp")
    actor.reads("Rain")


def test_a_text_beyond_the_limits_is_refused_in_plain_words(actor: Actor) -> None:
    actor.page.fill("#text", "rain " * 10_001)
    problem = actor.page.locator("#problem")
    expect(problem).to_contain_text("too long for the server")
    actor.type(TEXT)
    expect(problem).to_be_hidden()


def test_what_could_not_be_parsed_dims_what_stands_there(actor: Actor) -> None:
    actor.type()
    expect(actor.page.locator("#trees")).not_to_have_class("stale")
    actor.page.fill("#text", "rain " * 10_001)
    expect(actor.page.locator("#trees")).to_have_class("stale")
    actor.type(TEXT)
    expect(actor.page.locator("#trees")).not_to_have_class("stale")


def test_a_gold_tree_is_compared(actor: Actor) -> None:
    page, gold = (
        actor.page,
        "(S (NP-SBJ (DT The) (NN heron)) (VP (VBZ waits) (NP (-NONE- *))) (. .))",
    )
    page.click("#compare")
    page.fill("#gold", gold)
    page.click("#gold-form [type=submit]")
    drawn = page.locator("#comparison svg.tree")
    expect(drawn).to_be_visible()
    found = cleft.load(model("chars")).parse_tokens([["The", "heron", "waits", "."]], beam=8)[0]
    (wanted,) = read_brackets(Text("gold", gold), PTB)
    assert found.syntax is not None
    summary = diff(wanted, found.syntax).summary
    expect(page.locator("#comparison .note").first).to_have_text(summary)
    expect(drawn.locator(".heading")).to_have_text(["Gold", "Predicted"])
    page.fill("#gold", "no tree")
    page.click("#gold-form [type=submit]")
    expect(page.locator("#problem")).to_contain_text("no tree in brackets")
    page.fill("#gold", "(S (NP (DT The")
    page.click("#gold-form [type=submit]")
    expect(page.locator("#problem strong")).not_to_be_empty()
    page.click("#gold-form [type=reset]")
    expect(page.locator("#comparison")).to_be_hidden()


def test_an_image_is_copied_and_downloaded(context: BrowserContext, actor: Actor) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    actor.type()
    actor.menu("syntax", "Copy image")
    expect(actor.page.locator("#status")).to_have_text("Copied as an image.")
    kinds = actor.page.evaluate("navigator.clipboard.read().then((found) => found[0].types)")
    assert kinds == ["image/png"]
    with actor.page.expect_download() as waiting:
        actor.menu("syntax", "Download image")
    data = Path(waiting.value.path()).read_bytes()
    width = float(actor.page.locator("#syntax svg.tree").get_attribute("width") or 0)
    assert abs(int.from_bytes(data[16:20], "big") - 2 * width) <= 2


def test_alt_and_arrows_step_through_sentences(actor: Actor) -> None:
    actor.type(TEXTS)
    actor.press("Alt+ArrowDown")
    expect(actor.page.locator("#sentences .note")).to_have_text("2 of 2")
    actor.press("Alt+ArrowDown")
    expect(actor.page.locator("#sentences .note")).to_have_text("2 of 2")
    actor.press("Alt+ArrowUp")
    actor.reads("Rain")


def test_a_server_that_is_gone_is_told_of_and_tried_again(
    context: BrowserContext, actor: Actor
) -> None:
    context.set_offline(True)
    actor.page.fill("#text", TEXT)
    problem = actor.page.locator("#problem")
    expect(problem).to_contain_text("The server does not answer.")
    context.set_offline(False)
    problem.locator("button").click()
    actor.wait()
    expect(problem).to_be_hidden()


def test_a_busy_server_is_asked_again(actor: Actor) -> None:
    tries: list[int] = []

    def busy(route: Route) -> None:
        tries.append(1)
        told = {"code": "busy", "where": "", "message": "the queue is full", "hint": ""}
        if len(tries) > 1:
            route.continue_()
        else:
            body = json.dumps({"error": told})
            route.fulfill(status=429, headers={"Retry-After": "0.01"}, body=body)

    actor.page.route("**/v1/parse", busy)
    actor.type()
    assert len(tries) == 2
    expect(actor.page.locator("#problem")).to_be_hidden()


def test_a_server_that_wants_a_token_gets_it(browser: Browser) -> None:
    with in_thread(Settings(token="open-sesame"), "chars") as running:
        context = browser.new_context()
        page = context.new_page()
        page.goto(running.url)
        expect(page.locator("#problem")).to_contain_text("This server wants a token.")
        page.fill("#text", TEXT)
        page.fill("#token", "open\u2026sesame")  # no header can hold it
        page.press("#token", "Enter")
        expect(page.locator("#token")).to_be_empty()  # it is asked for again
        page.fill("#token", "open-sesame")
        page.click("#problem button")
        Actor(page, running).wait()
        expect(page.locator("#problem")).to_be_hidden()
        context.close()
