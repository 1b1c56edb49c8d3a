"""What people do: upload, choose, map, submit, read; also by keyboard or no script."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.support.browser import sign_in, watched

pytestmark = pytest.mark.browser

CSV = "Frage;Antwort;truth\n" + "".join(
    f"Was ist {n} mal {n}?;Es ist {n * n}.;{n * n}\n" for n in range(1, 31)
)


def at(portal, name, *arguments):
    return portal.url + reverse(name, args=[portal.filled["project"], *arguments])


def upload(page, portal, name, content, mime="text/csv"):
    page.goto(at(portal, "dataset_upload"))
    file = {"name": name, "mimeType": mime, "buffer": content.encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name=re.compile("Upload|Add", re.I)).last.click()


def test_from_a_semicolon_file_to_results(browser, portal):
    """A German spreadsheet, columns named differently, one assigned by hand."""
    with watched(browser) as watch:
        page = watch.page
        sign_in(page, portal)
        page.goto(at(portal, "draft_new"))
        page.get_by_role("radio", name=re.compile("Dataset")).check()
        page.get_by_role("button", name="Next: data").click()
        page.get_by_role("link", name="Upload file").first.click()
        file = {"name": "mal.csv", "mimeType": "text/csv", "buffer": CSV.encode()}
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name=re.compile("Upload|Add", re.I)).last.click()
        page.wait_for_url("**/data/**", timeout=30_000)
        expect(page.get_by_role("radio", name=re.compile("mal"))).to_be_checked()
        expect(page.locator("#preview")).to_contain_text("Was ist 1 mal 1?")
        page.get_by_role("button", name="Next: criteria").click()
        page.locator("#pick-f1_score").check()
        page.locator("#pick-similarity").check()
        page.get_by_label(re.compile("Judge model")).select_option(
            label="Simulator (Simulator) – simulated scores"
        )
        expect(page.locator("#selected")).to_contain_text("Similarity")
        page.get_by_role("button", name="Next: field mapping").click()
        page.get_by_role("button", name="Next: review").click()
        expect(page.locator("#problems")).to_contain_text("choose a column for")
        for field in ("map-similarity-query", "map-f1_score-response"):
            column = "item.Frage" if "query" in field else "item.Antwort"
            page.locator(f"#{field}").select_option(column)
        expect(page.locator("#value-map-f1_score-response")).to_contain_text("Es ist")
        page.get_by_role("button", name="Use for all evaluators").first.click()
        page.get_by_role("button", name="Next: review").click()
        page.wait_for_url("**/review/")
        page.get_by_label(re.compile("Evaluation name")).fill("Mal")
        expect(page.locator("#estimate")).to_contain_text("Similarity")
        page.get_by_role("button", name="Submit").click()
        page.wait_for_url("**/runs/1/**")
        expect(page.get_by_text("30 of 30").first).to_be_visible(timeout=60_000)


def test_a_run_is_watched_and_canceled(browser, portal):
    rows = "".join(
        json.dumps({"query": f"q {n}", "response": "r " * 40}) + "\n"
        for n in range(6000)
    )
    with watched(browser) as watch:
        page = watch.page
        sign_in(page, portal)
        upload(page, portal, "many.jsonl", rows, "application/jsonl")
        expect(page.get_by_text("6,000").first).to_be_visible(timeout=60_000)
        page.get_by_role("link", name="Evaluate").click()
        page.get_by_role("radio", name=re.compile("Dataset")).check()
        page.get_by_role("button", name="Next: data").click()
        page.get_by_role("button", name="Next: criteria").click()
        page.locator("#pick-fluency").check()
        judges = page.get_by_label(re.compile("Judge model")).locator("option")
        expect(judges.first).to_be_attached()
        wanted = [t for t in judges.all_inner_texts() if "simulated" in t][0]
        page.get_by_label(re.compile("Judge model")).select_option(label=wanted)
        page.get_by_role("button", name="Next: field mapping").click()
        page.get_by_role("button", name="Next: review").click()
        page.get_by_label(re.compile("Evaluation name")).fill("To be canceled")
        page.get_by_role("button", name="Submit").click()
        page.wait_for_url("**/runs/1/**")
        expect(page.locator("#progress")).to_contain_text(
            re.compile(r"[1-9]\d* of 6,000"), timeout=60_000
        )
        watch.shot("run-progress")
        page.get_by_role("button", name="Cancel run").first.click()
        page.get_by_role("dialog").get_by_role(
            "button", name=re.compile("Cancel")
        ).last.click()
        expect(page.get_by_text("Canceled").first).to_be_visible(timeout=30_000)
        watch.assert_quiet()


def test_the_main_job_works_without_script(browser, portal):
    with watched(browser, java_script_enabled=False) as watch:
        page = watch.page
        sign_in(page, portal)
        page.goto(at(portal, "draft_new"))
        page.get_by_role("radio", name=re.compile("Dataset")).check()
        page.get_by_role("button", name="Next: data").click()
        page.get_by_role("radio", name=re.compile("restaurant")).check()
        page.get_by_role("button", name="Next: criteria").click()
        page.locator("#pick-rouge_score").check()
        page.get_by_role("button", name="Next: field mapping").click()
        page.get_by_role("button", name="Next: review").click()
        page.get_by_label(re.compile("Evaluation name")).fill("Without script")
        page.get_by_role("button", name="Submit").click()
        expect(page).to_have_url(re.compile("runs/1/"))
        for _ in range(60):
            if "Completed" in page.content():
                break
            page.wait_for_timeout(500)
            page.reload()
        expect(page.get_by_text("Completed").first).to_be_visible()
        page.goto(page.url.partition("?")[0])
        page.locator(".row-link").first.click()
        expect(page.get_by_text("ROUGE").first).to_be_visible()
        expect(page).to_have_url(re.compile(r"/rows/\d+/"))


def test_the_wizard_works_by_keyboard_alone(browser, portal):
    with watched(browser) as watch:
        page = watch.page
        sign_in(page, portal)
        page.goto(at(portal, "evaluations"))
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_contain_text("Skip to main content")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.type") == "search"
        page.goto(at(portal, "draft_new"))
        page.locator("input[name=kind][value=dataset]").focus()
        page.keyboard.press("Space")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/data/")
        page.locator("input[name=dataset]").last.focus()
        page.keyboard.press("Space")
        page.wait_for_timeout(700)
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/criteria/")
        page.locator("#pick-f1_score").focus()
        page.keyboard.press("Space")
        page.wait_for_timeout(700)
        assert page.evaluate("document.activeElement.id") == "pick-f1_score"
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/mapping/")


def test_rows_are_walked_by_keys_and_back_closes_the_panel(browser, portal):
    with watched(browser) as watch:
        page = watch.page
        sign_in(page, portal)
        page.goto(at(portal, "run", portal.filled["evaluation"], 1))
        page.locator(".row-link").first.click()
        panel = page.locator("#panel")
        expect(panel).to_contain_text("Row 1")
        page.keyboard.press("j")
        expect(panel).to_contain_text("Row 2")
        page.keyboard.press("k")
        expect(panel).to_contain_text("Row 1")
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(page).not_to_have_url(re.compile("/rows/"))
        watch.assert_quiet()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", "", "empty"),
        ("only-header.csv", "query,response\n", "no rows"),
        ("sheet.csv", "PK\x03\x04 not a csv", "Excel|workbook|ZIP|zip"),
        ("page.csv", "<!doctype html><html><body>sign in</body></html>", "HTML"),
        ("bad.jsonl", '{"query": "a"}\n{"query": \n', "[Ll]ine 2"),
    ],
)
def test_a_bad_file_is_named_with_the_way_out(browser, portal, name, content, words):
    with watched(browser) as watch:
        sign_in(watch.page, portal)
        upload(watch.page, portal, name, content, "application/octet-stream")
        expect(watch.page.locator("main")).to_contain_text(
            re.compile(words), timeout=30_000
        )
        watch.assert_quiet()
