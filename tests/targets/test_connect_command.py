"""`manage.py connect`: the same as the page, for scripts."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from targets.models import Connection, Deployment
from tests.fakes.llm import FakeLLM, error
from tests.targets.conftest import KEY

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def connect(*more: str, name="Lab", url="http://localhost:11434", model="llama3"):
    out = io.StringIO()
    arguments = [name, "--base-url", url, "--model", model, *more]
    call_command("connect", *arguments, stdout=out)
    return out.getvalue()


def test_a_local_server(project, owner):
    said = connect()
    made = Deployment.objects.get()
    assert made.connection.base_url == "http://localhost:11434/v1"
    assert made.connection.project == project
    assert "http://localhost:11434/v1 with llama3 (no key)" in said


def test_the_key_comes_from_the_environment(project, owner, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = connect()
    assert Connection.objects.get().api_key == KEY
    assert "key from OPENAI_API_KEY" in said
    assert KEY not in said


def test_another_variable(project, owner, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-this-one")
    monkeypatch.setenv("MY_KEY", KEY)
    connect("--key-env", "MY_KEY")
    assert Connection.objects.get().api_key == KEY
    with pytest.raises(CommandError, match="EMPTY_ONE is empty"):
        connect("--key-env", "EMPTY_ONE")


def test_no_key_is_taken_against_ones_will(project, owner, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    connect("--no-key")
    assert Connection.objects.get().api_key == ""


def test_twice_changes_instead_of_doubling(project, owner, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    connect("--concurrency", "4", "--price-input", "0.25", "--price-output", "2")
    monkeypatch.delenv("OPENAI_API_KEY")
    connect("--requests-per-minute", "60", "--display-name", "Llama", name="LAB")
    connect(model="other", name="Lab")
    made = Deployment.objects.get(model="llama3")
    assert Connection.objects.get().api_key == KEY
    assert made.limits == {"concurrency": 4, "requests_per_minute": 60}
    assert (str(made.price_input), made.label) == ("0.2500", "Llama")
    assert Deployment.objects.count() == 2


def test_azure(project, owner):
    connect("--azure-api-version", "2024-10-21", url="https://w.openai.azure.com/")
    made = Connection.objects.get()
    assert (made.kind, made.api_version) == ("azure", "2024-10-21")
    assert made.base_url == "https://w.openai.azure.com"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--project", "nowhere"], "There is no project nowhere"),
        (["--price-input", "cheap"], "cheap is not a price"),
        (["--price-input", "-1"], "-1 is not a price"),
        (["--concurrency", "0"], "Limits must be 1 or more"),
    ],
)
def test_what_is_wrong_is_said(project, owner, more, said):
    with pytest.raises(CommandError, match=said):
        connect(*more)
    assert not Connection.objects.exists()


def test_a_bad_address_is_said(project, owner):
    with pytest.raises(CommandError, match="must begin with https"):
        connect(url="ftp://x")


def test_it_can_test(project, owner):
    with FakeLLM() as fake:
        said = connect("--test", url=fake.url)
    assert "text: yes" in said
    assert "audio: yes" in said


def test_a_failed_test_fails_the_command(project, owner):
    fake = FakeLLM(lambda _b, _n: error(401, "no"))
    with fake, pytest.raises(CommandError, match="The test failed"):
        connect("--test", url=fake.url)
    assert Connection.objects.exists()
