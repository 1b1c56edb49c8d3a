"""Prompt templates: `{{item.column}}` is replaced, nothing else happens.

No logic, no attribute access, no evaluation. A value is put in as it is and never
read as a template again. Media become media parts in their place, conversations the
numbered turns that a judge reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.data import messages
from assay.data.chat import MediaPart, Part, TextPart
from assay.data.jsonx import JSON, dumps
from assay.data.media import as_blob
from assay.data.messages import is_messages
from assay.data.paths import MISSING, is_blank, resolve

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


def placeholders(template: str) -> list[str]:
    """The paths that `template` names, each once, in order."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


def only_placeholder(template: str) -> str | None:
    """The path when `template` is a single placeholder and nothing else."""
    match = _PLACEHOLDER.fullmatch(template.strip())
    return match.group(1) if match else None


def unclosed(template: str) -> int | None:
    """Line of a `{{` that is never closed (from 1), or None."""
    rest = _PLACEHOLDER.sub(lambda match: "\n" * match.group(0).count("\n"), template)
    position = rest.find("{{")
    return None if position < 0 else rest.count("\n", 0, position) + 1


def value_parts(value: JSON) -> tuple[Part, ...]:
    """What a value becomes inside a message. Nothing for null and absent values."""
    if value is None:
        return ()
    blob = as_blob(value)
    if blob is not None:
        return (MediaPart(blob),)
    if isinstance(value, str):
        return (TextPart(value),)
    if is_messages(value):
        return messages.render(messages.normalise(value))
    if isinstance(value, (list, tuple)) and any(as_blob(v) for v in value):
        return tuple(part for member in value for part in value_parts(member))
    return (TextPart(dumps(value)),)


def render(template: str, scope: Mapping[str, JSON]) -> tuple[Part, ...]:
    """The parts of a message. Neighbouring texts are joined into one part."""
    parts: list[Part] = []
    position = 0
    for match in _PLACEHOLDER.finditer(template):
        parts.append(TextPart(template[position : match.start()]))
        value = resolve(match.group(1), scope)
        if value is not MISSING and not is_blank(value):
            parts.extend(value_parts(value))
        position = match.end()
    parts.append(TextPart(template[position:]))
    return join_text(parts)


def join_text(parts: list[Part]) -> tuple[Part, ...]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, TextPart):
            if not part.text:
                continue
            if joined and isinstance(joined[-1], TextPart):
                joined[-1] = TextPart(joined[-1].text + part.text)
                continue
        joined.append(part)
    return tuple(joined)
