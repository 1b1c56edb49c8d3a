"""Chunks that fail again and again: find the row that does it, and go on without it."""

from __future__ import annotations

import logging

from django.db import transaction

from assay.running.engine import CriterionDone, RowDone
from assay.scoring.outcome import Outcome, ResultValue, row_outcome
from evaluations.claims import open_chunk
from evaluations.models import Chunk, Run
from evaluations.models.run import ChunkState
from evaluations.planning import load
from evaluations.record import ChunkDone, write_events
from workspace.leases import FREE, lease_fields

log = logging.getLogger("evaluations.poison")
MAX_ATTEMPTS = 3
LOST = "The work on this row failed three times."


def after_failure(chunk: Chunk, fault: str) -> None:
    """Give a failed chunk back; after three tries split it, then give its row up.

    `fault` says what went wrong; empty when the worker was lost.
    """
    if chunk.attempts < MAX_ATTEMPTS:
        Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease).update(
            state=ChunkState.PENDING, error=fault[:2000], **FREE
        )
    elif chunk.first < chunk.last:
        split(chunk)
    else:
        give_up(chunk, fault)


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


def give_up(chunk: Chunk, fault: str) -> None:
    """The row that fails each time becomes an error; the others go on."""
    fields = lease_fields()
    changed = Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease).update(**fields)
    if not changed:
        return
    chunk.lease = fields["lease"]
    loaded = load(
        Run.objects.select_related("evaluation", "dataset_version").get(pk=chunk.run_id)
    )
    held = open_chunk(chunk, loaded)
    reason = f"{LOST} {fault}".strip()
    events: list[CriterionDone | RowDone | ChunkDone] = []
    for task in held.tasks:
        for criterion in loaded.plan.criteria:
            if criterion.key not in task.known:
                results = tuple(
                    ResultValue(
                        metric.key,
                        Outcome.ERROR,
                        reason=reason,
                        error_code="internal_error" if fault else "worker_lost",
                    )
                    for metric in criterion.definition.metrics
                )
                events.append(CriterionDone(task, criterion.key, results))
        known = [outcome for found in task.known.values() for outcome in found]
        events.append(RowDone(task, row_outcome([*known, Outcome.ERROR])))
    write_events(held, [*events, ChunkDone()])
    log.warning("row_given_up chunk=%s run=%s", chunk.pk, chunk.run_id)
