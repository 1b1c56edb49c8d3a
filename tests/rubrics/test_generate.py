"""Generating a rubric: the job, the proposal, the draft."""

from __future__ import annotations

import json
import threading
import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluators.models import Evaluator
from rubrics import generate, proposals, saving, sweep, tasks, trying
from rubrics.documents import DimensionText, Document
from rubrics.models import RubricDraft, RubricJob
from tests.core.rubrics import RESTAURANT
from tests.fakes.llm import Answer, error
from tests.rubrics.generating import answer_of, asked, page, post, shown, text_file
from workspace.models import JobState

RESIDUAL = "general_quality"


def test_a_prompt_and_a_file_become_a_draft(client_editor, project, simulated):
    job = asked(
        client_editor,
        project,
        simulated,
        name="booking_quality",
        title="Booking quality",
        files=[text_file("Dogs are welcome on the terrace. " * 20)],
    )
    assert job.state == JobState.DONE, job.error
    assert job.usage["simulated"]
    assert job.usage["prompt_tokens"] > 100
    html = shown(client_editor, job)
    assert "Simulated" in html
    assert "house-rules.md" in html
    proposal = proposals.proposal_of(job)
    assert proposal[-1].dimension.id == "general_quality"
    marks = [p.mark for p in proposal[1:]]
    answer = client_editor.post(
        page(project, "rubric_generation_take", job.ref), {"take": marks}
    )
    draft = RubricDraft.objects.get()
    assert answer.url == page(project, "rubric_draft", draft.ref)
    document = saving.document_of(draft)
    assert [d.id for d in document.dimensions] == marks
    assert (document.name, document.title) == ("booking_quality", "Booking quality")
    assert draft.origin["kind"] == "generated"
    assert draft.origin["based_on"] == ["System prompt", "house-rules.md"]
    assert draft.origin["simulated"]


def test_the_draft_can_be_saved_as_a_version(client_editor, editor, project, simulated):
    job = asked(client_editor, project, simulated, name="quality_2")
    marks = {p.mark for p in proposals.proposal_of(job)}
    draft = proposals.take(job, marks, by=editor)
    version = saving.publish(draft, by=editor)
    assert version.origin["kind"] == "generated"
    weights = [d.weight for d in version.evaluator_definition.rubric.dimensions]
    assert sum(weight >= 8 for weight in weights) == 1


def test_a_safety_rubric_has_no_weights(client_editor, editor, project, simulated):
    job = asked(client_editor, project, simulated, category="safety", name="safe")
    proposal = proposals.proposal_of(job)
    draft = proposals.take(job, {p.mark for p in proposal}, by=editor)
    version = saving.publish(draft, by=editor)
    rubric = version.evaluator_definition.rubric
    assert (rubric.category, rubric.scoring) == ("safety", "boolean")
    assert {d.allowed for d in rubric.dimensions} == {True, False}
    assert rubric.dimensions[-1].id == "general_policy_compliance"


def test_prose_ends_with_the_answers_shown(client_editor, project, model, llm):
    llm.script = lambda _body, n: Answer(f"Here are <b>some</b> ideas {n}.")
    job = asked(client_editor, project, model)
    assert job.state == JobState.FAILED
    assert len(llm.calls) == 2
    assert job.error == (
        "The model gave no rubric in 2 tries. The model's answer holds no list of "
        "dimensions."
    )
    assert job.usage["total_tokens"] == 240
    html = shown(client_editor, job)
    assert "Here are &lt;b&gt;some&lt;/b&gt; ideas 1." in html
    assert "Blue Door" in html


def test_a_second_answer_repairs_the_first(client_editor, project, model, llm):
    llm.script = lambda _body, n: Answer(answer_of(9, 4, 2) if n else "Well, …")
    job = asked(client_editor, project, model)
    assert job.state == JobState.DONE
    assert [d["weight"] for d in job.result["dimensions"]] == [9, 4, 2, 5]
    assert job.usage["calls"] == 2
    assert job.usage["cost"] == pytest.approx(2 * (100 + 2 * 20) / 1e6)


