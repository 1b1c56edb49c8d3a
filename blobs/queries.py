"""Reads for pages that show media."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from assay.data.jsonx import JSON
from assay.data.media import BLOB_KEY, as_blob
from blobs.models import Blob
from blobs.sniff import UNKNOWN
from workspace.models import Project

UNKNOWN_TYPE = gettext_noop("This is no image and no recording of a known type.")


def visible_blob(project: Project, sha256: str) -> Blob | None:
    """The blob when `project` may see it. 1 query."""
    return Blob.objects.filter(sha256=sha256, projectblob__project=project).first()


def references(values: Iterable[JSON]) -> set[str]:
    """The content hashes found anywhere inside `values`."""
    found: set[str] = set()
    stack = list(values)
    while stack:
        current = stack.pop()
        if (ref := as_blob(current)) is not None:
            found.add(ref.sha256)
        elif isinstance(current, dict):
            stack.extend(current.values())
        elif isinstance(current, (list, tuple)):
            stack.extend(current)
    return found


def describe(project: Project, values: Iterable[JSON]) -> dict[str, dict[str, Any]]:
    """For every medium referred to in `values` the dict that the `media` tag takes.

    Keys are content hashes; what the project may not see is left out. 1 query, none
    when there is no reference.
    """
    wanted = references(values)
    if not wanted:
        return {}
    blobs = Blob.objects.filter(sha256__in=wanted, projectblob__project=project)
    return {blob.sha256: as_media(blob) for blob in blobs}


def as_media(blob: Blob) -> dict[str, Any]:
    """`blob` as the `media` tag takes it. What cannot be shown is a download."""
    kind = blob.kind if blob.is_shown else Blob.Kind.OTHER
    return {
        BLOB_KEY: blob.sha256,
        "mime": blob.mime,
        "size": blob.size,
        "kind": str(kind),
        "width": blob.width,
        "height": blob.height,
        "duration": blob.duration,
        "waveform": blob.waveform,
        "problem": blob.problem or (_(UNKNOWN_TYPE) if blob.mime == UNKNOWN else ""),
        "alt": "",
    }


def with_media(value: JSON, described: dict[str, dict[str, Any]]) -> Any:
    """`value` with every reference replaced by its description, at any depth.

    Data that has the key of a reference and is none loses that key's special meaning.
    """
    if (ref := as_blob(value)) is not None:
        found = described.get(ref.sha256, ref.as_json())
        return {**found, "url": ref.url} if ref.url else found
    if isinstance(value, dict):
        return {
            "blob" if key == BLOB_KEY else key: with_media(item, described)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [with_media(item, described) for item in value]
    return value
