"""Evaluations: the wizard, runs and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspace.navigation import Entry, register

if TYPE_CHECKING:
    from datasets.models import DatasetVersion
    from evaluations.models import Run
    from evaluators.models import EvaluatorVersion
    from evaluators.usage import Use
    from targets.models import Deployment
    from targets.usage import RunLine


MOST_USES = 200


class EvaluationsConfig(AppConfig):
    name = "evaluations"

    def ready(self) -> None:
        from datasets import usage
        from evaluations.rubricruns import agreement_page, newest_run, row_scores
        from evaluators import usage as evaluator_usage
        from rubrics import past as rubrics_past
        from targets import usage as model_usage

        usage.register(runs_that_use)
        evaluator_usage.register(runs_that_judge_with)
        rubrics_past.register(newest_run)
        rubrics_past.register_rows(row_scores)
        rubrics_past.register_page(agreement_page)
        usage.register_action(evaluate)
        model_usage.register(open_runs_with)
        model_usage.register_runs(latest_runs_with)
        register(
            Entry(
                order=10,
                group="",
                label=gettext_lazy("Evaluations"),
                icon="eval",
                url_name="evaluations",
                area="evaluations",
            )
        )


def runs_that_use(version_ids: Sequence[int]) -> list[tuple[str, str]]:
    """Names and addresses of the runs over these dataset versions. 1 query."""
    from evaluations.models import Run

    runs = Run.objects.filter(dataset_version__in=version_ids).select_related(
        "evaluation__project"
    )
    return [_named(run) for run in runs.order_by("-pk")]


def _named(run: Run) -> tuple[str, str]:
    from evaluations.addresses import run_url

    return f"{run.evaluation.name}, {run.label}", run_url(run)


def runs_that_judge_with(versions: Sequence[EvaluatorVersion]) -> list[Use]:
    """Runs of evaluations with one of these versions of an evaluator. 1 query."""
    from evaluations.models import Run
    from evaluators.usage import Use

    criteria = "evaluation__criteria__version"
    runs = Run.objects.filter(**{f"{criteria}__in": [v.pk for v in versions]})
    numbered = runs.annotate(version_number=F(f"{criteria}__number")).select_related(
        "evaluation__project"
    )
    return [
        Use(run.version_number, *_named(run))
        for run in numbered.distinct().order_by("-pk")[:MOST_USES]
    ]


def _runs_with(deployment_ids: Sequence[int]) -> QuerySet[Run]:
    """Runs that have one of these models as target or judge, the newest first."""
    from evaluations.models import Run

    uses = Q(deployment__in=deployment_ids) | Q(
        evaluation__criteria__deployment__in=deployment_ids
    )
    runs = Run.objects.filter(uses).select_related("evaluation__project")
    return runs.distinct().order_by("-pk")


def open_runs_with(deployment_ids: Sequence[int]) -> list[tuple[str, str]]:
    """Runs that are not over and need one of these models. 1 query."""
    from evaluations.models.run import OPEN_STATES

    return [_named(r) for r in _runs_with(deployment_ids).filter(state__in=OPEN_STATES)]


def latest_runs_with(deployment: Deployment) -> list[RunLine]:
    """The latest 50 runs of a model. 1 query."""
    from targets.usage import RunLine

    lines = []
    for run in _runs_with([deployment.pk])[:50]:
        is_target = run.deployment_id == deployment.pk
        role = _("Target") if is_target else _("Judge")
        lines.append(RunLine(*_named(run), run.state_key, role, run.created_at))
    return lines


def evaluate(version: DatasetVersion) -> tuple[str, str]:
    """From a dataset to the wizard, with the dataset chosen."""
    address = reverse("draft_new", args=[version.dataset.project.slug])
    return _("Evaluate"), f"{address}?{urlencode({'dataset': version.ref})}"
