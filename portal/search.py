"""The search in the header: names of things in a project."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from assay.scoring import catalogue
from datasets.models import Dataset
from evaluations.addresses import run_url
from evaluations.models import Evaluation, Run
from evaluators.models import Evaluator
from evaluators.pages import address_of
from targets.models import Deployment
from workspace.models import Project

MOST = 20


def find_named(project: Project, words: str) -> list[dict[str, Any]]:
    """Groups of what has `words` in its name, `MOST` each; nothing for no words."""
    if not words:
        return []
    slug = project.slug
    evaluations = Evaluation.objects.filter(project=project, name__icontains=words)
    runs = Run.objects.filter(evaluation__project=project, name__icontains=words)
    datasets = Dataset.objects.filter(project=project, name__icontains=words)
    models = Deployment.objects.filter(connection__project=project)
    named = [d for d in models if words.casefold() in f"{d.label} {d.model}".casefold()]
    own = Evaluator.objects.filter(project=project).select_related("project")
    own = own.filter(Q(name__icontains=words) | Q(title__icontains=words))
    groups = {
        _("Evaluations"): [
            (e.name, reverse("evaluation", args=[slug, e.slug]))
            for e in evaluations.order_by("-pk")[:MOST]
        ],
        _("Runs"): [
            (f"{r.evaluation.name}, {r.label}", run_url(r))
            for r in runs.select_related("evaluation__project").order_by("-pk")[:MOST]
        ],
        _("Datasets"): [
            (d.name, reverse("dataset", args=[slug, d.slug]))
            for d in datasets.order_by("name")[:MOST]
        ],
        _("Evaluators"): [
            (str(e), address_of(e)) for e in own.order_by("name")[:MOST]
        ] + [
            (e.name, reverse("evaluator", args=[slug, e.id]))
            for e in catalogue.load().values()
            if words.casefold() in f"{e.name} {e.description}".casefold()
        ],
        _("Models"): [
            (d.label, reverse("deployment", args=[slug, d.slug])) for d in named[:MOST]
        ],
    }  # fmt: skip
    return [{"label": k, "found": v} for k, v in groups.items() if v]
