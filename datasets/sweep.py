"""Looks after imports whose process is gone. Called every few seconds by the clock."""

from __future__ import annotations

from datasets.models import DataJob, DatasetVersion
from datasets.versions import BELL
from datasets.writing import delete_rows
from workspace.bells import ring
from workspace.leases import requeue_expired_jobs
from workspace.models import JobState


def sweep() -> None:
    """Give back lost jobs, ring for those that wait, end versions without a job."""
    queued = requeue_expired_jobs(DataJob)
    _end_abandoned_versions()
    for job_id in queued:
        ring(BELL, job_id)


def _end_abandoned_versions() -> None:
    """A job that failed or was canceled outside its own process left its version."""
    over = DatasetVersion.objects.filter(
        state=DatasetVersion.State.IMPORTING,
        job__state__in=(JobState.FAILED, JobState.CANCELED),
    ).select_related("job")
    for version in over:
        canceled = version.job.state == JobState.CANCELED
        report = {"is_canceled": canceled, "is_broken": not canceled}
        changed = DatasetVersion.objects.filter(
            pk=version.pk, state=DatasetVersion.State.IMPORTING
        ).update(state=DatasetVersion.State.FAILED, import_report=report)
        if changed:
            delete_rows(version)
