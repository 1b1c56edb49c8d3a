"""References to media. A name is not permission to read: only the blob store reads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assay.data.jsonx import JSON, JSONObject

MediaKind = Literal["image", "audio", "other"]
BLOB_KEY = "$blob"
_HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BlobRef:
    """A medium taken out of a row: content hash, sniffed type, size in bytes.

    `url` is the link that it was loaded from, "" when it stood in the row itself.
    """

    sha256: str
    mime: str
    size: int
    url: str = ""

    @property
    def kind(self) -> MediaKind:
        family = self.mime.partition("/")[0]
        if family == "image":
            return "image"
        return "audio" if family == "audio" else "other"

    def as_json(self) -> JSONObject:
        value: JSONObject = {
            BLOB_KEY: self.sha256,
            "mime": self.mime,
            "size": self.size,
        }
        return {**value, "url": self.url} if self.url else value


def as_blob(value: JSON) -> BlobRef | None:
    """The reference that `value` is, or None when it is any other value.

    A reference has a content hash of 64 hex digits, a type and a size in whole bytes.
    Anything else is data, whatever its keys are called.
    """
    if not isinstance(value, dict):
        return None
    sha, mime, size = value.get(BLOB_KEY), value.get("mime"), value.get("size")
    if not isinstance(sha, str) or _HASH.fullmatch(sha) is None:
        return None
    if not isinstance(mime, str) or isinstance(size, bool):
        return None
    if not isinstance(size, int) or size < 0:
        return None
    url = value.get("url")
    return BlobRef(sha, mime, size, url if isinstance(url, str) else "")


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
