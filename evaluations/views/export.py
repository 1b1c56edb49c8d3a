"""A run as a file: CSV, JSON Lines, Parquet, and the raw JSON of run and row."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, cast

from django.conf import settings
from django.http import (
    FileResponse,
    Http404,
    HttpResponse,
    JsonResponse,
    StreamingHttpResponse,
)
from django.utils.translation import gettext as _

from evaluations import exports, queries
from evaluations.models import Run
from workspace.scoping import PortalRequest, project_view

STREAMS = {
    "csv": (exports.as_csv, "text/csv; charset=utf-8"),
    "jsonl": (exports.as_jsonl, "application/x-ndjson; charset=utf-8"),
}
PARQUET = "application/vnd.apache.parquet"
PARQUET_SECONDS = 110


@project_view()
def run_export(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    run = queries.run_in(request.project, slug, number)
    form = request.GET.get("format", "csv")
    if form == "parquet":
        return _parquet(request, run)
    if form not in STREAMS:
        raise Http404(_("There is no such format."))
    write, content_type = STREAMS[form]
    response = StreamingHttpResponse(write(run), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{_name(run)}.{form}"'
    return cast("HttpResponse", response)


def _name(run: Run) -> str:
    """A slug holds nothing that a header could trip over."""
    return f"{run.evaluation.slug}-run-{run.number}"


def _parquet(request: PortalRequest, run: Run) -> HttpResponse:
    """Written by a process of its own: the web server never loads pandas."""
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    return cast(
        "HttpResponse",
        FileResponse(
            _parquet_file(run),
            as_attachment=True,
            filename=f"{_name(run)}.parquet",
            content_type=PARQUET,
        ),
    )


def _parquet_file(run: Run) -> IO[bytes]:
    """The file, open and without a name: it is gone when it was sent."""
    with tempfile.TemporaryDirectory(prefix="assay-export-") as folder:
        path = Path(folder) / "run.parquet"
        command = [sys.executable, "manage.py", "export_run", run.ref, str(path)]
        subprocess.run(  # noqa: S603 - our own command, no text of a user in it
            command,
            cwd=settings.BASE_DIR,
            check=True,
            capture_output=True,
            timeout=PARQUET_SECONDS,
        )
        return path.open("rb")


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
