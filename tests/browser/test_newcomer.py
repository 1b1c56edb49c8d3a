"""The newcomer's path on the embedded default and on PostgreSQL and Redis."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import expect

from tests.support.browser import watched
from tests.support.needs import postgres_bin, redis_path, require
from tests.support.portal import running_portal
from tests.support.servers import both

pytestmark = pytest.mark.browser


@contextlib.contextmanager
def embedded():
    with running_portal() as portal:
        yield portal


@contextlib.contextmanager
def on_servers():
    require(postgres_bin)
    require(redis_path)
    with both() as services, running_portal(services.env) as portal:
        yield portal


@pytest.mark.parametrize(
    "stack",
    [embedded, pytest.param(on_servers, marks=pytest.mark.services)],
)
def test_from_the_first_address_to_results_with_image_and_sound(stack, browser):
    with stack() as portal, watched(browser) as watch:
        page = watch.page
        page.goto(portal.sign_in_address())
        page.get_by_label(re.compile("E-mail")).fill("me@example.org")
        page.get_by_label(re.compile("Password")).fill("a long password")
        page.get_by_role("button", name=re.compile("password", re.I)).click()
        page.wait_for_url("**/evaluations/")
        watch.shot("newcomer-1-start")
        clicks = 0
        page.get_by_role("button", name=re.compile("Try it|Try the sample")).click()
        clicks += 1
        page.wait_for_url("**/review/")
        watch.shot("newcomer-2-review")
        page.get_by_role("button", name="Submit").click()
        clicks += 1
        page.wait_for_url("**/runs/1/**")
        expect(page.get_by_text("Completed").first).to_be_visible(timeout=60_000)
        # The progress leads to the results by itself.
        expect(page.locator("#rows")).to_be_visible(timeout=60_000)
        assert clicks <= 3
        page.goto(page.url.partition("?")[0])
        expect(page.get_by_text("Simulated").first).to_be_visible()
        watch.shot("newcomer-3-results")
        open_row_with(watch, "has=image", "img")
        open_row_with(watch, "has=audio", "audio")
        watch.assert_quiet()


def open_row_with(watch, query, tag):
    """Open the first row of a filtered list; its medium loads."""
    page = watch.page
    run = page.url.partition("?")[0]
    page.goto(f"{run}?{query}")
    page.locator(".row-link, [data-row]").first.click()
    panel = page.locator("#panel")
    expect(panel).to_be_visible()
    medium = panel.locator(tag).first
    if tag == "img":
        expect(medium).to_be_visible()
        assert medium.evaluate("async i => { await i.decode(); return i.naturalWidth }")
    else:
        ready = "a => new Promise((y, n) => { a.onloadedmetadata = () => y(a.duration);"
        ready += " a.onerror = n; a.preload = 'metadata'; a.load() })"
        assert medium.evaluate(ready) > 0
    watch.shot(f"newcomer-row-{tag}")
    page.goto(run)
