"""Tallies per metric, counted by the database and kept for the pages."""

from __future__ import annotations

from django.db.models import Count
from django.utils import timezone

from assay.scoring.outcome import Outcome
from assay.scoring.summary import MetricTally
from evaluations.models import Metric, MetricSummary, Result, Run


def count(run: Run) -> dict[int, MetricTally]:
    """Tallies by metric id, counted now by one grouped query.

    Equal scores of a metric are one group, so an ordinal metric has few of them.
    """
    metrics = Metric.objects.filter(criterion__evaluation=run.evaluation_id)
    tallies = {metric.pk: MetricTally.of(metric.spec) for metric in metrics}
    groups = (
        Result.objects.filter(run=run)
        .order_by()
        .values_list("metric_id", "outcome", "score")
        .annotate(n=Count("pk"))
    )
    for metric_id, outcome, score, number in groups.iterator(chunk_size=2000):
        tallies[metric_id].add(Outcome(outcome), score, number)
    return tallies


def refresh(run: Run) -> None:
    """Count all results of a run anew and keep the tallies."""
    now = timezone.now()
    MetricSummary.objects.bulk_create(
        [
            MetricSummary(run=run, metric_id=pk, tally=tally.as_json(), fresh_at=now)
            for pk, tally in count(run).items()
        ],
        update_conflicts=True,
        unique_fields=["run", "metric"],
        update_fields=["tally", "fresh_at"],
    )


def tallies_of(run: Run) -> dict[int, MetricTally]:
    """The kept tallies by metric id; metrics without results have none."""
    return {
        summary.metric_id: MetricTally.from_json(summary.tally)
        for summary in run.summaries.all()
    }
