"""The engine in this process: real database, real HTTP, real threads."""

from __future__ import annotations

import pytest

from evaluations import runner
from targets.loop import stop_loop
from tests.fakes.llm import FakeLLM


@pytest.fixture(autouse=True)
def _engine(transactional_db, settings):
    """Each test starts with no writer and no loop, and leaves none."""
    settings.CELERY_TASK_ALWAYS_EAGER = False
    runner.desk.stopping.clear()
    yield
    runner.desk.close()
    stop_loop()


@pytest.fixture(autouse=True)
def _no_bells(monkeypatch):
    """Doorbells are not rung: each test works on its runs itself."""
    monkeypatch.setattr("workspace.bells.current_app.send_task", lambda *a, **k: None)


@pytest.fixture
def llm():
    with FakeLLM() as fake:
        yield fake
