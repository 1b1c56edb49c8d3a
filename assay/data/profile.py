"""What the columns of a table hold, found while the rows stream by."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import as_blob

Kind = Literal[
    "text",
    "number",
    "boolean",
    "json",
    "chat",
    "tools",
    "image",
    "audio",
    "mixed",
    "empty",
]
SAMPLE_CHARACTERS = 80
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def kind_of(value: JSON) -> Kind:
    """What one value is. `null` and "" are empty."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if (ref := as_blob(_unwrapped(value))) is not None:
        return "json" if ref.kind == "other" else ref.kind
    if is_chat(value):
        return "chat"
    return "tools" if is_tools(value) else "json"


def messages_of(value: JSON) -> list[JSONObject] | None:
    """The messages of a conversation: an array, or an object that holds `messages`."""
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, (list, tuple)) or not value:
        return None
    messages = [m for m in value if isinstance(m, dict) and _has_role(m)]
    return messages if len(messages) == len(value) else None


def _has_role(message: JSONObject) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role in ROLES


def is_chat(value: JSON) -> bool:
    messages = messages_of(value)
    keys = {"content", "tool_calls", "function_call"}
    return messages is not None and all(keys & m.keys() for m in messages)


def is_tools(value: JSON) -> bool:
    """A list of tool definitions: name with description or parameters."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(item, dict) and _is_tool(item) for item in value)


def _is_tool(item: JSONObject) -> bool:
    inner = item.get("function")
    tool = inner if isinstance(inner, dict) else item
    return isinstance(tool.get("name"), str) and bool(
        {"parameters", "description", "input_schema"} & tool.keys()
    )


def _unwrapped(value: JSON) -> JSON:
    """`{"url": …}` of an image column is its url."""
    if isinstance(value, dict) and set(value) == {"url"}:
        return value["url"]
    return value


def sample_text(value: JSON) -> str:
    """A short text of `value` for lists."""
    if isinstance(value, str):
        text = value
    elif (ref := as_blob(_unwrapped(value))) is not None:
        text = ref.mime
    else:
        text = json.dumps(value, ensure_ascii=False)
    text = " ".join(text[:400].split())
    if len(text) > SAMPLE_CHARACTERS:
        text = text[: SAMPLE_CHARACTERS - 1] + "…"
    return text.replace("\0", "").encode("utf-8", "replace").decode()


@dataclass(slots=True)
class _Column:
    """`is_known_text` is true when one more text changes nothing but its number."""

    filled: int = 0
    kinds: set[Kind] = field(default_factory=set)
    has_links_only: bool = True
    sample: str = ""
    is_known_text: bool = False

    def take(self, value: JSON) -> Kind:
        kind = kind_of(value)
        if kind == "empty":
            return kind
        self.filled += 1
        self.kinds.add(kind)
        if kind == "text" and self.has_links_only:
            self.has_links_only = _is_link(value)
        if not self.sample:
            self.sample = sample_text(value)
        is_text = "text" in self.kinds
        self.is_known_text = is_text and not self.has_links_only and self.sample != ""
        return kind


class Profiler:
    """Give it every row with `add`; then `columns` tells about each column."""

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}

    def add(self, values: JSONObject) -> set[Kind]:
        """The kinds found in this row."""
        found: set[Kind] = set()
        columns = self._columns
        has_known_text = False
        for name, value in values.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = _Column()
            if column.is_known_text and type(value) is str:
                column.filled += value != ""
                has_known_text = has_known_text or value != ""
            else:
                found.add(column.take(value))
        if has_known_text:
            found.add("text")
        found.discard("empty")
        return found

    def columns(self) -> list[JSONObject]:
        """`{name, kind, filled, sample}` in the order in which columns appeared."""
        return [
            {
                "name": name,
                "kind": _kind_of_column(column),
                "filled": column.filled,
                "sample": column.sample,
            }
            for name, column in self._columns.items()
        ]


def _kind_of_column(column: _Column) -> Kind:
    kinds = set(column.kinds)
    if kinds & {"image", "audio"} and column.has_links_only:
        kinds.discard("text")
    if kinds == {"json", "chat"} or kinds == {"json", "tools"}:
        return "json"
    if len(kinds) > 1:
        return "mixed"
    return next(iter(kinds), "empty")


def _is_link(value: JSON) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))
