from __future__ import annotations

from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def _own_folders(settings, tmp_path):
    """No test sees the media of another."""
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture(autouse=True)
def bells(monkeypatch) -> list[tuple[str, int]]:
    """The bells that were rung: no test here needs a broker."""
    rung: list[tuple[str, int]] = []

    def send_task(name, args):
        rung.append((name, args[0]))

    app = SimpleNamespace(send_task=send_task)
    monkeypatch.setattr("workspace.bells.current_app", app)
    return rung


@pytest.fixture(autouse=True)
def _no_upper_apps(monkeypatch):
    """What apps above register is tested with them."""
    monkeypatch.setattr("datasets.usage._finders", [])
    monkeypatch.setattr("datasets.usage._actions", [])
