"""Doorbells of this app."""

from __future__ import annotations

from celery import shared_task

from datasets import derive
from datasets import ingest as importing
from datasets.models import DataJob
from workspace.leases import claim_job


@shared_task
def ingest(job_id: int) -> None:
    job = claim_job(DataJob, job_id)
    if job is not None:
        do(job)


def do(job: DataJob) -> None:
    """Fill the version of `job`, which this process has claimed."""
    work = derive.run if job.kind == DataJob.Kind.DERIVE else importing.run
    work(job)
