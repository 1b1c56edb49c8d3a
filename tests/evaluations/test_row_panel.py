"""One row: everything that is known about it, as a page and as a panel."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from assay.data.jsonx import dumps
from evaluations.evidence import MOST_TEXT
from evaluations.models import Item, Result, Run
from evaluations.rowdetail import row_detail
from targets.models import Completion

pytestmark = pytest.mark.django_db
PANEL = {"HX-Request": "true", "HX-Target": "panel"}


def call(run, request, response, **fields) -> Completion:
    return Completion.objects.create(
        project=run.evaluation.project,
        key="k",
        request=json.dumps(request),
        response=json.dumps(response),
        created_at=datetime.now(UTC),
        **fields,
    )


@pytest.fixture
def judged(run) -> Item:
    """Row 10, which has an image, with an error of the judge in two tries."""
    item = run.items.get(index=10)
    sha = item.row.values["image_url"]
    sha = sha.get("$blob") or sha["url"]["$blob"]
    parts = [
        {"type": "text", "text": "The material"},
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,blob:{sha}"},
        },
    ]
    messages = [
        {"role": "system", "content": "You are a judge."},
        {"role": "user", "content": parts},
    ]
    result = item.results.get(metric__key="coherence")
    result.outcome, result.score = 4, None
    result.error_code = "judge_unparsable"
    result.reason = "The judge gave no usable verdict in 2 tries."
    result.details = dumps(
        {
            "attempts": 2,
            "faults": ["No score was found.", "No score was found again."],
            "raw_answers": ["I cannot say.", "Perhaps four?"],
        }
    )
    result.completion = call(
        run,
        {"messages": messages},
        {"content": "Perhaps four?", "model": "gpt-test"},
        prompt_tokens=90,
        completion_tokens=10,
    )
    result.save()
    return item


def test_an_error_keeps_its_sentence_code_attempts_and_answers(
    run, page, judged, client_viewer
):
    html = client_viewer.get(page("run_row", 10)).content.decode()
    assert "The judge gave no usable verdict in 2 tries." in html
    assert "<code>judge_unparsable</code>" in html
    assert "2 attempts" in html
    assert "I cannot say." in html
    assert "Perhaps four?" in html
    assert "No score was found again." in html


def test_it_shows_what_the_judge_received_with_its_media(
    run, page, judged, client_viewer
):
    html = client_viewer.get(page("run_row", 10)).content.decode()
    assert "What the judge received" in html
    assert "You are a judge." in html
    evidence = html[html.index("What the judge received") :]
    assert "data-lightbox" in evidence
    assert "blob:" not in evidence


def test_media_of_another_project_are_not_shown(run, page, judged, client_viewer):
    judged.row.version.dataset.project.projectblob_set.all().delete()
    html = client_viewer.get(page("run_row", 10)).content.decode()
    assert "Media not available." in html


def test_it_is_a_page_and_a_panel(run, page, client_viewer):
    whole = client_viewer.get(page("run_row", 3)).content.decode()
    panel = client_viewer.get(page("run_row", 3), headers=PANEL)
    part = panel.content.decode()
    assert "<html" in whole
    assert part.lstrip().startswith('<header class="panel-head">')
    assert 'id="panel-title"' in whole
    assert 'id="panel-title"' in part
    assert "Close, Escape" in part
    assert "Close, Escape" not in whole
    assert "HX-Request" in panel["Vary"]


def test_previous_and_next_stay_in_the_list(run, page, client_viewer):
    order = list(run.items.filter(outcome=2).values_list("index", flat=True))
    address = page("run_row", order[1], query="?result=fail")
    html = client_viewer.get(address).content.decode()
    for index in (order[0], order[2]):
        assert f'href="{page("run_row", index, query="?result=fail")}"' in html
    assert f"2 of {len(order)} rows" in html


def test_the_way_back_leads_to_the_page_of_the_list(run, page, client_viewer):
    html = client_viewer.get(page("run_row", 45)).content.decode()
    assert f'href="{page("run", query="?tab=results&amp;page=3")}#rows"' in html


def test_the_conversation_is_made_of_the_columns_that_were_mapped(run):
    detail = row_detail(run, run.items.select_related("row").get(index=10))
    user, assistant = detail.conversation
    assert user["role"] == "user"
    assert [part["type"] for part in user["content"]] == ["text", "media"]
    assert assistant["content"][0]["text"] == "Answer 10. Window seat."
    assert detail.expected.column == "ground_truth"
    shown = {"query", "response", "image_url", "ground_truth"}
    assert not shown & {cell.column for cell in detail.columns}


def test_a_generated_answer_comes_with_what_was_sent(run):
    Run.objects.filter(pk=run.pk).update(target={"kind": "model"})
    run.refresh_from_db()
    item = run.items.get(index=5)
    item.output = dumps(
        {
            "output_text": "Booked.",
            "tool_calls": [
                {"id": "a", "function": {"name": "book", "arguments": "{}"}}
            ],
        }
    )
    request = {"messages": [{"role": "user", "content": "Hi"}]}
    item.completion = call(run, request, {"content": "Booked."})
    item.save()
    detail = row_detail(run, run.items.select_related("row", "completion").get(index=5))
    assert [m["role"] for m in detail.conversation] == ["user", "assistant"]
    assert detail.conversation[1]["tool_calls"]
    assert [cell.column for cell in detail.media] == ["image_url"]


def test_errors_of_the_target_are_shown(run, page, client_viewer):
    Item.objects.filter(run=run, index=4).update(
        error_code="timeout", error_text="The model did not answer in 60 seconds."
    )
    html = client_viewer.get(page("run_row", 4)).content.decode()
    assert "The target gave no answer." in html
    assert "The model did not answer in 60 seconds." in html


def test_errors_that_were_done_again_stay_visible(run, page, client_viewer):
    history = [{"metric": "coherence", "code": "timeout", "reason": "Too slow."}]
    Item.objects.filter(run=run, index=4).update(history=dumps(history))
    html = client_viewer.get(page("run_row", 4)).content.decode()
    assert "Earlier error, done again:" in html
    assert "Too slow." in html


def test_a_judge_without_a_reason(run, page, client_viewer):
    Result.objects.filter(run=run, item__index=4).update(reason="", outcome=1, score=1)
    html = client_viewer.get(page("run_row", 4)).content.decode()
    assert "The judge gave no reason." in html


def test_very_long_texts_are_cut_and_said_to_be(run, page, client_viewer):
    item = run.items.get(index=4)
    request = {"messages": [{"role": "user", "content": "x" * (MOST_TEXT + 5000)}]}
    item.results.filter(metric__key="coherence").update(
        completion=call(run, request, {"content": "y" * (MOST_TEXT + 7)})
    )
    html = client_viewer.get(page("run_row", 4)).content.decode()
    assert "… 5,000 more characters" in html
    assert "… 7 more characters" in html
    raw = client_viewer.get(page("run_raw", query="?row=4")).json()
    calls = [r["call"] for r in raw["results"] if r["call"]]
    assert calls[0]["request"] == request


def test_unreadable_evidence_does_not_break_the_page(run, page, client_viewer):
    item = run.items.get(index=4)
    broken = call(run, {"messages": ["x", {"content": 5}, {"content": ["y"]}]}, [1])
    item.results.update(completion=broken)
    assert client_viewer.get(page("run_row", 4)).status_code == 200


def test_a_row_makes_twelve_queries_at_most(
    run, page, judged, client_viewer, django_assert_max_num_queries
):
    with django_assert_max_num_queries(12):
        client_viewer.get(page("run_row", 10, query="?result=fail"))
