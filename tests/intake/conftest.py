from __future__ import annotations

from types import SimpleNamespace

import pytest

from evaluations import runner
from targets.loop import stop_loop
from tests.fakes.llm import FakeLLM
from tests.intake.reports import Person


@pytest.fixture
def person(client_editor, project, editor, settings, tmp_path, monkeypatch) -> Person:
    """Somebody with a media folder of their own; no worker hears a bell."""
    settings.BLOB_DIR = tmp_path / "blobs"
    app = SimpleNamespace(send_task=lambda *_a, **_k: None)
    monkeypatch.setattr("workspace.bells.current_app", app)
    return Person(client_editor, project, editor)


@pytest.fixture
def engine(transactional_db):
    """Runs happen in this process and leave no thread."""
    runner.desk.stopping.clear()
    yield
    runner.desk.close()
    stop_loop()


@pytest.fixture
def llm(engine):
    with FakeLLM() as fake:
        yield fake
