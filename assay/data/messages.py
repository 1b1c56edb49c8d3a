"""Chat messages found in rows: read in either wire style, written out for a judge.

Roles come from the structure only. Text is carried as text: a line such as
"system:" inside a message stays a line of that message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from assay.data.chat import MediaPart, Part, TextPart
from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BlobRef, as_blob

MessageRole = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: JSON
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back: text and media as they came, other values as JSON."""

    parts: tuple[Part, ...]
    id: str = ""


Content: TypeAlias = TextPart | MediaPart | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Message:
    role: MessageRole
    content: tuple[Content, ...]

    @property
    def is_blank(self) -> bool:
        return all(isinstance(c, TextPart) and not c.text.strip() for c in self.content)

    @property
    def text(self) -> str:
        """The text parts alone, one below the other."""
        texts = [c.text for c in self.content if isinstance(c, TextPart)]
        return "\n".join(text for text in texts if text.strip())


_ROLES: Mapping[str, MessageRole] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
}
# Items of the Responses API that carry no role.
_CALL_TYPES = frozenset({"function_call", "tool_call", "openapi_call", "mcp_call"})
_RESULT_TYPES = frozenset(
    {"function_call_output", "tool_result", "openapi_call_output", "mcp_call_output"}
)
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_MEDIA_KEYS = ("image_url", "input_audio", "audio", "image", "file", "audio_url")
# Also members of parts that other APIs write: Messages and Gemini; files by name.
_SOURCE_KEYS = ("source", "inline_data", "inlineData", "image_file", "audio_file")
_TYPE_KEYS = ("media_type", "mime_type", "mimeType")
_INNER_KEYS = ("url", "data", "file_data", "path", "file_id")
_PART_TYPES = (
    _TEXT_TYPES
    | _CALL_TYPES
    | _RESULT_TYPES
    | {*_MEDIA_KEYS, "input_image", "input_file", "output_audio"}
    | {"image_file", "audio_file", "document"}
)


def readable(text: str) -> str:
    """`text` without half characters, which no request can carry."""
    return text if text.isascii() else _HALF_CHARACTER.sub("\ufffd", text)


def compact(value: JSON) -> str:
    """JSON text for people and models: short, its letters as they are."""
    return readable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def is_messages(value: JSON) -> bool:
    """True for a list of messages, also inside an object's `messages`."""
    items = _items(value)
    if not items or not all(isinstance(item, dict) for item in items):
        return False
    kinds = [_kind(cast("JSONObject", item)) for item in items]
    return "message" in kinds and None not in kinds


def _items(value: JSON) -> Sequence[JSON] | None:
    if isinstance(value, dict) and set(value) <= {"messages", "conversation", "id"}:
        value = value.get("messages") or value.get("conversation")
    return value if isinstance(value, (list, tuple)) else None


def _kind(item: JSONObject) -> str | None:
    role = item.get("role")
    if isinstance(role, str) and role.lower() in _ROLES:
        has_body = "content" in item or "tool_calls" in item
        return "message" if has_body else None
    if role is None and _type(item) in _CALL_TYPES | _RESULT_TYPES:
        return "item"
    # Thoughts and bookkeeping of the Responses API are not part of the talk.
    return "other" if role is None and _type(item) == "reasoning" else None


def _type(item: JSONObject) -> str:
    return _text(item.get("type"))


def is_parts(value: JSON) -> bool:
    """True for a list of content parts such as `{"type": "text", "text": …}`.

    Stored media may stand among them as they are.
    """
    if not isinstance(value, (list, tuple)):
        return False
    typed = [isinstance(v, dict) and _type(v) in _PART_TYPES for v in value]
    return any(typed) and all(
        is_typed or as_blob(v) is not None
        for is_typed, v in zip(typed, value, strict=True)
    )


def normalise(value: JSON) -> list[Message]:
    """The messages in `value`. Raises `ValueError` if `is_messages` says no."""
    if not is_messages(value):
        raise ValueError("This is not a list of messages.")
    return [
        message
        for item in _items(value) or ()
        if isinstance(item, dict) and (message := _message(item)) is not None
    ]


def _message(item: JSONObject) -> Message | None:
    role = item.get("role")
    if not isinstance(role, str):
        kind = _type(item)
        if kind in _CALL_TYPES:
            return Message("assistant", (_tool_call(item),))
        return Message("tool", (_tool_result(item),)) if kind in _RESULT_TYPES else None
    name = _ROLES[role.lower()]
    content = tuple(contents(item.get("content")))
    if name == "tool":
        if not any(isinstance(c, ToolResult) for c in content):
            content = (ToolResult(_plain(content), _text(item.get("tool_call_id"))),)
        return Message(name, content)
    calls = item.get("tool_calls")
    if isinstance(calls, (list, tuple)):
        content += tuple(_tool_call(call) for call in calls if isinstance(call, dict))
    return Message(name, content)


def contents(value: JSON) -> Iterator[Content]:
    """The parts of a message's content, whichever style they are written in."""
    if value is None:
        return
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from contents(part)
    elif isinstance(value, dict):
        yield _part(value)
    else:
        yield TextPart(readable(value) if isinstance(value, str) else compact(value))


