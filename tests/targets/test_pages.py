"""The pages of models: what each person sees, and what forms say."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from targets import connections, testcalls, usage
from targets.models import Connection, Deployment
from targets.models import TestCall as Call
from tests.targets.conftest import KEY
from workspace.models import JobState

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    calls: list[int] = []
    monkeypatch.setattr(testcalls, "ring", lambda _task, pk: calls.append(pk))
    return calls


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch):
    monkeypatch.setattr(usage, "_finders", [])
    monkeypatch.setattr(usage, "_run_finders", [])


@pytest.fixture(autouse=True)
def no_offer(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def simulator(project) -> Deployment:
    return connections.ensure_simulator(project)


@pytest.fixture
def deployment(project, simulator) -> Deployment:
    made = Connection(project=project, name="openai-eu", base_url="https://h/v1")
    connections.save_connection(made, key=KEY)
    return connections.add_deployment(made, "gpt-5-mini")


@pytest.fixture
def call(deployment) -> Call:
    kind = Call.Kind.DEPLOYMENT
    return testcalls.ask(deployment.connection.project, kind, deployment)


def address(name: str, project, deployment, call) -> str:
    rest = {
        "connection_edit": [deployment.connection.ref],
        "connection_delete": [deployment.connection.ref],
        "deployment_new": [deployment.connection.ref],
        "test_call": [call.ref],
        "deployment": [deployment.slug],
        "deployment_edit": [deployment.slug],
        "deployment_delete": [deployment.slug],
        "deployment_test": [deployment.slug],
    }
    return reverse(name, args=[project.slug, *rest.get(name, [])])


# The lowest role that may open each page; those by POST answer 405 to GET.
PAGES = {
    "models": "viewer",
    "deployment": "viewer",
    "test_call": "editor",
    "connection_new": "owner",
    "connection_edit": "owner",
    "connection_delete": "owner",
    "deployment_new": "owner",
    "deployment_edit": "owner",
    "deployment_delete": "owner",
}
POSTED = {"deployment_test": "editor", "connect_offered": "owner"}
ROLES = ["viewer", "editor", "owner"]


@pytest.mark.parametrize("name", [*PAGES, *POSTED])
def test_each_page_is_for_members_of_the_right_role(
    name, request, client, project, deployment, call
):
    url = address(name, project, deployment, call)
    send = "post" if name in POSTED else "get"
    assert client.get(url).status_code == 302
    assert "/sign-in/" in getattr(client, send)(url)["Location"]
    stranger = request.getfixturevalue("client_stranger")
    assert getattr(stranger, send)(url).status_code == 404
    needed = ROLES.index({**PAGES, **POSTED}[name])
    for place, role in enumerate(ROLES):
        member = request.getfixturevalue(f"client_{role}")
        status = getattr(member, send)(url).status_code
        wanted = 403 if place < needed else (302 if name in POSTED else 200)
        assert (role, status) == (role, wanted)


@pytest.mark.parametrize("name", POSTED)
def test_commands_need_a_post(name, client_owner, project, deployment, call):
    url = address(name, project, deployment, call)
    assert client_owner.get(url).status_code == 405


@pytest.mark.parametrize("name", ["connection_edit", "connection_delete"])
def test_the_simulator_cannot_be_changed(name, client_owner, project, simulator):
    url = reverse(name, args=[project.slug, simulator.connection.ref])
    assert client_owner.get(url).status_code == 404
    assert client_owner.post(url).status_code == 404
    for other in ("deployment_edit", "deployment_delete"):
        url = reverse(other, args=[project.slug, simulator.slug])
        assert client_owner.post(url).status_code == 404
    url = reverse("deployment_new", args=[project.slug, simulator.connection.ref])
    assert client_owner.get(url).status_code == 404
    assert Deployment.objects.filter(pk=simulator.pk).exists()


def test_the_list_shows_what_is_known(client_owner, project, deployment):
    deployment.capabilities = {"images": True, "audio": False}
    deployment.price_input, deployment.price_output = 0.25, 2
    deployment.limits = {"concurrency": 4, "requests_per_minute": 120}
    deployment.last_test = {
        "ok": True,
        "at": (timezone.now() - timedelta(minutes=3)).isoformat(),
        "milliseconds": 420,
        "checks": [],
    }
    deployment.save()
    page = client_owner.get(reverse("models", args=[project.slug])).content.decode()
    for shown in (
        "openai-eu",
        "gpt-5-mini",
        "Key ends in 0142",
        "No audio",
        "$0.25 / $2.00",
        "4 calls at once",
        "120 requests per minute",
        "Working, 0.4 s",
        "3 min ago",
        "measure nothing",
        "Free",
    ):
        assert shown in page
    assert KEY not in page


def test_a_broken_connection_is_explained(client_owner, project, deployment):
    deployment.last_test = {
        "ok": False,
        "at": timezone.now().isoformat(),
        "error": "The server answered 401.",
        "code": "key_refused",
        "checks": [{"name": "text", "ok": False, "error": "The server answered 401."}],
    }
    deployment.save()
    page = client_owner.get(reverse("models", args=[project.slug])).content.decode()
    assert page.count("The server answered 401.") == 1
    assert "Key was refused" not in page
    assert "Replace key" in page


def test_viewers_get_no_commands(client_viewer, project, deployment):
    for name in ("models", "deployment"):
        url = address(name, project, deployment, type("C", (), {"ref": "x"}))
        page = client_viewer.get(url).content.decode()
        assert "/edit/" not in page
        assert "/test/" not in page
        assert "Add connection" not in page


def test_the_list_needs_few_queries(
    client_owner, project, deployment, django_assert_max_num_queries
):
    for number in range(20):
        connections.add_deployment(deployment.connection, f"m{number}")
    with django_assert_max_num_queries(12):
        client_owner.get(reverse("models", args=[project.slug]))


# Adding and changing

GOOD = {
    "kind": "openai",
    "name": "Lab",
    "base_url": "http://localhost:11434/",
    "model": "llama3.2",
    "go": "save",
}


def test_a_connection_with_its_first_model(client_owner, project):
    url = reverse("connection_new", args=[project.slug])
    prices = {"price_input": "0.25", "price_output": "2", "concurrency": "3"}
    answer = client_owner.post(url, {**GOOD, **prices, "api_key": f" {KEY} "})
    assert answer["Location"] == reverse("models", args=[project.slug])
    made = Deployment.objects.get()
    assert made.connection.base_url == "http://localhost:11434/v1"
    assert made.connection.api_key == KEY
    assert made.slug == "llama3-2"
    assert (float(made.price_input), made.limits) == (0.25, {"concurrency": 3})
    assert made.connection.created_by is not None


def test_azure_keeps_its_version(client_owner, project):
    url = reverse("connection_new", args=[project.slug])
    azure = {
        "kind": "azure",
        "base_url": "https://w.openai.azure.com/openai/deployments/x"
        "/chat/completions?api-version=2024-06-01",
    }
    client_owner.post(url, {**GOOD, **azure})
    made = Connection.objects.get()
    assert made.base_url == "https://w.openai.azure.com"
    assert made.api_version == "2024-06-01"


def test_azure_without_a_version_gets_one(client_owner, project):
    url = reverse("connection_new", args=[project.slug])
    azure = {"kind": "azure", "base_url": "https://w.openai.azure.com"}
    client_owner.post(url, {**GOOD, **azure})
    assert Connection.objects.get().api_version == "2024-10-21"


def test_test_and_save_goes_to_the_test(client_owner, project, rung):
    url = reverse("connection_new", args=[project.slug])
    back = f"/p/{project.slug}/evaluations/new/x/target/"
    answer = client_owner.post(url, {**GOOD, "go": "test", "next": back})
    made = Call.objects.get()
    page = reverse("test_call", args=[project.slug, made.ref])
    assert answer["Location"].startswith(f"{page}?next=")
    assert rung == [made.pk]
    Call.objects.update(state=JobState.DONE, result={"ok": True, "checks": []})
    shown = client_owner.get(answer["Location"]).content.decode()
    assert f"{back}?model={made.deployment.ref}" in shown


def test_saving_leads_back_to_where_one_came_from(client_owner, project):
    url = reverse("connection_new", args=[project.slug])
    answer = client_owner.post(url, {**GOOD, "next": "/p/booking/evaluations/?q=a"})
    ref = Deployment.objects.get().ref
    assert answer["Location"] == f"/p/booking/evaluations/?q=a&model={ref}"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "x:"])
def test_nobody_is_sent_elsewhere(client_owner, project, elsewhere):
    url = reverse("connection_new", args=[project.slug])
    shown = client_owner.get(url, {"next": elsewhere}).content.decode()
    assert f'value="{elsewhere}"' not in shown
    assert f'href="{elsewhere}"' not in shown
    answer = client_owner.post(url, {**GOOD, "next": elsewhere})
    assert answer["Location"] == reverse("models", args=[project.slug])


PROBLEMS = [
    ({"name": ""}, "Enter a name."),
    ({"name": "OPENAI-eu"}, "There is already a connection OPENAI-eu."),
    ({"base_url": ""}, "Enter the address of the server."),
    ({"base_url": "ftp://x"}, "The address must begin with https:// or http://."),
    ({"base_url": "https://a b"}, "Enter an address such as"),
    ({"base_url": f"https://{KEY}@h"}, "Enter the key in its own field"),
    ({"kind": "other"}, "Select a valid choice."),
    ({"kind": "simulator"}, "Select a valid choice."),
    ({"kind": "azure", "base_url": "https://h/openai/v1"}, "choose OpenAI-compatible"),
    ({"kind": "azure", "api_version": "20 24"}, "Enter a version such as"),
    ({"api_key": "sk “quoted”"}, "characters that cannot be sent"),
    ({"model": " "}, "Enter the name of the model."),
    ({"model": "x" * 201}, "at most 200 characters"),
    ({"price_input": "-1", "price_output": "1"}, "Enter a price of 0 or more."),
    ({"price_input": "free"}, "Enter a number."),
    ({"price_input": "1"}, "Enter both prices or none."),
    ({"concurrency": "0"}, "greater than or equal to 1"),
    ({"concurrency": "9999"}, "less than or equal to 256"),
    ({"requests_per_minute": "many"}, "Enter a whole number."),
    ({"tokens_per_minute": "0"}, "greater than or equal to 1"),
]


@pytest.mark.parametrize(("change", "said"), PROBLEMS)
def test_each_problem_is_said_at_its_field(
    client_owner, project, deployment, change, said
):
    url = reverse("connection_new", args=[project.slug])
    answer = client_owner.post(url, {**GOOD, "api_key": KEY, **change})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said.replace("'", "&#x27;") in page
    assert 'id="problems"' in page
    assert 'aria-invalid="true"' in page
    # A key never comes back, not even the one that was just typed.
    assert f'value="{KEY}' not in page
    assert Connection.objects.count() == 2


def test_an_empty_key_keeps_the_stored_one(client_owner, project, deployment):
    connection = deployment.connection
    url = reverse("connection_edit", args=[project.slug, connection.ref])
    shown = client_owner.get(url).content.decode()
    assert "It ends in 0142." in shown
    assert KEY not in shown
    client_owner.post(url, {**GOOD, "base_url": "https://h/v1"})
    connection.refresh_from_db()
    assert (connection.name, connection.api_key) == ("Lab", KEY)


def test_a_key_is_replaced_or_removed(client_owner, project, deployment):
    connection = deployment.connection
    deployment.last_test = {"ok": False, "code": "key_refused"}
    deployment.capabilities = {"images": True}
    deployment.save()
    url = reverse("connection_edit", args=[project.slug, connection.ref])
    form = {**GOOD, "base_url": "https://h/v1"}
    client_owner.post(url, {**form, "api_key": "sk-another-key-7777"})
    connection.refresh_from_db()
    deployment.refresh_from_db()
    assert (connection.api_key, connection.key_hint) == ("sk-another-key-7777", "7777")
    assert deployment.last_test == {}
    assert deployment.capabilities == {"images": True}
    client_owner.post(url, {**form, "remove_key": "on"})
    connection.refresh_from_db()
    assert (connection.api_key, connection.key_hint) == ("", "")


def test_another_address_makes_lessons_void(client_owner, project, deployment):
    deployment.capabilities = {"images": True, "refused": ["seed"]}
    deployment.save()
    url = reverse("connection_edit", args=[project.slug, deployment.connection.ref])
    moved = {**GOOD, "base_url": "https://other/v1", "api_key": KEY}
    client_owner.post(url, moved)
    deployment.refresh_from_db()
    assert deployment.capabilities == {}


KEY_AGAIN = "Enter the key again: the address is on another server."


@pytest.mark.parametrize(
    "moved",
    ["https://evil/v1", "http://h/v1", "https://h:8443/v1", "h.evil/v1", "https://H.x"],
)
@pytest.mark.parametrize("kind", ["openai", "azure"])
def test_a_stored_key_does_not_move_to_another_server(
    client_owner, project, deployment, moved, kind
):
    connection = deployment.connection
    url = reverse("connection_edit", args=[project.slug, connection.ref])
    form = {**GOOD, "base_url": moved, "kind": kind}
    answer = client_owner.post(url, {**form, "api_key": "  "})
    assert answer.status_code == 422
    assert KEY_AGAIN in answer.context["form"].errors["api_key"]
    connection.refresh_from_db()
    assert (connection.base_url, connection.api_key) == ("https://h/v1", KEY)
    assert client_owner.post(url, {**form, "remove_key": "on"}).status_code == 302
    connection.refresh_from_db()
    assert connection.base_url != "https://h/v1"
    assert connection.api_key == ""


@pytest.mark.parametrize("same", ["https://h/v2", "HTTPS://H:443/v1", "h", "h/openai"])
def test_a_stored_key_stays_on_its_server(client_owner, project, deployment, same):
    connection = deployment.connection
    url = reverse("connection_edit", args=[project.slug, connection.ref])
    assert client_owner.post(url, {**GOOD, "base_url": same}).status_code == 302
    connection.refresh_from_db()
    assert connection.api_key == KEY


def test_editing_can_test(client_owner, project, deployment):
    url = reverse("connection_edit", args=[project.slug, deployment.connection.ref])
    answer = client_owner.post(url, {**GOOD, "api_key": KEY, "go": "test"})
    assert "/models/tests/" in answer["Location"]


def test_a_second_model(client_owner, project, deployment):
    url = reverse("deployment_new", args=[project.slug, deployment.connection.ref])
    client_owner.post(url, {"model": "o3-mini", "display_name": "Judge"})
    assert Deployment.objects.get(model="o3-mini").slug == "judge"
    again = client_owner.post(url, {"model": "o3-mini"})
    assert again.status_code == 422
    assert "already has the model o3-mini" in again.content.decode()


def test_a_model_is_edited(client_owner, project, deployment):
    deployment.capabilities = {"images": True}
    deployment.limits = {"concurrency": 3, "requests_per_minute": 10}
    deployment.save()
    url = reverse("deployment_edit", args=[project.slug, deployment.slug])
    assert 'value="10"' in client_owner.get(url).content.decode()
    client_owner.post(url, {"model": "gpt-5-mini", "concurrency": "9"})
    deployment.refresh_from_db()
    assert deployment.limits == {"concurrency": 9}
    assert deployment.capabilities == {"images": True}
    client_owner.post(url, {"model": "gpt-5"})
    deployment.refresh_from_db()
    assert (deployment.model, deployment.capabilities) == ("gpt-5", {})
    bad = client_owner.post(url, {"model": ""})
    assert bad.status_code == 422
    assert "Edit gpt-5" in bad.content.decode()


@pytest.mark.parametrize("name", ["connect", "tests", "Offered", "connections", "é"])
def test_slugs_do_not_hide_other_pages(project, client_owner, deployment, name):
    made = connections.add_deployment(deployment.connection, name)
    url = reverse("deployment", args=[project.slug, made.slug])
    answer = client_owner.get(url)
    assert answer.status_code == 200
    assert answer.context["deployment"] == made


# Deleting


def test_deleting_says_what_goes_and_what_stays(client_owner, project, deployment):
    connection = deployment.connection
    url = reverse("connection_delete", args=[project.slug, connection.ref])
    page = client_owner.get(url).content.decode()
    assert "its key and the model gpt-5-mini go" in page
    assert "Evaluations keep their results" in page
    assert Connection.objects.filter(pk=connection.pk).exists()
    client_owner.post(url)
    assert not Connection.objects.filter(pk=connection.pk).exists()


@pytest.mark.parametrize("name", ["connection_delete", "deployment_delete"])
def test_what_an_open_run_needs_stays(client_owner, project, deployment, call, name):
    usage.register(lambda ids: [("Run 7", "/run/7")] if deployment.pk in ids else [])
    url = address(name, project, deployment, call)
    assert "Run 7" in client_owner.get(url).content.decode()
    answer = client_owner.post(url)
    assert answer.status_code == 409
    assert Deployment.objects.filter(pk=deployment.pk).exists()


def test_a_model_is_deleted(client_owner, project, deployment):
    url = reverse("deployment_delete", args=[project.slug, deployment.slug])
    assert "The connection openai-eu stays" in client_owner.get(url).content.decode()
    client_owner.post(url)
    assert deployment.connection.deployments.count() == 0


# Testing


def test_a_test_polls_until_it_is_over(client_editor, project, deployment, rung):
    url = reverse("deployment_test", args=[project.slug, deployment.slug])
    partial = {"HX-Request": "true"}
    waiting = client_editor.post(url, headers=partial).content.decode()
    made = Call.objects.get()
    assert rung == [made.pk]
    assert "data-poll" in waiting
    page = reverse("test_call", args=[project.slug, made.ref])
    assert page in waiting
    plain = client_editor.get(page).content.decode()
    assert '<meta http-equiv="refresh"' in plain
    assert "<html" in plain
    checks = [
        {"name": "text", "ok": True, "milliseconds": 410},
        {"name": "audio", "ok": False, "code": "refused", "error": ""},
        {"name": "images", "ok": False, "code": "server_error", "error": HOSTILE},
    ]
    Call.objects.update(state=JobState.DONE, result={"ok": True, "checks": checks})
    over = client_editor.get(page, headers=partial).content.decode()
    assert "data-poll" not in over
    assert "yes, 410 ms" in over
    assert HOSTILE not in over


def test_in_the_list_the_card_is_replaced(client_owner, project, deployment, call):
    page = reverse("test_call", args=[project.slug, call.ref]) + "?in=list"
    partial = {"HX-Request": "true"}
    waiting = client_owner.get(page, headers=partial)
    assert "HX-Retarget" not in waiting
    assert f'id="test-{deployment.ref}"' in waiting.content.decode()
    Call.objects.update(state=JobState.DONE, result={"ok": True, "checks": []})
    over = client_owner.get(page, headers=partial)
    assert over["HX-Retarget"] == f"#{deployment.connection.ref}"
    assert f'<section class="card card-flush" id="{deployment.connection.ref}"' in (
        over.content.decode()
    )


def test_a_test_that_no_worker_takes_says_so(client_editor, project, call):
    Call.objects.update(created_at=timezone.now() - timedelta(seconds=30))
    page = reverse("test_call", args=[project.slug, call.ref])
    assert "Check that the worker" in client_editor.get(page).content.decode()


def test_the_twenty_first_test_is_refused_in_words(client_editor, project, deployment):
    url = reverse("deployment_test", args=[project.slug, deployment.slug])
    for _ in range(20):
        client_editor.post(url)
    answer = client_editor.post(url, headers={"HX-Request": "true"})
    assert "There were 20 test calls in one minute" in answer.content.decode()


def test_a_running_test_is_seen_in_the_list(client_owner, project, call):
    page = client_owner.get(reverse("models", args=[project.slug])).content.decode()
    assert "Testing" in page


# One model


def test_a_model_shows_what_it_refuses(client_viewer, project, deployment):
    deployment.capabilities = {"refused": ["temperature", "json_schema"]}
    deployment.save()
    url = reverse("deployment", args=[project.slug, deployment.slug])
    page = client_viewer.get(url).content.decode()
    assert "temperature" in page
    assert "tab=evaluation" not in page


def test_runs_of_a_model_are_a_tab_once_somebody_knows_them(
    client_viewer, project, deployment
):
    line = usage.RunLine("Run 3", "/run/3", "completed", "Judge", timezone.now())
    usage.register_runs(lambda found: [line] if found == deployment else [])
    url = reverse("deployment", args=[project.slug, deployment.slug])
    assert "tab=evaluation" in client_viewer.get(url).content.decode()
    page = client_viewer.get(url, {"tab": "evaluation"}).content.decode()
    assert "Run 3" in page
    assert "Judge" in page


# The offer


def test_the_environment_is_offered_once(client_owner, project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    models = reverse("models", args=[project.slug])
    page = client_owner.get(models).content.decode()
    assert "Connect OpenAI" in page
    assert KEY not in page
    url = reverse("connect_offered", args=[project.slug])
    answer = client_owner.post(url)
    made = Connection.objects.get()
    assert (made.name, made.base_url) == ("OpenAI", "https://api.openai.com/v1")
    assert made.api_key == KEY
    assert answer["Location"] == reverse(
        "deployment_new", args=[project.slug, made.ref]
    )
    assert "Connect OpenAI" not in client_owner.get(models).content.decode()
    assert client_owner.post(url)["Location"] == models
    assert Connection.objects.count() == 1


def test_an_address_without_a_key_is_offered(client_owner, project, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/")
    page = client_owner.get(reverse("models", args=[project.slug])).content.decode()
    assert "http://localhost:8000/v1, without a key" in page


@pytest.mark.parametrize("url", ["nonsense://", "https://a b"])
def test_a_useless_address_is_not_offered(client_owner, project, monkeypatch, url):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert connections.offered_connection(project) is None


def test_only_owners_see_the_offer(client_editor, project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    page = client_editor.get(reverse("models", args=[project.slug])).content.decode()
    assert "Connect OpenAI" not in page


def test_names_are_text(client_owner, project, deployment, call):
    connection = deployment.connection
    connection.name = HOSTILE
    connection.save()
    deployment.display_name = f'"><img src=x onerror=alert(1)>{HOSTILE}'
    deployment.model = HOSTILE
    deployment.last_test = {
        "ok": False,
        "error": HOSTILE,
        "at": "",
        "checks": [{"name": HOSTILE, "ok": False, "error": HOSTILE}],
    }
    deployment.save()
    for name in PAGES:
        page = client_owner.get(address(name, project, deployment, call))
        text = page.content.decode()
        assert HOSTILE not in text
        assert "<img src=x" not in text
        assert not re.search(r"\{[%{]", text)
