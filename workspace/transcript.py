"""Conversations and JSON values in the shape that the templates draw.

Both ways of writing tool calls are read: `tool_calls` beside the content, and
parts of kind `tool_call` / `tool_result` inside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from workspace.formats import filesize

Json = Any

MAX_DEPTH = 8
MAX_NODES = 400
MAX_TEXT = 2_000
OPEN_DEPTH = 2
OPEN_CHILDREN = 25
OPEN_CALLS = 2

ROLE_ICONS = {"user": "person", "assistant": "bot", "tool": "tool"}
TEXT_PARTS = ("text", "input_text", "output_text")


@dataclass
class Part:
    """One piece of a message: text, a medium, a tool call or plain JSON."""

    kind: str
    text: str = ""
    value: Json = None
    name: str = ""
    arguments: Json = None
    result: Json = None
    status: str = ""


@dataclass
class Turn:
    """One message with everything that is drawn under its role."""

    role: str
    label: str
    icon: str
    time: str = ""
    parts: list[Part] = field(default_factory=list)

    @property
    def is_instructions(self) -> bool:
        return self.role in ("system", "developer")

    @property
    def is_brief(self) -> bool:
        """Whether the calls of this turn are few enough to stand open."""
        return sum(part.kind == "call" for part in self.parts) <= OPEN_CALLS

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if part.kind == "text")

    @property
    def lines(self) -> str:
        count = len(self.text.splitlines()) or 1
        return ngettext("%(count)d line", "%(count)d lines", count) % {"count": count}


@dataclass
class Node:
    """One key of a JSON value. A branch has children, a leaf has text."""

    key: str | None
    kind: str
    text: str = ""
    note: str = ""
    is_open: bool = False
    children: list[Node] = field(default_factory=list)

    @property
    def is_branch(self) -> bool:
        return self.kind in ("object", "array")


def turns(messages: Json) -> list[Turn]:
    """Messages as turns, with each tool result put under its call."""
    if isinstance(messages, Mapping):
        messages = [messages]
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    drawn: list[Turn] = []
    calls: dict[str, Part] = {}
    for message in messages or ():
        if not isinstance(message, Mapping):
            drawn.append(
                Turn(
                    "user",
                    role_label("user"),
                    "person",
                    parts=[Part("text", str(message))],
                )
            )
            continue
        turn = turn_of(message)
        kept: list[Part] = []
        for part in turn.parts:
            if part.kind == "call":
                calls[part.text] = part
            elif part.kind == "result":
                call = calls.get(part.text)
                if call is not None:
                    call.result, call.status = part.result, part.status
                    continue
            kept.append(part)
        if kept or turn.role != "tool":
            turn.parts = kept
            drawn.append(turn)
    return merged(drawn)


def merged(drawn: Sequence[Turn]) -> list[Turn]:
    """An assistant that calls a tool and then answers is one speaker, once."""
    together: list[Turn] = []
    for turn in drawn:
        last = together[-1] if together else None
        if (
            last is not None
            and last.role == turn.role == "assistant"
            and any(part.kind == "call" for part in last.parts)
        ):
            last.parts.extend(turn.parts)
        else:
            together.append(turn)
    return together


def turn_of(message: Mapping[str, Json]) -> Turn:
    role = str(message.get("role") or "assistant")
    turn = Turn(
        role=role,
        label=role_label(role, str(message.get("name") or "")),
        icon=ROLE_ICONS.get(role, "settings"),
        time=str(message.get("time") or message.get("createdAt") or ""),
    )
    if role == "tool" and "tool_call_id" in message:
        content = message.get("content")
        results = [c for c in content or () if is_result(c)] if is_list(content) else []
        result = results[0].get("tool_result") if results else content
        turn.parts.append(result_part(str(message["tool_call_id"]), result))
        return turn
    turn.parts.extend(content_parts(message.get("content")))
    turn.parts.extend(call_part(call) for call in message.get("tool_calls") or ())
    return turn


def role_label(role: str, name: str = "") -> str:
    labels = {
        "user": _("User"),
        "assistant": _("Agent"),
        "system": _("Instructions"),
        "developer": _("Instructions"),
        "tool": _("Tool"),
    }
    return name or labels.get(role, role)


def content_parts(content: Json) -> Iterator[Part]:
    if content in (None, "", []):
        return
    if isinstance(content, str):
        yield Part("text", content)
    elif isinstance(content, Mapping):
        yield part_of(content)
    elif is_list(content):
        for piece in content:
            yield (
                part_of(piece)
                if isinstance(piece, Mapping)
                else Part("text", str(piece))
            )
    else:
        yield Part("json", value=content)


def part_of(piece: Mapping[str, Json]) -> Part:
    kind = piece.get("type")
    if kind in TEXT_PARTS or (kind is None and isinstance(piece.get("text"), str)):
        return Part("text", str(piece.get("text") or ""))
    if kind == "refusal":
        return Part("text", str(piece.get("refusal") or ""))
    if kind == "tool_call":
        return call_part(piece)
    if is_result(piece):
        return result_part(
            str(piece.get("tool_call_id") or ""), piece.get("tool_result")
        )
    blob = find_blob(piece)
    if blob is not None:
        return Part("media", value=blob)
    url = image_url(piece)
    if url:
        return Part("url", url)
    return Part("json", value=dict(piece))


def call_part(call: Json) -> Part:
    """A call in either style; arguments that are JSON text become a value."""
    if not isinstance(call, Mapping):
        return Part("text", text=str(call))
    inner = call.get("tool_call") or call
    if not isinstance(inner, Mapping):
        inner = call
    function = inner.get("function") or inner
    if not isinstance(function, Mapping):
        function = {"name": function}
    arguments = function.get("arguments")
    return Part(
        "call",
        text=str(call.get("tool_call_id") or inner.get("id") or ""),
        name=str(function.get("name") or _("Tool")),
        arguments=parsed(arguments),
    )


def result_part(call_id: str, result: Json) -> Part:
    value = parsed(result)
    failed = isinstance(value, Mapping) and bool(value.get("error"))
    status = "error" if failed else "returned"
    return Part("result", text=call_id, result=value, status=status)


def parsed(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_result(piece: object) -> bool:
    return isinstance(piece, Mapping) and (
        piece.get("type") == "tool_result" or "tool_result" in piece
    )


def find_blob(piece: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """The stored medium inside a part, at most three levels down."""
    level: list[Mapping[str, Json]] = [piece]
    for _depth in range(3):
        for candidate in level:
            if "$blob" in candidate:
                return candidate
        level = [v for c in level for v in c.values() if isinstance(v, Mapping)]
    return None


def image_url(piece: Mapping[str, Json]) -> str:
    place = piece.get("image_url")
    if isinstance(place, Mapping):
        place = place.get("url")
    return place if isinstance(place, str) else ""


def json_nodes(value: Json, name: str | None = None, note: str = "") -> list[Node]:
    """A JSON value as nodes, bounded in depth, number and length of text.

    With a name the whole value is one branch, and `note` replaces its count.
    """
    budget = [MAX_NODES]
    if name is None and isinstance(value, Mapping) and "$blob" not in value:
        return [
            node_of(str(k), v, 1, budget) for k, v in value.items() if budget[0] > 0
        ]
    root = node_of(name, value, 0, budget)
    root.note = note or root.note
    return [root]


def node_of(key: str | None, value: Json, depth: int, budget: list[int]) -> Node:
    budget[0] -= 1
    if isinstance(value, Mapping):
        if "$blob" in value:
            note = filesize(int(value.get("size") or 0))
            return Node(key, "media", text=str(value.get("mime") or ""), note=note)
        note = ngettext("%(count)d key", "%(count)d keys", len(value))
        return branch(key, "object", list(value.items()), note, depth, budget)
    if is_list(value):
        note = ngettext("%(count)d item", "%(count)d items", len(value))
        items = [(None, item) for item in value]
        return branch(key, "array", items, note, depth, budget)
    if isinstance(value, bool) or value is None:
        return Node(key, "bool", text=json.dumps(value))
    if isinstance(value, int | float):
        return Node(key, "number", text=json.dumps(value))
    text = str(value)
    note = ""
    if len(text) > MAX_TEXT:
        note = _("%(count)s more characters") % {"count": f"{len(text) - MAX_TEXT:,}"}
        text = f"{text[:MAX_TEXT]}…"
    return Node(key, "string", text=json.dumps(text, ensure_ascii=False), note=note)


def branch(
    key: str | None,
    kind: str,
    entries: Sequence[tuple[str | None, Json]],
    note: str,
    depth: int,
    budget: list[int],
) -> Node:
    node = Node(
        key,
        kind,
        note=note % {"count": len(entries)},
        is_open=depth < OPEN_DEPTH and len(entries) <= OPEN_CHILDREN,
    )
    if depth >= MAX_DEPTH:
        return node
    for position, (name, value) in enumerate(entries):
        if budget[0] <= 0:
            left = len(entries) - position
            node.children.append(
                Node(None, "more", note=_("%(count)d more") % {"count": left})
            )
            break
        node.children.append(node_of(name, value, depth + 1, budget))
    return node
