"""Rubrics in a real browser: paste, try, versions, a run, labels, agreement."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.support.browser import sign_in, watched
from tests.support.rubricpages import PROMPT

pytestmark = pytest.mark.browser

RUBRIC = Path(__file__).parents[1] / "data" / "restaurant-rubric.json"
DIMENSIONS = [item["id"] for item in json.loads(RUBRIC.read_text())]
RULES = """\
House rules of the Blue Door.
A table is kept for fifteen minutes, then it is given to the next party in line.
Dogs are welcome on the terrace and never inside the dining room.
"""


def at(portal, name, *arguments):
    return portal.url + reverse(name, args=[portal.filled["project"], *arguments])


@pytest.fixture
def watch(browser, portal):
    with watched(browser) as watched_page:
        sign_in(watched_page.page, portal)
        yield watched_page
        watched_page.assert_quiet()


def pdf_of(text):
    """A one-page PDF that says `text`."""
    content = f"BT /F1 12 Tf 40 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return data + head + table + end % (len(objects) + 1, len(data))


def paste(page, portal, name, text):
    page.goto(at(portal, "rubric_new"))
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("radio", name=re.compile("JSON")).check()
    page.get_by_label("JSON", exact=True).fill(text)
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/drafts/**")


def try_on_a_row(page, row):
    card = page.locator("#try-card")
    card.get_by_label("Dataset").select_option(label="restaurant-booking-samples v1")
    card.get_by_label("From row").fill(str(row))
    judges = card.get_by_label("Judge").locator("option").all_inner_texts()
    judge = next(text for text in judges if "Simulator" in text)
    card.get_by_label("Judge").select_option(label=judge)
    card.get_by_role("button", name="Score").click()
    result = page.locator("#try .try-row")
    expect(result).to_be_visible(timeout=30_000)
    expect(page.locator("#try").get_by_text("Simulated", exact=True)).to_be_visible()
    return result


def change_weight(page, dimension, weight):
    page.get_by_label(f"Weight of {dimension}").fill(str(weight))
    page.keyboard.press("Tab")


def save_as(page, number):
    page.get_by_role("button", name=f"Save as v{number}").click()
    page.wait_for_url(re.compile(r"/rubrics/evaluator_\w+/$"))
    expect(page.locator("main")).to_contain_text(f"v{number} is saved")


def pick_simulator(page):
    box = page.get_by_label(re.compile("Judge model"))
    expect(box).to_be_visible()
    wanted = [t for t in box.locator("option").all_inner_texts() if "simulated" in t]
    box.select_option(label=wanted[0])
    expect(page.locator("#selected .msgbar-info")).to_contain_text("simulator")


def submit(page, name):
    """From the criteria on, with one judge."""
    pick_simulator(page)
    page.get_by_role("button", name="Next: field mapping").click()
    page.get_by_role("button", name="Next: review").click()
    page.get_by_label(re.compile("Evaluation name")).fill(name)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/runs/1/**")
    expect(page.get_by_text("Completed").first).to_be_visible(timeout=60_000)
    # The progress leads to the results by itself; then nothing is under way any more.
    expect(page.locator("#rows")).to_be_visible(timeout=60_000)
    page.wait_for_load_state("load")
    page.goto(page.url.partition("?")[0])


def to_criteria(page, dataset):
    page.get_by_role("button", name="Next: data").click()
    page.get_by_role("radio", name=re.compile(dataset)).first.check()
    page.get_by_role("button", name="Next: criteria").click()
    expect(page.locator("#evaluators")).to_be_visible()


def test_a_rubric_from_paste_to_agreement(watch, portal):
    page = watch.page
    paste(page, portal, "pasted-quality", RUBRIC.read_text())
    written(watch)
    versions(watch)
    run = judged(watch, portal)
    labelled(watch, run)
    page.goto(at(portal, "evaluators"))
    page.get_by_role("link", name="pasted-quality").click()
    page.get_by_role("link", name=re.compile("Agreement")).click()
    main = page.locator("main")
    expect(main).to_contain_text("2 rows have a verdict of a person")
    expect(main.get_by_text("Simulated", exact=True)).to_be_visible()
    expect(main).to_contain_text("This one is right")
    watch.shot("rubric-agreement")


def written(watch):
    """Tried, changed, saved as the first version."""
    page = watch.page
    ids = page.locator(".dim-id input").evaluate_all("l => l.map(i => i.value)")
    assert ids == DIMENSIONS
    result = try_on_a_row(page, 2)
    for name in DIMENSIONS:
        expect(result).to_contain_text(name)
    result.get_by_text("Show the arithmetic").click()
    sums = result.locator(".arith")
    expect(sums).to_contain_text("÷ 5 =")
    expect(sums).to_contain_text("threshold")
    watch.shot("rubric-tried")
    change_weight(page, "communication_clarity", 3)
    expect(page.locator("#try-stale")).to_contain_text("changed since this try")
    save_as(page, 1)


def versions(watch):
    """Edited again: the difference names the weight."""
    page = watch.page
    page.get_by_role("button", name="Edit").click()
    page.wait_for_url("**/drafts/**")
    change_weight(page, "policy_enforcement", 8)
    expect(page.locator("#total")).to_contain_text("35")
    save_as(page, 2)
    page.get_by_role("link", name=re.compile("^Versions")).click()
    line = page.locator(".rubric-diff tbody tr")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("policy_enforcement")
    expect(line.locator("th")).to_contain_text("Weight", ignore_case=True)
    expect(line.locator(".was")).to_have_text("5")
    expect(line.locator(".now")).to_have_text("8")
    watch.shot("rubric-versions")


def judged(watch, portal):
    """A run of the rubric over the sample, through the wizard."""
    page = watch.page
    page.goto(at(portal, "evaluators"))
    page.get_by_role("link", name="pasted-quality").click()
    page.get_by_role("link", name="Use in an evaluation").click()
    page.get_by_role("radio", name=re.compile("^Dataset")).check()
    to_criteria(page, "restaurant-booking-samples")
    row = page.locator("label.ev", has_text="pasted-quality")
    expect(row.locator("input")).to_be_checked()
    expect(row).to_contain_text("Rubric")
    chosen = page.locator("#selected")
    expect(chosen.get_by_label(re.compile("Passes at"))).to_have_count(1)
    expect(chosen).not_to_contain_text("intent_recognition")
    watch.shot("rubric-criteria")
    submit(page, "Judged by paste")
    expect(page.locator("main")).to_contain_text("pasted-quality by dimension")
    assert page.get_by_text("Simulated", exact=True).count() >= 2
    watch.shot("rubric-run")
    return page.url


def labelled(watch, run):
    """A failed row by keyboard: what the judge said, what I say."""
    page = watch.page
    page.get_by_role("link", name=re.compile("^Failed")).first.click()
    page.locator(".row-link").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_text("Simulated", exact=True).first).to_be_visible()
    panel.get_by_text("Show the arithmetic").click()
    expect(panel.locator(".arith")).to_contain_text("below the threshold")
    expect(panel.locator(".arith")).to_contain_text("× 8")
    panel.locator("#panel-title").focus()
    page.keyboard.press("f")
    expect(panel.locator("#label-fail")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("2")
    expect(panel.locator("#label-2")).to_be_checked()
    comment(page, panel, "Wrong day, wrong table")
    expect(panel.locator("#label-fail")).to_have_attribute("aria-pressed", "true")
    watch.shot("rubric-labelled")
    place = panel.locator(".panel-place")
    expect(place).to_contain_text(re.compile(r"^\D*1 of \d+"))
    panel.locator("#panel-title").focus()
    page.keyboard.press("j")
    expect(place).to_contain_text(re.compile(r"^\D*2 of \d+"))
    page.keyboard.press("p")
    expect(panel.locator("#label-pass")).to_have_attribute("aria-pressed", "true")
    comment(page, panel, "This one is right")
    page.keyboard.press("Escape")
    page.goto(run)
    page.get_by_role("link", name=re.compile("^Human disagrees")).first.click()
    expect(page.locator("#row-table .row-link")).to_have_count(1)


def comment(page, panel, text):
    panel.get_by_label("Comment").fill(text)
    page.keyboard.press("Enter")
    expect(panel.locator("#label")).to_contain_text("Saved")
    expect(panel.get_by_label("Comment")).to_have_value(text)


def test_a_rubric_is_generated_from_a_prompt_and_files(watch, portal, tmp_path):
    page = watch.page
    rules, menu = tmp_path / "house rules.txt", tmp_path / "menu.pdf"
    rules.write_text(RULES)
    menu.write_bytes(pdf_of("The lamb is never served well done. Nuts are named."))
    page.goto(at(portal, "rubric_generate"))
    page.get_by_label("System prompt").fill(PROMPT)
    page.locator("input[type=file]").set_input_files([rules, menu])
    for name in ("house rules.txt", "menu.pdf"):
        expect(page.locator("#files")).to_contain_text(name, timeout=30_000)
    page.get_by_label("Name", exact=True).fill("generated-quality")
    models = page.get_by_label(re.compile("^Model")).first
    texts = models.locator("option").all_inner_texts()
    models.select_option(label=next(t for t in texts if "Simulator" in t))
    page.get_by_role("button", name="Generate", exact=True).click()
    proposal = page.locator("#proposal")
    expect(proposal.get_by_role("button", name="Open in the editor")).to_be_visible(
        timeout=30_000
    )
    expect(proposal.get_by_text("Simulated", exact=True)).to_be_visible()
    expect(proposal).to_contain_text("general_quality")
    expect(proposal).to_contain_text("house rules.txt, menu.pdf")
    watch.shot("rubric-proposed")
    proposal.get_by_role("button", name="Open in the editor").click()
    page.wait_for_url("**/drafts/**")
    ids = page.locator(".dim-id input").evaluate_all("l => l.map(i => i.value)")
    assert len(ids) >= 3
    assert ids[-1] == "general_quality"
    save_as(page, 1)
    expect(page.locator("h1")).to_have_text("generated-quality")


TALKS = [
    {
        "messages": [
            {"role": "user", "content": f"A table for {n}, please."},
            {"role": "assistant", "content": "For which day?"},
            {"role": "user", "content": "Friday."},
            {"role": "assistant", "content": f"Booked: Friday, {n} people."},
        ],
        "ground_truth": f"Booked: Friday, {n} people.",
    }
    for n in range(2, 6)
]


def test_whole_conversations_take_rubrics_of_their_level(watch, portal, tmp_path):
    page = watch.page
    talks = tmp_path / "talks.jsonl"
    talks.write_text("".join(json.dumps(talk) + "\n" for talk in TALKS))
    page.goto(at(portal, "dataset_upload"))
    page.locator("input[type=file]").set_input_files(talks)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.locator(".meta")).to_contain_text("4 rows", timeout=60_000)
    dimension = {"id": "books_it", "description": "Books the table.", "weight": 5}
    text = json.dumps({"level": "conversation", "dimensions": [dimension]})
    paste(page, portal, "whole-talk", text)
    save_as(page, 1)
    page.goto(at(portal, "draft_new"))
    page.get_by_role("radio", name=re.compile("^Dataset")).check()
    page.get_by_text("A whole conversation", exact=True).click()
    to_criteria(page, "talks")
    turn = page.locator("label.ev", has=page.locator("#pick-fluency"))
    expect(turn.locator("input")).to_be_disabled()
    expect(turn.locator(".warn")).to_contain_text(re.compile("turn|conversation"))
    watch.shot("rubric-levels")
    page.locator("label.ev", has_text="whole-talk").locator("input").check()
    submit(page, "Whole talks")
    expect(page.locator("main")).to_contain_text("whole-talk by dimension")
    expect(page.get_by_text("4 of 4").first).to_be_attached()
    page.locator(".row-link").first.click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("books_it")
    expect(panel).to_contain_text("For which day?")
    watch.shot("rubric-whole-talk")
