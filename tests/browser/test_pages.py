"""Every page, wide, medium and phone, light and dark: no violation, no shift, small."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse

from assay.running.spec import STEPS
from tests.support.browser import SIZES, sign_in, watched

pytestmark = pytest.mark.browser

LIMIT_BYTES = 150_000
WATCH_SHIFT = """
window.shift = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# As wide as the widest fallback font that a system without ours may choose.
WIDER = "document.body.style.letterSpacing = '.05em'"
NARROWER = "document.body.style.letterSpacing = ''"
QUIET = "() => !document.querySelector('.htmx-request')"
CONTRAST = {"runOnly": ["color-contrast"]}
At = Callable[..., str]
Pages = Callable[[dict[str, Any], At], dict[str, str]]


def pages(filled: dict[str, Any], *groups: Pages) -> dict[str, str]:
    """The pages of some groups, by default of all, by name, below the address of the
    product."""

    def at(name, *arguments, query=""):
        return reverse(name, args=[filled["project"], *arguments]) + query

    found: dict[str, str] = {}
    for group in groups or GROUPS:
        found |= group(filled, at)
    return found


def common_pages(filled: dict[str, Any], at: At) -> dict[str, str]:
    draft, evaluation = filled["draft"], filled["evaluation"]
    dataset = filled["dataset"]
    return {
        "account": reverse("account"),
        "evaluations": at("evaluations"),
        "evaluations-none-found": at("evaluations", query="?q=zzz"),
        **{f"wizard-{step}": at("draft_step", draft, step) for step in STEPS},
        "evaluation": at("evaluation", evaluation),
        "evaluation-rename": at("evaluation_rename", evaluation),
        "evaluation-delete": at("evaluation_delete", evaluation),
        "run": at("run", evaluation, 1),
        "run-errors": at("run", evaluation, 1, query="?tab=errors"),
        "run-config": at("run", evaluation, 1, query="?tab=config"),
        "run-log": at("run", evaluation, 1, query="?tab=log"),
        "run-none-found": at("run", evaluation, 1, query="?q=zzz"),
        "run-row": at("run_row", evaluation, 1, 3),
        "run-paused": at("run", filled["paused"], 1),
        "run-with-errors": at("run", filled["errors"], 1),
        "run-delete": at("run_delete", evaluation, 1),
        "datasets": at("datasets"),
        "dataset-upload": at("dataset_upload"),
        "dataset": at("dataset_version", dataset, 1),
        "dataset-columns": at("dataset_version", dataset, 1, query="?tab=columns"),
        "dataset-report": at("dataset_version", dataset, 1, query="?tab=report"),
        "dataset-row": at("dataset_row", dataset, 1, 2),
        "dataset-rename": at("dataset_rename", dataset),
        "dataset-delete": at("dataset_delete", dataset),
        "models": at("models"),
        "model": at("deployment", filled["model"]),
        "connection-new": at("connection_new"),
        "evaluators": at("evaluators"),
        "evaluator": at("evaluator", "groundedness"),
        "not-found": f"/p/{filled['project']}/nothing-here/",
    }


def dataset_pages(filled: dict[str, Any], at: At) -> dict[str, str]:
    """The check-up of an upload, and what people do with rows and versions."""
    waiting, guessed = filled["waiting"], filled["guessed"]
    edited, wide = filled["edited"], filled["wide"]
    return {
        "review": at("dataset_version", *waiting),
        "review-of-a-kind": at("dataset_version", *waiting, query="?finding=injection"),
        "review-guessed": at("dataset_version", *guessed),
        "review-row": at("dataset_row", *waiting, 14),
        "version-new": at("dataset_version_new", filled["dataset"]),
        "edited": at("dataset_version", *edited),
        "edited-found": at("dataset_version", *edited, query="?q=zzz"),
        "edited-versions": at("dataset_version", *edited, query="?tab=versions"),
        "edited-report": at("dataset_version", *edited, query="?tab=report"),
        "edited-columns": at("dataset_version", *edited, query="?tab=columns"),
        "row-edit": at("dataset_row_edit", *edited, 12),
        "row-new": at("dataset_row_new", *edited),
        "changes": at("dataset_changes", *edited),
        "changes-none": at("dataset_changes", *wide),
        "compare": at("dataset_compare", *edited, 1),
        "compare-same": at("dataset_compare", *edited, edited[1]),
        "part": at("dataset_part", *edited),
        "part-found": at("dataset_part", *edited, query="?q=number"),
        "wide": at("dataset_version", *wide),
        "wide-columns": at("dataset_version", *wide, query="?tab=columns"),
        "wide-row-edit": at("dataset_row_edit", *wide, 1),
    }


