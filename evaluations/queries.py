"""Reads for the pages of evaluations and runs. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import (
    Count,
    Exists,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils import timezone
from django.utils.translation import gettext as _

from assay.data.jsonx import JSON, loads
from assay.scoring.outcome import Outcome
from assay.scoring.rubric.definition import DIMENSION
from datasets.queries import CountedPaginator
from evaluations.models import Criterion, Evaluation, Item, Metric, Result, Run
from evaluations.models.run import RunState
from evaluations.rowfilter import RowFilter, filtered_items
from workspace.models import Project
from workspace.scoping import find

STATE_GROUPS: dict[str, tuple[RunState, ...]] = {
    "running": (RunState.QUEUED, RunState.RUNNING, RunState.CANCELING),
    "paused": (RunState.PAUSED,),
    "completed": (RunState.COMPLETED, RunState.COMPLETED_WITH_ERRORS),
    "errors": (RunState.COMPLETED_WITH_ERRORS,),
    "failed": (RunState.FAILED,),
    "canceled": (RunState.CANCELED,),
}
LIST_PAGE = 20
RUNS_PAGE = 20
LATEST_ROWS = 5


def evaluation_in(project: Project, slug: str) -> Evaluation:
    """1 query."""
    found = Evaluation.objects.filter(project=project).select_related(
        "project", "created_by"
    )
    message = _("This evaluation does not exist or was deleted.")
    return find(found, message, slug=slug)


def run_in(project: Project, slug: str, number: int) -> Run:
    """1 query."""
    found = Run.objects.filter(evaluation__project=project).select_related(
        "evaluation__project", "deployment", "dataset_version__dataset", "created_by"
    )
    message = _("This run does not exist or was deleted.")
    return find(found, message, evaluation__slug=slug, number=number)


def item_in(run: Run, index: int) -> Item:
    """A finished or begun row with its data and the call of the target. 1 query."""
    items = run.items.select_related("row", "completion").order_by("repeat")
    return find(items, _("This row does not exist in the run."), index=index)


def evaluations_of(project: Project, query: Mapping[str, Any]) -> QuerySet[Evaluation]:
    """Evaluations with `run_count` and facts of the newest run. No query yet.

    `query` has `q`, `status`, `target` ("dataset" or the ref of a model), `evaluator`
    (its name in the evaluation), `created` (days) and `sort`.
    """
    runs = Run.objects.filter(evaluation=OuterRef("pk"))
    newest = runs.order_by("-number")
    counted = runs.order_by().values("evaluation").annotate(n=Count("pk")).values("n")
    judged = Cast(NullIf(F("passed") + F("failed"), 0), FloatField())
    found = Evaluation.objects.filter(project=project).annotate(
        run_count=Coalesce(Subquery(counted), 0),
        latest=Coalesce(Subquery(newest.values("created_at")[:1]), F("created_at")),
        latest_state=Subquery(newest.values("state")[:1]),
        latest_share=Subquery(
            newest.annotate(share=Cast(F("passed"), FloatField()) / judged).values(
                "share"
            )[:1]
        ),
    )
    if query["q"]:
        criteria = Criterion.objects.filter(evaluation=OuterRef("pk"))
        by_criterion = Exists(criteria.filter(name__icontains=query["q"]))
        found = found.filter(Q(name__icontains=query["q"]) | by_criterion)
    if query["status"]:
        states = [state.value for state in STATE_GROUPS[query["status"]]]
        found = found.filter(latest_state__in=states)
    if query["target"]:
        target = Subquery(newest.values("deployment__ref")[:1])
        found = found.annotate(latest_target=target, any_run=Exists(runs))
        wanted = None if query["target"] == "dataset" else query["target"]
        found = found.filter(latest_target=wanted, any_run=True)
    if query["evaluator"]:
        criteria = Criterion.objects.filter(evaluation=OuterRef("pk"))
        found = found.filter(Exists(criteria.filter(name=query["evaluator"])))
    if query["created"]:
        since = timezone.now() - timedelta(days=int(query["created"]))
        found = found.filter(latest__gte=since)
    return found.order_by(*_list_order(query["sort"]), "-pk")


def _list_order(sort: str) -> list[Any]:
    names = {
        "name": "name",
        "runs": "run_count",
        "passed": "latest_share",
        "latest": "latest",
    }
    key = F(names[sort.removeprefix("-")])
    if sort.startswith("-"):
        return [key.desc(nulls_last=True)]
    return [key.asc(nulls_last=True)]


def has_own(project: Project) -> bool:
    """Whether a person made an evaluation; the sample belongs to nobody. 1 query."""
    made = Evaluation.objects.filter(project=project, created_by__isnull=False)
    return made.exists()


def evaluation_list(project: Project, query: Mapping[str, Any]) -> Page[Evaluation]:
    """A page of the list. 2 queries: the number, the page."""
    found = evaluations_of(project, query)
    return Paginator(found, LIST_PAGE).get_page(query["page"] or 1)


def list_choices(project: Project) -> dict[str, list[tuple[str, str]]]:
    """What the list can be filtered by: models and evaluators in use. 2 queries."""
    models = (
        Run.objects.filter(evaluation__project=project, deployment__isnull=False)
        .order_by()
        .values_list("deployment__ref", "deployment__display_name", "deployment__model")
        .distinct()
    )
    names = (
        Criterion.objects.filter(evaluation__project=project)
        .order_by("name")
        .values_list("name", flat=True)
        .distinct()
    )
    targets = [(ref, shown or model) for ref, shown, model in models]
    return {
        "target": [("dataset", _("Responses in the dataset")), *sorted(targets)],
        "evaluator": [(name, name) for name in names],
    }


def has_runs(project: Project) -> bool:
    """1 query."""
    return Run.objects.filter(evaluation__project=project).exists()


def latest_runs(evaluations: Iterable[Evaluation]) -> dict[int, Run]:
    """The newest run of each evaluation with its summaries. 2 queries."""
    ids = [evaluation.pk for evaluation in evaluations]
    numbers = Run.objects.filter(evaluation=OuterRef("evaluation")).order_by("-number")
    runs = (
        Run.objects.filter(
            evaluation__in=ids, number=Subquery(numbers.values("number")[:1])
        )
        .select_related("evaluation", "deployment", "dataset_version__dataset")
        .prefetch_related("summaries")
    )
    return {run.evaluation_id: run for run in runs}


def metrics_by_evaluation(
    evaluations: Iterable[Evaluation],
) -> dict[int, dict[int, Metric]]:
    """Metrics of several evaluations, as `metrics_of` gives those of one. 1 query."""
    ids = [evaluation.pk for evaluation in evaluations]
    found: dict[int, dict[int, Metric]] = {pk: {} for pk in ids}
    metrics = Metric.objects.filter(criterion__evaluation__in=ids)
    for metric in metrics.select_related("criterion"):
        found[metric.criterion.evaluation_id][metric.pk] = metric
    return found


def criteria_of(evaluation: Evaluation) -> list[Criterion]:
    """Criteria with judge and metrics, in their order. 2 queries."""
    found = evaluation.criteria.select_related("deployment")
    return list(found.prefetch_related("metrics"))


def runs_page(evaluation: Evaluation, number: int) -> Page[Run]:
    """Runs of an evaluation, the newest first, with summaries. 3 queries."""
    runs = (
        evaluation.runs.select_related(
            "deployment", "dataset_version__dataset", "created_by"
        )
        .prefetch_related("summaries")
        .order_by("-number")
    )
    return Paginator(runs, RUNS_PAGE).get_page(number)


def metrics_of(evaluation: Evaluation) -> dict[int, Metric]:
    """Metrics by id, in the order of the criteria. 1 query."""
    found = Metric.objects.filter(criterion__evaluation=evaluation)
    return {m.pk: m for m in found.select_related("criterion__deployment")}


def row_page(run: Run, wanted: RowFilter, *, with_data: bool = False) -> Page[Item]:
    """A page of items with `scores` (result by metric id). 3 queries.

    Data of the rows are read only when columns of the dataset are shown. Text is
    looked for once: what matches is counted and cut from the same list.
    """
    found = filtered_items(run, wanted)
    kept_back = ["output", "history", "error_text"]
    shown = Item.objects.select_related("row").defer(
        *kept_back, *([] if with_data else ["row__data"])
    )
    if wanted.q:
        keys = list(found.values_list("pk", flat=True))
        pages = CountedPaginator(keys, wanted.per, len(keys))
        page = pages.get_page(wanted.page)
        by_key = shown.in_bulk(list(page.object_list))
        items = [by_key[key] for key in page.object_list]
    else:
        count = found.count() if wanted.is_filtered else run.items.count()
        pages = CountedPaginator(found.values_list("pk"), wanted.per, count)
        page = pages.get_page(wanted.page)
        keys = [key for (key,) in page.object_list]
        by_key = shown.in_bulk(keys)
        items = [by_key[key] for key in keys]
    attach_scores(items)
    return Page(items, page.number, pages)


def attach_scores(items: Iterable[Item]) -> None:
    """Give each item `scores`: its results by metric id. 1 query."""
    by_item: dict[int, dict[int, Result]] = {item.pk: {} for item in items}
    for result in Result.objects.filter(item__in=list(by_item)).defer("details"):
        by_item[result.item_id][result.metric_id] = result
    for item in items:
        item.scores = by_item[item.pk]  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Place of a row in its list (None: not in it), and the rows around it."""

    place: int | None
    count: int
    previous: int | None
    following: int | None


