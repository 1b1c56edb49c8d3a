"""What a page shows of a value: cut on the server, media described, nothing lost.

A value that is not there, `null` and "" are told apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from assay.data.exact import dumps, loads, number_text
from assay.data.jsonx import JSON, JSONObject
from assay.data.profile import kind_of, messages_of
from assay.data.text import storable
from blobs.models import Blob
from blobs.queries import describe, with_media
from datasets.models import DatasetVersion, Row, RowChange
from workspace.formats import preview
from workspace.models import Project

MAX_TEXT = 100_000
LONG_WORD = 40
TABLE_COLUMNS = 4
TABLE_MEDIA = 2
_LINK = re.compile(r"https?://[^\s<>\"']{1,2000}")


@dataclass(slots=True)
class Cell:
    """`kind` is absent, null, empty, text, number, boolean, json, tools, chat, media.

    `text` is a short text for lists; `value` the whole value with media described.
    """

    column: str
    kind: str
    text: str = ""
    value: Any = None
    rest: int = 0

    @property
    def has_long_word(self) -> bool:
        """True when the text must be broken inside a word to fit a column."""
        return any(len(word) > LONG_WORD for word in self.text.split())

    @property
    def is_link(self) -> bool:
        """True when the whole text is an address of the web."""
        return self.kind == "text" and _LINK.fullmatch(self.value) is not None


@dataclass(slots=True)
class ShownRow:
    index: int
    cells: list[Cell]
    media_kinds: list[str] = field(default_factory=list)


def column_groups(version: DatasetVersion) -> list[list[str]]:
    """The columns in groups that fit a table: first the telling ones, then the rest.

    The first group has the first media and the first texts that are filled.
    """
    columns = version.columns
    if len(columns) <= TABLE_COLUMNS:
        return [[column["name"] for column in columns]]
    media = [c for c in columns if c["kind"] in ("image", "audio")][:TABLE_MEDIA]
    filled = [c for c in columns if c not in media and c["filled"]]
    chosen = [*filled[: TABLE_COLUMNS - len(media)], *media]
    first = [column["name"] for column in columns if column in chosen]
    rest = [column["name"] for column in columns if column not in chosen]
    size = TABLE_COLUMNS
    return [first, *(rest[i : i + size] for i in range(0, len(rest), size))]


def shown_rows(project: Project, rows: list[Row], columns: list[str]) -> list[ShownRow]:
    """Rows for a table or a preview. 1 query for all their media, none without."""
    values = {row.index: row.values for row in rows}
    wanted: list[JSON] = [
        value.get(column) for value in values.values() for column in columns
    ]
    described = describe(project, wanted)
    return [
        ShownRow(
            index,
            [_cell(column, value, index, described) for column in columns],
            sorted(_media_kinds(value, columns)),
        )
        for index, value in values.items()
    ]


def raw_row(index: int, values: JSONObject, columns: list[str]) -> ShownRow:
    """A row as it stands in a file, its media still text. No query."""
    return ShownRow(index, [_cell(column, values, index, {}) for column in columns])


def whole_row(project: Project, row: Row, columns: list[str]) -> list[Cell]:
    """Every column of one row, with whole values. 1 query for its media."""
    values = row.values
    described = describe(project, list(values.values()))
    return [_cell(column, values, row.index, described) for column in columns]


@dataclass(slots=True)
class ShownChange:
    """A row before and after. `before` or `after` is None for a row that comes or
    goes; `cells` are pairs of the columns that differ."""

    pk: int
    index: int
    new_index: int
    cells: list[tuple[Cell, Cell]]
    is_added: bool
    is_removed: bool


def shown_changes(
    version: DatasetVersion, changes: Sequence[RowChange]
) -> list[ShownChange]:
    """What unsaved changes do to the rows of `version`. 1 query, 1 for media."""
    wanted = [change.index for change in changes if change.index]
    rows = Row.objects.filter(version=version, index__in=wanted)
    before = {row.index: row.values for row in rows}
    pairs = [
        (
            (change.pk, change.index, 0),
            before.get(change.index, {}),
            _loaded(change.data),
        )
        for change in changes
    ]
    return _differences(version.dataset.project, pairs)


def compared_rows(
    old: DatasetVersion, new: DatasetVersion, places: Sequence[tuple[int, int]]
) -> list[ShownChange]:
    """Rows of two versions beside each other. 2 queries, 1 for media."""
    olds = Row.objects.filter(version=old, index__in=[o for o, _n in places if o])
    news = Row.objects.filter(version=new, index__in=[n for _o, n in places if n])
    before = {row.index: row.values for row in olds}
    after = {row.index: row.values for row in news}
    pairs = [((0, o, n), before.get(o, {}), after.get(n, {})) for o, n in places]
    return _differences(new.dataset.project, pairs)


def _differences(
    project: Project, pairs: list[tuple[tuple[int, int, int], JSONObject, JSONObject]]
) -> list[ShownChange]:
    described = describe(
        project, [v for _k, a, b in pairs for v in (*a.values(), *b.values())]
    )
    return [
        ShownChange(
            pk,
            index,
            new_index,
            [
                (
                    _cell(name, before, index, described),
                    _cell(name, after, index, described),
                )
                for name in dict.fromkeys([*before, *after])
                if name not in before
                or name not in after
                or dumps(before[name]) != dumps(after[name])
            ],
            is_added=not before,
            is_removed=not after,
        )
        for (pk, index, new_index), before, after in pairs
    ]


def _loaded(text: str) -> JSONObject:
    value = loads(text) if text else {}
    assert isinstance(value, dict)
    return value


def media_of(project: Project, values: JSONObject) -> dict[str, Cell]:
    """The cells of a row that are one medium, by their column. 1 query."""
    described = describe(project, list(values.values()))
    found = {name: _cell(name, values, 0, described) for name in values}
    return {name: cell for name, cell in found.items() if cell.kind == "media"}


def _cell(
    column: str, values: JSONObject, index: int, described: dict[str, dict[str, Any]]
) -> Cell:
    if column not in values:
        return Cell(column, "absent")
    value = values[column]
    if value is None:
        return Cell(column, "null")
    if isinstance(value, str):
        return _text_cell(column, value)
    if isinstance(value, bool):
        return Cell(column, "boolean", "true" if value else "false")
    if isinstance(value, int):
        return Cell(column, "number", str(value))
    if isinstance(value, float):
        return Cell(column, "number", number_text(value))
    kind = kind_of(value)
    shown = _clean(with_media(value, described))
    if isinstance(shown, dict) and set(shown) == {"url"} and kind != "json":
        shown = shown["url"]
    if isinstance(shown, dict) and "$blob" in shown:
        return Cell(column, "media", value=_named(shown, column, values, index))
    if kind == "chat":
        messages = messages_of(shown) or []
        return Cell(column, "chat", _last_words(messages), messages)
    return Cell(column, kind, preview(json.dumps(shown, ensure_ascii=False)), shown)


def _text_cell(column: str, value: str) -> Cell:
    if value == "":
        return Cell(column, "empty")
    text = _clean(value)
    rest = max(0, len(text) - MAX_TEXT)
    return Cell(column, "text", preview(text), text[:MAX_TEXT], rest)


def _named(
    media: dict[str, Any], column: str, values: JSONObject, index: int
) -> dict[str, Any]:
    """A medium with its alternative text and the place where it stands."""
    words = values.get("caption")
    place = {"column": column, "row": f"{index:,}"}
    has_words = isinstance(words, str) and words
    alt = _clean(words) if has_words else _("Image of row %(row)s") % place
    name = _("%(column)s of row %(row)s") % place
    is_image = media.get("kind") == Blob.Kind.IMAGE
    spoken = values.get("transcript")
    return {
        **media,
        "alt": alt[:300] if is_image else "",
        "name": name,
        "transcript": _clean(spoken) if isinstance(spoken, str) else "",
    }


def _last_words(messages: list[JSONObject]) -> str:
    """What the conversation is about: the last message with text of a user."""
    for message in reversed(messages):
        text = _content_text(message.get("content"))
        if message.get("role") == "user" and text:
            return preview(text)
    texts = [_content_text(message.get("content")) for message in messages]
    return preview(next((text for text in texts if text), _("No text")))


def _content_text(content: JSON) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return " ".join(text for text in texts if isinstance(text, str))


def _clean(value: Any) -> Any:
    """`value` without NUL and lone surrogates, which no page can carry."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value


def _media_kinds(values: JSONObject, columns: list[str]) -> set[str]:
    kinds = {kind_of(values.get(column)) for column in columns}
    return {kind for kind in kinds if kind in ("image", "audio", "chat")}
