"""The states of a run, each change by one conditional update.

queued → running ⇄ paused, any open state → canceling → canceled, running → completed
or completed with errors. Final states change only by a retry of errored rows.
"""

from __future__ import annotations

import logging

from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from assay.data.jsonx import dumps, loads
from assay.scoring.outcome import Outcome
from evaluations import summaries
from evaluations.models import Chunk, Item, Result, Run, RunState
from evaluations.models.run import OPEN_STATES, ChunkState
from workspace.bells import ring
from workspace.leases import FREE

log = logging.getLogger("evaluations.lifecycle")
WORK = "evaluations.tasks.work"
FINISHED = (RunState.COMPLETED, RunState.COMPLETED_WITH_ERRORS)


def start(run_id: int) -> Run | None:
    """A queued run begins. Returns the run as it is now, None when it was deleted."""
    Run.objects.filter(pk=run_id, state=RunState.QUEUED).update(
        state=RunState.RUNNING, started_at=timezone.now()
    )
    return (
        Run.objects.select_related("evaluation", "dataset_version", "deployment")
        .filter(pk=run_id)
        .first()
    )


def pause(run_id: int, reason: str) -> bool:
    """Stop new calls. The reason is shown; nothing that is done is lost."""
    open_states = [RunState.RUNNING, RunState.QUEUED]
    changed = Run.objects.filter(pk=run_id, state__in=open_states).update(
        state=RunState.PAUSED, pause_reason=reason
    )
    if changed:
        log.info("run_paused run=%s reason=%s", run_id, reason)
    return bool(changed)


def resume(run: Run) -> bool:
    changed = Run.objects.filter(pk=run.pk, state=RunState.PAUSED).update(
        state=RunState.RUNNING if run.started_at else RunState.QUEUED, pause_reason=""
    )
    if changed:
        ring(WORK, run.pk)
    return bool(changed)


def cancel(run: Run) -> bool:
    """Finished rows stay. Workers abandon their calls within a second."""
    changed = Run.objects.filter(
        pk=run.pk, state__in=[RunState.QUEUED, RunState.RUNNING, RunState.PAUSED]
    ).update(
        state=RunState.CANCELING, cancel_requested_at=timezone.now(), pause_reason=""
    )
    if changed:
        settle(run.pk)
    return bool(changed)


def settle(run_id: int) -> None:
    """Bring a run to its end when nobody holds a chunk of it any more."""
    run = Run.objects.filter(pk=run_id).first()
    if run is None or run.state not in (RunState.RUNNING, RunState.CANCELING):
        return
    open_chunks = run.chunks.exclude(state=ChunkState.DONE)
    if open_chunks.filter(state=ChunkState.LEASED).exists():
        return
    if run.state == RunState.CANCELING:
        _end(run, RunState.CANCELING, RunState.CANCELED)
    elif run.chunks.exists() and not open_chunks.exists():
        errors = run.results.filter(outcome=Outcome.ERROR).exists()
        final = RunState.COMPLETED_WITH_ERRORS if errors else RunState.COMPLETED
        _end(run, RunState.RUNNING, final)


def _end(run: Run, before: RunState, final: RunState) -> None:
    summaries.refresh(run)
    changed = Run.objects.filter(pk=run.pk, state=before).update(
        state=final, finished_at=timezone.now()
    )
    if changed:
        log.info("run_ended run=%s state=%s", run.pk, final.name)


def rows_with_errors(run: Run) -> int:
    """Rows that have at least one score that could not be made."""
    return (
        run.items.filter(results__outcome=Outcome.ERROR, outcome__isnull=False)
        .distinct()
        .count()
    )


@transaction.atomic
def retry_errors(run: Run) -> int:
    """Do the errored scores of a finished run again; returns the number of rows.

    A fail is a result and stays. What went wrong before is kept in the item's history.
    """
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if locked.state not in (*FINISHED, RunState.CANCELED):
        return 0
    items = list(
        locked.items.filter(
            results__outcome=Outcome.ERROR, outcome__isnull=False
        ).distinct()
    )
    if not items:
        return 0
    _keep_history(items)
    Result.objects.filter(item__in=items, outcome=Outcome.ERROR).delete()
    _reopen_chunks(locked, items)
    counts = dict(
        Item.objects.filter(pk__in=[i.pk for i in items])
        .values_list("outcome")
        .annotate(n=Count("pk"))
    )
    Item.objects.filter(pk__in=[i.pk for i in items]).update(outcome=None)
    Run.objects.filter(pk=locked.pk).update(
        state=RunState.RUNNING,
        finished_at=None,
        cancel_requested_at=None,
        done=F("done") - len(items),
        passed=F("passed") - counts.get(Outcome.PASS, 0),
        failed=F("failed") - counts.get(Outcome.FAIL, 0),
        errored=F("errored") - counts.get(Outcome.ERROR, 0),
        skipped=F("skipped") - counts.get(Outcome.NOT_APPLICABLE, 0),
    )
    ring(WORK, locked.pk)
    return len(items)


def _keep_history(items: list[Item]) -> None:
    now = timezone.now().isoformat()
    failed = Result.objects.filter(
        item__in=items, outcome=Outcome.ERROR
    ).select_related("metric")
    by_item: dict[int, list[object]] = {}
    for result in failed:
        by_item.setdefault(result.item_id, []).append(
            {
                "metric": result.metric.key,
                "code": result.error_code,
                "reason": result.reason,
                "until": now,
            }
        )
    for item in items:
        before = loads(item.history) if item.history else []
        assert isinstance(before, list)
        item.history = dumps([*before, *by_item.get(item.pk, [])])  # type: ignore[list-item]
    Item.objects.bulk_update(items, ["history"], batch_size=200)


def _reopen_chunks(run: Run, items: list[Item]) -> None:
    rows_per_repeat = run.total // run.repeats
    positions = [(i.index - 1) + i.repeat * rows_per_repeat for i in items]
    for chunk in run.chunks.filter(state=ChunkState.DONE):
        if any(chunk.first <= position <= chunk.last for position in positions):
            Chunk.objects.filter(pk=chunk.pk).update(
                state=ChunkState.PENDING, attempts=0, error="", **FREE
            )


def open_runs() -> list[Run]:
    """Runs that are not over, the oldest first."""
    states = [state.value for state in OPEN_STATES]
    return list(Run.objects.filter(Q(state__in=states)).order_by("pk"))


def free_leases_of(owner: str) -> int:
    """A process that is known to be dead gives its chunks back at once."""
    return Chunk.objects.filter(state=ChunkState.LEASED, lease_owner=owner).update(
        state=ChunkState.PENDING, **FREE
    )