def _part(part: JSONObject) -> Content:
    blob = as_blob(part)
    if blob is not None:
        return MediaPart(blob)
    kind = _type(part)
    if kind in _CALL_TYPES:
        return _tool_call(part)
    if kind in _RESULT_TYPES:
        return _tool_result(part)
    for key in ("text", "refusal"):
        text = part.get(key)
        if kind in _TEXT_TYPES and isinstance(text, str):
            return TextPart(readable(text))
    for key in (*_MEDIA_KEYS, *_SOURCE_KEYS):
        if key in part:
            return _medium(part[key], f"{kind} {key}")
    if not kind and isinstance(part.get("text"), str) and len(part) == 1:
        return TextPart(readable(_text(part["text"])))
    mark = f"[unknown part: {readable(kind)}] " if kind else ""
    return TextPart(mark + compact(part))


def _medium(value: JSON, name: str) -> Part:
    """A stored medium; an address or a file's name is told and never opened."""
    inner, key = value, ""
    if isinstance(value, dict) and as_blob(value) is None:
        key = next((k for k in _INNER_KEYS if k in value), "")
        inner = value.get(key, "")
        name = " ".join((name, *(_text(value.get(k)) for k in _TYPE_KEYS)))
    blob = as_blob(inner)
    if blob is not None:
        return MediaPart(blob)
    word = next((w for w in ("audio", "image") if w in name), "file")
    if isinstance(inner, str) and "://" in inner[:12]:
        return TextPart(f"[{word}: {readable(inner)}]")
    if isinstance(inner, str) and key in ("path", "file_id"):
        return TextPart(f"[{word}: file {readable(inner)} was not uploaded]")
    return TextPart(f"[{word}: not stored]")


def _tool_call(part: JSONObject) -> ToolCall:
    inner = part
    for key in ("tool_call", "function"):
        nested = inner.get(key)
        if isinstance(nested, dict):
            inner = nested
    arguments = inner.get("arguments", inner.get("input", {}))
    if isinstance(arguments, str):
        # Some models write arguments that are not JSON: they are shown as they are.
        with suppress(ValueError, RecursionError):
            arguments = cast("JSON", json.loads(arguments))
    call_id = part.get("tool_call_id") or part.get("call_id") or part.get("id")
    return ToolCall(_text(inner.get("name")) or "unnamed", arguments, _text(call_id))


def _tool_result(part: JSONObject) -> ToolResult:
    keys = ("tool_result", "output", "content", "result")
    value = next((part[key] for key in keys if key in part), None)
    call_id = _text(part.get("tool_call_id") or part.get("call_id"))
    return ToolResult(_plain(tuple(contents(value))), call_id)


def _plain(content: Iterable[Content]) -> tuple[Part, ...]:
    return tuple(
        part if isinstance(part, (TextPart, MediaPart)) else TextPart(tool_line(part))
        for part in content
    )


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _arguments(value: JSON) -> str:
    if not isinstance(value, dict):
        return compact(value)
    return ", ".join(f"{key}={compact(item)}" for key, item in value.items())


def tool_line(content: ToolCall | ToolResult) -> str:
    if isinstance(content, ToolCall):
        return f"[TOOL_CALL] {content.name}({_arguments(content.arguments)})"
    texts = [part.text for part in content.parts if isinstance(part, TextPart)]
    return f"[TOOL_RESULT] {' '.join(texts)}"


_HEADINGS = {"system": "System prompt:", "developer": "Developer instructions:"}
_INDENT = "  "


def render(messages: Sequence[Message]) -> tuple[Part, ...]:
    """The conversation as a judge reads it: numbered turns, media in their places.

    Consecutive messages of one side are one turn; tool calls and their results
    belong to the agent's. Contents are indented, so that a line of data that reads
    like a heading does not stand where headings stand.
    """
    writer = _Writer()
    turns = {"User": 0, "Agent": 0}
    speaker = ""
    for message in messages:
        side = message.role
        if side in _HEADINGS:
            speaker = ""
            writer.line(_HEADINGS[side])
        else:
            now = "User" if side == "user" else "Agent"
            if now != speaker:
                speaker = now
                turns[now] += 1
                writer.line(f"{now} turn {turns[now]}:")
        for content in message.content:
            writer.content(content)
    return writer.parts()


class _Writer:
    """Collects lines of text and the media between them."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._lines: list[str] = []

    def line(self, text: str) -> None:
        self._lines.append(text)

    def indented(self, text: str) -> None:
        self._lines.extend(_INDENT + line for line in text.splitlines() or [""])

    def medium(self, ref: BlobRef) -> None:
        self._flush()
        self._parts.append(MediaPart(ref))

    def content(self, content: Content) -> None:
        if isinstance(content, MediaPart):
            self.medium(content.ref)
        elif isinstance(content, TextPart):
            self.indented(content.text)
        else:
            self.indented(tool_line(content))
            if isinstance(content, ToolResult):
                for part in content.parts:
                    if isinstance(part, MediaPart):
                        self.medium(part.ref)

    def _flush(self) -> None:
        if self._lines:
            self._parts.append(TextPart("\n".join(self._lines) + "\n"))
            self._lines = []

    def parts(self) -> tuple[Part, ...]:
        self._flush()
        if self._parts and isinstance(self._parts[-1], TextPart):
            self._parts[-1] = TextPart(self._parts[-1].text.rstrip("\n"))
        return tuple(self._parts)


def final_text(messages: Sequence[Message]) -> str:
    """The text of the last message of the assistant that has any, else ""."""
    return _last_text(messages, "assistant")


def last_user_text(messages: Sequence[Message]) -> str:
    """The text of the last message of the user that has any, else ""."""
    return _last_text(messages, "user")


def _last_text(messages: Sequence[Message], role: MessageRole) -> str:
    texts = (m.text for m in reversed(messages) if m.role == role)
    return next((text for text in texts if text), "")
