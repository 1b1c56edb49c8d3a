"""Every address of results refuses whom it should, in the same way."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import get_resolver

from evaluations import urls
from evaluations.models import Evaluation, Run

pytestmark = pytest.mark.django_db

READS = ["evaluation", "run", "run_row", "run_export", "run_raw"]
ASKS = ["evaluation_rename", "evaluation_delete", "run_rename", "run_delete"]
ASKS += ["run_cancel"]
POSTS = ["evaluation_copy", "run_add", "run_pause", "run_resume", "run_retry"]
POSTS += ["run_again", "run_row_label"]
MORE = {"run_row": (3,), "run_row_label": (3,)}


def address(page, name: str) -> str:
    return page(name, *MORE.get(name, ()))


def test_every_address_is_tried_here():
    named = {p.name for p in urls.urlpatterns if not str(p.name).startswith("draft")}
    assert named == {"evaluations", "rubric_agreement", *READS, *ASKS, *POSTS}
    assert get_resolver()


@pytest.mark.parametrize("name", READS + ASKS + POSTS)
def test_nobody_is_sent_to_sign_in(run, page, name):
    for method in ("get", "post"):
        response = getattr(Client(), method)(address(page, name))
        assert response.status_code == 302
        assert "/sign-in/" in response["Location"]


@pytest.mark.parametrize("name", READS + ASKS + POSTS)
def test_a_stranger_finds_nothing(run, page, client_stranger, name):
    for method in ("get", "post"):
        response = getattr(client_stranger, method)(address(page, name))
        assert response.status_code == 404


@pytest.mark.parametrize("name", READS)
def test_a_viewer_reads(run, page, client_viewer, name):
    assert client_viewer.get(address(page, name)).status_code == 200


@pytest.mark.parametrize("name", ASKS + POSTS)
def test_a_viewer_changes_nothing(run, page, client_viewer, name):
    for method in ("get", "post"):
        response = getattr(client_viewer, method)(address(page, name))
        assert response.status_code == 403
    assert Evaluation.objects.count() == Run.objects.count() == 1


@pytest.mark.parametrize("name", POSTS)
def test_a_change_needs_a_post(run, page, client_editor, name):
    assert client_editor.get(address(page, name)).status_code == 405


@pytest.mark.parametrize("name", ["evaluation_delete", "run_delete"])
def test_a_change_needs_the_csrf_token(run, page, editor, name):
    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    assert client.post(address(page, name)).status_code == 403


def test_a_viewer_sees_no_buttons_that_change(run, page, client_viewer):
    for address_ in (page("evaluation"), page("run"), "/p/booking/evaluations/"):
        html = client_viewer.get(address_).content.decode()
        main = html[html.index("<main") : html.index("</main>")]
        assert 'method="post"' not in main
        assert "/delete/" not in main


def test_another_projects_run_is_not_found(run, client_stranger, project):
    response = client_stranger.get("/p/elsewhere/evaluations/release-gate/runs/1/")
    assert response.status_code == 404


@pytest.mark.parametrize(
    "path",
    ["nothing/", "release-gate/runs/7/", "release-gate/runs/1/rows/99/"]
    + [
        "release-gate/runs/99999999999999999999/",
        "release-gate/runs/1/export/?format=x",
    ],
)
def test_what_does_not_exist_is_not_found(run, client_editor, path):
    assert client_editor.get(f"/p/booking/evaluations/{path}").status_code == 404
