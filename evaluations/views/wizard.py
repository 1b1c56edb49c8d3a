"""The wizard: five steps with their own addresses, saved at every step."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, cast

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from assay.running.spec import (
    EvaluationSpec,
    Problem,
    Step,
    TargetSpec,
    errors,
    problems,
)
from datasets.models import DatasetVersion
from evaluations import drafts
from evaluations.addresses import run_url
from evaluations.models import EvaluationDraft
from evaluations.rowfilter import whole
from evaluations.submit import SpecInvalid, submit_draft
from evaluations.surroundings import View, look_around
from evaluations.wizard import pages, target
from evaluations.wizard.stepper import neighbour, step_url, stepper, steps_of
from workspace.htmx import go, is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, find, project_view
from workspace.sentences import say

STAYS = {"rematch", "copy", "remove"}
"""Buttons that change a choice and stay on the step."""


def get_draft(request: PortalRequest, ref: str) -> EvaluationDraft:
    drafts_here = EvaluationDraft.objects.select_related(
        "project", "evaluation", "run__evaluation"
    ).filter(project=request.project)
    return find(drafts_here, "This draft does not exist or has expired.", ref=ref)


@project_view(role=Role.EDITOR)
@never_cache
def draft_new(request: PortalRequest) -> HttpResponse:
    """A new draft, filled in from where the person came from."""
    spec, step = pages.prefilled(request.project, request.GET)
    draft = (
        drafts.untouched(request.project, request.user) if step == "target" else None
    )
    if draft is None or spec != EvaluationSpec():
        draft = drafts.create(request.project, request.user, spec, step=step)
    return redirect(step_url(draft, step))


@project_view(role=Role.EDITOR)
@require_POST
def draft_sample(request: PortalRequest) -> HttpResponse:
    """Try it: a draft on the sample dataset, everything filled in."""
    version = DatasetVersion.objects.filter(
        dataset__project=request.project,
        source=DatasetVersion.Source.SAMPLE,
        state=DatasetVersion.State.READY,
    ).first()
    if version is None:
        return redirect("draft_new", request.project.slug)
    draft = drafts.for_sample(request.project, request.user, version)
    return redirect(step_url(draft, "review"))


@project_view(role=Role.EDITOR)
@require_POST
def draft_delete(request: PortalRequest, ref: str) -> HttpResponse:
    draft = get_draft(request, ref)
    if draft.run is None:
        draft.delete()
    return go(request, reverse("evaluations", args=[request.project.slug]))


@dataclass(slots=True)
class Visit:
    """One request to a step: the draft, its choices, and what they are checked by."""

    request: PortalRequest
    draft: EvaluationDraft
    step: Step
    spec: EvaluationSpec
    view: View
    found: list[Problem]


def _visit(request: PortalRequest, ref: str, step: str) -> Visit:
    draft = get_draft(request, ref)
    if step not in steps_of(draft):
        raise Http404("There is no such step.")
    spec = drafts.spec_of(draft)
    view = look_around(request.project, spec, evaluation=draft.evaluation)
    return Visit(request, draft, step, spec, view, problems(spec, view.around))


@project_view(role=Role.EDITOR)
@never_cache
def draft_step(request: PortalRequest, ref: str, step: str) -> HttpResponse:
    visit = _visit(request, ref, step)
    if visit.draft.run is not None:
        return redirect(run_url(visit.draft.run))
    if request.method == "POST":
        return _posted(visit)
    if visit.step == "data" and request.GET.get("dataset"):
        return _take_dataset(visit, request.GET["dataset"])
    if visit.step in {"target", "criteria"} and request.GET.get("model"):
        return _take_model(visit, request.GET["model"])
    return _show(visit)


def _take_dataset(visit: Visit, ref: str) -> HttpResponse:
    """Back from an upload: the new dataset is chosen."""
    spec = visit.spec.model_copy(update={"dataset_version": ref})
    _save(visit, spec, visit.draft.revision)
    return redirect(step_url(visit.draft, "data"))


def _take_model(visit: Visit, ref: str) -> HttpResponse:
    """Back from connecting a model: it is the target or the judge now."""
    if ref in visit.view.deployments:
        update: dict[str, Any] = {"judge": ref}
        if visit.step == "target":
            target = visit.spec.target or TargetSpec()
            chosen = {"kind": "model", "deployment": ref}
            update = {"target": target.model_copy(update=chosen)}
        spec = visit.spec.model_copy(update=update)
        _save(visit, spec, visit.draft.revision)
    return redirect(step_url(visit.draft, visit.step))


def _posted(visit: Visit) -> HttpResponse:
    post = visit.request.POST
    action = post.get("go") or ("save" if STAYS & set(post) else "next")
    if visit.step == "target" and action in {"preview", "try"}:
        return target.try_on_row(visit.request, visit.spec, visit.view, action)
    spec, raw_problems = pages.read_step(visit.step, visit.spec, post, visit.view)
    revision = whole(post.get("revision")) or 0
    try:
        _save(visit, spec, revision)
    except drafts.EditedElsewhere as conflict:
        return _conflict(visit, spec, conflict.draft)
    if action == "leave" and not raw_problems:
        return go(
            visit.request, reverse("evaluations", args=[visit.request.project.slug])
        )
    if action == "submit" and not raw_problems:
        return _submit(visit)
    if action == "back" and not raw_problems:
        return go(
            visit.request, step_url(visit.draft, neighbour(visit.draft, visit.step, -1))
        )
    wrong = raw_problems or (
        errors(visit.found, visit.step) if action == "next" else []
    )
    if action == "next" and not wrong:
        return _forward(visit)
    if action == "save" and not wrong and not is_partial(visit.request):
        return redirect(step_url(visit.draft, visit.step))
    return _show(visit, wrong, post=bool(raw_problems), invalid=bool(wrong))


def _save(visit: Visit, spec: EvaluationSpec, revision: int) -> None:
    """Save what was posted; choices that depend on it are matched again."""
    view = look_around(visit.request.project, spec, evaluation=visit.draft.evaluation)
    again = "rematch" in visit.request.POST
    if visit.step != "mapping" or again:
        before = visit.spec
        fresh = (spec.dataset_version, spec.target) != (
            before.dataset_version,
            before.target,
        )
        spec = drafts.remap(spec, view, again=again, fresh=fresh)
    steps = steps_of(visit.draft)
    farthest = max(steps.index(visit.step), _reached(visit.draft))
    visit.draft = drafts.save(
        visit.draft,
        spec,
        by=visit.request.user,
        revision=revision,
        step=steps[farthest],
        page=_page_of(visit.request),
    )
    visit.spec, visit.view = spec, view
    visit.found = problems(spec, view.around)


def _page_of(request: PortalRequest) -> str:
    """The opened page that a form belongs to: the same through all its saves."""
    return request.POST.get("page", "")[:32]


def _reached(draft: EvaluationDraft) -> int:
    steps = list(steps_of(draft))
    return steps.index(draft.step) if draft.step in steps else 0


def _forward(visit: Visit) -> HttpResponse:
    following = neighbour(visit.draft, visit.step, 1)
    steps = list(steps_of(visit.draft))
    if steps.index(following) > _reached(visit.draft):
        EvaluationDraft.objects.filter(pk=visit.draft.pk).update(step=following)
    return go(visit.request, step_url(visit.draft, following))


def _submit(visit: Visit) -> HttpResponse:
    try:
        run = submit_draft(visit.draft, by=visit.request.user)
    except SpecInvalid as invalid:
        return _show(visit, invalid.problems, invalid=True)
    return go(visit.request, run_url(run))


def _conflict(
    visit: Visit, mine: EvaluationSpec, theirs: EvaluationDraft
) -> HttpResponse:
    """Two people edit one draft: both versions are shown, nothing was saved.

    The form holds what this person typed; saving it again replaces the other version.
    """
    if theirs.run is not None:  # the other one was our own Submit
        return go(visit.request, run_url(theirs.run))
    visit.draft = theirs
    other = drafts.spec_of(theirs)
    visit.spec = mine
    conflict = {
        "by": theirs.updated_by,
        "at": theirs.updated_at,
        "differences": pages.differences(mine, other, visit.view),
    }
    return _show(visit, [], invalid=True, conflict=conflict)


def _show(
    visit: Visit,
    wrong: list[Problem] | None = None,
    *,
    post: bool = False,
    invalid: bool = False,
    conflict: dict[str, Any] | None = None,
) -> HttpResponse:
    wrong = wrong or []
    request, draft, step = visit.request, visit.draft, visit.step
    context = {
        "draft": draft,
        "page": _page_of(request) or secrets.token_hex(8),
        "spec": visit.spec,
        "version": visit.view.version,
        "steps": stepper(draft, visit.spec, visit.view, step, visit.found),
        "problems": pages.linked(wrong, draft, step),
        "wrong": {p.field: say(p.sentence) for p in wrong},
        "warnings": pages.warnings(visit.found, step),
        "conflict": conflict,
        "back": neighbour(draft, step, -1) if step != "target" else "",
        "step_address": step_url(draft, step),
        **pages.step_context(
            request, step, draft, visit.spec, visit.view, wrong, posted=post
        ),
    }
    template = f"evaluations/draft/{step}.html"
    status = 422 if invalid else 200
    return render_page(request, template, context, status=status)


@project_view(role=Role.EDITOR)
@never_cache
def draft_try(request: HttpRequest, ref: str, call: str) -> HttpResponse:
    """The state of a test call on one row; polled until it is over."""
    portal_request = cast("PortalRequest", request)
    draft = get_draft(portal_request, ref)
    return target.show_try(portal_request, draft, call)
