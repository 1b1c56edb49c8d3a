"""Findings about pictures and sound: damaged ones, and links in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from assay.data.checkup.kinds import Finding, FindingKind
from assay.data.checkup.texts import excerpt
from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BLOB_KEY
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _

_LINK = _("A link to %(host)s")
_PARTS = ("image_url", "input_image", "image", "input_audio", "audio", "audio_url")
_ADDRESS_KEYS = ("url", "data", "image_url", "file_url")


def broken(
    row: int, values: JSONObject, problems: Mapping[str, str]
) -> Iterator[Finding]:
    """One finding per column and damaged medium; `problems`: sha256 → sentence."""
    placed: set[str] = set()
    for name, value in values.items():
        for sha256 in _blobs(value) & problems.keys():
            placed.add(sha256)
            yield _broken(row, name, problems[sha256])
    for sha256, problem in problems.items():
        if sha256 not in placed:
            yield _broken(row, None, problem)


def _broken(row: int, column: str | None, problem: str) -> Finding:
    return Finding(FindingKind.BROKEN_MEDIUM, row, column, Sentence(problem))


def _blobs(value: JSON) -> set[str]:
    found: set[str] = set()
    stack: list[JSON] = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            sha256 = current.get(BLOB_KEY)
            if isinstance(sha256, str):
                found.add(sha256)
            stack.extend(current.values())
        elif isinstance(current, (list, tuple)):
            stack.extend(current)
    return found


def link(value: JSON, *, is_media_column: bool) -> Sentence | None:
    """The first link that stands where a picture or sound belongs."""
    stack: list[tuple[JSON, bool]] = [(value, is_media_column)]
    while stack:
        current, is_medium = stack.pop()
        if isinstance(current, str):
            if is_medium and current[:8].lower().startswith(("http://", "https://")):
                return Sentence(_LINK, {"host": _host(current)})
        elif isinstance(current, dict) and BLOB_KEY not in current:
            stack.extend(_members(current, is_media_column=is_medium))
        elif isinstance(current, (list, tuple)):
            stack.extend((item, is_medium) for item in reversed(current))
    return None


def _members(
    value: JSONObject, *, is_media_column: bool
) -> Iterator[tuple[JSON, bool]]:
    is_part = value.get("type") in _PARTS
    for key, member in value.items():
        is_medium = (
            (is_part and key in (*_PARTS, "source", "url"))
            or (is_media_column and key in _ADDRESS_KEYS)
            or (key == "image_url" and "text" not in value)
        )
        yield member, is_medium


def _host(address: str) -> str:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        host = None
    return excerpt(host or address)
