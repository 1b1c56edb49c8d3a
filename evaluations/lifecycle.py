"""The states of a run, each change by one conditional update.

queued → running ⇄ paused, any open state → canceling → canceled, running → completed
or completed with errors. Final states change only by a retry of errored rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from assay.data.jsonx import JSON, dumps, loads
from assay.scoring.outcome import Outcome
from evaluations import summaries
from evaluations.models import Chunk, Item, Result, Run, RunState
from evaluations.models.run import FIRST_INDEX, OPEN_STATES, ChunkState
from workspace.bells import ring
from workspace.leases import FREE

log = logging.getLogger("evaluations.lifecycle")
WORK = "evaluations.tasks.work"
FINISHED = (RunState.COMPLETED, RunState.COMPLETED_WITH_ERRORS)


def start(run_id: int) -> Run | None:
    """A queued run begins. Returns the run as it is now, None when it was deleted."""
    now = timezone.now()
    Run.objects.filter(pk=run_id, state=RunState.QUEUED).update(
        state=RunState.RUNNING, started_at=now, pace_from=now
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
        state=RunState.RUNNING if run.started_at else RunState.QUEUED,
        pause_reason="",
        pace_from=timezone.now(),
        pace_done=F("done"),
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


class ModelsGone(Exception):
    """Models that the run needs were deleted. Nothing was changed."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


def missing_models(run: Run) -> list[str]:
    """Names of the models that a run needs and that do not exist any more."""
    judged = run.evaluation.criteria.exclude(judge_name="").filter(deployment=None)
    names = [f"{c.name}: {c.judge_name}" for c in judged]
    if run.target.get("kind") == "model" and run.deployment_id is None:
        names.append(str(run.target.get("deployment")))
    return names


@transaction.atomic
def retry_errors(run: Run) -> int:
    """Do the errored scores of a finished run again; returns the number of rows.

    A fail is a result and stays. What went wrong before is kept in the item's history.
    """
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if locked.state not in (*FINISHED, RunState.CANCELED):
        return 0
    if missing := missing_models(locked):
        raise ModelsGone(missing)
    errors = Result.objects.filter(run=locked, outcome=Outcome.ERROR)
    affected = locked.items.filter(
        Exists(errors.filter(item=OuterRef("pk"))), outcome__isnull=False
    )
    counts = dict(affected.order_by().values_list("outcome").annotate(n=Count("pk")))
    total = sum(counts.values())
    if not total:
        return 0
    for batch in _batches(affected):
        _reopen(locked, batch)
    Run.objects.filter(pk=locked.pk).update(
        state=RunState.RUNNING,
        finished_at=None,
        cancel_requested_at=None,
        pace_from=timezone.now(),
        pace_done=F("done") - total,
        done=F("done") - total,
        passed=F("passed") - counts.get(Outcome.PASS, 0),
        failed=F("failed") - counts.get(Outcome.FAIL, 0),
        errored=F("errored") - counts.get(Outcome.ERROR, 0),
        skipped=F("skipped") - counts.get(Outcome.NOT_APPLICABLE, 0),
    )
    ring(WORK, locked.pk)
    return total


def _batches(items: QuerySet[Item], size: int = 500) -> Iterator[list[Item]]:
    """Items in steps, so that no statement names more rows than a database takes."""
    last = 0
    while batch := list(items.filter(pk__gt=last).order_by("pk")[:size]):
        last = batch[-1].pk
        yield batch


def _reopen(run: Run, items: list[Item]) -> None:
    """Forget the errors of these items, after they are kept in their history."""
    _keep_history(items)
    Result.objects.filter(item__in=items, outcome=Outcome.ERROR).delete()
    Item.objects.filter(pk__in=[item.pk for item in items]).update(outcome=None)
    per_repeat = run.total // run.repeats
    positions = [(i.index - FIRST_INDEX) + i.repeat * per_repeat for i in items]
    spans = run.chunks.filter(first__lte=max(positions), last__gte=min(positions))
    wanted = [
        pk
        for pk, first, last in spans.values_list("pk", "first", "last")
        if any(first <= position <= last for position in positions)
    ]
    run.chunks.filter(pk__in=wanted, state=ChunkState.DONE).update(
        state=ChunkState.PENDING, attempts=0, error="", **FREE
    )


def _keep_history(items: list[Item]) -> None:
    now = timezone.now().isoformat()
    failed = Result.objects.filter(
        item__in=items, outcome=Outcome.ERROR
    ).select_related("metric")
    by_item: dict[int, list[JSON]] = {}
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
        item.history = dumps([*before, *by_item.get(item.pk, [])])
    Item.objects.bulk_update(items, ["history"], batch_size=200)


def open_runs() -> list[Run]:
    """Runs that are not over, the oldest first."""
    states = [state.value for state in OPEN_STATES]
    return list(Run.objects.filter(Q(state__in=states)).order_by("pk"))


def free_leases_of(owner: str) -> int:
    """A process that is known to be dead gives its chunks back at once."""
    return Chunk.objects.filter(state=ChunkState.LEASED, lease_owner=owner).update(
        state=ChunkState.PENDING, **FREE
    )