def rubric_pages(filled: dict[str, Any], at: At) -> dict[str, str]:
    """Rubrics: written, generated, saved, judged with, compared with people."""
    rubric, draft, run = filled["rubric"], filled["rubric_draft"], filled["sample_run"]
    tabs = ("json", "prompt", "versions", "usage")
    return {
        "evaluators-rubrics": at("evaluators", query="?kind=rubric"),
        "rubric-new": at("rubric_new"),
        "rubric-new-json": at("rubric_new", query="?start=json"),
        "rubric-generate": at("rubric_generate"),
        "rubric-generate-again": at("rubric_generate", query=f"?rubric={rubric}"),
        "rubric-generation": at("rubric_generation", filled["generation"]),
        "rubric": at("rubric", rubric),
        "rubric-old": at("rubric", rubric, query="?v=1"),
        **{f"rubric-{tab}": at("rubric", rubric, query=f"?tab={tab}") for tab in tabs},
        "rubric-long": at("rubric", filled["long"]),
        "rubric-agreement": at("rubric_agreement", rubric),
        "rubric-agreement-none": at("rubric_agreement", filled["long"]),
        "rubric-copy": at("rubric_copy", rubric),
        "rubric-delete": at("rubric_delete", rubric),
        "rubric-delete-unused": at("rubric_delete", filled["long"]),
        "rubric-draft": at("rubric_draft", draft),
        **{
            f"rubric-draft-{tab}": at("rubric_draft", draft, query=f"?tab={tab}")
            for tab in tabs
        },
        "rubric-draft-faulty": at("rubric_draft", filled["faulty"]),
        "rubric-draft-discard": at("rubric_draft_discard", draft),
        "run-rubric": at("run", run, 1),
        "run-rubric-disagree": at("run", run, 1, query="?label=disagree"),
        "run-rubric-row": at("run_row", run, 1, 1),
        "run-rubric-row-2": at("run_row", run, 1, 2),
    }


GROUPS: tuple[Pages, ...] = (common_pages, dataset_pages, rubric_pages)


def violations(page, options=None) -> list[str]:
    """What axe finds that is serious or critical."""
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"axe {v['id']} ({v['impact']}): {v['nodes'][0]['html'][:160]}"
        for v in found
        if v["impact"] in {"serious", "critical"}
    ]


def looks(watch, name: str) -> list[str]:
    """What is wrong on the open page, in all sizes and both colour schemes."""
    page = watch.page
    wrong = []
    if (shift := page.evaluate("window.shift")) >= 0.01:
        wrong.append(f"layout shift {shift:.4f}")
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        if (over := page.evaluate(SIDEWAYS)) > 0:
            wrong.append(f"{size}: scrolls sideways by {over} px")
        page.evaluate(WIDER)
        if (over := page.evaluate(SIDEWAYS)) > 0:
            wrong.append(f"{size}: a wider font scrolls sideways by {over} px")
        page.evaluate(NARROWER)
        if size != "medium":
            wrong += [f"{size}: {found}" for found in violations(page)]
        watch.shot(f"{name}-{size}-light")
        page.emulate_media(color_scheme="dark")
        if size == "wide":
            wrong += [f"dark: {found}" for found in violations(page, CONTRAST)]
        watch.shot(f"{name}-{size}-dark")
        page.emulate_media(color_scheme="light")
    width, height = SIZES["wide"]
    page.set_viewport_size({"width": width, "height": height})
    return wrong


@pytest.mark.parametrize("group", GROUPS)
def test_every_page_is_accessible_and_still(browser, portal, group):
    wrong: dict[str, list[str]] = {}
    # Without motion: a colour in transition has no contrast to measure.
    with watched(browser, reduced_motion="reduce") as watch:
        watch.page.add_init_script(WATCH_SHIFT)
        sign_in(watch.page, portal)
        for name, address in pages(portal.filled, group).items():
            watch.page.goto(portal.url + address, wait_until="load")
            watch.page.wait_for_timeout(150)
            watch.page.wait_for_function(QUIET)
            if found := looks(watch, name):
                wrong[name] = found
        if noise := [c for c in watch.complaints if "nothing-here" not in c]:
            wrong["console"] = noise
    assert not wrong, json.dumps(wrong, indent=1)


def test_a_first_visit_is_small(browser, portal):
    """HTML, CSS and JavaScript of each page on an empty cache, as transferred."""
    large = {}
    with watched(browser) as watch:
        sign_in(watch.page, portal)
        session = watch.context.new_cdp_session(watch.page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        sizes: dict[str, float] = {}
        kinds: dict[str, str] = {}
        session.on(
            "Network.responseReceived",
            lambda e: kinds.update({e["requestId"]: e["type"]}),
        )
        session.on(
            "Network.loadingFinished",
            lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}),
        )
        for name, address in pages(portal.filled).items():
            sizes.clear()
            kinds.clear()
            watch.page.goto(portal.url + address, wait_until="load")
            watch.page.wait_for_function(QUIET)
            media = {i for i, kind in kinds.items() if kind in {"Image", "Media"}}
            total = sum(size for i, size in sizes.items() if i not in media)
            assert total > 10_000, name
            if total > LIMIT_BYTES:
                large[name] = total
            print(f"{name}: {total / 1000:.1f} kB")
    assert large == {}
