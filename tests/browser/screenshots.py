"""Screenshots of the page: `python -m tests.browser.screenshots OUT [ADDRESS]`.

Without an address of a running `cleft serve`, a server with a tiny random model
is started: the page is then real, its trees are not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.chromium import launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEXT = (
    "Although the ferry was late, the baker waited on the pier because she had promised "
    "to meet her brother."
)
LONG = (
    f"{TEXT} The museum will close its north wing, the director announced. If the council agrees, "
    "repairs could start in May; otherwise the paintings must be moved."
)
WIDE, PHONE = (1280, 900), (360, 780)


def _replay(page: Page) -> None:
    page.click("#syntax button:has-text('Replay')")
    for _ in range(4):
        page.click("#syntax button[aria-label='Next step']")


def _replay_discourse(page: Page) -> None:
    page.click("#discourse button:has-text('Replay')")
    for _ in range(2):
        page.click("#discourse button[aria-label='Next step']")


def _node(page: Page) -> None:
    page.locator("#syntax .phrase").nth(1).click()
    page.locator("#discourse .phrase, #discourse .unit").first.click()


def _slide(page: Page) -> None:
    page.locator("#keep").fill("0")


def _nothing(page: Page) -> None:
    pass


SHOTS: list[tuple[str, tuple[int, int], str, str, Callable[[Page], None]]] = [
    ("empty", WIDE, "light", "", _nothing),
    ("light", WIDE, "light", TEXT, _nothing),
    ("dark", WIDE, "dark", TEXT, _node),
    ("sentences", WIDE, "light", LONG, _slide),
    ("replay", WIDE, "light", TEXT, _replay),
    ("replay-discourse", WIDE, "dark", TEXT, _replay_discourse),
    ("phone", PHONE, "light", TEXT, _node),
    ("phone-replay", PHONE, "dark", TEXT, _replay),
]


def shoot(browser: Browser, address: str, out: Path) -> None:
    """Write every screenshot into a directory."""
    out.mkdir(parents=True, exist_ok=True)
    for name, (width, height), scheme, text, act in SHOTS:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=2,
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(address)
        if text:
            page.fill("#text", text)
            page.wait_for_selector("#trees[aria-busy=false] svg.tree")
        act(page)
        page.wait_for_timeout(300)
        page.screenshot(path=out / f"{name}.png", full_page=True)
        context.close()
        print(out / f"{name}.png")


@contextmanager
def _address(arguments: list[str]) -> Iterator[str]:
    if arguments:
        yield arguments[0]
        return
    from tests.server.running import in_thread

    with in_thread(None, "lstm") as running:
        yield running.url


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit("usage: python -m tests.browser.screenshots OUT [ADDRESS]")
    with _address(arguments[1:]) as address, launched() as browser:
        shoot(browser, address, Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
