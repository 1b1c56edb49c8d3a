"""The list of evaluations."""

from __future__ import annotations

from django.http import HttpResponse

from evaluations import queries
from evaluations.drafts import open_drafts
from evaluations.forms.listing import DEFAULT_SORT, ListQuery
from evaluations.models import Run
from evaluations.scores import RunLine
from workspace.htmx import is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view

FILTERS = ("q", "status", "target", "evaluator", "created")


@project_view()
def evaluations(request: PortalRequest) -> HttpResponse:
    """At most 12 queries: 4 of the session and shell, 2 choices, 2 page, 4 runs."""
    form = ListQuery(request.GET, queries.list_choices(request.project))
    query = form.values
    page = queries.evaluation_list(request.project, query)
    latest = queries.latest_runs(page)
    is_filtered = any(query[name] for name in FILTERS)
    can_edit = request.role >= Role.EDITOR
    context = {
        "page": page,
        "lines": [(found, _line(latest.get(found.pk))) for found in page],
        "form": form,
        "query": query,
        "query_defaults": {"sort": DEFAULT_SORT},
        "is_filtered": is_filtered,
        "is_new": not latest and not is_filtered,
        "can_edit": can_edit,
    }
    if can_edit and not is_partial(request):
        context["drafts"] = open_drafts(request.project, request.user)
    return render_page(request, "evaluations/list.html", context, partial="evaluations")


def _line(run: Run | None) -> RunLine | None:
    if run is None:
        return None
    criteria = run.evaluation.criteria.all()
    metrics = {m.pk: m for criterion in criteria for m in criterion.metrics.all()}
    return RunLine.of(run, metrics)
