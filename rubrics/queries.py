"""Reads for the pages of rubrics."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from assay.scoring.rubric.spec import RubricSpec
from evaluators.models import Evaluator, EvaluatorVersion
from rubrics.models import RubricDraft, RubricJob
from workspace.models import Membership, Project, Role, User
from workspace.scoping import find


def drafts_in(project: Project) -> QuerySet[RubricDraft]:
    found = RubricDraft.objects.filter(project=project)
    return found.select_related("project", "evaluator", "base", "by")


def draft_in(project: Project, ref: str) -> RubricDraft:
    """1 query."""
    message = _("This draft does not exist any more: it was saved or discarded.")
    return find(drafts_in(project), message, ref=ref)


def open_drafts(project: Project) -> list[RubricDraft]:
    """Drafts of new rubrics and of next versions, newest first. 1 query."""
    return list(drafts_in(project).order_by("-updated_at")[:25])


def draft_of(evaluator: Evaluator, by: User) -> RubricDraft | None:
    """1 query."""
    return RubricDraft.objects.filter(evaluator=evaluator, by=by).first()


def rubric_in(project: Project, ref: str) -> Evaluator:
    """1 query."""
    rubrics = Evaluator.objects.filter(project=project, kind=Evaluator.Kind.RUBRIC)
    message = _("This rubric does not exist or was deleted.")
    return find(rubrics.select_related("project"), message, ref=ref)


def versions_of(evaluator: Evaluator) -> list[EvaluatorVersion]:
    """All versions, newest first. 1 query."""
    versions = evaluator.versions.select_related("created_by").order_by("-number")
    found = list(versions)
    for version in found:
        version.evaluator = evaluator
    return found


def spec_of(version: EvaluatorVersion) -> RubricSpec:
    spec = version.evaluator_definition.rubric
    assert spec is not None
    return spec


def job_in(project: Project, ref: str) -> RubricJob:
    """A try. 1 query."""
    jobs = RubricJob.objects.filter(project=project, kind=RubricJob.Kind.TRY)
    message = _("This try does not exist any more.")
    return find(jobs.select_related("draft", "deployment"), message, ref=ref)


def last_try(draft: RubricDraft) -> RubricJob | None:
    """1 query."""
    jobs = draft.jobs.filter(kind=RubricJob.Kind.TRY)
    return jobs.select_related("deployment").order_by("-pk").first()


def projects_to_copy_to(user: User, project: Project) -> list[Project]:
    """Other projects that this person may change. 1 query."""
    memberships = Membership.objects.filter(user=user, role__gte=Role.EDITOR)
    found = memberships.exclude(project=project).select_related("project")
    return [m.project for m in found.order_by("project__name", "pk")]
