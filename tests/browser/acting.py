"""What a reader does on the page, and what the API says to the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.server.running import Running

TEXT = "Rain fell, so she left."
TEXTS = "Rain fell, so she left. The old heron waits."


@dataclass
class Actor:
    page: Page
    server: Running

    def type(self, text: str = TEXT) -> None:
        """Put in a text and wait for its trees."""
        self.page.fill("#text", text)
        self.wait()

    def settle(self) -> None:
        """Wait until what is shown, trees or a problem, belongs to the present text and settings.

        The page marks its trees as busy before an event of the field or of a setting is over,
        so that this cannot come too early.
        """
        from playwright.sync_api import expect

        expect(self.page.locator("#trees")).to_have_attribute("aria-busy", "false")

    def wait(self) -> None:
        """Wait for the trees of what stands in the field."""
        from playwright.sync_api import expect

        self.settle()
        expect(self.page.locator("#syntax svg.tree")).to_be_visible()

    def answer(self, text: str = TEXT, **options: Any) -> Any:
        """What the API answers to what the page asks by default."""
        asked = {"text": text, "beam": 8, "n_best": 5, "alternatives": 5, **options}
        answer = self.server.post("/v1/parse", asked)
        assert answer.status == 200, answer.body
        return answer.json

    def trees(self, task: str, text: str = TEXT, **options: Any) -> list[Any]:
        """The trees of the first sentence, best first."""
        best = self.answer(text, **options)["sentences"][0][task]
        return [best, *best["others"]]

    def pick(self, task: str, at: int) -> None:
        """Choose one of the n best."""
        self.page.locator(f"#{task} .pills input").nth(at).check()

    def draws(self, tree: Any, within: str = "#syntax") -> None:
        """Wait until the phrase labels that are drawn are those of a tree of the API."""
        from playwright.sync_api import expect

        labels = self.page.locator(f"{within} .phrase .label")
        expect(labels).to_have_text([label for label, _, _ in tree["nodes"]])

    def reads(self, *words: str) -> None:
        """Wait until these are the first words of the syntax tree."""
        from playwright.sync_api import expect

        for at, word in enumerate(words):
            expect(self.page.locator("#syntax .word").nth(at)).to_have_text(word)

    def menu(self, task: str, item: str) -> None:
        """Choose from the menu of what can be saved."""
        self.page.click(f"#{task} .menu summary")
        self.page.click(f"#{task} .menu button:has-text('{item}')")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def focused(self) -> Locator:
        return self.page.locator(":focus")
