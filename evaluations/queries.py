"""Reads for the pages of evaluations and runs. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.utils import timezone

from assay.data.jsonx import JSON, loads
from assay.scoring.outcome import Outcome
from assay.scoring.stats import wilson
from assay.scoring.summary import MetricTally
from evaluations.models import Evaluation, Item, Metric, Result, Run, RunState
from evaluations.rowfilter import RowFilter, filtered_items
from evaluations.summaries import tallies_of
from workspace.models import Project

STATE_GROUPS: dict[str, tuple[RunState, ...]] = {
    "running": (RunState.QUEUED, RunState.RUNNING, RunState.CANCELING),
    "paused": (RunState.PAUSED,),
    "completed": (RunState.COMPLETED, RunState.COMPLETED_WITH_ERRORS),
    "failed": (RunState.FAILED, RunState.CANCELED),
}


def evaluations_of(
    project: Project, *, q: str = "", status: str = "", sort: str = "-latest"
) -> QuerySet[Evaluation]:
    """Evaluations with `run_count` and `latest` (time of the newest run). 1 query."""
    newest = Run.objects.filter(evaluation=OuterRef("pk")).order_by("-number")
    found = Evaluation.objects.filter(project=project).annotate(
        run_count=Count("runs"),
        latest=Max("runs__created_at"),
        latest_state=Subquery(newest.values("state")[:1]),
    )
    if q:
        found = found.filter(Q(name__icontains=q) | Q(criteria__name__icontains=q))
        found = found.distinct()
    if status in STATE_GROUPS:
        states = [state.value for state in STATE_GROUPS[status]]
        found = found.filter(latest_state__in=states)
    orders = {
        "name": ["name"],
        "-name": ["-name"],
        "runs": ["run_count", "-pk"],
        "-runs": ["-run_count", "-pk"],
        "latest": ["latest", "pk"],
    }
    return found.order_by(*orders.get(sort, ["-latest", "-pk"]))


def latest_runs(evaluations: Iterable[Evaluation]) -> dict[int, Run]:
    """The newest run of each evaluation, with what a list shows of it. 3 queries."""
    ids = [evaluation.pk for evaluation in evaluations]
    numbers = Run.objects.filter(evaluation=OuterRef("evaluation")).order_by("-number")
    runs = (
        Run.objects.filter(
            evaluation__in=ids, number=Subquery(numbers.values("number")[:1])
        )
        .select_related("evaluation", "deployment", "dataset_version__dataset")
        .prefetch_related(
            "summaries",
            Prefetch("evaluation__criteria__metrics", to_attr="all_metrics"),
        )
    )
    return {run.evaluation_id: run for run in runs}


def runs_of(evaluation: Evaluation) -> list[Run]:
    """All runs of an evaluation, the newest first, with summaries. 3 queries."""
    return list(
        evaluation.runs.select_related(
            "deployment", "dataset_version__dataset", "created_by"
        )
        .prefetch_related("summaries")
        .order_by("-number")
    )


def metrics_of(evaluation: Evaluation) -> dict[int, Metric]:
    """Metrics by id, in the order of the criteria. 1 query."""
    found = Metric.objects.filter(criterion__evaluation=evaluation)
    return {m.pk: m for m in found.select_related("criterion")}


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """One metric of a run: counts, pass rate and mean with their intervals."""

    metric: Metric
    tally: MetricTally

    @property
    def name(self) -> str:
        """The metric's name, with its evaluator's where that says more."""
        criterion, metric = self.metric.criterion.name, self.metric.name
        return criterion if metric in criterion else f"{criterion}: {metric}"

    @property
    def is_few(self) -> bool:
        return 0 < self.tally.scored < 10


def score_cards(run: Run, metrics: dict[int, Metric]) -> list[ScoreCard]:
    """A card per metric, primary ones first; empty tallies where nothing is scored."""
    kept = tallies_of(run)
    cards = [
        ScoreCard(metric, kept.get(pk) or MetricTally.of(metric.spec))
        for pk, metric in metrics.items()
    ]
    return sorted(cards, key=lambda card: not card.metric.is_primary)


@dataclass(frozen=True, slots=True)
class RowsPassed:
    """The share of rows that passed, among those that passed or failed."""

    passed: int
    failed: int
    errored: int
    skipped: int
    total: int

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    @property
    def share(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.judged:
            return None
        interval = wilson(self.passed, self.judged)
        return interval.low, interval.high


def rows_passed(run: Run) -> RowsPassed:
    return RowsPassed(run.passed, run.failed, run.errored, run.skipped, run.total)


@dataclass(frozen=True, slots=True)
class RowPage:
    """One page of rows. `count` is what matches, `start` the first one's place."""

    items: list[Item]
    count: int
    start: int
    pages: int


