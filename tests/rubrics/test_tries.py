"""Trying a draft: asked for by the page, scored by a worker, shown with its sums."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from assay.data.chat import ChatReply, ModelError, Usage
from evaluators.models import Evaluator, EvaluatorVersion
from rubrics import past, saving, sweep, tasks, trying
from rubrics.models import RubricDraft, RubricJob
from tests.factories import make_version
from tests.rubrics.desk import HTMX, Desk, start, text_of
from tests.support.making import make_deployment
from workspace.models import JobState

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = [
    {"question": f"A table for {n}?", "answer": f"Booked for {n}."}
    for n in range(1, 13)
]
SCORES = {
    "intent_recognition": 5,
    "tool_usage_accuracy": 5,
    "policy_enforcement": 5,
    "information_gathering": 4,
    "communication_clarity": 5,
    "general_quality": 4,
}


def verdict(scores: dict[str, int | None]) -> str:
    listed = [
        {"id": k, "reason": f"About {k}.", "applicable": v is not None, "score": v}
        for k, v in scores.items()
    ]
    return json.dumps({"dimension_scores": listed, "reason": "Well done."})


class Judge:
    """A judge with one answer for all rows, or one error."""

    def __init__(self) -> None:
        self.answer: str | Exception = verdict(SCORES)
        self.requests: list[Any] = []

    async def complete(self, request: Any) -> ChatReply:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        usage = Usage(100, 20, 0.002, 1)
        return ChatReply(self.answer, "stop", model="m", usage=usage)


@pytest.fixture(autouse=True)
def bells(monkeypatch) -> list[tuple[str, int]]:
    rung: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "workspace.bells.current_app.send_task",
        lambda name, args: rung.append((name, args[0])),
    )
    return rung


@pytest.fixture
def judge(monkeypatch) -> Judge:
    stub = Judge()
    monkeypatch.setattr(
        "targets.gateway.Gateway.trial", lambda _self, _config, tries=1: stub
    )
    monkeypatch.setattr(trying, "LOOK_SECONDS", 0.05)
    return stub


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture
def rows(project):
    return make_version(project, ROWS, name="bookings")


@pytest.fixture
def model(project):
    return make_deployment(project, "http://127.0.0.1:9/v1", "gpt-4o")


@pytest.fixture
def desk(client_editor, project, rows, model) -> Desk:
    return start(client_editor, project)


def ask(desk: Desk, rows, model, *, row=1, count=1, **changes):
    fields = {
        "try-version": rows.ref,
        "try-row": row,
        "try-count": count,
        "try-judge": model.ref,
    }
    return desk.post("try", **{**fields, **changes})


def done(bells) -> RubricJob:
    name, pk = bells[-1]
    assert name == trying.BELL
    tasks.run_job(pk)
    return RubricJob.objects.get(pk=pk)


def test_one_row_with_its_arithmetic(desk, rows, model, judge, bells):
    answer = ask(desk, rows, model)
    assert answer.status_code == 302
    assert "Queued" in text_of(desk.client.get(desk.url))
    job = done(bells)
    assert job.state == JobState.DONE
    (row,) = job.result["rows"]
    (part,) = row["parts"]
    assert f"{part['score']:.10f}" == "0.9419354839"
    assert row["mapping"] == {"query": "item.question", "response": "item.answer"}
    text = text_of(desk.client.get(desk.url))
    for words in (
        "0.94", "About intent_recognition.", "146 ÷ 31 = 4.7097", "4.7097 ÷ 5 =",
        "0.9419", "at or above the threshold", "120 tokens", "A table for 1?",
        "from question",
    ):  # fmt: skip
        assert words in text, words
    system = judge.requests[0].messages[0].parts[0].text
    assert "id: policy_enforcement" in system


def test_what_was_just_typed_is_tried(desk, rows, model, judge, bells):
    judge.answer = verdict({**SCORES, "intent_recognition": 1})
    ask(desk, rows, model, fail_on_any_1="on", normalization="minmax")
    (row,) = done(bells).result["rows"]
    assert row["outcome"] == "fail"
    assert row["parts"][0]["failed_by_one"]
    text = text_of(desk.client.get(desk.url))
    assert "− 1) ÷ 4" in text
    assert "A dimension scored 1, so the row fails" in text


def test_a_try_of_another_rubric_is_marked(desk, rows, model, judge, bells):
    ask(desk, rows, model)
    done(bells)
    words = "The rubric was changed since this try."
    assert words not in text_of(desk.client.get(desk.url))
    answer = desk.post("auto", htmx=True, pass_threshold="0.9")
    assert words in text_of(answer)
    assert words in text_of(desk.client.get(desk.url))


def test_the_second_try_says_what_the_first_gave(desk, rows, model, judge, bells):
    ask(desk, rows, model)
    done(bells)
    judge.answer = verdict({**SCORES, "general_quality": 1})
    ask(desk, rows, model, **{f"weight-{desk.key(5)}": "9"})
    done(bells)
    assert "the try before gave 0.94" in text_of(desk.client.get(desk.url))


def test_not_applicable_dimensions(desk, rows, model, judge, bells):
    judge.answer = verdict({**SCORES, "tool_usage_accuracy": None})
    ask(desk, rows, model)
    done(bells)
    text = text_of(desk.client.get(desk.url))
    assert "116 ÷ 25" in text
    assert text.count("not applicable") >= 1


def test_ten_rows_end_where_the_dataset_ends(desk, rows, model, judge, bells):
    ask(desk, rows, model, row=5, count=10)
    job = done(bells)
    assert [row["index"] for row in job.result["rows"]] == list(range(5, 13))
    assert job.usage == {
        "total_tokens": 960,
        "cost": pytest.approx(0.016),
        "simulated": False,
    }
    text = text_of(desk.client.get(desk.url))
    assert "Row 12" in text
    assert "$0.02" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"try-row": 13}, "This dataset has 12 rows."),
        ({"try-row": 0}, "greater than or equal to 1"),
        ({"try-row": "x"}, "Enter a whole number"),
    ],
)
def test_a_wrong_row_is_named(desk, rows, model, changes, words):
    answer = ask(desk, rows, model, **changes)
    assert answer.status_code == 422
    assert words in text_of(answer)
    assert not RubricJob.objects.exists()


def test_a_wrong_rubric_is_not_tried_but_saved(desk, rows, model):
    key = desk.key(0)
    answer = ask(desk, rows, model, **{f"weight-{key}": "2.5"})
    assert answer.status_code == 422
    assert "is not a whole number" in text_of(answer)
    assert desk.document.dimensions[0].weight == "2.5"
    assert not RubricJob.objects.exists()


def test_a_nameless_rubric_can_be_tried(desk, rows, model, judge, bells):
    assert ask(desk, rows, model, name="").status_code == 302
    assert done(bells).state == JobState.DONE


def test_a_refused_key_is_told_in_plain_words(desk, rows, model, judge, bells):
    sentence = "The server refused the key."
    judge.answer = ModelError("auth", sentence, permanent=True, stops_run=True)
    ask(desk, rows, model, count=10)
    assert done(bells).state == JobState.FAILED
    assert sentence in text_of(desk.client.get(desk.url))


def test_an_unusable_answer_is_an_error_of_its_row(desk, rows, model, judge, bells):
    judge.answer = "I would say it is fine."
    ask(desk, rows, model)
    job = done(bells)
    assert job.state == JobState.DONE
    assert job.result["rows"][0]["outcome"] == "error"
    assert "no usable verdict" in text_of(desk.client.get(desk.url))


def test_rows_without_the_inputs(desk, project, model, judge, bells):
    other = make_version(project, [{"colour": "red", "size": 3}], name="other")
    ask(desk, other, model)
    done(bells)
    text = text_of(desk.client.get(desk.url))
    assert "missing or empty" in text
    assert not judge.requests


def test_the_change_against_the_version(desk, rows, model, judge, bells, project):
    ask(desk, rows, model)
    done(bells)
    desk.post("publish")
    job = RubricJob.objects.get()
    assert job.draft is None
    url = reverse("rubric_edit", args=[project.slug, Evaluator.objects.get().ref])
    ref = desk.client.post(url)["Location"].split("/drafts/")[1].split("/")[0]
    draft = Desk(desk.client, project, RubricDraft.objects.get(ref=ref))
    judge.answer = verdict({**SCORES, "intent_recognition": 3})
    ask(draft, rows, model, **{f"weight-{draft.key(0)}": "8"})
    done(bells)
    text = text_of(draft.client.get(draft.url))
    assert "v1 gave 0.94" in text
    assert "(−0.11)" in text


def test_a_run_of_the_version_counts_as_well(
    desk, rows, model, judge, bells, monkeypatch, editor
):
    desk.post("publish")

    version = EvaluatorVersion.objects.select_related("evaluator__project").get()
    draft = saving.edit(version, by=editor)
    again = Desk(desk.client, desk.project, RubricDraft.objects.get(pk=draft.pk))
    seen = []

    def finder(found, dataset_version, indexes):
        seen.append((found.pk, dataset_version, list(indexes)))
        return {1: 0.5}

    monkeypatch.setattr(past, "_row_finders", [finder])
    ask(again, rows, model)
    done(bells)
    assert "v1 gave 0.50" in text_of(again.client.get(again.url))
    assert seen[-1] == (version.pk, rows.pk, [1])


def test_the_page_polls_until_it_is_over(desk, rows, model, judge, bells):
    answer = ask(desk, rows, model)
    job = RubricJob.objects.get()
    url = reverse("rubric_try", args=[desk.project.slug, job.ref])
    text = text_of(desk.client.get(url, headers=HTMX))
    assert "data-poll" in text
    assert "<html" not in text
    done(bells)
    text = text_of(desk.client.get(url, headers=HTMX))
    assert "data-poll " not in text
    assert answer.status_code == 302
    assert "<html" in text_of(desk.client.get(url))


def test_cancel(desk, rows, model, judge, bells):
    ask(desk, rows, model)
    job = RubricJob.objects.get()
    desk.post(f"cancel:{job.ref}")
    job.refresh_from_db()
    assert job.state == JobState.CANCELED
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.CANCELED
    assert not judge.requests


def test_cancel_while_it_runs(desk, rows, model, judge, bells, monkeypatch):
    async def complete(_request):
        await asyncio.sleep(30)

    monkeypatch.setattr(judge, "complete", complete)
    ask(desk, rows, model)
    real = trying._watch

    def watch(job, future, found):
        trying.cancel(job)
        return real(job, future, found)

    monkeypatch.setattr(trying, "_watch", watch)
    job = done(bells)
    assert job.state == JobState.CANCELED


def test_lost_tries_are_rung_again(desk, rows, model, bells):
    ask(desk, rows, model)
    job = RubricJob.objects.get()
    RubricJob.objects.filter(pk=job.pk).update(
        state=JobState.RUNNING, lease="x", lease_until=timezone.now() - timedelta(1)
    )
    bells.clear()
    sweep.sweep()
    assert bells == [(trying.BELL, job.pk)]
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_too_many_in_a_minute(desk, rows, model, monkeypatch):
    monkeypatch.setattr(trying, "PER_MINUTE", 1)
    ask(desk, rows, model)
    answer = ask(desk, rows, model)
    assert "Wait a minute" in text_of(answer)
    assert RubricJob.objects.count() == 1


def test_without_data_or_models_the_card_says_what_to_do(client_editor, project):
    desk = start(client_editor, project)
    assert "add a dataset and connect a model" in text_of(client_editor.get(desk.url))


def test_the_judge_note_warns_and_blocks_nothing(desk, rows, model, judge, bells):
    assert "Not recommended as a judge" in text_of(desk.client.get(desk.url))
    assert ask(desk, rows, model).status_code == 302


def test_tries_are_for_editors(client_viewer, client_stranger, desk, rows, model):
    ask(desk, rows, model)
    job = RubricJob.objects.get()
    url = reverse("rubric_try", args=[desk.project.slug, job.ref])
    assert client_viewer.get(url).status_code == 403
    assert client_stranger.get(url).status_code == 404
    cancel = reverse("rubric_try_cancel", args=[desk.project.slug, job.ref])
    assert client_stranger.post(cancel).status_code == 404
    assert desk.client.get(cancel).status_code == 405
