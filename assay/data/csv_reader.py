"""CSV: rows of text. Quoted line breaks, ragged rows and odd headers are understood.

Every cell is text and stays as it is: "007" is "007", "NA" is "NA", an empty cell is
an empty text. A row with fewer cells than the header lacks those columns. On request
a cell that holds a JSON object or list is read as that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from assay.data.csv_columns import Columns, NumberedColumns
from assay.data.csv_records import Records
from assay.data.json_exact import value_in
from assay.data.json_rows import too_many_rows
from assay.data.jsonx import JSON
from assay.data.lines import Lines, UnreadableLineError
from assay.data.records import Detected, Limits, Problem, RowRead, count, lines_note


def read(
    lines: Lines, detected: Detected, limits: Limits
) -> Iterator[RowRead | Problem]:
    records = Records(lines, detected.delimiter or ",", limits)
    try:
        yield from _read(records, detected, limits)
    except UnreadableLineError as stop:
        yield replace(stop.problem, is_fatal=True)


def _read(
    records: Records, detected: Detected, limits: Limits
) -> Iterator[RowRead | Problem]:
    first = next((record for record in records if any(record)), None)
    if first is None:
        yield Problem("empty_file", "The file is empty.", is_fatal=True)
        return
    if records.is_open:
        yield open_quote(records.line)
        return
    if len(first) > limits.columns:
        message = (
            f"The file has {len(first):,} columns. The limit is {limits.columns:,}."
        )
        yield Problem("too_many_columns", message, records.line, is_fatal=True)
        return
    kind = Columns if detected.has_header else NumberedColumns
    columns = kind(first, records.line)
    yield from columns.problems
    rows = _Rows(columns.names, limits, detected)
    for record in records if detected.has_header else chain([first], records):
        found = rows.take(record, records)
        if found is not None:
            yield found
            if rows.is_over:
                return
    yield from rows.end()


class _Rows:
    """Makes rows of records, and remembers what to say about them."""

    def __init__(self, names: list[str], limits: Limits, detected: Detected) -> None:
        self.is_over = False
        self._names = names
        self._limits = limits
        self._most = limits.rows
        self._has_header = detected.has_header
        self._read_json = detected.read_json
        self._count = 0
        self._wrong = 0
        self._blank = 0
        self._short: list[int] = []
        self._nul: list[int] = []

    def take(self, record: list[str], records: Records) -> RowRead | Problem | None:
        """The row, or what is wrong with it, or None when it is empty."""
        if not any(record):
            self._blank += 1
            return None
        names = self._names
        if len(record) != len(names) or records.is_open or self._count >= self._most:
            problem = self._check(record, records)
            if problem is not None:
                self._wrong += 1
                self.is_over = problem.is_fatal
                return problem
        if records.has_nul:
            self._nul.append(records.line)
        self._count += 1
        values: dict[str, JSON] = dict(zip(names, record, strict=False))
        if self._read_json:
            depth = self._limits.depth - 1
            values = {name: value_in(str(v), depth) for name, v in values.items()}
        return RowRead(self._count, records.line, values, self._read_json)

    def _check(self, record: list[str], records: Records) -> Problem | None:
        line, expected = records.line, len(self._names)
        if records.is_open:
            return open_quote(line)
        if len(record) > expected and any(record[expected:]):
            whole = "the header" if self._has_header else "the first row"
            message = (
                f"Line {line:,} has {count(len(record), 'value')}, "
                f"but {whole} has {count(expected, 'column')}."
            )
            return Problem("too_many_values", message, line=line, row=self._count + 1)
        if self._count >= self._most:
            return too_many_rows(self._limits, line)
        if len(record) < expected:
            self._short.append(line)
        return None

    def end(self) -> Iterator[Problem]:
        if self._blank:
            skipped = count(self._blank, "empty row was", "empty rows were")
            yield Problem("blank_rows", f"{skipped} skipped.", is_warning=True)
        if self._short:
            whole = "the header" if self._has_header else "the first row"
            what = f"has|have fewer values than {whole}"
            yield lines_note("missing_values", self._short, what)
        if self._nul:
            what = "has|have a NUL character, which was kept"
            yield lines_note("nul", self._nul, what)
        if not self._count and not self._wrong:
            message = "The file has a header but no rows."
            yield Problem("no_rows", message, is_fatal=True)


def open_quote(line: int) -> Problem:
    message = f"Line {line:,} opens a quotation mark that is never closed."
    return Problem("open_quote", message, line=line)
