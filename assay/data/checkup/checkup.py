"""The examination of a dataset, row by row and then as a whole."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

from assay.data.checkup import media
from assay.data.checkup.duplicates import Duplicates, RowsAt
from assay.data.checkup.injection import control_token, injection, verdict
from assay.data.checkup.kinds import Finding, FindingKind
from assay.data.checkup.leaks import is_leaked
from assay.data.checkup.personal import personal_data
from assay.data.checkup.roles import media_columns, of_role, role_of
from assay.data.checkup.shapes import EmptyCells, Types
from assay.data.checkup.texts import Text, joined, texts
from assay.data.jsonx import JSON, JSONObject
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _

LONG_ROW_CHARACTERS = 100_000
_LONG = _("%(count)s characters of text")
_LEAKED = Sentence(_("The answer stands in the question"))
_USUAL_TOKENS = 0.2
_FEW_ROWS = 5
_MOST_TOKENS = 20_000
_VERDICT_WORDS = ("score", "json", "rating", "verdict", "grade", "rate ", "nota")


class Checkup:
    """Give it every row with `add`, in order; then take what `end` finds."""

    def __init__(self, columns: Sequence[Mapping]) -> None:
        """`columns`: the profile of the dataset, `{name, kind, …}` each."""
        names = [n for c in columns if isinstance(n := c.get("name"), str)]
        self._media = media_columns(columns)
        self._empty = EmptyCells(names)
        self._types = Types(names)
        self._tokens = _ControlTokens()
        self._duplicates = Duplicates()

    def add(
        self, row: int, values: JSONObject, problems: Mapping[str, str] | None = None
    ) -> list[Finding]:
        """What is questionable in this row alone.

        `row` counts from 1. `problems` names broken media of the row: sha256 →
        sentence.
        """
        self._empty.add(row, values)
        self._types.add(row, values)
        self._duplicates.add(row, values)
        self._tokens.add()
        findings = list(media.broken(row, values, problems or {}))
        cells = {name: texts(value) for name, value in values.items()}
        findings.extend(_long(row, cells))
        findings.extend(_leaked(row, values))
        for name, cell in cells.items():
            findings.extend(self._in_cell(row, name, values, cell))
        return findings

    def end(self, rows_at: RowsAt) -> Iterator[Finding]:
        """What needs all rows. `rows_at` gives the values of a few rows by number."""
        yield from self._empty.end()
        yield from self._types.end()
        yield from self._tokens.end()
        yield from self._duplicates.end(rows_at)

    def _in_cell(
        self, row: int, name: str, values: JSONObject, cell: list[Text]
    ) -> Iterator[Finding]:
        order = _first_order(cell, name, values)
        if order is not None:
            yield Finding(FindingKind.INJECTION, row, name, order)
        else:
            self._tokens.look(row, name, cell)
        if role_of(name) != "id":
            for item in cell:
                personal = personal_data(item.text)
                if personal is not None:
                    yield Finding(FindingKind.PERSONAL_DATA, row, name, personal)
                    break
        linked = media.link(values[name], is_media_column=name in self._media)
        if linked is not None:
            yield Finding(FindingKind.LINK, row, name, linked)


def _long(row: int, cells: Mapping[str, list[Text]]) -> Iterator[Finding]:
    count = sum(len(item.text) for cell in cells.values() for item in cell)
    if count > LONG_ROW_CHARACTERS:
        detail = Sentence(_LONG, {"count": f"{count:,}"})
        yield Finding(FindingKind.LONG_ROW, row, None, detail)


def _leaked(row: int, values: JSONObject) -> Iterator[Finding]:
    answers = [
        answer
        for name in of_role(values, "ground_truth")
        for answer in _answers(values[name])
    ]
    if not answers:
        return
    for name in of_role(values, "query"):
        question = joined(values[name])
        if any(is_leaked(question, answer) for answer in answers):
            yield Finding(FindingKind.LEAKED_ANSWER, row, name, _LEAKED)


def _answers(value: JSON) -> list[str]:
    """The expected answers in a cell: a text, or each text of a list."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)):
        return [item for item in value[:20] if isinstance(item, str)]
    return []


def _first_order(cell: list[Text], name: str, values: JSONObject) -> Sentence | None:
    for item in cell:
        if item.is_authored:
            continue
        found = injection(item.text)
        if found is not None:
            return found
        written = verdict(item.text)
        if written is not None and not _is_verdict_usual(name, values):
            return written
    return None


def _is_verdict_usual(name: str, values: JSONObject) -> bool:
    """True where a score is what the row is about, so that one is no sign."""
    if role_of(name) in {"ground_truth", "note"}:
        return True
    questions = (joined(values[name]).lower() for name in of_role(values, "query"))
    return any(word in text for text in questions for word in _VERDICT_WORDS)


class _ControlTokens:
    """Tokens of chat templates, unless a column is full of ready prompts."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[array[int], Sentence]] = {}
        self._rows = 0

    def add(self) -> None:
        self._rows += 1

    def look(self, row: int, name: str, cell: list[Text]) -> None:
        for item in cell:
            found = None if item.is_authored else control_token(item.text)
            if found is not None:
                rows, _first = self._found.setdefault(name, (array("I"), found))
                rows.append(row)
                return

    def end(self) -> Iterator[Finding]:
        for name, (rows, seen) in self._found.items():
            if self._rows < _FEW_ROWS or len(rows) <= self._rows * _USUAL_TOKENS:
                for row in rows[:_MOST_TOKENS]:
                    yield Finding(FindingKind.INJECTION, row, name, seen)
