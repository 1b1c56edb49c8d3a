"""The lists of models that judge well: advice that a project may change."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluators import judges

pytestmark = pytest.mark.django_db


def at(project):
    return reverse("evaluator_judges", args=[project.slug])


def lists(**changes):
    plain = {level: "\n".join(judges.DEFAULTS[level]) for level in judges.LEVELS}
    return {**plain, **changes}


def test_an_editor_changes_the_lists(client_editor, project):
    sent = lists(recommended="my-judge\n\n  gpt-5.5  \n", acceptable="")
    assert client_editor.post(at(project), sent).status_code == 302
    project.refresh_from_db()
    assert judges.guidance_in(project, "acme/my-judge") == "recommended"
    assert judges.lists_of(project)["recommended"] == ["my-judge", "gpt-5.5"]
    html = client_editor.get(at(project)).content.decode()
    assert "my-judge" in html


def test_the_usual_lists_come_back(client_editor, project):
    client_editor.post(at(project), lists(recommended="my-judge"))
    client_editor.post(at(project), {"usual": "1"})
    project.refresh_from_db()
    assert "judge_guidance" not in project.settings
    assert judges.guidance_in(project, "gpt-5.5") == "recommended"


def test_a_model_stands_in_one_list(client_editor, project):
    sent = lists(recommended="GPT-4o-2024-08-06", not_recommended="openai/gpt-4o")
    response = client_editor.post(at(project), sent)
    assert response.status_code == 422
    assert "gpt-4o stands in several lines." in response.content.decode()
    project.refresh_from_db()
    assert project.settings.get("judge_guidance") is None


def test_a_viewer_reads_and_a_stranger_does_not(
    client_viewer, client_stranger, project
):
    assert client_viewer.get(at(project)).status_code == 200
    assert client_viewer.post(at(project), lists()).status_code == 403
    assert client_stranger.get(at(project)).status_code == 404
