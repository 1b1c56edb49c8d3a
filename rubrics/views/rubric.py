"""A saved rubric: its versions, what differs, export, copy, deletion."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from assay.scoring.rubric.exchange import definition_json, dimensions_json, pretty
from assay.scoring.rubric.judge import system_prompt
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.usage import uses_of
from rubrics import differences, naming, past, queries, saving
from rubrics.documents import from_version
from rubrics.effects import effect
from rubrics.forms import CopyForm
from rubrics.sheet import sheet_of
from rubrics.views.editor import TABS, version_of
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.sentences import say


@project_view()
def rubric(request: PortalRequest, ref: str) -> HttpResponse:
    evaluator = queries.rubric_in(request.project, ref)
    versions = queries.versions_of(evaluator)
    if not versions:
        raise Http404(_("This rubric has no versions."))
    version = version_of(versions, request.GET.get("v", ""))
    tab = request.GET.get("tab", "")
    spec = queries.spec_of(version)
    document = from_version(version)
    context: dict[str, Any] = {
        "evaluator": evaluator,
        "versions": versions,
        "version": version,
        "is_newest": version == versions[0],
        "spec": spec,
        "sheet": sheet_of(document, spec, []),
        "tab": tab if tab in TABS else TABS[0],
        "uses": uses_of(versions),
        "more_pages": past.pages_of(evaluator),
        "draft": queries.draft_of(evaluator, request.user),
        "can_change": request.role >= Role.EDITOR,
        "query_defaults": {"tab": "dimensions", "v": str(versions[0].number)},
        **_tab(request, evaluator, versions, version, tab),
    }
    return render(request, "rubrics/rubric.html", context)


def _tab(
    request: PortalRequest,
    evaluator: Evaluator,
    versions: list[EvaluatorVersion],
    version: EvaluatorVersion,
    tab: str,
) -> dict[str, Any]:
    spec = queries.spec_of(version)
    if tab == "json":
        return {"json_text": pretty(dimensions_json(spec))}
    if tab == "prompt":
        return {"prompt": system_prompt(spec, spec.dimensions)}
    if tab == "versions":
        return compared(
            versions, request.GET.get("from", ""), request.GET.get("to", "")
        )
    if tab not in TABS[1:]:
        shown = effect(evaluator, spec.pass_threshold, spec.normalization)
        return {"effect": None if spec.scoring == "boolean" else shown}
    return {}


def compared(versions: list[EvaluatorVersion], old: str, new: str) -> dict[str, Any]:
    """Two versions beside each other; by default the newest and the one before."""
    to = version_of(versions, new)
    before = [v for v in versions if v.number < to.number]
    known = {str(v.number): v for v in versions}
    start = known.get(old) or (before[0] if before else None)
    if start is None or start == to:
        return {"compare_to": to}
    difference = differences.between(queries.spec_of(start), queries.spec_of(to))
    return {"compare_from": start, "compare_to": to, "difference": difference}


@project_view(role=Role.EDITOR)
@require_POST
def rubric_edit(request: PortalRequest, ref: str) -> HttpResponse:
    """Goes on with the person's draft, or begins one from a version."""
    evaluator = queries.rubric_in(request.project, ref)
    versions = queries.versions_of(evaluator)
    if not versions:
        raise Http404(_("This rubric has no versions."))
    version = version_of(versions, request.POST.get("v", ""))
    draft = saving.edit(version, by=request.user)
    return redirect("rubric_draft", request.project.slug, draft.ref)


@project_view()
def rubric_export(request: PortalRequest, ref: str, number: int) -> HttpResponse:
    """JSON to download: the dimensions, or with `?form=definition` the whole."""
    evaluator = queries.rubric_in(request.project, ref)
    version = next(
        (v for v in queries.versions_of(evaluator) if v.number == number), None
    )
    if version is None:
        raise Http404(_("This version does not exist or was deleted."))
    spec = queries.spec_of(version)
    if request.GET.get("form") == "definition":
        whole = definition_json(
            spec,
            name=evaluator.name,
            title=evaluator.title,
            description=evaluator.description,
        )
        text, ending = pretty(whole), "-definition"
    else:
        text, ending = pretty(dimensions_json(spec)), ""
    answer = HttpResponse(f"{text}\n", content_type="application/json")
    name = f"{slugify(evaluator.name) or 'rubric'}-v{number}{ending}.json"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@project_view(role=Role.EDITOR)
def rubric_delete(request: PortalRequest, ref: str) -> HttpResponse:
    """Asks on GET, deletes on POST; refused while runs use a version."""
    evaluator = queries.rubric_in(request.project, ref)
    uses, status = uses_of(queries.versions_of(evaluator)), 200
    if request.method == "POST":
        try:
            saving.delete(evaluator)
        except saving.InUseError as error:
            uses, status = error.uses, 409
        else:
            text = _("%(name)s was deleted.")
            messages.success(request, text % {"name": evaluator.name})
            return redirect("evaluators", request.project.slug)
    context = {"evaluator": evaluator, "uses": uses, "is_used": status == 409 or uses}
    return render(request, "rubrics/delete.html", context, status=status)


@project_view()
def rubric_copy(request: PortalRequest, ref: str) -> HttpResponse:
    """A version as a new rubric of another project that the person may change."""
    evaluator = queries.rubric_in(request.project, ref)
    versions = queries.versions_of(evaluator)
    if not versions:
        raise Http404(_("This rubric has no versions."))
    wanted = request.POST.get("v") or request.GET.get("v") or ""
    version = version_of(versions, wanted)
    projects = queries.projects_to_copy_to(request.user, request.project)
    form = CopyForm(projects, request.POST or None, initial={"name": evaluator.name})
    if request.method == "POST" and form.is_valid():
        target, name = form.cleaned_data["project"], form.cleaned_data["name"].strip()
        wrong = naming.name_problems(target, name)
        if not wrong:
            copy = saving.copy_to_project(version, target, name=name, by=request.user)
            messages.success(request, _("The rubric is copied."))
            return redirect("rubric", target.slug, copy.evaluator.ref)
        form.add_error("name", say(wrong[0].sentence))
    context = {"evaluator": evaluator, "version": version, "form": form}
    context["projects"] = projects
    status = 422 if form.errors else 200
    return render(request, "rubrics/copy.html", context, status=status)