def row_page(run: Run, wanted: RowFilter) -> RowPage:
    """Items with `scores` (result by metric id). 3 queries."""
    found = filtered_items(run, wanted)
    count = found.count()
    pages = max(1, -(-count // wanted.per))
    page = min(wanted.page, pages)
    start = (page - 1) * wanted.per
    items = list(
        found.select_related("row").defer("output", "history")[
            start : start + wanted.per
        ]
    )
    attach_scores(items)
    return RowPage(items, count, start, pages)


def attach_scores(items: list[Item]) -> None:
    """Give each item `scores`: its results by metric id. 1 query."""
    by_item: dict[int, dict[int, Result]] = {item.pk: {} for item in items}
    for result in Result.objects.filter(item__in=by_item).defer("details"):
        by_item[result.item_id][result.metric_id] = result
    for item in items:
        item.scores = by_item[item.pk]  # type: ignore[attr-defined]


def neighbours(run: Run, wanted: RowFilter, item: Item) -> dict[str, Any]:
    """Place of a row in its list, and the rows before and after it. 1 query."""
    keys = list(filtered_items(run, wanted).values_list("pk", "index"))
    place = next((n for n, (pk, _index) in enumerate(keys) if pk == item.pk), None)
    if place is None:
        return {"place": None, "count": len(keys), "previous": None, "next": None}
    return {
        "place": place + 1,
        "count": len(keys),
        "previous": keys[place - 1][1] if place else None,
        "next": keys[place + 1][1] if place + 1 < len(keys) else None,
    }


def item_results(item: Item) -> list[Result]:
    """All results of an item with their calls, in the order of the criteria. 1 query."""
    return list(
        item.results.select_related("metric__criterion", "completion").order_by(
            "metric__criterion__position", "metric__position"
        )
    )


def output_of(item: Item) -> dict[str, JSON]:
    """What the target gave for a row; empty for a Dataset target."""
    if not item.output:
        return {}
    value = loads(item.output)
    assert isinstance(value, dict)
    return value


def properties_of(result: Result) -> dict[str, JSON]:
    value = loads(result.details) if result.details else {}
    assert isinstance(value, dict)
    return value


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. `remaining` is in seconds, None while it cannot be said."""

    done: int
    total: int
    elapsed: float
    remaining: float | None
    errors: int

    @property
    def percent(self) -> int:
        return round(100 * self.done / self.total) if self.total else 0


def progress_of(run: Run, *, now: datetime | None = None) -> Progress:
    """Progress with elapsed and remaining time. 1 query."""
    moment = run.finished_at or now or timezone.now()
    elapsed = moment - run.started_at if run.started_at else timedelta(0)
    seconds = max(0.0, elapsed.total_seconds())
    remaining = None
    if run.state == RunState.RUNNING and run.done and seconds > 1:
        remaining = seconds / run.done * (run.total - run.done)
    errors = Result.objects.filter(run=run, outcome=Outcome.ERROR).count()
    return Progress(run.done, run.total, seconds, remaining, errors)


def error_groups(run: Run) -> list[dict[str, Any]]:
    """Errors by code with a sample sentence and their number. 1 query."""
    groups = (
        Result.objects.filter(run=run, outcome=Outcome.ERROR)
        .values("error_code", "metric__criterion__name")
        .annotate(n=Count("pk"), sample=Max("reason"))
        .order_by("-n")
    )
    return list(groups[:50])


def chunk_counts(run: Run) -> dict[int, int]:
    """Number of chunks by state. 1 query."""
    return dict(run.chunks.values_list("state").annotate(n=Count("pk")))
