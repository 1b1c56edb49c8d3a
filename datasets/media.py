"""Takes media out of rows: the bytes become blobs, the row keeps a reference.

Data URIs are found anywhere in a row. Bare base64 and links are taken for media only
where a name says so (`audio_data`, `image_url`, `input_audio.data`), bare base64 also
only when the bytes begin like a known medium. A link is never opened here: `pin` knows
what it gives, or nobody does. Whatever is broken stays as it is and is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import unquote_to_bytes

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BLOB_KEY, BlobRef, as_blob
from assay.data.records import Problem, size
from blobs.links import LinkProblem, problem_of
from blobs.models import Blob
from blobs.net import Network
from blobs.sniff import UNKNOWN, mime_of
from datasets.encoded import decoded

MIN_BARE = 40
MAX_URI_HEAD = 4096
_DATA_URI = re.compile(
    r"\s*data:\s*([\w.+-]+/[\w.+-]+)?\s*((?:;[^,;\"]*(?:\"[^\"]*\")?)*),", re.IGNORECASE
)
_MEDIA_NAME = re.compile(
    r"image|img|photo|picture|audio|voice|speech|sound|wav|base64|b64", re.IGNORECASE
)
# What a link or an encoded file is expected in, and nothing else.
_SOURCE_NAME = re.compile(
    r"(image|audio|img|picture|photo)_?(url|uri|link|data|base64|b64)s?$", re.IGNORECASE
)
_LINK = re.compile(r"https?://\S{1,4000}", re.IGNORECASE)
# Words of a part that are never its medium.
_PLAIN_KEYS = frozenset(
    ("type", "text", "role", "content", "format", "detail", "id", "name", "filename")
    + ("media_type", "mime_type", "mimeType", "caption", "alt", "title", "description")
    + ("transcript",)
)
_PATH_KEYS = frozenset({"path", "file_path", "filepath"})
_TYPE_KEYS = ("media_type", "mime_type", "mimeType")
FAMILIES = ("image", "audio", "video", "application")
_SAME_TYPE = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/x-mp3": "audio/mpeg",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
    "audio/opus": "audio/ogg",
    "application/ogg": "audio/ogg",
    "audio/x-flac": "audio/flac",
    "image/heif": "image/heic",
    "image/x-ms-bmp": "image/bmp",
}

Put = Callable[[bytes], Blob]
Find = Callable[[str], Blob | None]
Note = Callable[[Problem], None]
Pin = Callable[[str], Blob | LinkProblem | None]


class RowRefusedError(Exception):
    """The row cannot be imported."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: its column, its line, its own name, and whether a name
    above it or its own says that a medium is meant."""

    column: str
    line: int
    name: str = ""
    is_named: bool = False

    def below(self, key: str, holder: JSONObject) -> _Place:
        """The place of the member `key` of `holder`."""
        if key in _PLAIN_KEYS:
            return replace(self, name=key, is_named=False)
        declared = any(_is_media_type(holder.get(name)) for name in _TYPE_KEYS)
        is_named = self.is_named or declared or _is_media_name(key)
        return replace(self, name=key, is_named=is_named or _is_media_part(holder))


@dataclass(slots=True)
class Extractor:
    """`put` stores bytes, `find` gives a blob that the project already has, `note`
    is told what is worth saying.

    `pin` gives what a link leads to: a stored blob, why there is none, or None for a
    link that stays a link. Without it all links do. `named` are columns that hold
    media whatever they are called. `allowed` are networks beside public addresses that
    links may lead to.
    """

    put: Put
    find: Find
    note: Note
    max_bytes: int
    counts: dict[str, int] = field(default_factory=dict)
    pin: Pin | None = None
    named: frozenset[str] = frozenset()
    allowed: Sequence[Network] = ()

    def take_out(self, values: JSONObject, line: int) -> JSONObject:
        """`values` with references instead of media. Raises `RowRefusedError`."""
        return {
            column: self._value(value, self._place(column, line))
            for column, value in values.items()
        }

    def _place(self, column: str, line: int) -> _Place:
        place = _column(column, line)
        return replace(place, is_named=True) if column in self.named else place

    def _value(self, value: JSON, place: _Place) -> JSON:
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, dict):
            if (ref := as_blob(value)) is not None:
                return self._known(ref, value, place)
            return {
                key: self._value(item, place.below(key, value))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._value(item, place) for item in value]
        return value

    def _text(self, text: str, place: _Place) -> JSON:
        if text[:64].lstrip()[:5].lower() == "data:":
            return self._data_uri(text, place)
        if not place.is_named or not text:
            return text
        if len(text) >= MIN_BARE and _begins_like_medium(text):
            data = decoded(text)
            if data is not None:
                return self._stored(data, place).as_json()
        if _LINK.fullmatch(text):
            return self._link(text, place)
        self._note_what_is_no_medium(text, place)
        return text

    def _data_uri(self, text: str, place: _Place) -> JSON:
        found = _DATA_URI.match(text, 0, MAX_URI_HEAD)
        if found is None:
            return self._undecodable(text, place) if place.is_named else text
        declared = (found[1] or "").lower()
        payload = text[found.end() :]
        is_base64 = ";base64" in "".join(found[2].lower().split())
        if not declared and not (is_base64 and _begins_like_medium(payload)):
            return text
        if declared and declared.partition("/")[0] not in FAMILIES:
            if place.is_named:
                words = f"has a data URI of type {declared}, which is no medium"
                self._note("no_medium", f"{words}. It was kept as text.", place)
            return text
        data = decoded(payload) if is_base64 else unquote_to_bytes(payload)
        if not data:
            return self._undecodable(text, place)
        return self._stored(data, place, declared).as_json()

    def _undecodable(self, text: str, place: _Place) -> JSON:
        words = "has a data URI that cannot be decoded. It was kept as text."
        self._note("broken_data_uri", words, place)
        return text

    def _stored(self, data: bytes, place: _Place, declared: str = "") -> BlobRef:
        if len(data) > self.max_bytes:
            message = (
                f'Line {place.line:,}: the medium in "{place.column}" has '
                f"{size(len(data))}. The limit is {size(self.max_bytes)}."
            )
            raise RowRefusedError(Problem("medium_too_large", message, line=place.line))
        blob = self.put(data)
        self._count(blob, place)
        declared = _SAME_TYPE.get(declared, declared)
        if _is_media_type(declared) and blob.mime not in (declared, UNKNOWN):
            words = f"is declared as {declared}, but its bytes are {blob.mime}."
            self._note("type_differs", words, place)
        return reference(blob)

    def _count(self, blob: Blob, place: _Place) -> None:
        """Count a medium of the row, and say what is wrong with it."""
        self.counts[blob.kind] = self.counts.get(blob.kind, 0) + 1
        if blob.problem:
            message = f'Line {place.line:,}, "{place.column}": {blob.problem}'
            self._tell("broken_medium", message, place)
        elif blob.mime == UNKNOWN:
            message = (
                f'Line {place.line:,}: the medium in "{place.column}" has no type that '
                "can be shown. It can be downloaded."
            )
            self._tell("unknown_medium", message, place)

    def _link(self, url: str, place: _Place) -> JSON:
        asked = self.pin
        found = asked(url) if asked is not None else problem_of(url, self.allowed)
        if isinstance(found, Blob):
            self._count(found, place)
            return replace(reference(found), url=url).as_json()
        if found is not None:
            message = f'Line {place.line:,}, "{place.column}": {found.message}'
            self._tell(found.code, f"{message} It stays a link.", place)
        return url

    def _note_what_is_no_medium(self, text: str, place: _Place) -> None:
        """Say what stands where a link or a medium belongs and is neither."""
        if place.name in _PATH_KEYS:
            name = text[:100].replace('"', "'")
            words = f'names the file "{name}", which was not uploaded.'
            self._note("file_not_uploaded", words, place)
        elif _SOURCE_NAME.search(place.name):
            words = "is no web link and no medium. It was kept as text."
            self._note("no_medium", words, place)

    def _known(self, ref: BlobRef, value: JSONObject, place: _Place) -> JSON:
        """A reference in the file itself: to the project's own media, else data.

        Whether the medium exists elsewhere makes no difference.
        """
        blob = self.find(ref.sha256)
        if blob is not None:
            return {**value, **reference(blob).as_json()}
        words = (
            "refers to a medium that is not in this project. It was kept as data under "
            'the name "blob".'
        )
        self._note("unknown_reference", words, place)
        return {"blob" if k == BLOB_KEY else k: item for k, item in value.items()}

    def _note(self, code: str, words: str, place: _Place) -> None:
        self._tell(code, f'Line {place.line:,}: "{place.column}" {words}', place)

    def _tell(self, code: str, message: str, place: _Place) -> None:
        line, column = place.line, place.column
        self.note(Problem(code, message, line, column=column, is_warning=True))


def links_in(values: JSONObject) -> list[str]:
    """The links of a row that `Extractor.pin` would be asked for, each once."""
    found: dict[str, None] = {}
    for column, value in values.items():
        found.update(dict.fromkeys(_links(value, _column(column, 0))))
    return list(found)


def _links(value: JSON, place: _Place) -> Iterator[str]:
    if isinstance(value, str):
        if place.is_named and _LINK.fullmatch(value):
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _links(item, place)
    elif isinstance(value, dict) and as_blob(value) is None:
        for key, item in value.items():
            yield from _links(item, place.below(key, value))


def reference(blob: Blob) -> BlobRef:
    return BlobRef(blob.sha256, blob.mime, blob.size)


def _column(name: str, line: int) -> _Place:
    return _Place(name, line, name, _is_media_name(name))


def _begins_like_medium(text: str) -> bool:
    head = decoded("".join(text[:1024].split())[:512])
    return head is not None and mime_of(head) != UNKNOWN


def _is_media_name(name: str) -> bool:
    return _MEDIA_NAME.search(name) is not None


def _is_media_type(mime: JSON) -> bool:
    return isinstance(mime, str) and mime.lower().startswith(("image/", "audio/"))


def _is_media_part(holder: JSONObject) -> bool:
    """A part of a message that is an image or a recording by its own word."""
    kind = holder.get("type")
    return isinstance(kind, str) and ("image" in kind or "audio" in kind)
