"""Evaluations: the wizard, runs and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspace.navigation import Entry, register

if TYPE_CHECKING:
    from datasets.models import DatasetVersion


class EvaluationsConfig(AppConfig):
    name = "evaluations"

    def ready(self) -> None:
        from datasets import usage

        usage.register(runs_that_use)
        usage.register_action(evaluate)
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
    return [
        (
            f"{run.evaluation.name}, {run.label}",
            reverse(
                "run",
                args=[run.evaluation.project.slug, run.evaluation.slug, run.number],
            ),
        )
        for run in runs.order_by("-pk")
    ]


def evaluate(version: DatasetVersion) -> tuple[str, str]:
    """From a dataset to the wizard, with the dataset chosen."""
    address = reverse("draft_new", args=[version.dataset.project.slug])
    return _("Evaluate"), f"{address}?{urlencode({'dataset': version.ref})}"
