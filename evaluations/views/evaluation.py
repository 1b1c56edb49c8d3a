"""One evaluation: its criteria and runs, and what can be done with it."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluations import drafts, editing, queries
from evaluations.forms.editing import EvaluationNameForm
from evaluations.models import Evaluation
from evaluations.scores import RunLine
from evaluations.wizard.stepper import step_url
from workspace.htmx import go, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view


def evaluation_url(evaluation: Evaluation) -> str:
    return reverse("evaluation", args=[evaluation.project.slug, evaluation.slug])


@project_view()
def evaluation(request: PortalRequest, slug: str) -> HttpResponse:
    """At most 12 queries: 4 of the session and shell, 1, 2 criteria, 3 runs."""
    found = queries.evaluation_in(request.project, slug)
    criteria = queries.criteria_of(found)
    number = request.GET.get("page", "")
    page = queries.runs_page(found, int(number) if number.isdecimal() else 1)
    metrics = {}
    for criterion in criteria:
        for metric in criterion.metrics.all():
            metric.criterion = criterion
            metrics[metric.pk] = metric
    context = {
        "evaluation": found,
        "criteria": criteria,
        "page": page,
        "lines": [RunLine.of(run, metrics) for run in page],
        "primary": [m for m in metrics.values() if m.is_primary],
        "can_edit": request.role >= Role.EDITOR,
    }
    return render_page(request, "evaluations/evaluation.html", context, partial="runs")


@project_view(role=Role.EDITOR)
@require_POST
def run_add(request: PortalRequest, slug: str) -> HttpResponse:
    """The same criteria over other data or another target."""
    found = queries.evaluation_in(request.project, slug)
    draft = drafts.for_new_run(found, request.user)
    return go(request, step_url(draft, "target"))


@project_view(role=Role.EDITOR)
@require_POST
def evaluation_copy(request: PortalRequest, slug: str) -> HttpResponse:
    """The same choices in a new evaluation, where all of them can be changed."""
    found = queries.evaluation_in(request.project, slug)
    draft = drafts.for_copy(found, request.user)
    return go(request, step_url(draft, "review"))


@project_view(role=Role.EDITOR)
def evaluation_rename(request: PortalRequest, slug: str) -> HttpResponse:
    found = queries.evaluation_in(request.project, slug)
    form = EvaluationNameForm(found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        editing.rename_evaluation(found, form.cleaned_data["name"])
        messages.success(request, _("Evaluation saved."))
        return redirect(evaluation_url(found))
    context = {
        "form": form,
        "evaluation": found,
        "name": found.name,
        "hint": _("The address of the evaluation stays."),
        "cancel_url": evaluation_url(found),
    }
    status = 422 if form.errors else 200
    return render(request, "evaluations/rename.html", context, status=status)


@project_view(role=Role.EDITOR)
def evaluation_delete(request: PortalRequest, slug: str) -> HttpResponse:
    """Asks on GET, deletes on POST; refused while a run of it is open."""
    found = queries.evaluation_in(request.project, slug)
    if request.method == "POST":
        try:
            editing.delete_evaluation(found)
        except editing.StillOpen as refusal:
            return _ask(request, found, refusal)
        messages.success(request, _("%(name)s was deleted.") % {"name": found.name})
        return redirect("evaluations", request.project.slug)
    open_runs = editing.open_runs_of(found)
    return _ask(request, found, editing.StillOpen(open_runs) if open_runs else None)


def _ask(
    request: PortalRequest, found: Evaluation, refusal: editing.StillOpen | None
) -> HttpResponse:
    context = {
        "evaluation": found,
        "open_runs": refusal.runs if refusal else [],
        "run_count": found.runs.count(),
        "row_count": found.runs.aggregate(rows=Sum("done"))["rows"] or 0,
        "cancel_url": evaluation_url(found),
    }
    status = 409 if refusal else 200
    return render(request, "evaluations/delete.html", context, status=status)
