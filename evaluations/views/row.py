"""One row of a run: a panel over the list, or a page of its own."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluations import labels, queries
from evaluations.addresses import run_url
from evaluations.models import Item, Label, Run
from evaluations.rowdetail import row_detail
from evaluations.rowfilter import RowFilter
from evaluations.rowtable import row_url
from workspace.htmx import is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next


@project_view()
def run_row(request: PortalRequest, slug: str, number: int, row: int) -> HttpResponse:
    """At most 13 queries: 4 of the session and shell, run, row, metrics, place,
    results, 3 of media. The query string tells in which list the row stands."""
    run = queries.run_in(request.project, slug, number)
    item = queries.item_in(run, row)
    metrics = queries.metrics_of(run.evaluation)
    wanted = RowFilter.parse(request.GET, metrics).of_list()
    around = queries.neighbours(run, wanted, item)
    query = urlencode(wanted.as_query())
    page = (around.place - 1) // RowFilter().per + 1 if around.place else 1
    back = {**wanted.as_query(), **({"page": str(page)} if page > 1 else {})}
    said = labels.labels_of([item]).get(item.pk, [])
    mine = next((label for label in said if label.by_id == request.user.pk), None)
    context = {
        "run": run,
        "evaluation": run.evaluation,
        "detail": row_detail(run, item, mine),
        **_label_context(request, run, item, said),
        "around": around,
        "wanted": wanted,
        "url": row_url(run, item.index, query),
        "previous_url": _url(run, around.previous, query),
        "following_url": _url(run, around.following, query),
        "list_url": run_url(run) + "?" + urlencode({"tab": "results", **back}),
        "is_panel": is_partial(request),
    }
    name = "evaluations/_row.html" if is_partial(request) else "evaluations/row.html"
    return render_page(request, name, context)


def _label_context(
    request: PortalRequest, run: Run, item: Item, said: list[Label]
) -> dict[str, Any]:
    """What `evaluations/_label_bar.html` takes."""
    evaluation = run.evaluation
    args = [evaluation.project.slug, evaluation.slug, run.number, item.index]
    return {
        "mine": next((s for s in said if s.by_id == request.user.pk), None),
        "others": [label for label in said if label.by_id != request.user.pk],
        "label_url": reverse("run_row_label", args=args),
        "can_label": request.role >= Role.EDITOR and item.outcome is not None,
        "levels": labels.LEVELS,
    }


@project_view(role=Role.EDITOR)
@require_POST
def run_row_label(
    request: PortalRequest, slug: str, number: int, row: int
) -> HttpResponse:
    """Keep what the reader says about a row; only the fields that were sent change."""
    run = queries.run_in(request.project, slug, number)
    item = queries.item_in(run, row)
    sent = {name: str(value) for name, value in request.POST.items()}
    try:
        labels.save(item, request.user, sent)
    except labels.WrongLabelError:
        text = _("A label is pass or fail, with a score from 1 to 5.")
        return HttpResponse(text, status=422, content_type="text/plain; charset=utf-8")
    if not is_partial(request):
        return redirect(safe_next(request) or row_url(run, item.index, ""))
    said = labels.labels_of([item]).get(item.pk, [])
    context = {"run": run, "detail": {"item": item}, "is_saved": True}
    context |= _label_context(request, run, item, said)
    context["following_url"] = safe_next(request)
    return render(request, "evaluations/_label_bar.html", context)


def _url(run: Run, index: int | None, query: str) -> str:
    return row_url(run, index, query) if index is not None else ""
