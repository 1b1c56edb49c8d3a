"""Values of a row as evaluators take them: as one text, or as parts for a judge."""

from __future__ import annotations

import json
from collections.abc import Iterable

from assay.data.chat import MediaPart, Part, TextPart
from assay.data.jsonx import JSON
from assay.data.media import BlobRef, as_blob
from assay.data.messages import (
    Message,
    ToolCall,
    ToolResult,
    compact,
    contents,
    final_text,
    is_messages,
    is_parts,
    last_user_text,
    normalise,
    readable,
    render,
)

# Of a conversation these metrics' inputs want one side's last words.
_USER_INPUTS = frozenset({"query"})
_AGENT_INPUTS = frozenset({"response", "ground_truth"})


def is_empty(value: JSON) -> bool:
    """Nothing to judge: null, blanks only, an empty list or object."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    if is_messages(value):
        return all(message.is_blank for message in normalise(value))
    if isinstance(value, (list, tuple)):
        return all(is_empty(item) for item in value)
    if isinstance(value, dict):
        return not value
    return False


def input_text(value: JSON, *, name: str = "response") -> str:
    """`value` as the text that a metric's input `name` compares.

    Texts stay as they are; numbers and booleans give their JSON text; a list of
    texts is joined by blank lines. Of messages, `query` takes the user's last text,
    `response` and `ground_truth` the assistant's last text, any other input the
    whole conversation. Other values give compact JSON. Null and empty lists give "".
    """
    if isinstance(value, str):
        return value
    if is_empty(value):
        return ""
    if is_messages(value):
        return _messages_text(normalise(value), name)
    return "".join(
        part.text if isinstance(part, TextPart) else f"[{part.ref.kind}]"
        for part in input_parts(value)
    )


def _messages_text(messages: list[Message], name: str) -> str:
    if name in _USER_INPUTS:
        return last_user_text(messages)
    if name in _AGENT_INPUTS:
        return final_text(messages)
    parts = render(messages)
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def input_parts(value: JSON) -> tuple[Part, ...]:
    """`value` as a judge reads it: text, with media in the places where they stand."""
    if is_messages(value):
        return render(normalise(value))
    if is_parts(value) or as_blob(value) is not None:
        return _merged(_separated(_content_pieces(value), "\n"))
    if isinstance(value, str):
        return (TextPart(readable(value)),) if value else ()
    if isinstance(value, (list, tuple)) and value and all(map(_is_plain, value)):
        return _merged(_separated([as_blob(v) or str(v) for v in value], "\n\n"))
    return _merged(_json_pieces(value)) if value is not None else ()


def _is_plain(value: JSON) -> bool:
    return isinstance(value, str) or as_blob(value) is not None


def _content_pieces(value: JSON) -> list[str | BlobRef]:
    pieces: list[str | BlobRef] = []
    for content in contents(value):
        if isinstance(content, MediaPart):
            pieces.append(content.ref)
        elif isinstance(content, TextPart):
            pieces.append(content.text)
        else:
            pieces.extend(_tool_pieces(content))
    return pieces


def _tool_pieces(content: ToolCall | ToolResult) -> list[str | BlobRef]:
    parts = render([Message("assistant", (content,))])
    # Without its heading: a lone tool part is not a turn of a conversation.
    return [
        part.ref if isinstance(part, MediaPart) else part.text.partition("\n")[2]
        for part in parts
    ]


def _separated(pieces: list[str | BlobRef], separator: str) -> Iterable[str | BlobRef]:
    for index, piece in enumerate(pieces):
        if index:
            yield separator
        yield piece


def _json_pieces(value: JSON) -> Iterable[str | BlobRef]:
    """Compact JSON text, cut where a stored medium stands."""
    blob = as_blob(value)
    if blob is not None:
        yield blob
    elif isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield f"{',' if index else ''}{json.dumps(key, ensure_ascii=False)}:"
            yield from _json_pieces(item)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for index, item in enumerate(value):
            if index:
                yield ","
            yield from _json_pieces(item)
        yield "]"
    else:
        yield compact(value)


def _merged(pieces: Iterable[str | BlobRef]) -> tuple[Part, ...]:
    """Neighbouring texts as one part."""
    parts: list[Part] = []
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if texts:
            parts.append(TextPart(readable("".join(texts))))
            texts = []
        parts.append(MediaPart(piece))
    if texts:
        parts.append(TextPart(readable("".join(texts))))
    return tuple(parts)
