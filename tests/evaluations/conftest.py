"""A finished run of 60 rows, some with images, with every kind of outcome."""

from __future__ import annotations

import base64

import pytest
from django.urls import reverse

from evaluations.models import Run
from tests.factories import png, score_run, wav
from tests.support.making import make_deployment, make_spec, make_version, submit

EVALUATORS = ("coherence", "f1_score", "rouge_score")


@pytest.fixture(autouse=True)
def _own_folders(settings, tmp_path):
    settings.BLOB_DIR = tmp_path / "blobs"


@pytest.fixture(autouse=True)
def bells(monkeypatch) -> list[tuple[str, int]]:
    """The bells that were rung: no test here needs a worker."""
    rung: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "workspace.bells.current_app.send_task",
        lambda name, args: rung.append((name, args[0])),
    )
    return rung


def data(count: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for n in range(1, count + 1):
        row: dict[str, object] = {
            "query": f"Question {n}: a table for {n % 9}?",
            "response": f"Answer {n}. {'Terrace' if n % 7 == 0 else 'Window'} seat.",
            "ground_truth": f"Answer {n}.",
        }
        if n % 5 == 0:
            row["image_url"] = _uri("image/png", png(20 + n, 20))
        if n % 8 == 0:
            row["audio_data"] = _uri("audio/wav", wav(0.2))
        rows.append(row)
    return rows


def _uri(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


@pytest.fixture
def version(project):
    return make_version(project, data(60), name="bookings")


@pytest.fixture
def judge(project):
    return make_deployment(project, "http://127.0.0.1:9/v1", "gpt-test")


@pytest.fixture
def queued(project, owner, version, judge) -> Run:
    """A run that waits for a worker."""
    spec = make_spec(version, EVALUATORS, judge=judge, name="Release gate")
    return submit(project, owner, spec)


@pytest.fixture
def run(queued) -> Run:
    return score_run(queued)


@pytest.fixture
def going(queued) -> Run:
    """A run with 25 of 60 rows done."""
    return score_run(queued, rows=25)


class Pages:
    """Addresses of one run's pages."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __call__(self, name: str, *more: object, query: str = "") -> str:
        evaluation = self.run.evaluation
        arguments = [evaluation.project.slug, evaluation.slug]
        if name.startswith("run") and name != "run_add":
            arguments.append(self.run.number)
        return reverse(name, args=[*arguments, *more]) + query


@pytest.fixture
def page(queued) -> Pages:
    return Pages(queued)
