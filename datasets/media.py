"""Takes media out of rows: the bytes become blobs, the row keeps a reference.

Data URIs are found anywhere in a row. Bare base64 is taken for a medium only where a
name says so (`audio_data`, `image_base64`, `input_audio.data`) and the bytes begin
like a known medium. Links stay text and are never opened.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BlobRef, as_blob
from assay.data.records import Problem, size
from blobs.models import Blob
from blobs.sniff import UNKNOWN, mime_of

MIN_BARE = 100
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[^,;]*)*),", re.IGNORECASE)
_MEDIA_NAME = re.compile(
    r"image|img|photo|picture|audio|voice|speech|sound|wav|base64|b64", re.IGNORECASE
)
_HASH = re.compile(r"[0-9a-f]{64}")
_BLANKS = re.compile(r"\s+")
FAMILIES = ("image", "audio", "video", "application")

Put = Callable[[bytes], Blob]
Find = Callable[[str], Blob | None]
Note = Callable[[Problem], None]


class RowRefusedError(Exception):
    """The row cannot be imported."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class Extractor:
    """`put` stores bytes, `find` gives a blob that the project already has, `note`
    is told what is worth saying.
    """

    put: Put
    find: Find
    note: Note
    max_bytes: int
    counts: dict[str, int] = field(default_factory=dict)

    def take_out(self, values: JSONObject, line: int) -> JSONObject:
        """`values` with references instead of media. Raises `RowRefusedError`."""
        return {
            column: self._value(value, column, line, _is_media_name(column))
            for column, value in values.items()
        }

    def _value(self, value: JSON, column: str, line: int, is_named: bool) -> JSON:  # noqa: FBT001 - one call site, positional in a recursion
        if isinstance(value, str):
            return self._text(value, column, line, is_named)
        if isinstance(value, dict):
            if (ref := as_blob(value)) is not None:
                return self._known(ref, line)
            return {
                key: self._value(item, column, line, is_named or _is_media_name(key))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item, column, line, is_named) for item in value]
        return value

    def _text(self, text: str, column: str, line: int, is_named: bool) -> JSON:  # noqa: FBT001 - as above
        if text[:5].lower() == "data:":
            return self._data_uri(text, column, line)
        if is_named and len(text) >= MIN_BARE and _begins_like_medium(text):
            data = decoded(text)
            if data is not None:
                return self._stored(data, column, line)
        return text

    def _data_uri(self, text: str, column: str, line: int) -> JSON:
        found = _DATA_URI.match(text)
        family = (found[1] or "text").partition("/")[0].lower() if found else ""
        if found is None or family not in FAMILIES:
            return text
        payload = text[found.end() :]
        if ";base64" in found[2].lower().replace(" ", ""):
            data = decoded(payload)
        else:
            data = unquote_to_bytes(payload)
        if not data:
            message = (
                f'Line {line:,}: "{column}" has a data URI that cannot be decoded. '
                "It was kept as text."
            )
            self._note("broken_data_uri", message, column, line)
            return text
        return self._stored(data, column, line)

    def _stored(self, data: bytes, column: str, line: int) -> JSON:
        if len(data) > self.max_bytes:
            message = (
                f'Line {line:,}: the medium in "{column}" has {size(len(data))}. '
                f"The limit is {size(self.max_bytes)}."
            )
            raise RowRefusedError(Problem("medium_too_large", message, line=line))
        blob = self.put(data)
        self.counts[blob.kind] = self.counts.get(blob.kind, 0) + 1
        if blob.problem:
            message = f'Line {line:,}, "{column}": {blob.problem}'
            self._note("broken_medium", message, column, line)
        elif blob.mime == UNKNOWN:
            message = (
                f'Line {line:,}: the medium in "{column}" has no type that can be '
                "shown. It can be downloaded."
            )
            self._note("unknown_medium", message, column, line)
        return reference(blob).as_json()

    def _known(self, ref: BlobRef, line: int) -> JSON:
        blob = self.find(ref.sha256) if _HASH.fullmatch(ref.sha256) else None
        if blob is None:
            message = f"Line {line:,} refers to a medium that is not in this project."
            raise RowRefusedError(Problem("unknown_reference", message, line=line))
        return reference(blob).as_json()

    def _note(self, code: str, message: str, column: str, line: int) -> None:
        self.note(Problem(code, message, line, column=column, is_warning=True))


def reference(blob: Blob) -> BlobRef:
    return BlobRef(blob.sha256, blob.mime, blob.size)


def decoded(text: str) -> bytes | None:
    """The bytes of base64 text, also the URL-safe form and without padding."""
    compact = _BLANKS.sub("", text) if " " in text or "\n" in text else text
    if "-" in compact or "_" in compact:
        compact = compact.replace("-", "+").replace("_", "/")
    if "%" in compact:
        compact = compact.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=")
    compact = compact.rstrip("=")
    try:
        padded = compact + "=" * (-len(compact) % 4)
        return base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        return None


def _begins_like_medium(text: str) -> bool:
    head = decoded(_BLANKS.sub("", text[:128])[:64])
    return head is not None and mime_of(head) != UNKNOWN


def _is_media_name(name: str) -> bool:
    return _MEDIA_NAME.search(name) is not None
