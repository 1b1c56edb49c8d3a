"""What runs and people say about rubrics: told to the pages of rubrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from assay.scoring.outcome import Outcome
from assay.scoring.rubric.definition import DIMENSION
from evaluations.addresses import run_url
from evaluations.models import Label, Metric, Result, Run
from evaluations.models.run import RunState
from evaluators.models import Evaluator, EvaluatorVersion
from rubrics.past import MorePage, PastRun

FINISHED = (RunState.COMPLETED, RunState.COMPLETED_WITH_ERRORS)
MOST_SHOWN = 50


def newest_run(evaluator: Evaluator) -> PastRun | None:
    """The newest finished run of any version. 4 queries."""
    runs = Run.objects.filter(
        evaluation__criteria__version__evaluator=evaluator, state__in=FINISHED
    )
    run = runs.select_related("evaluation__project").order_by("-pk").first()
    if run is None:
        return None
    # Two versions of one rubric may stand in one evaluation: the newer one is told of.
    metrics = _rubric_metrics(evaluator).filter(criterion__evaluation=run.evaluation_id)
    metric = metrics.order_by("criterion__version__number").last()
    if metric is None:
        return None
    scores = Result.objects.filter(run=run, metric=metric, score__isnull=False)
    rubric = metric.criterion.evaluator.rubric
    return PastRun(
        label=f"{run.evaluation.name}, {run.label}",
        url=run_url(run),
        scores=[s for s in scores.values_list("score", flat=True) if s is not None],
        threshold=metric.threshold or 0.0,
        normalization=rubric.normalization if rubric else "ratio",
        is_simulated=run.simulated,
    )


def agreement_page(evaluator: Evaluator) -> MorePage:
    """The tab with what people say. 1 query."""
    args = [evaluator.project.slug, evaluator.ref]
    metrics = _rubric_metrics(evaluator).values("pk")
    results = Result.objects.filter(metric__in=metrics).values("item")
    count = Label.objects.filter(item__in=results).count()
    return MorePage(_("Agreement"), reverse("rubric_agreement", args=args), count)


def row_scores(
    version: EvaluatorVersion, dataset_version: int, indexes: Sequence[int]
) -> dict[int, float]:
    """The newest scores of a version for rows of a dataset version. 1 query."""
    results = Result.objects.filter(
        metric__criterion__version=version,
        metric__is_primary=True,
        run__dataset_version=dataset_version,
        item__index__in=list(indexes),
        score__isnull=False,
    ).order_by("pk")
    found = results.values_list("item__index", "score")
    return {index: score for index, score in found if score is not None}


def _rubric_metrics(evaluator: Evaluator) -> QuerySet[Metric]:
    """The first primary metric of each criterion that judges by the rubric."""
    return Metric.objects.filter(
        criterion__version__evaluator=evaluator, is_primary=True, position=0
    ).select_related("criterion")


@dataclass(frozen=True, slots=True)
class Judged:
    """A row that a person labelled and the rubric scored.

    `person` and `judge` are True for a pass; None where there is no verdict. `level`
    is the person's score 1 to 5. `dimensions` are pairs (person, judge) of levels by
    the id of the dimension.
    """

    label: Label
    result: Result
    person: bool | None
    judge: bool | None
    level: int | None
    dimensions: dict[str, tuple[int, int]]

    @property
    def disagrees(self) -> bool:
        both = self.person is not None and self.judge is not None
        return both and self.person != self.judge


def judged_rows(evaluator: Evaluator) -> list[Judged]:
    """Every label of a row that the rubric scored, newest first. 3 queries."""
    metrics = {m.pk: m for m in _rubric_metrics(evaluator)}
    results = Result.objects.filter(metric__in=metrics, item__labels__isnull=False)
    by_item = {
        result.item_id: result
        for result in results.select_related(
            "item", "run__evaluation__project"
        ).order_by("metric__criterion__version__number", "pk")
    }
    labels = Label.objects.filter(item__in=by_item).select_related("by")
    levels = _dimension_levels(evaluator, list(by_item))
    return [
        _judged(label, by_item[label.item_id], levels)
        for label in labels.order_by("-changed_at")
    ]


def _judged(
    label: Label, result: Result, levels: dict[tuple[int, str], tuple[str, int]]
) -> Judged:
    verdicts = {Outcome.PASS: True, Outcome.FAIL: False}
    pairs: dict[str, tuple[int, int]] = {}
    for key, level in label.dimensions.items():
        found = levels.get((label.item_id, key))
        if found is not None:
            pairs[found[0]] = (level, found[1])
    return Judged(
        label=label,
        result=result,
        person=verdicts.get(Outcome(label.verdict)) if label.verdict else None,
        judge=verdicts.get(Outcome(result.outcome)),
        level=label.score,
        dimensions=pairs,
    )


def _dimension_levels(
    evaluator: Evaluator, items: list[int]
) -> dict[tuple[int, str], tuple[str, int]]:
    """(item, metric id as text) → (dimension, level that the judge gave). 1 query."""
    results = Result.objects.filter(
        item__in=items,
        metric__criterion__version__evaluator=evaluator,
        metric__key__startswith=DIMENSION,
        score__isnull=False,
    )
    found = results.values_list("item_id", "metric_id", "metric__name", "score")
    return {
        (item, str(metric)): (name, int(score or 0))
        for item, metric, name, score in found
    }
