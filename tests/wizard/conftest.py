"""A draft in a project with a dataset and two models."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluations import drafts
from evaluations.models import EvaluationDraft
from targets.connections import ensure_simulator
from tests.support.making import make_deployment, make_spec, make_version, rows


@pytest.fixture(autouse=True)
def _no_bells(monkeypatch):
    monkeypatch.setattr("workspace.bells.current_app.send_task", lambda *a, **k: None)


@pytest.fixture
def version(project):
    return make_version(project, rows(12))


@pytest.fixture
def judge(project):
    return make_deployment(project, "http://127.0.0.1:9/v1", "gpt-test")


@pytest.fixture
def simulator(project):
    return ensure_simulator(project)


@pytest.fixture
def spec(version, judge):
    return make_spec(version, ["coherence", "f1_score"], judge=judge, name="Gate")


@pytest.fixture
def draft(project, editor, spec) -> EvaluationDraft:
    return drafts.create(project, editor, spec, step="review")


class Wizard:
    """Posts steps as the browser does, with the revision that the page showed."""

    def __init__(self, client, draft) -> None:
        self.client, self.draft = client, draft

    def url(self, step):
        return reverse("draft_step", args=["booking", self.draft.ref, step])

    def get(self, step, **query):
        return self.client.get(self.url(step), query)

    def post(self, step, **data):
        self.draft.refresh_from_db()
        data.setdefault("revision", self.draft.revision)
        response = self.client.post(self.url(step), data)
        self.draft.refresh_from_db()
        return response

    @property
    def spec(self):
        self.draft.refresh_from_db()
        return drafts.spec_of(self.draft)


@pytest.fixture
def wizard(client_editor, draft) -> Wizard:
    return Wizard(client_editor, draft)
