"""Fixtures that every test may use: people, a project, a client of each."""

from __future__ import annotations

import pytest
from django.test import Client

from workspace.models import Membership, Project, Role, User


@pytest.fixture
def project(db) -> Project:
    return Project.objects.create(name="Booking", slug="booking")


def _member(project: Project, email: str, role: Role) -> User:
    user = User.objects.create_user(email, "correct horse battery")
    Membership.objects.create(project=project, user=user, role=role)
    return user


@pytest.fixture
def owner(project) -> User:
    return _member(project, "owner@example.org", Role.OWNER)


@pytest.fixture
def editor(project) -> User:
    return _member(project, "editor@example.org", Role.EDITOR)


@pytest.fixture
def viewer(project) -> User:
    return _member(project, "viewer@example.org", Role.VIEWER)


@pytest.fixture
def stranger(db) -> User:
    other = Project.objects.create(name="Elsewhere", slug="elsewhere")
    return _member(other, "stranger@example.org", Role.OWNER)


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def client_owner(owner) -> Client:
    return _client(owner)


@pytest.fixture
def client_editor(editor) -> Client:
    return _client(editor)


@pytest.fixture
def client_viewer(viewer) -> Client:
    return _client(viewer)


@pytest.fixture
def client_stranger(stranger) -> Client:
    return _client(stranger)
