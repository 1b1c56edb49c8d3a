"""Values of a row as the wizard shows them."""

from __future__ import annotations

from typing import Any

from assay.data.chat import ChatRequest, TextPart
from assay.data.jsonx import JSON, JSONObject
from assay.data.paths import MISSING, Missing, resolve
from blobs.queries import describe, with_media
from evaluations.previews import output_preview
from workspace.models import Project


def short(value: JSON | Missing) -> str:
    """The beginning of a value; empty when there is none."""
    return "" if value is MISSING else output_preview(value)


def at(path: str | None, item: JSONObject, sample: JSONObject) -> JSON | Missing:
    return resolve(path, {"item": item, "sample": sample}) if path else MISSING


def described(project: Project, value: JSON) -> Any:
    """`value` with its media references filled in for the pages, in one query."""
    return with_media(value, describe(project, [value]))


def shown_messages(project: Project, request: ChatRequest) -> list[dict[str, Any]]:
    """The messages of a request for the conversation view."""
    messages: list[JSON] = []
    for message in request.messages:
        content: list[JSON] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                content.append({"type": "text", "text": part.text})
            elif part.ref.kind == "audio":
                audio: JSON = {"data": part.ref.as_json()}
                content.append({"type": "input_audio", "input_audio": audio})
            else:
                url: JSON = {"url": part.ref.as_json()}
                content.append({"type": "image_url", "image_url": url})
        messages.append({"role": message.role, "content": content})
    shown: list[dict[str, Any]] = described(project, messages)
    return shown
