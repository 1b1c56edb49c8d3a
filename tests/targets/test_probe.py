"""Testing a deployment by real calls, and what is remembered of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from targets import connections, dial, probe, testcalls
from targets.loop import model_loop, remember
from targets.models import Connection, Deployment
from targets.models import TestCall as Call
from tests.fakes.llm import Answer, FakeLLM, error, verdict
from tests.targets.conftest import KEY, say
from workspace.models import JobState


def connect(project, url, model="fake", *, key=KEY, **fields) -> Deployment:
    connection = Connection(project=project, name="Lab", base_url=url, **fields)
    connections.save_connection(connection, key=key)
    return connections.add_deployment(connection, model)


def checks(result) -> dict[str, bool]:
    return {check["name"]: check["ok"] for check in result["checks"]}


@pytest.mark.django_db
def test_all_that_works_is_remembered(project):
    with FakeLLM() as fake:
        deployment = connect(project, fake.url)
        result = probe.probe(deployment)
    assert result["ok"]
    assert checks(result) == dict.fromkeys(
        ("text", "json_schema", "images", "audio"), True
    )
    deployment.refresh_from_db()
    assert deployment.can_read("image")
    assert deployment.can_read("audio")
    assert deployment.last_test["at"] == deployment.capabilities["since"]
    assert len(fake.calls) == 4


@pytest.mark.django_db
def test_what_is_refused_is_remembered(project):
    def script(body, _n):
        if "temperature" in body:
            return error(400, "temperature is not supported")
        if "max_tokens" in body:
            return error(400, "Unsupported: max_tokens. Use 'max_completion_tokens'")
        if body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "response_format json_schema is not supported")
        if "input_audio" in str(body):
            return error(400, "audio input is not supported")
        return verdict()

    with FakeLLM(script) as fake:
        deployment = connect(project, fake.url)
        result = probe.probe(deployment)
    assert checks(result) == {
        "text": True,
        "json_schema": False,
        "images": True,
        "audio": False,
    }
    deployment.refresh_from_db()
    known = deployment.capabilities
    assert known["refused"] == ["json_schema", "max_tokens", "temperature"]
    assert (known["json_schema"], known["images"], known["audio"]) == (
        False,
        True,
        False,
    )


@pytest.mark.django_db
def test_a_later_test_unlearns(project):
    with FakeLLM() as fake:
        deployment = connect(project, fake.url)
        deployment.capabilities = {"refused": ["seed"], "images": False}
        deployment.save()
        probe.probe(deployment)
    deployment.refresh_from_db()
    assert "refused" not in deployment.capabilities
    assert deployment.capabilities["images"] is True


@pytest.mark.django_db
def test_what_a_test_cannot_say_stays_known(project):
    def script(body, _n):
        return error(503, "busy") if "image_url" in str(body) else verdict()

    with FakeLLM(script) as fake:
        deployment = connect(project, fake.url)
        deployment.capabilities = {"images": True}
        deployment.save()
        result = probe.probe(deployment)
    assert not checks(result)["images"]
    deployment.refresh_from_db()
    assert deployment.capabilities["images"] is True


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "The server answered 401."),
        (error(404, "The model `fake` does not exist"), "does not know the model fake"),
        (Answer(raw=b"<html>Hello"), "is not a chat completion"),
        (error(500, "Boom"), "The server answered 500. The try failed."),
    ],
)
def test_a_broken_connection_says_why(project, answer, said):
    with FakeLLM(lambda _b, _n: answer) as fake:
        deployment = connect(project, f"{fake.url}/v2")
        result = probe.probe(deployment)
    assert not result["ok"]
    assert said in result["error"]
    assert KEY not in str(result)
    assert len(fake.calls) == 1
    deployment.refresh_from_db()
    assert deployment.capabilities == {}


@pytest.mark.django_db
def test_a_slow_model_is_not_waited_for_too_long(project, monkeypatch):
    monkeypatch.setattr(probe, "SECONDS", 0.2)
    with FakeLLM(lambda _b, _n: Answer("ok", delay=1)) as fake:
        result = probe.probe(connect(project, fake.url))
    assert result["code"] == "timeout"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "right"), [("/api", "/api/v1"), ("", ""), ("/v1", "")]
)
def test_where_chat_completions_are_is_found_and_kept(project, typed, right):
    fake = FakeLLM()

    def script(_body, n):
        found = fake.paths[n] == f"{right}/chat/completions"
        return verdict() if found else error(404, "Not Found")

    fake.script = script
    with fake:
        base = fake.url.removesuffix("/v1")
        deployment = connect(project, base + typed)
        assert probe.probe(deployment)["ok"]
        stored = Connection.objects.get()
        assert stored.base_url == base + right
        # Saving the form again keeps what was found.
        connections.save_connection(stored)
        assert Connection.objects.get().base_url == base + right


@pytest.mark.django_db
def test_without_the_simulator_its_test_says_so(project, settings):
    settings.SIMULATOR_URL = ""
    result = probe.probe(connections.ensure_simulator(project))
    assert "simulator is not running" in result["error"]


@pytest.mark.django_db(transaction=True)
def test_a_lesson_of_a_run_reaches_the_database_once(project):
    def script(body, _n):
        refused = error(400, "seed is not supported", param="seed")
        return refused if "seed" in body else verdict()

    with FakeLLM(script) as fake:
        deployment = connect(project, fake.url)
        loop = model_loop()
        config = probe.DeploymentConfig.of(deployment)

        async def calls():
            for _ in range(3):
                await loop.gateway.model(config).complete(say(seed=1))

        loop.submit(calls()).result(20)
        loop.stop()
    deployment.refresh_from_db()
    assert deployment.capabilities == {"refused": ["seed"]}
    assert len(fake.calls) == 4


@pytest.mark.django_db(transaction=True)
def test_lessons_are_merged(project):
    deployment = connect(project, "http://h/v1")
    remember(deployment.pk, {"refused": ["seed"]})
    remember(deployment.pk, {"refused": ["top_p"], "images": False})
    remember(0, {"images": True})
    deployment.refresh_from_db()
    assert deployment.capabilities == {"refused": ["seed", "top_p"], "images": False}


@pytest.mark.django_db
def test_a_test_call_is_made_by_the_worker(project, monkeypatch):
    rung = []
    monkeypatch.setattr(testcalls, "ring", lambda task, pk: rung.append((task, pk)))
    with FakeLLM() as fake:
        deployment = connect(project, fake.url)
        call = testcalls.ask(project, Call.Kind.DEPLOYMENT, deployment)
        assert rung == [(testcalls.TASK, call.pk)]
        dial.run(call.pk)
        dial.run(call.pk)
    call.refresh_from_db()
    assert call.state == JobState.DONE
    assert call.result["ok"]
    assert len(fake.calls) == 4


@pytest.mark.django_db
def test_a_try_on_a_row(project, monkeypatch):
    monkeypatch.setattr(testcalls, "ring", lambda *_a: None)
    target = {"kind": "model", "user_prompt": "{{item.query}}"}
    body = {"target": target, "item": {"query": "Table for two?"}}
    with FakeLLM(lambda b, _n: Answer(b["messages"][0]["content"])) as fake:
        deployment = connect(project, fake.url)
        row = Call.Kind.ROW
        call = testcalls.ask(project, row, deployment, request=body)
        dial.run(call.pk)
    call.refresh_from_db()
    assert call.result["output"]["output_text"] == "Table for two?"
    assert not call.result["simulated"]


@pytest.mark.django_db
def test_more_than_20_tests_in_a_minute_wait(project, monkeypatch):
    rung = []
    monkeypatch.setattr(testcalls, "ring", lambda _task, pk: rung.append(pk))
    deployment = connect(project, "http://h/v1")
    kind = Call.Kind.DEPLOYMENT
    made = [testcalls.ask(project, kind, deployment) for _ in range(23)]
    assert len(rung) == 20
    assert made[-1].is_over
    assert "20 test calls in one minute" in made[-1].error
    old = timezone.now() - timedelta(minutes=2)
    Call.objects.update(created_at=old)
    assert not testcalls.ask(project, kind, deployment).is_over


@pytest.mark.django_db
def test_old_test_calls_are_thrown_away(project, monkeypatch):
    monkeypatch.setattr(testcalls, "ring", lambda *_a: None)
    deployment = connect(project, "http://h/v1")
    testcalls.ask(project, Call.Kind.DEPLOYMENT, deployment)
    testcalls.purge()
    assert Call.objects.count() == 1
    Call.objects.update(created_at=timezone.now() - timedelta(days=31))
    testcalls.purge()
    assert not Call.objects.exists()
