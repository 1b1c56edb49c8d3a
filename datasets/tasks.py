"""Doorbells of this app."""

from __future__ import annotations

from celery import shared_task

from datasets import ingest as importing
from datasets.models import DataJob
from workspace.leases import claim_job


@shared_task
def ingest(job_id: int) -> None:
    job = claim_job(DataJob, job_id)
    if job is not None:
        importing.run(job)
