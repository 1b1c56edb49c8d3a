"""What was sent to a model and what came back, ready to be drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from assay.data.jsonx import JSON, JSONObject, loads
from assay.data.media import BLOB_KEY
from blobs.queries import describe
from targets.models import Completion
from workspace.models import Project

BLOB = re.compile(r"blob:([0-9a-f]{64})$")
MOST_TEXT = 20_000
"""Characters of one text that a page carries; the raw JSON has all of it."""


@dataclass(slots=True)
class Evidence:
    """One call: the messages that were sent and the answer as it came."""

    messages: list[JSONObject]
    answer: str
    model: str
    tokens: int
    cost: float | None
    seconds: float


def evidence_of(call: Completion, media: Mapping[str, JSONObject]) -> Evidence:
    request, response = _object(call.request), _object(call.response)
    messages = request.get("messages")
    answer = response.get("content") or response.get("refusal") or ""
    return Evidence(
        messages=drawable(messages if isinstance(messages, list) else [], media),
        answer=cut(answer if isinstance(answer, str) else str(answer)),
        model=str(response.get("model") or request.get("model") or ""),
        tokens=call.prompt_tokens + call.completion_tokens,
        cost=call.cost,
        seconds=call.latency_ms / 1000,
    )


def _object(text: str) -> JSONObject:
    try:
        value = loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def cut(text: str) -> str:
    """A text that a page can carry, with how much is missing."""
    if len(text) <= MOST_TEXT:
        return text
    rest = _("… %(count)s more characters") % {"count": f"{len(text) - MOST_TEXT:,}"}
    return f"{text[:MOST_TEXT]} {rest}"


def drawable(
    messages: Iterable[JSON], media: Mapping[str, JSONObject]
) -> list[JSONObject]:
    """Messages as they were sent, with their media described and long texts cut."""
    drawn = []
    for message in messages:
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        if isinstance(content, str):
            content = cut(content)
        elif isinstance(content, list):
            content = [_part(part, media) for part in content]
        drawn.append({**message, "content": content})
    return drawn


def _part(part: JSON, media: Mapping[str, JSONObject]) -> JSON:
    if not isinstance(part, dict):
        return part
    sha = _sha_of(part)
    if sha:
        known = media.get(sha)
        if known is None:
            return {"type": "text", "text": _("Media not available.")}
        return {"type": "media", "media": known}
    text = part.get("text")
    return {**part, "text": cut(text)} if isinstance(text, str) else part


def _sha_of(part: JSONObject) -> str:
    """The hash of a medium that stands by name inside a part, or nothing."""
    image, audio = part.get("image_url"), part.get("input_audio")
    name = image.get("url") if isinstance(image, dict) else None
    name = audio.get("data") if isinstance(audio, dict) else name
    found = BLOB.search(name) if isinstance(name, str) else None
    return found.group(1) if found else ""


def media_in(
    project: Project, calls: Iterable[Completion]
) -> Mapping[str, dict[str, Any]]:
    """Descriptions of the media that calls name. 1 query, none without media."""
    parts = [
        part
        for call in calls
        for message in _messages(call)
        for part in parts_of(message)
    ]
    hashes = {sha for part in parts if (sha := _sha_of(part))}
    references: list[JSON] = [
        {BLOB_KEY: sha, "mime": "", "size": 0} for sha in sorted(hashes)
    ]
    return describe(project, references)


def _messages(call: Completion) -> list[JSONObject]:
    messages = _object(call.request).get("messages")
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, dict)]


def parts_of(message: JSONObject) -> list[JSONObject]:
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [part for part in content if isinstance(part, dict)]
