"""Doorbells of this app."""

from __future__ import annotations

from collections.abc import Callable

from celery import shared_task

from rubrics import generate, trying
from rubrics.models import RubricJob
from workspace.leases import claim_job

RUNNERS: dict[str, Callable[[RubricJob], None]] = {
    RubricJob.Kind.GENERATE: generate.run,
    RubricJob.Kind.TRY: trying.run,
}
"""What does a job of each kind, once this process has claimed it."""


@shared_task
def run_job(job_id: int) -> None:
    job = claim_job(RubricJob, job_id)
    if job is not None:
        RUNNERS[job.kind](job)
