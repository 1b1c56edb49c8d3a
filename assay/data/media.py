"""References to media. A name is not permission to read: only the blob store reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.data.jsonx import JSON, JSONObject

MediaKind = Literal["image", "audio", "other"]
BLOB_KEY = "$blob"


@dataclass(frozen=True, slots=True)
class BlobRef:
    """A medium taken out of a row: content hash, sniffed type, size in bytes."""

    sha256: str
    mime: str
    size: int

    @property
    def kind(self) -> MediaKind:
        family = self.mime.partition("/")[0]
        if family == "image":
            return "image"
        return "audio" if family == "audio" else "other"

    def as_json(self) -> JSONObject:
        return {BLOB_KEY: self.sha256, "mime": self.mime, "size": self.size}


def as_blob(value: JSON) -> BlobRef | None:
    """The reference that `value` is, or None when it is any other value."""
    if not isinstance(value, dict):
        return None
    sha, mime, size = value.get(BLOB_KEY), value.get("mime"), value.get("size")
    if isinstance(sha, str) and isinstance(mime, str) and isinstance(size, int):
        return BlobRef(sha, mime, size)
    return None


def media_kinds(value: JSON) -> set[MediaKind]:
    """The kinds of media found anywhere inside `value`."""
    found: set[MediaKind] = set()
    stack: list[JSON] = [value]
    while stack:
        current = stack.pop()
        if (ref := as_blob(current)) is not None:
            found.add(ref.kind)
        elif isinstance(current, dict):
            stack.extend(current.values())
        elif isinstance(current, (list, tuple)):
            stack.extend(current)
    return found
