"""The list of evaluations."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode

from evaluations import queries
from evaluations.drafts import open_drafts
from evaluations.forms.listing import DEFAULT_SORT, ListQuery
from evaluations.scores import RunLine
from workspace.htmx import is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view

FILTERS = ("q", "status", "target", "evaluator", "created")


@project_view()
def evaluations(request: PortalRequest) -> HttpResponse:
    """13 queries: 4 of the session and shell, 2 choices, 2 page, 4 runs, drafts."""
    form = ListQuery(request.GET, queries.list_choices(request.project))
    query = _canonical(form.values)
    address = request.path + (f"?{query}" if query else "")
    if not is_partial(request) and request.GET.urlencode() != query:
        return redirect(address)
    context = _list_context(request, form)
    if context["can_edit"] and not is_partial(request):
        context["drafts"] = open_drafts(request.project, request.user)
    name = "evaluations/list.html"
    response = render_page(request, name, context, partial="evaluations")
    if request.headers.get("HX-Target") == "evaluations":
        response["HX-Push-Url"] = address
    return response


def _canonical(query: dict[str, Any]) -> str:
    """The one query of a list: sorted, without defaults."""
    defaults = {"sort": DEFAULT_SORT, "page": 1}
    return urlencode(
        {k: v for k, v in sorted(query.items()) if v and v != defaults.get(k)}
    )


def _list_context(request: PortalRequest, form: ListQuery) -> dict[str, Any]:
    query = form.values
    page = queries.evaluation_list(request.project, query)
    latest = queries.latest_runs(page)
    metrics = queries.metrics_by_evaluation(page)
    is_filtered = any(query[name] for name in FILTERS)
    return {
        "page": page,
        "lines": [
            (found, RunLine.of(latest[found.pk], metrics[found.pk]))
            if found.pk in latest
            else (found, None)
            for found in page
        ],
        "form": form,
        "query": query,
        "query_defaults": {"sort": DEFAULT_SORT},
        "is_filtered": is_filtered,
        "is_new": not is_filtered and not queries.has_own(request.project),
        "can_edit": request.role >= Role.EDITOR,
    }
