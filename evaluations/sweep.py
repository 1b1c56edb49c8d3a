"""What makes lost messages and dead workers harmless: run every few seconds."""

from __future__ import annotations

import logging

from django.utils import timezone

from evaluations import lifecycle, poison
from evaluations.models import Chunk, Run, RunState
from evaluations.models.run import ChunkState
from workspace.bells import ring

log = logging.getLogger("evaluations.sweep")


def sweep() -> None:
    """Take back expired leases, split poison chunks, ring and settle open runs."""
    expire_chunks()
    for run in lifecycle.open_runs():
        lifecycle.settle(run.pk)
        run.refresh_from_db()
        if run.state == RunState.QUEUED or has_work(run):
            ring(lifecycle.WORK, run.pk)


def has_work(run: Run) -> bool:
    """A running run that has chunks to claim, or none planned yet."""
    if run.state != RunState.RUNNING:
        return False
    pending = run.chunks.filter(state=ChunkState.PENDING).exists()
    return pending or not run.chunks.exists()


def expire_chunks() -> None:
    expired = Chunk.objects.filter(
        state=ChunkState.LEASED, lease_until__lt=timezone.now()
    )
    for chunk in expired.select_related("run"):
        log.info("lease_expired chunk=%s run=%s", chunk.pk, chunk.run_id)
        poison.after_failure(chunk, "")
