"""The conversation of a row: from the calls, a column of messages, or its texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assay.data.jsonx import JSONObject
from assay.data.media import BLOB_KEY
from datasets.cells import Cell
from evaluations.evidence import Evidence, cut, drawable, parts_of
from evaluations.models import Run

MISSING = ("absent", "null", "empty")
SPOKEN = "expected"
"""The column that says what is heard in the recording of its row."""


def mapped(run: Run, cells: Mapping[str, Cell], name: str) -> Cell | None:
    """The column that any criterion reads as the input `name`."""
    for mapping in run.mappings.values():
        path = mapping.get(name) or ""
        cell = cells.get(path.removeprefix("item."))
        if path.startswith("item.") and cell is not None and cell.kind not in MISSING:
            return cell
    return None


def conversation_of(
    run: Run,
    cells: Mapping[str, Cell],
    sample: JSONObject,
    target: Evidence | None,
) -> tuple[list[JSONObject], set[str]]:
    """Messages to draw, and the columns that they show."""
    if run.target.get("kind") != "dataset":
        return _generated(cells, sample, target)
    query, response = mapped(run, cells, "query"), mapped(run, cells, "response")
    chat = next((cell for cell in cells.values() if cell.kind == "chat"), None)
    opening = query or chat or _first_text(cells, but=response)
    used = {cell.column for cell in (opening, response) if cell is not None}
    messages = _as_messages(opening, "user")
    if messages and (opening is None or opening.kind != "chat"):
        media = [cell for cell in cells.values() if cell.kind == "media"]
        used |= {cell.column for cell in media}
        content = messages[0]["content"]
        assert isinstance(content, list)
        content.extend({"type": "media", "media": cell.value} for cell in media)
    if response is not None and response is not opening:
        messages += _as_messages(response, "assistant")
    return messages, used


def drawn_media(messages: Iterable[JSONObject]) -> Iterator[JSONObject]:
    """The media inside messages that are drawn."""
    for message in messages:
        for part in parts_of(message):
            medium = part.get("media")
            if isinstance(medium, dict):
                yield medium


def add_transcript(
    cells: Mapping[str, Cell], conversation: Iterable[JSONObject]
) -> bool:
    """Put what a recording says under it, where the row has it in words.

    True when a recording of the row has the column as its transcript.
    """
    words = cells.get(SPOKEN)
    own = [
        cell.value
        for cell in cells.values()
        if cell.kind == "media" and cell.value.get("kind") == "audio"
    ]
    if words is None or words.kind != "text" or len(own) != 1:
        return False
    sha = own[0].get(BLOB_KEY)
    sent = [one for one in drawn_media(conversation) if one.get(BLOB_KEY) == sha]
    for medium in (*own, *sent):
        medium["transcript"] = medium.get("transcript") or words.value
    return bool(own[0]["transcript"] == words.value)


def _first_text(cells: Mapping[str, Cell], *, but: Cell | None) -> Cell | None:
    texts = (c for c in cells.values() if c.kind in ("text", "media") and c is not but)
    return next(texts, None)


def _as_messages(cell: Cell | None, role: str) -> list[JSONObject]:
    if cell is None:
        return []
    if cell.kind == "chat":
        return drawable(cell.value, {})
    if cell.kind == "media":
        return [{"role": role, "content": []}]
    text = cell.value if cell.kind == "text" else cell.text
    part: JSONObject = {"type": "text", "text": cut(str(text))}
    return [{"role": role, "content": [part]}]


def _generated(
    cells: Mapping[str, Cell], sample: JSONObject, target: Evidence | None
) -> tuple[list[JSONObject], set[str]]:
    """What a model was sent and what it answered."""
    messages = (
        list(target.messages)
        if target
        else _as_messages(_first_text(cells, but=None), "user")
    )
    text = sample.get("output_text")
    if isinstance(text, str) and (text or sample.get("tool_calls")):
        answer: JSONObject = {"role": "assistant", "content": cut(text)}
        if sample.get("tool_calls"):
            answer["tool_calls"] = sample["tool_calls"]
        messages.append(answer)
    return messages, set()
