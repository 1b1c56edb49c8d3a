"""All evaluators that a project can choose: built-in ones and its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import F, Max, Q

from assay.scoring import catalogue
from assay.scoring.definition import EvaluatorDefinition
from evaluators.models import EvaluatorVersion
from workspace.models import Project


def evaluators_of(
    project: Project, *, also: Iterable[str] = ()
) -> Mapping[str, EvaluatorDefinition]:
    """By id: the project's own in their newest version, then the built-in ones.

    `also` are ids of older versions that something still refers to. 1 query.
    """
    newest = (
        EvaluatorVersion.objects.filter(evaluator__project=project)
        .annotate(last=Max("evaluator__versions__number"))
        .filter(Q(number=F("last")) | Q(ref__in=list(also)))
        .order_by("evaluator__name", "-number")
    )
    own = {v.ref: v.evaluator_definition for v in newest}
    return {**own, **catalogue.load()}


def version_of(project: Project, ref: str) -> EvaluatorVersion | None:
    """The version with this ref, with its evaluator. 1 query."""
    versions = EvaluatorVersion.objects.select_related("evaluator")
    return versions.filter(evaluator__project=project, ref=ref).first()


def numbered(versions: Iterable[str]) -> dict[str, EvaluatorVersion]:
    """Versions by ref, with their evaluators. 1 query."""
    found = EvaluatorVersion.objects.select_related("evaluator")
    return {v.ref: v for v in found.filter(ref__in=list(versions))}
