"""A version as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from blobs import store
from datasets import downloads, queries
from datasets.models import DatasetVersion
from workspace.parquet import parquet_response
from workspace.scoping import PortalRequest, project_view

STREAMS: dict[str, tuple[Callable[[DatasetVersion], Iterator[bytes]], str, str]] = {
    "jsonl": (downloads.as_jsonl, "jsonl", "application/x-ndjson; charset=utf-8"),
    "csv": (downloads.as_csv, "csv", "text/csv; charset=utf-8"),
    "sheet": (
        partial(downloads.as_csv, for_spreadsheets=True),
        "csv",
        "text/csv; charset=utf-8",
    ),
}


@project_view()
def dataset_download(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """The file as it was uploaded, or with `?format=` the rows in another form."""
    version = queries.version_in(request.project, slug, number)
    form = request.GET.get("format", "" if version.original else "jsonl")
    if not form:
        return _original(request, version)
    if version.state not in (version.State.READY, version.State.REVIEW):
        raise Http404(_("This version has no rows."))
    name = f"{version.dataset.name} v{version.number}"
    if form == "parquet":
        name = f"{name}.parquet"
        return parquet_response(request, "export_dataset", version.ref, name)
    if form not in STREAMS:
        raise Http404(_("There is no such format."))
    write, ending, content_type = STREAMS[form]
    response = StreamingHttpResponse(write(version), content_type=content_type)
    disposition = content_disposition_header(
        as_attachment=True, filename=f"{name}.{ending}"
    )
    response["Content-Disposition"] = disposition or "attachment"
    return cast("HttpResponse", response)


def _original(request: PortalRequest, version: DatasetVersion) -> HttpResponse:
    if version.original is None:
        raise Http404(_("This version was not made from a file."))
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    response = FileResponse(
        store.open_blob(version.original.sha256),
        as_attachment=True,
        filename=version.original_name,
        content_type="application/octet-stream",
    )
    return cast("HttpResponse", response)
