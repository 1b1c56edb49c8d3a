"""Looks after jobs whose process is gone, and throws old tries away."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from rubrics.models import RubricJob
from rubrics.trying import BELL
from workspace.bells import ring
from workspace.leases import requeue_expired_jobs

KEPT = timedelta(days=30)


def sweep() -> None:
    """Ring again for jobs whose message or worker was lost."""
    for job_id in requeue_expired_jobs(RubricJob):
        ring(BELL, job_id)


def purge() -> None:
    """Tries and proposals of last month; tries of a version stay with it."""
    old = RubricJob.objects.filter(created_at__lt=timezone.now() - KEPT)
    old.filter(kind=RubricJob.Kind.TRY).exclude(draft=None).delete()
    old.filter(kind=RubricJob.Kind.GENERATE).delete()
