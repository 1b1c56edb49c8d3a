"""Trying a draft on rows of a dataset: asked for by a page, made by a worker."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from assay.data.chat import ChatModel, ModelError
from assay.data.jsonx import JSONObject
from assay.data.paths import nested_paths
from assay.running.engine import fence_for
from assay.running.mapping import auto_map, inputs_of
from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.evaluate import evaluate
from assay.scoring.outcome import Outcome, ResultValue, row_outcome
from assay.scoring.rubric.definition import rubric_definition
from assay.scoring.rubric.spec import RubricSpec
from datasets.models import DatasetVersion, Row
from rubrics.models import RubricDraft, RubricJob
from targets.config import DeploymentConfig
from targets.loop import model_loop
from targets.models import Deployment
from workspace.bells import ring
from workspace.leases import finish_job, renew
from workspace.models import JobState, User

log = logging.getLogger("rubrics.trying")

BELL = "rubrics.tasks.run_job"
PER_MINUTE = 20
LOOK_SECONDS = 0.5
SECONDS = 600.0
"""After this time a try ends with what it has."""
OUTCOMES = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.ERROR: "error",
    Outcome.NOT_APPLICABLE: "not_applicable",
}


class TooManyError(Exception):
    """More tries in a minute than a project may ask for."""


def ask(
    draft: RubricDraft,
    spec: RubricSpec,
    *,
    rows: DatasetVersion,
    indexes: Sequence[int],
    judge: Deployment,
    by: User,
) -> RubricJob:
    """Queue a try and ring the doorbell. Raises `TooManyError`."""
    since = timezone.now() - timedelta(minutes=1)
    lately = RubricJob.objects.filter(project=draft.project, created_at__gte=since)
    if lately.count() >= PER_MINUTE:
        message = _("There were %(count)d tries in one minute. Wait a minute.")
        raise TooManyError(message % {"count": PER_MINUTE})
    job = RubricJob.objects.create(
        project=draft.project,
        kind=RubricJob.Kind.TRY,
        draft=draft,
        deployment=judge,
        by=by,
        progress_total=len(indexes),
        request={
            "rubric": spec.model_dump(mode="json"),
            "dataset_version": rows.pk,
            "dataset_name": str(rows),
            "indexes": list(indexes),
        },
    )
    ring(BELL, job.pk)
    return job


def cancel(job: RubricJob) -> None:
    """Ask a try to stop; one that waits is over at once."""
    now = timezone.now()
    jobs = RubricJob.objects.filter(pk=job.pk, cancel_requested_at=None)
    jobs.filter(state=JobState.QUEUED).update(
        cancel_requested_at=now, finished_at=now, state=JobState.CANCELED
    )
    jobs.filter(state=JobState.RUNNING).update(cancel_requested_at=now)


def run(job: RubricJob) -> None:
    """Score the rows of `job`, which this process has claimed."""
    if job.deployment is None:
        finish_job(job, JobState.FAILED, error="This model was deleted.")
        return
    version = DatasetVersion.objects.filter(pk=job.request["dataset_version"]).first()
    if version is None:
        finish_job(job, JobState.FAILED, error="This dataset was deleted.")
        return
    spec = RubricSpec.model_validate(job.request["rubric"])
    definition = rubric_definition(job.ref, "Rubric", "", spec)
    rows = list(version.rows.filter(index__in=job.request["indexes"]).order_by("index"))
    done: dict[int, JSONObject] = {}
    columns = [column["name"] for column in version.columns]
    judge = DeploymentConfig.of(job.deployment)
    work = _score_rows(definition, rows, columns, judge, done)
    state, error = _watch(job, model_loop().submit(work), done)
    finish_job(job, state, error=error, **_so_far(done))


def _watch(
    job: RubricJob, future: Future[None], done: dict[int, JSONObject]
) -> tuple[JobState, str]:
    """Wait for the rows, tell the page what is done, keep the lease, obey a cancel."""
    started = renewed = monotonic()
    told = 0
    while True:
        try:
            future.result(timeout=LOOK_SECONDS)
        except FutureTimeout:
            pass
        except ModelError as error:
            return JobState.FAILED, error.sentence
        except Exception:
            log.exception("try_failed ref=%s", job.ref)
            return JobState.FAILED, "Something failed on the server. Try again."
        else:
            return JobState.DONE, ""
        held = RubricJob.objects.filter(pk=job.pk, lease=job.lease)
        if len(done) > told:
            told = len(done)
            held.update(**_so_far(done))
        if monotonic() - renewed > settings.LEASE_SECONDS / 3:
            renewed = monotonic()
            renew(job)
        is_late = monotonic() - started > SECONDS
        if is_late or not held.filter(cancel_requested_at=None).exists():
            future.cancel()
            with contextlib.suppress(Exception):
                future.exception(timeout=5)
            late = "The judge did not answer in ten minutes."
            return (JobState.FAILED, late) if is_late else (JobState.CANCELED, "")


def _so_far(done: dict[int, JSONObject]) -> dict[str, Any]:
    rows = [done[index] for index in sorted(done)]
    costs = [row["cost"] for row in rows if isinstance(row["cost"], (int, float))]
    tokens = [row["tokens"] for row in rows if isinstance(row["tokens"], int)]
    return {
        "progress": len(rows),
        "result": {"rows": rows},
        "usage": {
            "total_tokens": sum(tokens),
            "cost": sum(costs) if costs else None,
            "simulated": any(row["simulated"] for row in rows),
        },
    }


async def _score_rows(
    definition: EvaluatorDefinition,
    rows: Sequence[Row],
    columns: Sequence[str],
    judge: DeploymentConfig,
    done: dict[int, JSONObject],
) -> None:
    """Fills `done` row by row. Raises `ModelError` for what would meet every row."""
    model = model_loop().gateway.trial(judge, tries=2)
    key = secrets.token_bytes(16)

    async def one(row: Row) -> None:
        done[row.index] = await score_row(definition, row, columns, model, key)

    try:
        async with asyncio.TaskGroup() as group:
            for row in rows:
                group.create_task(one(row))
    except BaseExceptionGroup as failed:
        stops, _others = failed.split(ModelError)
        raise (stops or failed).exceptions[0] from failed


async def score_row(
    definition: EvaluatorDefinition,
    row: Row,
    columns: Sequence[str],
    model: ChatModel,
    key: bytes,
) -> JSONObject:
    """The result of one row as the page shows it. Inputs are matched by name."""
    item = row.values
    paths = [f"item.{name}" for name in columns]
    paths += [path for path in nested_paths(item) if path not in paths]
    mapping = auto_map(definition, paths, generates=False)
    inputs = inputs_of(mapping, {"item": item})
    results = await evaluate(
        definition,
        inputs,
        model=model,
        thresholds={},
        params={},
        fence=fence_for(key, definition.id, inputs),
    )
    return _shown(definition, row.index, results, {k: mapping[k] for k in inputs})


def _shown(
    definition: EvaluatorDefinition,
    index: int,
    results: Sequence[ResultValue],
    mapping: dict[str, str | None],
) -> JSONObject:
    primary = [r for r in results if definition.metric(r.metric).primary]
    shared = primary[0].properties
    return {
        "index": index,
        "outcome": OUTCOMES[row_outcome(r.outcome for r in primary)],
        "parts": [_part(result) for result in primary],
        "mapping": dict(mapping.items()),
        "tokens": shared.get("total_tokens", 0),
        "cost": shared.get("cost"),
        "simulated": bool(shared.get("simulated")),
        "model": shared.get("model", ""),
    }


KEPT = ("dimension_scores", "raw_mean", "normalization", "failed_by_one", "faults")


def _part(result: ResultValue) -> JSONObject:
    return {
        "metric": result.metric,
        "outcome": OUTCOMES[result.outcome],
        "score": result.score,
        "threshold": result.threshold,
        "reason": result.reason,
        "error_code": result.error_code,
        **{key: result.properties[key] for key in KEPT if key in result.properties},
    }