@pytest.mark.parametrize(
    ("weights", "kept", "note"),
    [
        ((9,), [9, 5], "The model wrote only one dimension. Add others."),
        ((9, 9, 9), [9, 6, 6, 5], "Weights were brought in line"),
    ],
)
def test_poor_answers_are_kept_and_told(
    client_editor, editor, project, model, llm, weights, kept, note
):
    llm.script = lambda _body, _n: Answer(answer_of(*weights))
    job = asked(client_editor, project, model)
    assert [d["weight"] for d in job.result["dimensions"]] == kept
    assert note in shown(client_editor, job)
    marks = {p.mark for p in proposals.proposal_of(job)}
    draft = proposals.take(job, marks, by=editor)
    assert draft.origin["notes"][0].startswith(note[:20])


def test_a_refused_key_is_said(client_editor, project, model, llm):
    llm.script = lambda _body, _n: error(401, "Incorrect API key provided")
    job = asked(client_editor, project, model)
    assert job.state == JobState.FAILED
    assert job.error in shown(client_editor, job).replace("&#x27;", "'")


def test_a_deleted_model_is_said(client_editor, project, model):
    post(client_editor, project, model)
    job = RubricJob.objects.get()
    model.delete()
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "This model was deleted.")
    assert "This model was deleted." in shown(client_editor, job)


def test_images_are_sent(client_editor, project, model, llm):
    from tests.factories import png

    llm.script = lambda _body, _n: Answer(answer_of(9, 4))
    image = SimpleUploadedFile("menu.png", png())
    job = asked(client_editor, project, model, prompt="", files=[image])
    assert job.state == JobState.DONE, job.error
    assert "image_url" in json.dumps(llm.calls[0])
    assert "base64" not in json.dumps(job.request)


def test_cancel_before_the_call(client_editor, project, model, llm):
    post(client_editor, project, model)
    job = RubricJob.objects.get()
    client_editor.post(page(project, "rubric_generation_cancel", job.ref))
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.CANCELED
    assert llm.calls == []
    assert "Canceled." in shown(client_editor, job)


@pytest.mark.django_db(transaction=True)
def test_cancel_during_the_call(client_editor, project, model, llm):
    llm.script = lambda _body, _n: Answer(answer_of(9, 4), delay=20)
    post(client_editor, project, model)
    job = RubricJob.objects.get()

    def cancel_soon() -> None:
        from django.db import connection

        while not llm.calls:
            time.sleep(0.02)
        trying.cancel(job)
        connection.close()

    helper = threading.Thread(target=cancel_soon)
    helper.start()
    began = time.monotonic()
    tasks.run_job(job.pk)
    helper.join()
    job.refresh_from_db()
    assert job.state == JobState.CANCELED
    assert time.monotonic() - began < 10


def test_a_lost_job_is_done_by_the_next_worker(client_editor, project, simulated):
    post(client_editor, project, simulated)
    job = RubricJob.objects.get()
    from django.utils import timezone

    past = timezone.now() - timezone.timedelta(minutes=5)
    RubricJob.objects.update(state=JobState.RUNNING, lease="gone", lease_until=past)
    sweep.sweep()
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE


def restaurant_draft(project, editor) -> RubricDraft:
    dimensions = tuple(
        DimensionText(
            key=f"k{n}",
            id=d.id,
            description=d.description,
            weight=str(d.weight),
            always_applicable=n == 0,
        )
        for n, d in enumerate(RESTAURANT.dimensions)
    )
    document = Document(name="booking", title="Booking", dimensions=dimensions)
    return saving.create_draft(project, document, by=editor)


