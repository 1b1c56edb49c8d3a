"""The form of one row: every cell as text that a person can change.

Text cells are text; everything else is JSON with all its digits. What a person did not
touch stays exactly as it was, whatever a browser does to line breaks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from assay.data.exact import dumps as exact_dumps
from assay.data.exact import loads
from assay.data.jsonx import JSON, JSONObject
from assay.data.media import as_blob
from assay.data.text import storable
from blobs import store
from datasets.media import reference
from workspace.formats import filesize
from workspace.models import Project

ABSENT = object()
STATES = ("value", "null", "absent")
TAKE_MEDIA = ("image", "audio", "mixed", "empty")


@dataclass(slots=True)
class Cell:
    """One field. `state` is one of `STATES`; `is_json` says how `text` is read."""

    column: str
    position: int
    value: Any
    is_json: bool
    text: str
    state: str
    takes_media: bool = False
    error: str = ""

    @property
    def is_media(self) -> bool:
        return self.value is not ABSENT and as_blob(self.value) is not None

    @property
    def rows(self) -> int:
        """Lines that the field shows."""
        lines = self.text.count("\n") + len(self.text) // 80 + 1
        return min(max(lines, 1 if not self.is_json else 3), 16)


class RowForm:
    """The cells of a row, for `project`. `columns` are those of the version."""

    def __init__(
        self, project: Project, columns: list[JSONObject], values: JSONObject
    ) -> None:
        self.project = project
        kinds = {str(column["name"]): str(column["kind"]) for column in columns}
        names = list(dict.fromkeys([*values, *kinds]))
        self.cells = []
        for at, name in enumerate(names):
            kind = kinds.get(name, "text")
            cell = _cell(name, at, values.get(name, ABSENT), kind)
            cell.takes_media = cell.is_media or kind in TAKE_MEDIA
            self.cells.append(cell)
        self.values: JSONObject = {}

    def read(self, data: Mapping[str, Any], files: Mapping[str, Any]) -> bool:
        """Take what a person sent. True when it is a row; `values` is the row then.

        Otherwise each cell that is wrong has its `error`, and keeps the text."""
        for cell in self.cells:
            self._read(cell, data, files)
        self.values = {
            c.column: None if c.state == "null" else c.value
            for c in self.cells
            if c.state != "absent"
        }
        if not self.values and not self.has_errors:
            self.cells[0].error = _("A row needs at least one value.")
        if not self.has_errors and self._size() > settings.MAX_ROW_BYTES:
            limit = filesize(settings.MAX_ROW_BYTES)
            largest = max(self.cells, key=lambda cell: len(cell.text))
            largest.error = _("The row is too large. The limit is %s.") % limit
        return not self.has_errors

    @property
    def has_errors(self) -> bool:
        return any(cell.error for cell in self.cells)

    def _size(self) -> int:
        return len(exact_dumps(self.values))

    def _read(
        self, cell: Cell, data: Mapping[str, Any], files: Mapping[str, Any]
    ) -> None:
        state = data.get(f"state-{cell.position}", cell.state)
        cell.state = state if state in STATES else cell.state
        file = files.get(f"file-{cell.position}")
        if isinstance(file, UploadedFile):
            self._take_file(cell, file)
            return
        sent = data.get(f"cell-{cell.position}")
        if cell.state != "value" or cell.is_media or sent is None:
            return
        if _lines(str(sent)) == _lines(cell.text) and cell.value is not ABSENT:
            return
        keeps_returns = "\r\n" in cell.text
        cell.text = str(sent) if keeps_returns else _lines(str(sent))
        cell.error = ""
        cell.value = cell.text
        if cell.is_json:
            self._parse(cell)

    def _parse(self, cell: Cell) -> None:
        try:
            cell.value = loads(cell.text)
        except (ValueError, RecursionError):
            cell.error = _("This is no JSON. A text stands in double quotes.")

    def _take_file(self, cell: Cell, file: UploadedFile) -> None:
        try:
            blob = store.put_stream(
                file.chunks(),
                project=self.project,
                max_bytes=settings.MAX_MEDIUM_BYTES,
            )
        except store.TooLargeError:
            limit = filesize(settings.MAX_MEDIUM_BYTES)
            cell.error = _("The file is too large. The limit is %s.") % limit
            return
        if blob.kind == "other" or blob.problem:
            cell.error = blob.problem or _("This is no image and no sound.")
            return
        cell.value, cell.state = reference(blob).as_json(), "value"


def _cell(name: str, position: int, value: Any, kind: str) -> Cell:
    if value is ABSENT:
        is_json = kind in ("number", "boolean", "json", "chat", "tools")
        return Cell(name, position, value, is_json, "", "absent")
    if value is None:
        return Cell(name, position, value, kind not in ("text", "empty"), "", "null")
    if isinstance(value, str):
        return Cell(
            name, position, value, is_json=False, text=storable(value), state="value"
        )
    text = exact_dumps(value)
    if isinstance(value, (dict, list)):
        text = storable(_indented(value))
    return Cell(name, position, value, is_json=True, text=text, state="value")


def _indented(value: JSON) -> str:
    """JSON over several lines; in one line when only that keeps all digits."""
    exact = exact_dumps(value)
    lines = json.dumps(value, indent=2, ensure_ascii=False)
    return lines if exact_dumps(json.loads(lines)) == exact else exact


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
