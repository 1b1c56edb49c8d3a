"""Findings about cells whose filling or type differs from the rest of the column."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence

from assay.data.checkup.kinds import Finding, FindingKind
from assay.data.checkup.roles import Role, role_of
from assay.data.jsonx import JSON, JSONObject
from assay.data.media import as_blob
from assay.data.paths import MISSING, is_blank
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _

_MOST_COLUMNS = 200
_LEAST_ROWS = 20
_USUAL = 0.95
_MOSTLY_FILLED = 0.8
_MOST_ODD = 5000
_REQUIRED: frozenset[Role] = frozenset(
    {"query", "response", "ground_truth", "context", "messages"}
)

_EMPTY = Sentence(_("The cell is empty"))
_ABSENT = Sentence(_("The row does not have this column"))
_OTHER_TYPE = {
    "text": _("Text, where other rows hold %(usual)s"),
    "number": _("A number, where other rows hold %(usual)s"),
    "boolean": _("True or false, where other rows hold %(usual)s"),
    "list": _("A list, where other rows hold %(usual)s"),
    "object": _("An object, where other rows hold %(usual)s"),
}


class EmptyCells:
    """Empty cells of columns that evaluators need and most rows fill."""

    def __init__(self, names: Sequence[str]) -> None:
        needed = [name for name in names if role_of(name) in _REQUIRED]
        self._empty: dict[str, array[int]] = {
            name: array("I") for name in needed[:_MOST_COLUMNS]
        }
        self._absent: dict[str, set[int]] = defaultdict(set)
        self._rows = 0

    def add(self, row: int, values: JSONObject) -> None:
        self._rows += 1
        for name, empty in self._empty.items():
            value = values.get(name, MISSING)
            if value is MISSING or is_blank(value) or value in ([], {}):
                empty.append(row)

    def end(self) -> Iterator[Finding]:
        most = self._rows * (1 - _MOSTLY_FILLED)
        for name, empty in self._empty.items():
            if len(empty) <= most:
                for row in empty:
                    yield Finding(FindingKind.EMPTY_REQUIRED, row, name, _EMPTY)


class Types:
    """Values of another JSON type than nearly all others of their column."""

    def __init__(self, names: Sequence[str]) -> None:
        self._counts: dict[str, dict[str, int]] = {
            name: {} for name in names[:_MOST_COLUMNS]
        }
        self._odd: dict[tuple[str, str], array[int]] = {}

    def add(self, row: int, values: JSONObject) -> None:
        for name, counts in self._counts.items():
            kind = _type(values.get(name))
            if kind is None:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= _MOST_ODD:
                self._odd.setdefault((name, kind), array("I")).append(row)

    def end(self) -> Iterator[Finding]:
        for name, counts in self._counts.items():
            total = sum(counts.values())
            usual = max(counts, key=lambda kind: counts[kind], default="")
            if total < _LEAST_ROWS or counts[usual] < total * _USUAL:
                continue
            for kind in counts:
                if kind == usual or "medium" in (kind, usual):
                    continue
                detail = Sentence(_OTHER_TYPE[kind], {"usual": _PLURALS[usual]})
                for row in self._odd[name, kind]:
                    yield Finding(FindingKind.MIXED_TYPES, row, name, detail)


_PLURALS = {
    "text": "text",
    "number": "numbers",
    "boolean": "true or false",
    "list": "lists",
    "object": "objects",
}


def _type(value: JSON) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, (list, tuple)):
        return "list"
    return "object" if as_blob(value) is None else "medium"
