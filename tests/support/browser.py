"""A real Chromium, with an eye on what it complains about."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.support.needs import browser_path, require

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"wide": (1440, 900), "medium": (1024, 768), "phone": (390, 844)}
SHOTS = os.environ.get("ASSAY_SCREENSHOTS", "")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    path = require(browser_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


class Watched:
    """A page and everything that went wrong on it."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.page: Page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("response", self._response)

    def _console(self, message: Any) -> None:
        # A 422 is the expected answer to wrong input; browsers log it all the same.
        if message.type == "error" and "status of 422" not in message.text:
            self.complaints.append(f"{self.page.url}: {message.text}")

    def _response(self, response: Any) -> None:
        if response.status >= 500:
            self.complaints.append(f"{response.status} {response.url}")

    def assert_quiet(self) -> None:
        assert not self.complaints, self.complaints

    def shot(self, name: str) -> None:
        """Keep a picture when ASSAY_SCREENSHOTS names a folder."""
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=f"{SHOTS}/{name}.png")


@contextlib.contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[Watched]:
    width, height = SIZES["wide"]
    options.setdefault("viewport", {"width": width, "height": height})
    context = browser.new_context(**options)
    context.set_default_timeout(15_000)
    yield Watched(context)
    context.close()


def sign_in(page: Page, portal: Any) -> None:
    """By a new one-time address; the password page is left for later."""
    page.goto(portal.manage("signin_link").strip())
    page.goto(portal.url)
