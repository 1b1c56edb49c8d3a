"""/healthz names what is down."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from portal import health
from portal.worker import beat_once
from workspace.models import WorkerProcess


def test_it_is_healthy_with_a_live_worker(client, db):
    beat_once(timezone.now())
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"
    assert len(response.json()["workers"]) == 1


def test_a_worker_that_is_silent_is_named(client, db):
    beat_once(timezone.now())
    WorkerProcess.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    response = client.get("/healthz")
    assert response.status_code == 503
    assert set(response.json()["down"]) == {"workers"}


def test_a_database_that_is_down_is_named(client, db, monkeypatch):
    def broken():
        raise DatabaseError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(health.connection, "cursor", broken)
        response = client.get("/healthz")
    assert response.status_code == 503
    assert "database" in response.json()["down"]


def test_a_redis_that_is_down_is_named(client, db, settings):
    beat_once(timezone.now())
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    response = client.get("/healthz")
    assert response.status_code == 503
    assert set(response.json()["down"]) == {"broker"}
    assert "ConnectionError" in response.json()["down"]["broker"]


@pytest.mark.parametrize("name", ["evaluations", "datasets"])
def test_the_worker_sweeps_even_when_one_step_fails(db, monkeypatch, name):
    from portal import upkeep

    done = []

    def fails():
        raise RuntimeError("no")

    monkeypatch.setattr(upkeep, "SWEEPS", (fails, lambda: done.append(name)))
    upkeep.sweep()
    assert done == [name]
