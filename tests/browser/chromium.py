"""A real headless Chromium, driven by Playwright, and where to find it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str | None:
    """Debian's Chromium, or the one that CLEFT_CHROMIUM names."""
    named = os.environ.get("CLEFT_CHROMIUM", "/usr/bin/chromium")
    return named if Path(named).is_file() else shutil.which("chromium")


@contextmanager
def launched() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    # It writes into its home whatever its profile; that of the tests stays empty.
    with TemporaryDirectory(prefix="cleft-chromium-") as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=list(FLAGS), env={**os.environ, "HOME": home}
        )
        try:
            yield browser
        finally:
            browser.close()
