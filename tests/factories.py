"""Makes rows for tests. Shared: add, do not change."""

from __future__ import annotations

import io
import itertools
import json
import random
import time
import wave
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from random import Random
from typing import Any

from django.utils import timezone
from PIL import Image

from assay.scoring.outcome import Outcome, judge_score, row_outcome
from datasets import tasks, uploads
from datasets.models import DataJob, DatasetVersion, Row
from evaluations import summaries
from evaluations.models import Item, Metric, Result, Run, RunState
from evaluations.previews import input_preview
from workspace.leases import claim_job
from workspace.models import Membership, Project, Role, User

_numbers = itertools.count(1)


def make_user(name: str = "person", **fields: Any) -> User:
    email = f"{name}{next(_numbers)}@example.com"
    user = User(email=email, name=name, **fields)
    user.set_unusable_password()
    user.save()
    return user


def make_project(name: str = "restaurant-booking", **fields: Any) -> Project:
    fields.setdefault("slug", f"project-{next(_numbers)}")
    return Project.objects.create(name=name, **fields)


def make_member(project: Project, role: Role, name: str = "member") -> User:
    user = make_user(name)
    Membership.objects.create(project=project, user=user, role=role)
    return user


def jsonl(rows: Iterable[Any]) -> bytes:
    """The rows as the bytes of a JSONL file."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def add_file(
    project: Project,
    data: bytes,
    *,
    file_name: str = "rows.jsonl",
    name: str = "",
    **options: Any,
) -> DatasetVersion:
    """Upload `data`; the import waits in its job."""
    added = uploads.add_file(
        [data],
        project=project,
        by=None,
        name=name or uploads.name_from_file(file_name),
        file_name=file_name,
        **options,
    )
    return added.version


def run_import(version: DatasetVersion) -> DatasetVersion:
    """Do the waiting import of `version` here, or wait for the worker that has it."""
    job = claim_job(DataJob, DataJob.objects.get(version=version).pk)
    if job is not None:
        tasks.do(job)
    until = time.monotonic() + 60
    while True:
        version.refresh_from_db()
        if version.state != DatasetVersion.State.IMPORTING:
            return version
        assert time.monotonic() < until, "The import did not end."
        time.sleep(0.1)


def make_version(
    project: Project, rows: Iterable[Any], **options: Any
) -> DatasetVersion:
    """A dataset version with these rows, ready to use."""
    version = run_import(add_file(project, jsonl(rows), **options))
    assert version.state == DatasetVersion.State.READY, version.import_report
    return version


def png(
    width: int = 40, height: int = 30, colour: str = "#336699", **options: Any
) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(buffer, "PNG", **options)
    return buffer.getvalue()


def wav(seconds: float = 0.5, rate: int = 8000) -> bytes:
    """A recording that grows louder."""
    buffer = io.BytesIO()
    frames = int(seconds * rate)
    with wave.open(buffer, "wb") as sound:
        sound.setparams((1, 2, rate, frames, "NONE", ""))
        samples = [int(30000 * i / frames) * (-1) ** i for i in range(frames)]
        sound.writeframes(
            b"".join(s.to_bytes(2, "little", signed=True) for s in samples)
        )
    return buffer.getvalue()


def score_run(run: Run, *, seed: int = 1, rows: int | None = None) -> Run:
    """Give the rows of a queued run random results, as workers would, and end it.

    With `rows` only the first ones are done and the run goes on running.
    """
    chance = random.Random(seed)
    metrics = list(Metric.objects.filter(criterion__evaluation=run.evaluation_id))
    data = list(Row.objects.filter(version=run.dataset_version_id).order_by("index"))
    counts: Counter[Outcome] = Counter()
    for row in data[:rows]:
        preview = input_preview(row.values)
        item = Item.objects.create(
            run=run, row=row, index=row.index, input_preview=preview
        )
        item.preview = str(row.values.get("response", ""))[:200]
        results = [random_result(run, item, metric, chance) for metric in metrics]
        Result.objects.bulk_create(results)
        primary = [Outcome(r.outcome) for r in results if r.metric.is_primary]
        item.outcome = row_outcome(primary)
        item.latency_ms = chance.choice([None, chance.randrange(50, 9000)])
        item.save()
        counts[Outcome(item.outcome)] += 1
    run.passed, run.failed = counts[Outcome.PASS], counts[Outcome.FAIL]
    run.errored, run.skipped = counts[Outcome.ERROR], counts[Outcome.NOT_APPLICABLE]
    run.done = sum(counts.values())
    run.started_at = run.pace_from = timezone.now() - timedelta(minutes=2)
    run.state = RunState.RUNNING
    if rows is None:
        failed = run.results.filter(outcome=Outcome.ERROR).exists()
        run.state = RunState.COMPLETED_WITH_ERRORS if failed else RunState.COMPLETED
        run.finished_at = timezone.now()
    run.save()
    summaries.refresh(run)
    return run


def random_result(run: Run, item: Item, metric: Metric, chance: Random) -> Result:
    """A score on the metric's scale, now and then an error or not applicable."""
    kind = chance.choices(["score", "error", "na"], [8, 1, 1])[0]
    result = Result(run=run, item=item, metric=metric, reason=f"Reason {item.index}.")
    if kind == "error":
        result.outcome, result.error_code = Outcome.ERROR, "judge_unparsable"
    elif kind == "na":
        result.outcome = Outcome.NOT_APPLICABLE
    else:
        wide = metric.maximum - metric.minimum
        if metric.kind == "continuous":
            result.score = metric.minimum + wide * chance.randrange(0, 41) / 40
        else:
            result.score = metric.minimum + chance.randint(0, round(wide))
        result.outcome = judge_score(result.score, metric.threshold, metric.direction)
    return result
