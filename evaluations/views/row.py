"""One row of a run: a panel over the list, or a page of its own."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import urlencode

from evaluations import queries
from evaluations.models import Run
from evaluations.rowdetail import row_detail
from evaluations.rowfilter import RowFilter
from evaluations.rowtable import row_url
from evaluations.views.run import run_url
from workspace.htmx import is_partial, render_page
from workspace.scoping import PortalRequest, project_view


@project_view()
def run_row(request: PortalRequest, slug: str, number: int, row: int) -> HttpResponse:
    """At most 12 queries: 4 of the session and shell, run, row, metrics, place,
    results, 3 of media. The query string tells in which list the row stands."""
    run = queries.run_in(request.project, slug, number)
    item = queries.item_in(run, row)
    metrics = queries.metrics_of(run.evaluation)
    wanted = RowFilter.parse(request.GET, metrics).of_list()
    around = queries.neighbours(run, wanted, item)
    query = urlencode(wanted.as_query())
    page = (around.place - 1) // RowFilter().per + 1 if around.place else 1
    back = {**wanted.as_query(), **({"page": str(page)} if page > 1 else {})}
    context = {
        "run": run,
        "evaluation": run.evaluation,
        "detail": row_detail(run, item),
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


def _url(run: Run, index: int | None, query: str) -> str:
    return row_url(run, index, query) if index is not None else ""
