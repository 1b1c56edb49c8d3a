"""A run as a file: CSV, JSON Lines, Parquet, and the raw JSON of run and row."""

from __future__ import annotations

from typing import cast

from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.utils.translation import gettext as _

from evaluations import exports, queries
from evaluations.models import Run
from workspace.parquet import parquet_response
from workspace.scoping import PortalRequest, project_view

STREAMS = {
    "csv": (exports.as_csv, "text/csv; charset=utf-8"),
    "jsonl": (exports.as_jsonl, "application/x-ndjson; charset=utf-8"),
}


@project_view()
def run_export(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    run = queries.run_in(request.project, slug, number)
    form = request.GET.get("format", "csv")
    if form == "parquet":
        name = f"{_name(run)}.parquet"
        return parquet_response(request, "export_run", run.ref, name)
    if form not in STREAMS:
        raise Http404(_("There is no such format."))
    write, content_type = STREAMS[form]
    response = StreamingHttpResponse(write(run), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{_name(run)}.{form}"'
    return cast("HttpResponse", response)


def _name(run: Run) -> str:
    """A slug holds nothing that a header could trip over."""
    return f"{run.evaluation.slug}-run-{run.number}"


@project_view()
def run_raw(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """The run as JSON; with `row=18` that row with all calls, nothing cut."""
    run = queries.run_in(request.project, slug, number)
    row = request.GET.get("row", "")
    if row.isdecimal() and len(row) < 10:
        value = exports.raw_row(queries.item_in(run, int(row)))
    else:
        value = exports.raw_run(run)
    return JsonResponse(value, json_dumps_params={"indent": 2, "ensure_ascii": True})
