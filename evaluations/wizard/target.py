"""Step 1: what is evaluated, and the prompt tried on a row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from assay.data.chat import ModelError
from assay.data.text import Sentence
from assay.running.spec import (
    EvaluationSpec,
    Problem,
    Surroundings,
    TargetSpec,
    problems,
)
from assay.running.targets import build_request
from datasets.models import DatasetVersion
from evaluations.forms.target import TargetForm
from evaluations.models import EvaluationDraft
from evaluations.surroundings import View, known_paths
from evaluations.wizard.values import sample_row, shown_messages
from targets.models import TestCall
from targets.testcalls import ask
from workspace.htmx import render_page
from workspace.models import Project
from workspace.scoping import PortalRequest, find
from workspace.sentences import say

LEVELS = ("turn", "conversation")


def read(
    spec: EvaluationSpec, post: QueryDict, view: View
) -> tuple[EvaluationSpec, list[Problem]]:
    form = TargetForm(_with_defaults(post, spec), deployments=view.deployments)
    level = post.get("level", spec.level)
    if level in LEVELS:
        spec = spec.model_copy(update={"level": level})
    if form.is_valid():
        return spec.model_copy(update={"target": form.spec()}), []
    found = [
        Problem("invalid", "target", name, Sentence(f"{form.fields[name].label}: {e}"))
        for name, messages in form.errors.items()
        for e in messages
    ]
    return spec, found


def _with_defaults(post: QueryDict, spec: EvaluationSpec) -> QueryDict:
    """Fields that the page did not show keep their value."""
    full = post.copy()
    known = (spec.target or TargetSpec()).model_dump()
    for name, value in known.items():
        if name not in full:
            full[name] = "" if value is None else str(value)
    return full


def context(
    request: PortalRequest, spec: EvaluationSpec, view: View, post: QueryDict | None
) -> dict[str, Any]:
    target = spec.target or TargetSpec()
    initial = {k: v for k, v in target.model_dump().items() if v is not None}
    form = (
        TargetForm(post, deployments=view.deployments)
        if post
        else TargetForm(initial=initial, deployments=view.deployments)
    )
    kind = post.get("kind", target.kind) if post else target.kind
    rows = preview_view(request.project, view)
    return {
        "form": form,
        "kind": kind,
        "level": post.get("level", spec.level) if post else spec.level,
        "has_target": spec.target is not None,
        "columns": [c["name"] for c in rows.version.columns] if rows.version else [],
        **_preview(request, target, rows),
    }


def preview_view(project: Project, view: View) -> View:
    """The rows that prompts are tried on: the chosen dataset's, else the newest's."""
    if view.version is not None:
        return view
    newest = (
        DatasetVersion.objects.select_related("dataset")
        .filter(dataset__project=project, state=DatasetVersion.State.READY)
        .order_by("-pk")
        .first()
    )
    rows = [r.values for r in newest.rows.order_by("index")[:50]] if newest else []
    return View(view.around, newest, rows, view.deployments)


def _preview(request: PortalRequest, target: TargetSpec, rows: View) -> dict[str, Any]:
    number, item = sample_row(request, rows)
    context: dict[str, Any] = {
        "row_number": number,
        "row_count": rows.version.row_count if rows.version else 0,
        "preview_version": rows.version,
    }
    if rows.version is None or target.kind != "model":
        return context
    around = rows.around
    spec = EvaluationSpec(target=target, dataset_version=rows.version.ref)
    wrong = [
        p
        for p in problems(spec, _ready(around, rows))
        if p.field in {"system_prompt", "user_prompt"}
    ]
    context["template_problems"] = [say(p.sentence) for p in wrong]
    try:
        context["prompt"] = shown_messages(request.project, build_request(target, item))
    except ModelError as error:
        context["template_problems"].append(error.sentence)
    return context


def _ready(around: Surroundings, rows: View) -> Surroundings:
    paths = known_paths(rows.version, rows.rows, generates=False)
    return replace(around, dataset_ready=True, paths=paths, row_count=1)


def try_on_row(
    request: PortalRequest, spec: EvaluationSpec, view: View, action: str
) -> HttpResponse:
    """Preview of the prompt on a row, or a real call for that row. Saves nothing."""
    form = TargetForm(_with_defaults(request.POST, spec), deployments=view.deployments)
    rows = preview_view(request.project, view)
    if not form.is_valid():
        number, _item = sample_row(request, rows)
        context: dict[str, Any] = {
            "form_errors": form.errors,
            "preview_version": rows.version,
            "draft_ref": _draft_ref(request),
            "row_number": number,
            "row_count": rows.version.row_count if rows.version else 0,
        }
        return render_page(
            request, "evaluations/draft/_preview.html", context, status=422
        )
    target = form.spec()
    context = _preview(request, target, rows)
    deployment = view.deployments.get(target.deployment)
    if action == "try" and deployment and context.get("prompt"):
        _number, item = sample_row(request, rows)
        body = {"target": target.model_dump(mode="json"), "item": item}
        call = ask(
            request.project,
            TestCall.Kind.ROW,
            deployment,
            request=body,
            by=request.user,
        )
        context["call"] = call
    elif action == "try" and not deployment:
        context["template_problems"] = [_("Choose a model.")]
    context["draft_ref"] = _draft_ref(request)
    return render_page(request, "evaluations/draft/_preview.html", context)


def _draft_ref(request: PortalRequest) -> str:
    match = request.resolver_match
    return str(match.kwargs["ref"]) if match else ""


def show_try(request: PortalRequest, draft: EvaluationDraft, ref: str) -> HttpResponse:
    calls = TestCall.objects.filter(project=request.project, kind=TestCall.Kind.ROW)
    call = find(calls, "This test call does not exist any more.", ref=ref)
    context = {"call": call, "draft_ref": draft.ref}
    return render_page(request, "evaluations/draft/_try.html", context)