def test_again_keeps_ids_and_shows_what_changes(
    client_editor, editor, project, model, llm
):
    draft = restaurant_draft(project, editor)
    first, second, *_others = RESTAURANT.dimensions
    entries = [
        {"id": first.id, "description": "Sees what is wanted.", "weight": 9},
        {"id": second.id, "description": second.description, "weight": second.weight},
        {"id": "menu_facts", "description": "Says only what is on the menu."},
    ]
    llm.script = lambda _body, _n: Answer(json.dumps({"dimensions": entries}))
    html = client_editor.get(page(project), {"draft": draft.ref}).content.decode()
    assert "Generate again" in html
    job = asked(client_editor, project, model, draft=draft.ref)
    sent = json.dumps(llm.calls[0])
    assert "earlier" in sent
    assert all(d.id in sent for d in RESTAURANT.dimensions if d.id != RESIDUAL)
    assert RESIDUAL not in sent
    proposal = proposals.proposal_of(job)
    status = {p.dimension.id: p.status for p in proposal}
    assert status[first.id] == "changed"
    assert status[second.id] == "same"
    assert status["menu_facts"] == "added"
    assert status["general_quality"] in {"same", "added"}
    gone = [p for p in proposal if p.is_removed]
    assert len(gone) == len(RESTAURANT.dimensions) - 2 - (
        status["general_quality"] == "same"
    )
    shown_html = shown(client_editor, job)
    for word in ("Changed", "Unchanged", "New", "Not proposed any more", "<del>"):
        assert word in shown_html
    marks = [p.mark for p in proposal if not p.is_removed] + [gone[0].mark]
    client_editor.post(
        page(project, "rubric_generation_take", job.ref), {"take": marks}
    )
    taken = RubricDraft.objects.get()
    assert taken.pk == draft.pk
    document = saving.document_of(taken)
    html = client_editor.get(page(project), {"draft": draft.ref}).content.decode()
    assert "Blue Door" in html
    assert document.dimensions[0].key == "k0"
    assert document.dimensions[0].always_applicable
    assert document.dimensions[-1].id == gone[0].dimension.id
    assert {r.dimension.id for r in document.removed} == {
        p.dimension.id for p in gone[1:]
    }
    assert taken.revision == draft.revision + 1


def test_the_name_of_a_rubric_makes_its_next_version(
    client_editor, editor, project, simulated
):
    version = saving.publish(restaurant_draft(project, editor), by=editor)
    wrong = post(client_editor, project, simulated, name="BOOKING", category="safety")
    assert wrong.status_code == 422
    assert "Quality" in wrong.context["problems"][0]["text"]
    job = asked(client_editor, project, simulated, name="BOOKING")
    wish = generate.wish_of(job)
    assert wish.evaluator == version.evaluator.ref
    assert len(wish.earlier) == len(RESTAURANT.dimensions)
    marks = {p.mark for p in proposals.proposal_of(job)}
    draft = proposals.take(job, marks, by=editor)
    assert draft.evaluator == version.evaluator
    assert saving.publish(draft, by=editor).number == 2
    assert Evaluator.objects.count() == 1


def test_a_checklist_stays_without_weights(client_editor, editor, project, simulated):
    draft = restaurant_draft(project, editor)
    document = saving.document_of(draft)
    plain = tuple(d.model_copy(update={"weight": ""}) for d in document.dimensions)
    changes = {"scoring": "boolean", "dimensions": plain}
    saving.save_draft(draft, document.model_copy(update=changes), revision=1)
    job = asked(client_editor, project, simulated, draft=draft.ref)
    proposal = proposals.proposal_of(job)
    assert all(p.dimension.weight == "" for p in proposal)


@pytest.mark.django_db
def test_a_warning_goes_when_the_definition_is_edited(project, owner):
    from rubrics import saving
    from rubrics.documents import from_spec
    from tests.core.rubrics import spec_of

    origin = {"kind": "generated", "warnings": [{"message": "Short."}]}
    document: Document = from_spec(spec_of(1, 2), name="made")
    draft = saving.create_draft(project, document, by=owner, origin=origin)
    renamed = document.model_copy(update={"title": "Made"})
    draft = saving.save_draft(draft, renamed, revision=1)
    assert draft.origin["warnings"]
    fewer = renamed.model_copy(update={"dimensions": document.dimensions[:1]})
    draft = saving.save_draft(draft, fewer, revision=2)
    assert draft.origin == {"kind": "generated"}
