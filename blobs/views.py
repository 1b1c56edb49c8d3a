"""Serves media to members of a project that has them. The type is the sniffed one."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from blobs import ranges, store
from blobs.models import Blob
from blobs.queries import visible_blob
from blobs.sniff import INLINE, SVG
from workspace.scoping import PortalRequest, project_view

HEADERS = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
DOCUMENTS = frozenset({"document", "iframe", "frame", "embed", "object"})
"""What a browser says it wants when it would open an SVG as a page."""


@require_safe
@project_view()
def media(request: PortalRequest, sha256: str) -> HttpResponse:
    """The bytes of a blob, a part of them, or with `?size=thumb` a small image.

    An SVG has no thumbnail: it is small for every size.
    """
    blob = visible_blob(request.project, sha256)
    if blob is None:
        raise Http404(_("This medium does not exist or was deleted."))
    is_thumb = request.GET.get("size") == "thumb" and blob.mime != SVG
    if is_thumb and not _has_thumb(blob):
        raise Http404(_("This medium does not exist or was deleted."))
    # Media are compressed already, and a compressed answer cannot be a byte range.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    etag = f'"{blob.sha256}{"-thumb" if is_thumb else ""}"'
    path = store.thumb_path_of(sha256) if is_thumb else store.path_of(sha256)
    mime = "image/webp" if is_thumb else blob.mime
    if etag in request.headers.get("If-None-Match", ""):
        response: HttpResponseBase = HttpResponse(status=304)
    else:
        response = _content(request, path, etag, mime)
    for name, value in {**HEADERS, "ETag": etag}.items():
        response[name] = value
    wanted = request.headers.get("Sec-Fetch-Dest", "")
    if mime == SVG:
        response["Content-Security-Policy"] = SVG_POLICY
        response["Vary"] = "Sec-Fetch-Dest"
    if mime not in INLINE or (mime == SVG and wanted in DOCUMENTS):
        response["Content-Disposition"] = f'attachment; filename="{blob.sha256[:16]}"'
    return cast("HttpResponse", response)


def _has_thumb(blob: Blob) -> bool:
    return blob.kind == Blob.Kind.IMAGE and blob.is_shown


def _content(
    request: PortalRequest, path: Path, etag: str, mime: str
) -> HttpResponseBase:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise Http404(_("This medium does not exist or was deleted.")) from None
    whole = ranges.Span(0, size - 1)
    try:
        span = _asked_span(request, etag, size) or whole
    except ranges.UnsatisfiableError:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    headers = {"Content-Length": str(span.length)}
    if span != whole:
        headers["Content-Range"] = f"bytes {span.first}-{span.last}/{size}"
    status = 200 if span == whole else 206
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=headers, content_type=mime)
    return StreamingHttpResponse(
        ranges.chunks(path.open("rb"), span),
        status=status,
        headers=headers,
        content_type=mime,
    )


def _asked_span(request: PortalRequest, etag: str, size: int) -> ranges.Span | None:
    """The range asked for, unless it was meant for other bytes (If-Range)."""
    if request.headers.get("If-Range", etag) != etag:
        return None
    return ranges.parse(request.headers.get("Range", ""), size)
