"""Our messages in the form of the chat completions API, and its answers back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from assay.data.chat import ChatMessage, ChatRequest, MediaPart, Part, TextPart
from assay.data.media import BlobRef

Encode = Callable[[BlobRef], str]
_SURROGATE = re.compile("[\ud800-\udfff]")
AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/mp4": "m4a",
}


def message_body(message: ChatMessage, encode: Encode) -> dict[str, Any]:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": sendable("".join(texts))}
    content = [_part_body(part, encode) for part in message.parts]
    return {"role": message.role, "content": content}


def _part_body(part: Part, encode: Encode) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": sendable(part.text)}
    ref = part.ref
    if ref.kind == "image":
        url = f"data:{ref.mime};base64,{encode(ref)}"
        return {"type": "image_url", "image_url": {"url": url}}
    if ref.kind == "audio":
        form = AUDIO_FORMATS.get(ref.mime, ref.mime.partition("/")[2])
        return {
            "type": "input_audio",
            "input_audio": {"data": encode(ref), "format": form},
        }
    return {"type": "text", "text": f"[file of type {ref.mime}, {ref.size} bytes]"}


def sendable(text: str) -> str:
    """`text` without lone surrogates, which no encoding can carry."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def by_name(ref: BlobRef) -> str:
    """Stands for the bytes in what is kept of a request."""
    return f"blob:{ref.sha256}"


def media_of(messages: Iterable[ChatMessage]) -> set[BlobRef]:
    return {
        part.ref
        for message in messages
        for part in message.parts
        if isinstance(part, MediaPart)
    }


def without_media(
    messages: tuple[ChatMessage, ...], unreadable: set[str]
) -> tuple[ChatMessage, ...]:
    """The kinds that a model is known not to read are named instead of sent."""

    def replace(part: Part) -> Part:
        if isinstance(part, MediaPart) and part.ref.kind in unreadable:
            note = f"[{part.ref.kind} of type {part.ref.mime}, not readable by you]"
            return TextPart(note)
        return part

    return tuple(
        ChatMessage(m.role, tuple(replace(part) for part in m.parts)) for m in messages
    )


def parameters(request: ChatRequest, refused: set[str]) -> dict[str, Any]:
    """Everything but the messages; parameters that the model refuses are left out."""
    body: dict[str, Any] = {}
    for name in ("temperature", "top_p", "seed"):
        value = getattr(request, name)
        if value is not None and name not in refused:
            body[name] = value
    if request.max_tokens is not None:
        for name in ("max_tokens", "max_completion_tokens"):
            if name not in refused:
                body[name] = request.max_tokens
                break
    form = _response_format(request, refused)
    if form:
        body["response_format"] = form
    return body


def _response_format(request: ChatRequest, refused: set[str]) -> dict[str, Any] | None:
    """JSON Schema, else JSON mode, else nothing: what the model has not refused."""
    if request.schema is None:
        return None
    if "json_schema" not in refused:
        schema = {"name": "verdict", "strict": True, "schema": request.schema}
        return {"type": "json_schema", "json_schema": schema}
    return None if "json_object" in refused else {"type": "json_object"}
