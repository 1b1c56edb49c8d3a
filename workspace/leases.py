"""Claim, renew, release and expire work by conditional update.

One statement decides who holds a row: it works the same on SQLite and PostgreSQL
and needs no `SELECT … FOR UPDATE SKIP LOCKED`.
"""

from __future__ import annotations

import os
import socket
import uuid
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone

from workspace.models import JobState, Leased, LeasedJob

JobT = TypeVar("JobT", bound=LeasedJob)
MAX_ATTEMPTS = 3


def process_name() -> str:
    """This process, as it signs its leases."""
    return f"{socket.gethostname()[:50]}:{os.getpid()}"


def lease_fields() -> dict[str, Any]:
    """The values that make a row ours from now on."""
    return {
        "lease": uuid.uuid4().hex,
        "lease_until": timezone.now() + timedelta(seconds=settings.LEASE_SECONDS),
        "lease_owner": process_name(),
    }


FREE: dict[str, Any] = {"lease": "", "lease_until": None, "lease_owner": ""}


def renew(row: Leased) -> bool:
    """Extend our lease. False when it is lost: then nothing may be written."""
    until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
    manager: models.Manager[Any] = type(row)._default_manager
    return bool(manager.filter(pk=row.pk, lease=row.lease).update(lease_until=until))


def claim_job(model: type[JobT], pk: int) -> JobT | None:
    """Take the queued job `pk`, or None when another process has it or it is over."""
    fields = lease_fields()
    changed = model._default_manager.filter(
        pk=pk, state=JobState.QUEUED, cancel_requested_at=None
    ).update(
        state=JobState.RUNNING,
        started_at=timezone.now(),
        attempts=F("attempts") + 1,
        **fields,
    )
    return model._default_manager.get(pk=pk) if changed else None


def finish_job(job: LeasedJob, state: JobState, **fields: Any) -> bool:
    """End a job that we hold. False when the lease was lost: nothing is written."""
    manager: models.Manager[Any] = type(job)._default_manager
    return bool(
        manager.filter(pk=job.pk, lease=job.lease, state=JobState.RUNNING).update(
            state=state, finished_at=timezone.now(), **FREE, **fields
        )
    )


def requeue_expired_jobs(model: type[JobT]) -> list[int]:
    """Give back jobs whose process is gone; end those that failed too often.

    Returns the ids that are queued and want a doorbell.
    """
    now = timezone.now()
    lost = model._default_manager.filter(state=JobState.RUNNING, lease_until__lt=now)
    lost.filter(attempts__gte=MAX_ATTEMPTS).update(
        state=JobState.FAILED,
        error="The worker stopped three times while it did this job.",
        finished_at=now,
        **FREE,
    )
    lost.update(state=JobState.QUEUED, **FREE)
    model._default_manager.filter(
        state=JobState.QUEUED, cancel_requested_at__isnull=False
    ).update(state=JobState.CANCELED, finished_at=now)
    queued = model._default_manager.filter(state=JobState.QUEUED)
    return list(queued.order_by("pk").values_list("pk", flat=True)[:100])
