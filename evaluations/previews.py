"""The beginnings of rows and answers, for lists."""

from __future__ import annotations

from collections.abc import Sequence

from assay.data.jsonx import JSON, JSONObject, dumps
from assay.data.media import as_blob
from assay.data.paths import MISSING, resolve
from assay.data.text import storable

LENGTH = 200
INPUT_NAMES = ("query", "question", "prompt", "input", "messages", "caption")


def input_preview(item: JSONObject, paths: Sequence[str] = ()) -> str:
    """What was asked: the first of `paths` that the row has, even when it is empty.

    Without one of them, a column with a usual name, else the first text of the row.
    """
    for path in paths:
        value = resolve(path, {"item": item})
        if value is not MISSING:
            return output_preview(value)
    folded = {name.casefold(): value for name, value in item.items()}
    for name in INPUT_NAMES:
        if folded.get(name):
            return output_preview(folded[name])
    for value in item.values():
        if isinstance(value, str) and value.strip():
            return output_preview(value)
    return ""


def output_preview(value: JSON) -> str:
    """At most 200 characters on one line."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and value and isinstance(value[-1], dict):
        text = _message_text(value)
    else:
        text = "" if as_blob(value) else dumps(value)
    flat = " ".join(storable(text[: LENGTH * 4]).split())
    return flat if len(flat) <= LENGTH else flat[: LENGTH - 1] + "…"


def _message_text(messages: list[JSON]) -> str:
    """The last text in a list of chat messages."""
    for message in reversed(messages):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str) and content.strip():
            return content
        for part in content if isinstance(content, list) else ():
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str) and text.strip():
                return text
    return dumps(messages)
