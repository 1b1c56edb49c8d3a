"""Renaming, deleting, doing again: what changes, what stays, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from datasets import usage
from evaluations import drafts, lifecycle
from evaluations.models import (
    Chunk,
    Criterion,
    Evaluation,
    EvaluationDraft,
    Item,
    Metric,
    MetricSummary,
    Result,
    Run,
    RunState,
)
from evaluations.submit import submit_draft
from targets.models import Completion

pytestmark = pytest.mark.django_db
ALL = [Run, Item, Result, MetricSummary, Chunk, Completion]


def texts(response) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def test_an_evaluation_is_renamed_and_keeps_its_address(run, page, client_editor):
    response = client_editor.post(
        page("evaluation_rename"), {"name": "  Gate two "}, follow=True
    )
    assert response.redirect_chain[-1][0] == page("evaluation")
    assert Evaluation.objects.get().name == "Gate two"
    assert texts(response) == ["Evaluation saved."]


@pytest.mark.parametrize("name", ["", "taken", "x" * 121])
def test_a_name_that_does_not_do_is_refused(run, page, client_editor, name, project):
    Evaluation.objects.create(project=project, name="Taken", slug="taken", spec={})
    response = client_editor.post(page("evaluation_rename"), {"name": name})
    assert response.status_code == 422
    assert b'role="alert"' in response.content
    assert Evaluation.objects.get(slug="release-gate").name == "Release gate"


def test_a_run_goes_by_its_name_or_number(run, page, client_editor):
    client_editor.post(page("run_rename"), {"name": "v7"})
    assert b"<h1>v7</h1>" in client_editor.get(page("run")).content
    client_editor.post(page("run_rename"), {"name": ""})
    assert b"<h1>Run 1</h1>" in client_editor.get(page("run")).content


def test_deleting_asks_first(run, page, client_editor):
    html = client_editor.get(page("evaluation_delete")).content.decode()
    assert "with its 1 run?" in html
    assert "60 rows" in html
    html = client_editor.get(page("run_delete")).content.decode()
    assert "Delete Run 1 of Release gate?" in html
    assert Run.objects.count() == 1


def with_calls(run) -> None:
    for item in run.items.all()[:5]:
        item.completion = Completion.objects.create(
            project=run.evaluation.project,
            key="k",
            request="{}",
            response="{}",
            created_at=datetime.now(UTC),
        )
        item.save()
    Chunk.objects.create(run=run, first=0, last=59)


def test_a_run_goes_with_all_that_hangs_on_it(run, page, client_editor, version):
    with_calls(run)
    response = client_editor.post(page("run_delete"), follow=True)
    assert texts(response) == ["Run 1 was deleted."]
    assert [model.objects.count() for model in ALL] == [0] * len(ALL)
    assert Evaluation.objects.count() == 1
    assert version.rows.count() == 60


def test_its_draft_does_not_come_back(run, page, client_editor, project, owner):
    client_editor.post(page("run_delete"))
    assert drafts.open_drafts(project, owner) == []
    assert not EvaluationDraft.objects.exists()


def test_a_call_that_another_run_shares_stays(run, page, client_editor, version):
    with_calls(run)
    other = run.evaluation.runs.create(
        number=2, target=run.target, dataset_version=version, total=1
    )
    shared = run.items.exclude(completion=None).first()
    Item.objects.create(
        run=other, row=shared.row, index=1, completion=shared.completion
    )
    client_editor.post(page("run_delete"))
    assert list(Completion.objects.all()) == [shared.completion]


def test_an_evaluation_goes_with_its_runs(run, page, client_editor, project, owner):
    with_calls(run)
    drafts.for_new_run(run.evaluation, owner)
    response = client_editor.post(page("evaluation_delete"), follow=True)
    assert texts(response) == ["Release gate was deleted."]
    gone = [*ALL, Evaluation, Criterion, Metric, EvaluationDraft]
    assert [model.objects.count() for model in gone] == [0] * len(gone)


@pytest.mark.parametrize("name", ["run_delete", "evaluation_delete"])
def test_what_is_not_over_is_not_deleted(going, page, client_editor, name):
    for response in (
        client_editor.get(page(name)),
        client_editor.post(page(name)),
    ):
        assert response.status_code == 409
        assert b"Cancel" in response.content
    assert Run.objects.count() == 1


def test_a_dataset_with_runs_is_not_deleted(run, page, client_editor, version):
    assert usage.uses_of([version.pk]) == [
        usage.Use("Release gate, Run 1", page("run"))
    ]
    address = f"/p/booking/datasets/{version.dataset.slug}/delete/"
    response = client_editor.post(address)
    assert response.status_code == 409
    assert "Release gate, Run 1" in response.content.decode()
    client_editor.post(page("run_delete"))
    assert client_editor.post(address).status_code == 302


def test_a_dataset_leads_to_the_wizard(version):
    version.dataset.project  # noqa: B018 - read before the action asks for it
    label, url = usage.actions_for(version)[0]
    assert label == "Evaluate"
    assert url == f"/p/booking/evaluations/new/?dataset={version.ref}"


def test_pause_and_resume_with_another_limit(going, page, client_editor, bells):
    Run.objects.filter(pk=going.pk).update(max_cost=1.0, judge_cost=1.2)
    client_editor.post(page("run_pause"))
    going.refresh_from_db()
    assert going.state == RunState.PAUSED
    assert "paused the run" in going.pause_reason
    response = client_editor.post(page("run_resume"), {"max_cost": "1.1"})
    assert response.status_code == 422
    assert b"has cost $1.20 so far" in response.content
    client_editor.post(page("run_resume"), {"max_cost": "4.5"})
    going.refresh_from_db()
    assert (going.state, going.max_cost) == (RunState.RUNNING, 4.5)


def test_cancel_asks_and_keeps_what_is_done(going, page, client_editor):
    assert b"25 of 60 rows are scored" in client_editor.get(page("run_cancel")).content
    assert Run.objects.get().state == RunState.RUNNING
    client_editor.post(page("run_cancel"))
    run = Run.objects.get()
    assert run.state == RunState.CANCELED
    assert run.items.count() == 25


def test_a_run_that_is_over_is_not_canceled(run, page, client_editor):
    response = client_editor.post(page("run_cancel"), follow=True)
    assert texts(response) == ["The run is over already."]
    assert Run.objects.get().state == run.state


def test_retry_does_the_errors_again_and_keeps_the_fails(run, page, client_editor):
    fails = Result.objects.filter(outcome=2).count()
    rows = lifecycle.rows_with_errors(run)
    response = client_editor.post(page("run_retry"), follow=True)
    assert texts(response) == [f"{rows} rows with errors are done again."]
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert run.done == 60 - rows
    assert run.done == run.passed + run.failed + run.errored + run.skipped
    assert Result.objects.filter(outcome=2).count() == fails
    assert not Result.objects.filter(outcome=4).exists()


def test_run_again_makes_the_next_run(run, page, client_editor):
    response = client_editor.post(page("run_again"))
    assert response["Location"].endswith("/runs/2/")
    again = Run.objects.get(number=2)
    assert again.state == RunState.QUEUED
    assert again.dataset_version_id == run.dataset_version_id


def test_run_again_says_why_it_cannot(run, page, client_editor, judge):
    judge.delete()
    response = client_editor.post(page("run_again"), follow=True)
    assert response.redirect_chain[-1][0] == page("run")
    assert any("judge does not exist any more" in text for text in texts(response))
    assert Run.objects.count() == 1


def test_add_run_keeps_the_criteria(run, page, client_editor, editor):
    response = client_editor.post(page("run_add"))
    draft = EvaluationDraft.objects.get(started_from="run")
    assert response["Location"] == f"/p/booking/evaluations/new/{draft.ref}/target/"
    made = submit_draft(draft, by=editor)
    assert (made.evaluation_id, made.number) == (run.evaluation_id, 2)


def test_copy_makes_another_evaluation(run, page, client_editor, editor):
    response = client_editor.post(page("evaluation_copy"))
    draft = EvaluationDraft.objects.get(started_from="copy")
    assert response["Location"].endswith(f"/{draft.ref}/review/")
    made = submit_draft(draft, by=editor)
    assert made.evaluation.name == "Release gate (copy)"
    assert made.evaluation_id != run.evaluation_id


def test_htmx_is_told_where_to_go(run, page, client_editor):
    response = client_editor.post(page("run_again"), headers={"HX-Request": "true"})
    assert response["HX-Redirect"].endswith("/runs/2/")
