"""Renames and deletes evaluations and runs. Slugs and numbers stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q

from evaluations.models import (
    Chunk,
    Criterion,
    Evaluation,
    EvaluationDraft,
    Item,
    Metric,
    MetricSummary,
    Result,
    Run,
)
from evaluations.models.run import OPEN_STATES
from targets.models import Completion


class StillOpen(Exception):
    """Runs that are not over stand in the way. Nothing was deleted."""

    def __init__(self, runs: Sequence[Run]) -> None:
        super().__init__(f"{len(runs)} open runs")
        self.runs = list(runs)


def rename_evaluation(evaluation: Evaluation, name: str) -> None:
    """Addresses do not change."""
    evaluation.name = name
    evaluation.save(update_fields=["name"])


def rename_run(run: Run, name: str) -> None:
    """An empty name brings back “Run 3”."""
    run.name = name
    run.save(update_fields=["name"])


def open_runs_of(evaluation: Evaluation) -> list[Run]:
    return list(evaluation.runs.filter(state__in=OPEN_STATES).order_by("number"))


@transaction.atomic
def delete_run(run: Run) -> None:
    """Remove a run with its rows, scores and calls. Raises `StillOpen`."""
    locked = Run.objects.select_for_update().filter(pk=run.pk).first()
    if locked is None:
        return  # somebody else was faster
    if locked.is_open:
        raise StillOpen([run])
    _delete_runs([run.pk])


@transaction.atomic
def delete_evaluation(evaluation: Evaluation) -> None:
    """Remove an evaluation with its criteria and all of its runs.

    Raises `StillOpen` while one of them is not over.
    """
    locked = Evaluation.objects.select_for_update().filter(pk=evaluation.pk).first()
    if locked is None:
        return  # somebody else was faster
    still_open = open_runs_of(locked)
    if still_open:
        raise StillOpen(still_open)
    _delete_runs(list(locked.runs.values_list("pk", flat=True)))
    EvaluationDraft.objects.filter(evaluation=locked).delete()
    _remove(Metric.objects.filter(criterion__evaluation=locked))
    _remove(Criterion.objects.filter(evaluation=locked))
    locked.delete()


def _delete_runs(run_ids: list[int]) -> None:
    """Remove runs and all that hangs on them, a table at a time.

    Django would load every row to follow its references; a run has many, and all
    references are known here. The drafts go too, or they would look unfinished.
    """
    EvaluationDraft.objects.filter(run__in=run_ids).delete()
    _remove(_calls_of(run_ids))
    for model in (Result, MetricSummary, Item, Chunk):
        _remove(model._default_manager.filter(run__in=run_ids))
    _remove(Run.objects.filter(pk__in=run_ids))


def _calls_of(run_ids: list[int]) -> models.QuerySet[Completion]:
    """Calls that nothing but these runs refers to."""
    results = Result.objects.filter(completion=OuterRef("pk"))
    items = Item.objects.filter(completion=OuterRef("pk"))
    return Completion.objects.filter(
        Q(pk__in=Result.objects.filter(run__in=run_ids).values("completion"))
        | Q(pk__in=Item.objects.filter(run__in=run_ids).values("completion")),
        ~Exists(results.exclude(run__in=run_ids)),
        ~Exists(items.exclude(run__in=run_ids)),
    )


def _remove(rows: models.QuerySet[Any]) -> None:
    """One DELETE. References are checked at the end of the transaction."""
    rows._raw_delete(rows.db)


def set_cost_limit(run: Run, limit: float | None) -> None:
    Run.objects.filter(pk=run.pk).update(max_cost=limit)
