"""A key is stored encrypted, and seen by nobody again."""

from __future__ import annotations

import json
import logging
import traceback

import pytest
from django.db import connection as database
from django.test import override_settings

from assay.data.chat import ModelError
from targets import connections, dial, testcalls
from targets.config import DeploymentConfig
from targets.models import Connection
from targets.models import TestCall as Call
from tests.fakes.llm import Answer, FakeLLM, error
from tests.targets.conftest import KEY, config
from workspace import bells

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(project) -> Connection:
    made = Connection(project=project, name="Lab", base_url="http://127.0.0.1:9/v1")
    made.headers = json.dumps({"X-Tenant": "tenant-secret"})
    return connections.save_connection(made, key=f"  {KEY}\n")


def test_the_database_holds_no_key(stored):
    with database.cursor() as cursor:
        cursor.execute("SELECT * FROM targets_connection")
        row = str(cursor.fetchall())
    assert KEY not in row
    assert "tenant-secret" not in row
    assert Connection.objects.get().api_key == KEY
    assert stored.key_hint == "0142"


def test_a_short_key_has_no_hint(project):
    made = Connection(project=project, name="Lab", base_url="http://h/v1")
    assert connections.save_connection(made, key="short").key_hint == ""


def test_a_key_survives_a_change_of_the_secret_key(stored, settings):
    former = settings.SECRET_KEY
    with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=[former]):
        assert Connection.objects.get().api_key == KEY


def test_the_snapshot_does_not_print_it(stored):
    deployment = connections.add_deployment(stored, "m")
    snapshot = DeploymentConfig.of(deployment)
    assert snapshot.api_key == KEY
    assert KEY not in repr(snapshot)
    assert "tenant-secret" not in repr(snapshot)


ECHOES = [
    error(401, f"Incorrect API key provided: {KEY}"),
    error(400, f"Bad {KEY}"),
    error(500, f"Boom {KEY}"),
    error(429, f"Slow down {KEY}"),
    Answer(raw=f"<html>{KEY}".encode()),
    Answer(body={"error": {"message": f"no {KEY}"}}),
]


@pytest.mark.parametrize("answer", ECHOES)
def test_a_server_that_repeats_the_key_does_not_leak_it(lab, answer, caplog):
    caplog.set_level(logging.DEBUG)
    with FakeLLM(lambda _b, _n: answer) as fake:
        try:
            lab.one(fake.url)
        except ModelError as failure:
            told = traceback.format_exc() + str(failure.details)
            logging.getLogger("test").exception("failed")
        else:
            pytest.fail("It must fail.")
    assert KEY not in told
    assert "•••" in told
    assert KEY not in caplog.text


def test_calls_that_go_well_do_not_log_it(lab, caplog):
    caplog.set_level(logging.DEBUG)
    with FakeLLM() as fake:
        reply = lab.one(fake.url)
    assert KEY not in caplog.text
    assert KEY not in str(reply)


def test_messages_hold_an_id_and_nothing_else(
    stored, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    app = bells.current_app
    monkeypatch.setattr(app, "send_task", lambda *a, **k: sent.append((a, k)))
    deployment = connections.add_deployment(stored, "m")
    with django_capture_on_commit_callbacks(execute=True):
        call = testcalls.ask(stored.project, Call.Kind.DEPLOYMENT, deployment)
    assert sent == [((testcalls.TASK,), {"args": [call.pk]})]


def test_an_unexpected_failure_is_told_without_details(stored, monkeypatch, caplog):
    monkeypatch.setattr(testcalls, "ring", lambda *_a: None)

    def broken(_deployment):
        raise RuntimeError("unexpected")

    monkeypatch.setattr(dial, "probe", broken)
    deployment = connections.add_deployment(stored, "m")
    call = testcalls.ask(stored.project, Call.Kind.DEPLOYMENT, deployment)
    dial.run(call.pk)
    call.refresh_from_db()
    assert call.error == "Something failed on the server. Try again."
    assert KEY not in caplog.text


def test_short_secrets_are_not_cut_out_of_words():
    assert config("http://h", api_key="none").hide("none at all") == "none at all"