def neighbours(run: Run, wanted: RowFilter, item: Item) -> Neighbours:
    """1 query."""
    keys = list(filtered_items(run, wanted).values_list("pk", "index"))
    place = next((n for n, (pk, _index) in enumerate(keys) if pk == item.pk), None)
    if place is None:
        return Neighbours(None, len(keys), None, None)
    return Neighbours(
        place=place + 1,
        count=len(keys),
        previous=keys[place - 1][1] if place else None,
        following=keys[place + 1][1] if place + 1 < len(keys) else None,
    )


def item_results(item: Item) -> list[Result]:
    """All results of an item with their calls, in order of the criteria. 1 query."""
    return list(
        item.results.select_related(
            "metric__criterion__deployment", "completion"
        ).order_by("metric__criterion__position", "metric__position")
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
    """How far a run is. Times are in seconds, None while they cannot be said."""

    done: int
    total: int
    elapsed: float | None
    remaining: float | None
    errors: int

    @property
    def percent(self) -> int:
        """Whole percent; 100 only when all rows are done."""
        return 100 * self.done // self.total if self.total else 0


def progress_of(
    run: Run, *, now: datetime | None = None, errors: int | None = None
) -> Progress:
    """Progress with elapsed and remaining time. 1 query, none with `errors`.

    When a paused run was paused is not stored, so it has no elapsed time.
    """
    moment = run.finished_at or now or timezone.now()
    elapsed = moment - run.started_at if run.started_at else timedelta(0)
    seconds = max(0.0, elapsed.total_seconds())
    remaining = None
    fresh = run.done - run.pace_done
    if run.state == RunState.RUNNING and run.pace_from and fresh > 0:
        spent = (moment - run.pace_from).total_seconds()
        if spent > 1:
            remaining = spent / fresh * (run.total - run.done)
    shown = None if run.state == RunState.PAUSED else seconds
    errors = errors_of(run) if errors is None else errors
    return Progress(run.done, run.total, shown, remaining, errors)


def errors_of(run: Run) -> int:
    """Scores that could not be made, as they are now. 1 query."""
    return Result.objects.filter(run=run, outcome=Outcome.ERROR).count()


def results_by_metric(run: Run) -> dict[int, dict[int, int]]:
    """Number of results by outcome, by metric, as they are now. 1 query."""
    groups = (
        Result.objects.filter(run=run)
        .order_by()
        .values_list("metric_id", "outcome")
        .annotate(n=Count("pk"))
    )
    counts: dict[int, dict[int, int]] = {}
    for metric_id, outcome, number in groups:
        counts.setdefault(metric_id, {})[outcome] = number
    return counts


def answered_rows(run: Run) -> int:
    """Rows for which the target answered or failed to. 1 query."""
    has_answer = Q(latency_ms__isnull=False) | ~Q(error_code="")
    return run.items.filter(has_answer).count()


def latest_rows(run: Run) -> list[Item]:
    """The rows that were finished last, with scores. 2 queries."""
    finished = run.items.filter(outcome__isnull=False).order_by("-pk")
    items = list(finished.defer("output", "history")[:LATEST_ROWS])
    attach_scores(items)
    return items


def error_groups(run: Run) -> list[dict[str, Any]]:
    """Errors by metric and code with a sample sentence and their number. 1 query."""
    groups = (
        Result.objects.filter(run=run, outcome=Outcome.ERROR)
        .exclude(metric__key__startswith=DIMENSION)
        .order_by()
        .values("metric_id", "error_code")
        .annotate(n=Count("pk"), sample=Max("reason"))
        .order_by("-n", "metric__criterion__position", "metric_id")
    )
    return [dict(group) for group in groups[:100]]


def chunk_counts(run: Run) -> dict[int, int]:
    """Number of chunks by state. 1 query."""
    return dict(run.chunks.order_by().values_list("state").annotate(n=Count("pk")))
