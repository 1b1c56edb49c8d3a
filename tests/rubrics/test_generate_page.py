"""The page that generates a rubric: what is typed and sent is never lost."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from rubrics import generate, tasks
from rubrics.models import RubricDraft, RubricJob
from tests.rubrics.generating import PROMPT, asked, page, post, text_file
from workspace.models import JobState


@pytest.mark.parametrize("prompt", ["", "  \n\t \n"])
def test_nothing_given_is_said(client_editor, project, model, llm, prompt):
    answer = post(client_editor, project, model, prompt=prompt, title="My rubric")
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "Paste a system prompt or add a reference file." in html
    assert "My rubric" in html
    assert not RubricJob.objects.exists()


def test_a_broken_file_stops_and_everything_else_stays(client_editor, project, model):
    files = [text_file(), SimpleUploadedFile("scan.pdf", b"%PDF-1.7 nothing")]
    answer = post(client_editor, project, model, files=files, name="kept_name")
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "scan.pdf is no PDF, or a broken one." in html
    assert "house-rules.md" in html
    assert "kept_name" in html
    assert "Blue Door" in html
    token = answer.context["desk"].files[0].token
    again = post(client_editor, project, model, kept=[token], prompt="")
    assert again.status_code == 302
    wish = generate.wish_of(RubricJob.objects.get())
    assert [s.name for s in wish.sources] == ["house-rules.md"]
    assert wish.sources[0].content == PROMPT.strip()


def test_files_are_read_and_removed_without_starting(client_editor, project, model):
    answer = post(client_editor, project, model, do="files", files=[text_file()])
    assert answer.status_code == 200
    (file,) = answer.context["desk"].files
    gone = post(
        client_editor, project, model, do=f"remove:{file.sha256}", kept=[file.token]
    )
    assert gone.context["desk"].files == []
    assert not RubricJob.objects.exists()


def test_a_file_that_is_too_large_is_not_kept(client_editor, project, model):
    big = SimpleUploadedFile("big.txt", b"x" * (10 * 1024 * 1024 + 1))
    answer = post(client_editor, project, model, files=[big, text_file()])
    assert answer.status_code == 422
    assert "big.txt has" in answer.content.decode()
    assert [f.name for f in answer.context["desk"].files] == ["house-rules.md"]


def test_of_very_many_files_the_form_stays_whole(client_editor, project, model):
    files = [text_file(f"Rule {n} of many.", f"{n}.txt") for n in range(60)]
    answer = post(client_editor, project, model, files=files, title="Kept title")
    assert answer.status_code == 422
    assert len(answer.context["desk"].files) == 10
    assert "Kept title" in answer.content.decode()
    assert "10.txt was left out: at most 10 files are read." in answer.content.decode()


def test_what_is_typed_is_looked_at(client_editor, project, model):
    answer = post(client_editor, project, model, do="look", prompt="Be kind.")
    html = answer.content.decode()
    assert "8 characters" in html
    assert "The system prompt is short: 8 characters." in html
    assert answer.context["estimate"].tokens > 900
    assert not answer.context["problems"]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model", "model_gone", "This model was deleted."),
        ("name", "two words", "A name has 1 to 256 letters"),
        ("name", "builtin.mine", "belong to built-in evaluators"),
        ("category", "odd", "Select a valid choice"),
        ("prompt", "x" * 100_001, "100001"),
    ],
)
def test_wrong_fields_are_named(client_editor, project, model, field, value, sentence):
    answer = post(client_editor, project, model, **{field: value})
    assert answer.status_code == 422
    assert sentence in " ".join(p["text"] for p in answer.context["problems"])


def test_nothing_chosen_takes_nothing(client_editor, project, simulated):
    job = asked(client_editor, project, simulated)
    address = page(project, "rubric_generation_take", job.ref)
    answer = client_editor.post(address, {}, follow=True)
    assert "Choose at least one dimension." in answer.content.decode()
    assert not RubricDraft.objects.exists()


def test_a_poll_gets_the_fragment(client_editor, project, simulated):
    post(client_editor, project, simulated)
    job = RubricJob.objects.get()
    address = page(project, "rubric_generation", job.ref)
    answer = client_editor.get(address, headers={"hx-request": "true"})
    html = answer.content.decode()
    assert "data-poll" in html
    assert "<html" not in html
    tasks.run_job(job.pk)
    html = client_editor.get(address, headers={"hx-request": "true"}).content.decode()
    assert "data-poll" not in html


@pytest.mark.parametrize("name", ["generate", "generation", "cancel", "take"])
def test_permissions(
    client, client_viewer, client_stranger, client_editor, project, model, name
):
    post(client_editor, project, model)
    job = RubricJob.objects.get()
    address = {
        "generate": page(project),
        "generation": page(project, "rubric_generation", job.ref),
        "cancel": page(project, "rubric_generation_cancel", job.ref),
        "take": page(project, "rubric_generation_take", job.ref),
    }[name]
    assert client_viewer.post(address).status_code == 403
    assert client_stranger.post(address).status_code == 404
    assert client.post(address).status_code == 302
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_a_project_without_models_says_so(client_editor, project):
    html = client_editor.get(page(project)).content.decode()
    assert "This project has no model yet." in html


def test_queries(client_editor, project, simulated, django_assert_max_num_queries):
    job = asked(client_editor, project, simulated)
    address = page(project, "rubric_generation", job.ref)
    with django_assert_max_num_queries(9):
        client_editor.get(address)
