"""Text of data, models, judges and people is shown, never run."""

from __future__ import annotations

import csv
import io

import pytest

from assay.data.spreadsheets import DANGEROUS
from evaluations import exports
from evaluations.models import Criterion, Item, Result, Run
from tests.factories import score_run
from tests.support.making import make_spec, make_version, submit

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
HOSTILE = [
    SCRIPT,
    "{{ 7|add:7 }}{% load x %}",
    '"><img src=x onerror=a>',
    "=cmd|' /C'!A0",
]


@pytest.fixture
def page_of(project, owner, client_owner):
    """Every page of a run in which all text is hostile."""

    def pages(text: str) -> dict[str, str]:
        data = [{"query": text, "response": text, "ground_truth": text, text: text}]
        version = make_version(project, data * 3, name=f"d {text}"[:100])
        spec = make_spec(version, ["f1_score"], name=f"e {text}"[:100])
        run = score_run(submit(project, owner, spec))
        Run.objects.filter(pk=run.pk).update(
            name=text, error=text, pause_reason=text, state=7
        )
        Item.objects.filter(run=run).update(error_code="x", error_text=text)
        Result.objects.filter(run=run).update(
            outcome=4, score=None, reason=text, error_code="boom", label=text[:80]
        )
        Criterion.objects.filter(evaluation=run.evaluation).update(judge_name=text)
        stem = f"/p/booking/evaluations/{run.evaluation.slug}/"
        paths = {
            "list": "/p/booking/evaluations/",
            "evaluation": stem,
            "results": f"{stem}runs/1/?tab=results",
            "columns": f"{stem}runs/1/?cols=d0.d1.d2.d3&tab=results",
            "search": f"{stem}runs/1/?q=%3Cscript%3Ealert(1)%3C/script%3E&tab=results",
            "errors": f"{stem}runs/1/?tab=errors",
            "config": f"{stem}runs/1/?tab=config",
            "log": f"{stem}runs/1/?tab=log",
            "row": f"{stem}runs/1/rows/1/",
            "rename": f"{stem}runs/1/edit/",
            "delete": f"{stem}delete/",
        }
        return {
            name: client_owner.get(path, follow=True).content.decode()
            for name, path in paths.items()
        }

    return pages


@pytest.mark.parametrize("text", HOSTILE)
def test_no_page_runs_it(page_of, text):
    for name, html in page_of(text).items():
        main = html[html.index("<main") : html.index("</main>")]
        assert "<script" not in main, name
        assert "<img src=x" not in main, name
        if "{{" in text:
            assert "14" not in main.split("<h1")[1][:200], name


def test_it_is_there_to_read(page_of):
    html = page_of(SCRIPT)["row"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_no_cell_of_a_csv_is_a_formula(project, owner, start):
    text = f"{start}cmd|' /C calc'!A0"
    data = [{"query": text, "response": text, "ground_truth": "x"}]
    if text.isprintable():
        data[0][text] = "y"
    spec = make_spec(make_version(project, data), ["f1_score"], name=f"e {start!r}")
    run = score_run(submit(project, owner, spec))
    Result.objects.filter(run=run).update(reason=text)
    body = b"".join(exports.as_csv(run)).decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(body)) for cell in row]
    assert any("cmd|" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(DANGEROUS)]
