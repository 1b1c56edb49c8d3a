"""Accounts: a one-time address, then a password; everything needs a session."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from workspace.models import SignInToken, User
from workspace.signin import ensure_first_project, make_token, sign_in_address


@pytest.fixture
def first(db):
    return ensure_first_project()


def test_the_address_signs_in_once_and_asks_for_a_password(client, first):
    secret = make_token(first[1])
    response = client.get("/sign-in/", {"token": secret})
    assert response.url == reverse("set_password")
    assert client.get(reverse("set_password")).status_code == 200
    again = Client().get("/sign-in/", {"token": secret})
    assert again.status_code == 403
    assert "signin_link" in again.content.decode()


def test_an_expired_address_is_refused(client, first):
    secret = make_token(first[1])
    SignInToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get("/sign-in/", {"token": secret}).status_code == 403


def test_the_secret_is_not_stored(first):
    secret = make_token(first[1])
    assert secret not in str(SignInToken.objects.values())


def test_a_password_is_set_and_used(client, first):
    client.get("/sign-in/", {"token": make_token(first[1])})
    data = {"email": "me@example.org", "name": "Me", "password": "a long password"}
    assert client.post(reverse("set_password"), data).status_code == 302
    client.post(reverse("sign_out"))
    data = {"email": "ME@example.org", "password": "a long password"}
    response = client.post("/sign-in/", {**data, "next": "/account/"})
    assert response.url == "/account/"


@pytest.mark.parametrize("password", ["short", "password123"])
def test_a_weak_password_is_refused(client, first, password):
    client.get("/sign-in/", {"token": make_token(first[1])})
    data = {"email": "me@example.org", "password": password}
    assert client.post(reverse("set_password"), data).status_code == 422


def test_wrong_passwords_are_throttled(client, owner):
    data = {"email": owner.email, "password": "wrong"}
    for _ in range(8):
        assert client.post("/sign-in/", data).status_code == 422
    right = {"email": owner.email, "password": "correct horse battery"}
    response = client.post("/sign-in/", right)
    assert response.status_code == 422
    assert "15 minutes" in response.content.decode()


def test_next_never_leaves_the_portal(client, owner):
    data = {"email": owner.email, "password": "correct horse battery"}
    response = client.post("/sign-in/", {**data, "next": "https://evil.example/"})
    assert response.url == reverse("home")


def test_the_command_prints_a_working_address(client, first, capsys):
    call_command("signin_link")
    address = capsys.readouterr().out.strip()
    assert address.startswith("http://127.0.0.1:8000/sign-in/?token=")
    assert client.get(address.partition("8000")[2]).status_code == 302
    assert sign_in_address("x").endswith("?token=x")


def addresses(patterns=None, prefix=""):
    """Every address of the product, with made-up values for its parts."""
    values = {"int": "1", "slug": "x", "str": "x"}
    for pattern in patterns or get_resolver().url_patterns:
        text = prefix + str(pattern.pattern)
        for name, value in values.items():
            while f"<{name}:" in text:
                start = text.index(f"<{name}:")
                text = text[:start] + value + text[text.index(">", start) + 1 :]
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, text)
        elif isinstance(pattern, URLPattern):
            yield pattern.name, "/" + text


PUBLIC = {"sign_in", "healthz", "favicon"}


def test_every_address_needs_a_session(db):
    seen = 0
    for name, address in addresses():
        if name in PUBLIC:
            continue
        for method in ("get", "post"):
            response = getattr(Client(), method)(address)
            assert response.status_code == 302, address
            assert response.url.startswith("/sign-in/"), address
        seen += 1
    assert seen > 30


def test_every_address_of_a_project_is_unknown_to_a_stranger(
    project, client_stranger, client
):
    for _name, address in addresses():
        if not address.startswith("/p/x/"):
            continue
        address = address.replace("/p/x/", "/p/booking/")
        for method in ("get", "post"):
            response = getattr(client_stranger, method)(address)
            # 405: this address does not take the method from anybody
            assert response.status_code in {404, 405}, (method, address)


def test_changes_need_an_editor(project, client_viewer):
    """A viewer's POST is refused or not found, never done."""
    for _name, address in addresses():
        if address.startswith("/p/x/"):
            address = address.replace("/p/x/", "/p/booking/")
            response = client_viewer.post(address)
            assert response.status_code in {403, 404, 405, 302, 200}, address
            if response.status_code == 302:
                assert response.url.startswith("/p/booking/evaluations"), address


def test_the_content_policy_is_on_every_answer(client_owner, client):
    for answer in (client.get("/sign-in/"), client_owner.get("/p/booking/datasets/")):
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_an_unknown_page_is_a_404_page(client_owner):
    response = client_owner.get("/p/booking/nothing/")
    assert response.status_code == 404
    assert "<h1" in response.content.decode()


def test_theme_and_account_are_saved(client_owner, owner):
    client_owner.post("/theme/", {"theme": "dark"})
    assert User.objects.get(pk=owner.pk).theme == "dark"
    page = client_owner.get("/p/booking/datasets/").content.decode()
    assert 'data-theme="dark"' in page
    client_owner.post("/account/", {"name": "Ada", "theme": "", "shortcuts": "on"})
    assert User.objects.get(pk=owner.pk).name == "Ada"


def test_a_changed_password_needs_the_current_one(client_owner, owner):
    data = {"current": "wrong", "new": "another long one"}
    assert client_owner.post("/account/", data).status_code == 422
    data["current"] = "correct horse battery"
    assert client_owner.post("/account/", data).status_code == 302
    owner.refresh_from_db()
    assert owner.check_password("another long one")


def test_a_person_is_added_with_a_role(client, first, capsys):
    call_command("signin_link", "ana@example.org", add="viewer")
    assert client.get(capsys.readouterr().out.partition("8000")[2].strip()).url
    member = User.objects.get(email="ana@example.org").memberships.get()
    assert (member.project, member.role) == (first[0], 1)


@pytest.mark.parametrize(
    "wrong", [["nobody@example.org"], ["no address", "--add=editor"]]
)
def test_a_wrong_person_is_named(first, wrong):
    with pytest.raises(CommandError, match=wrong[0]):
        call_command("signin_link", *wrong)
