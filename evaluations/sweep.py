"""What makes lost messages and dead workers harmless: run every few seconds."""

from __future__ import annotations

import logging

from django.db import transaction
from django.utils import timezone

from assay.running.engine import CriterionDone, RowDone
from assay.scoring.outcome import Outcome, ResultValue
from evaluations import lifecycle
from evaluations.models import Chunk, Run, RunState
from evaluations.models.run import ChunkState
from evaluations.planning import load
from evaluations.record import ChunkDone, write_events
from evaluations.runner import open_chunk
from workspace.bells import ring
from workspace.leases import FREE, lease_fields

log = logging.getLogger("evaluations.sweep")
MAX_ATTEMPTS = 3


def sweep() -> None:
    """Take back expired leases, split poison chunks, ring and settle open runs."""
    expire_chunks()
    for run in lifecycle.open_runs():
        lifecycle.settle(run.pk)
        run.refresh_from_db()
        waiting = run.chunks.filter(state=ChunkState.PENDING).exists()
        not_planned = not run.chunks.exists()
        if (
            run.state == RunState.QUEUED
            or not_planned
            or run.state == RunState.RUNNING
            and waiting
        ):
            ring(lifecycle.WORK, run.pk)


def expire_chunks() -> None:
    expired = Chunk.objects.filter(
        state=ChunkState.LEASED, lease_until__lt=timezone.now()
    )
    for chunk in expired.select_related("run"):
        if chunk.attempts < MAX_ATTEMPTS:
            Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease).update(
                state=ChunkState.PENDING, **FREE
            )
            log.info("lease_expired chunk=%s run=%s", chunk.pk, chunk.run_id)
        elif chunk.first < chunk.last:
            split(chunk)
        else:
            give_up(chunk)


@transaction.atomic
def split(chunk: Chunk) -> None:
    """A chunk that ended its worker three times: find the row that does it."""
    changed = Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease).update(
        state=ChunkState.PENDING, last=chunk.first, attempts=1, **FREE
    )
    if not changed:
        return
    Chunk.objects.bulk_create(
        [
            Chunk(run=chunk.run, first=position, last=position, attempts=1)
            for position in range(chunk.first + 1, chunk.last + 1)
        ],
        ignore_conflicts=True,
    )
    log.warning("chunk_split chunk=%s run=%s", chunk.pk, chunk.run_id)


def give_up(chunk: Chunk) -> None:
    """The row that ends workers becomes an error; the others go on."""
    fields = lease_fields()
    changed = Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease).update(**fields)
    if not changed:
        return
    chunk.lease = fields["lease"]
    loaded = load(
        Run.objects.select_related("evaluation", "dataset_version").get(pk=chunk.run_id)
    )
    held = open_chunk(chunk, loaded)
    events: list[CriterionDone | RowDone | ChunkDone] = []
    for task in held.tasks:
        for criterion in loaded.plan.criteria:
            if criterion.key not in task.known:
                results = tuple(
                    ResultValue(
                        metric.key,
                        Outcome.ERROR,
                        reason="The worker stopped each time it came to this row.",
                        error_code="worker_lost",
                    )
                    for metric in criterion.definition.metrics
                )
                events.append(CriterionDone(task, criterion.key, results))
        events.append(RowDone(task, Outcome.ERROR))
    write_events(held, [*events, ChunkDone()])
    log.warning("row_given_up chunk=%s run=%s", chunk.pk, chunk.run_id)
