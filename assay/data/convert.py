"""Reads the values of columns as another kind, on a person's order.

Text becomes a number, a truth value or JSON where it is written as one, with all its
digits; everything becomes text. What cannot be read so stays what it was and is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.data.exact import dumps, loads
from assay.data.jsonx import JSON, JSONObject
from assay.data.records import Problem

CONVERTIBLE = ("text", "number", "boolean", "json", "image", "audio")
"""Kinds that a column can be given. Image and audio are found in text elsewhere."""
WORDS: Mapping[str, bool] = {"true": True, "false": False}
MAX_TOLD = 20


class NotSoError(Exception):
    """The value cannot be read as the kind."""


class Converter:
    """`kinds` names the columns to convert and their new kind."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds
        self._left: dict[str, list[int]] = {}

    def convert(self, row: int, values: JSONObject) -> JSONObject:
        """`values` of `row` with its columns converted where that is possible."""
        if not self.kinds:
            return values
        return {
            name: self._value(row, name, value) if name in self.kinds else value
            for name, value in values.items()
        }

    def problems(self) -> Iterator[Problem]:
        """One warning per column with values that stayed as they were."""
        for name, rows in self._left.items():
            shown = ", ".join(f"{row:,}" for row in rows[:MAX_TOLD])
            more = " and more" if len(rows) > MAX_TOLD else ""
            message = (
                f'{len(rows):,} values of "{name}" cannot be read as '
                f"{self.kinds[name]} and stay as they were: rows {shown}{more}."
            )
            yield Problem("not_converted", message, column=name, is_warning=True)

    def _value(self, row: int, name: str, value: JSON) -> JSON:
        try:
            return as_kind(value, self.kinds[name])
        except NotSoError:
            self._left.setdefault(name, []).append(row)
            return value


def as_kind(value: JSON, kind: str) -> JSON:
    """`value` read as `kind`; empty values stay. Raises `NotSoError`."""
    if value is None or value == "" or kind in ("image", "audio"):
        return value
    if kind == "text":
        return value if isinstance(value, str) else dumps(value)
    if not isinstance(value, str):
        if _is(value, kind):
            return value
        raise NotSoError
    if kind == "boolean":
        word = value.strip().lower()
        if word not in WORDS:
            raise NotSoError
        return WORDS[word]
    try:
        read = loads(value)
    except (ValueError, RecursionError):
        raise NotSoError from None
    if not _is(read, kind):
        raise NotSoError
    return read


def _is(value: JSON, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, (dict, list, tuple))
