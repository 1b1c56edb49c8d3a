"""CSV: rows of text. Quoted line breaks, ragged rows and odd headers are understood.

Every cell is text and stays as it is: "007" is "007", "NA" is "NA", an empty cell is
an empty text. A row with fewer cells than the header lacks those columns.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from assay.data.jsonx import JSON
from assay.data.lines import Lines, UnreadableLineError
from assay.data.records import Detected, Limits, Problem, RowRead, count, size

INVISIBLE = dict.fromkeys(
    [*range(32), 0x7F, 0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF]
)
"""Control characters, soft hyphen, zero-width and direction marks: not in a name."""
FIELD_LIMIT = 2**31 - 1
"""The largest that fits everywhere; the size of a row is bounded by the lines read."""


def allow_large_fields() -> None:
    """The limit of `csv` is one for the process, and its default is small."""
    if csv.field_size_limit() < FIELD_LIMIT:
        csv.field_size_limit(FIELD_LIMIT)


def read(
    lines: Lines, detected: Detected, limits: Limits
) -> Iterator[RowRead | Problem]:
    allow_large_fields()
    records = _Records(lines, detected, limits)
    try:
        yield from _read(records, limits)
    except UnreadableLineError as stop:
        problem = stop.problem
        yield Problem(problem.code, problem.message, line=problem.line, is_fatal=True)


def _read(records: _Records, limits: Limits) -> Iterator[RowRead | Problem]:
    header = next((record for record in records if any(record)), None)
    if header is None:
        yield Problem("empty_file", "The file is empty.", is_fatal=True)
        return
    if records.is_open:
        yield open_quote(records.line)
        return
    if len(header) > limits.columns:
        message = (
            f"The file has {len(header):,} columns. The limit is {limits.columns:,}."
        )
        yield Problem("too_many_columns", message, records.line, is_fatal=True)
        return
    columns = Columns(header, records.line)
    yield from columns.problems
    if any(problem.is_fatal for problem in columns.problems):
        return
    state = _State(columns, limits)
    for record in records:
        yield from state.take(record, records)
        if state.is_over:
            return
    yield from state.end()


class _Records:
    """Records of cells. `line` is where the last one began.

    Raises `UnreadableLineError` when a record grows beyond the limit: then a quotation
    mark was opened and never closed.
    """

    def __init__(self, lines: Lines, detected: Detected, limits: Limits) -> None:
        for _ in range(detected.skip_lines):
            lines.next_line()
        self._lines = lines
        self._limits = limits
        self._reader = csv.reader(self._feed(), delimiter=detected.delimiter or ",")
        self._in_record = 0
        self.line = 0
        self.is_open = False
        self.has_nul = False

    def _feed(self) -> Iterator[str]:
        size_of_record = 0
        while True:
            text = self._lines.next_line()
            if not text:
                self.is_open = self._in_record > 0
                return
            if not self._in_record:
                self.line = self._lines.number
                size_of_record = 0
                self.has_nul = False
            self._in_record += 1
            self.has_nul = self.has_nul or "\0" in text
            size_of_record += len(text)
            if size_of_record > self._limits.raw_row_bytes:
                raise UnreadableLineError(self._endless())
            yield text

    def _endless(self) -> Problem:
        message = (
            f"The row that begins in line {self.line:,} is larger than "
            f"{size(self._limits.raw_row_bytes)}. A quotation mark may be missing."
        )
        return Problem("row_too_long", message, line=self.line, is_fatal=True)

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            self._in_record = 0
            try:
                record = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                message = f"Line {self._lines.number:,} is not valid CSV: {error}."
                raise UnreadableLineError(
                    Problem("csv", message, line=self._lines.number, is_fatal=True)
                ) from None
            yield record


class Columns:
    """Names of the columns, made usable: trimmed, named where empty, each once."""

    def __init__(self, header: list[str], line: int) -> None:
        self.problems: list[Problem] = []
        self.line = line
        named = _without_empty_tail(header)
        self.names = [self._name(raw, i) for i, raw in enumerate(named, start=1)]
        if len(named) < len(header):
            left_out = count(len(header) - len(named), "column")
            message = f"{left_out} without a name at the end of line {line} left out."
            self.problems.append(
                Problem("nameless_columns", message, line, is_warning=True)
            )
        self._refuse_repeated()

    def _name(self, raw: str, position: int) -> str:
        name = _visible(raw)
        if not name:
            name = f"column_{position}"
            self._note(
                "empty_header",
                f"Column {position} has no name in line {self.line}. "
                f"It is called {name}.",
                name,
            )
        elif name != raw:
            self._note(
                "header_cleaned",
                f'The column name "{name}" had blanks or invisible characters '
                "around or inside it. They were removed.",
                name,
            )
        return name

    def _refuse_repeated(self) -> None:
        for name, times in Counter(self.names).items():
            if times == 1:
                continue
            message = (
                f'Line {self.line} has {times} columns called "{name}". '
                "Give each column its own name."
            )
            self.problems.append(
                Problem(
                    "duplicate_column", message, self.line, column=name, is_fatal=True
                )
            )

    def _note(self, code: str, message: str, name: str) -> None:
        self.problems.append(
            Problem(code, message, self.line, column=name, is_warning=True)
        )


class _State:
    def __init__(self, columns: Columns, limits: Limits) -> None:
        self.columns = columns
        self.limits = limits
        self.rows = 0
        self.wrong = 0
        self.blank = 0
        self.short: list[int] = []
        self.nul: list[int] = []
        self.is_over = False

    def take(self, record: list[str], records: _Records) -> Iterator[RowRead | Problem]:
        if not any(record):
            self.blank += 1
            return
        problem = self._check(record, records)
        if problem is not None:
            self.wrong += 1
            self.is_over = problem.is_fatal
            yield problem
            return
        if records.has_nul:
            self.nul.append(records.line)
        names = self.columns.names
        if len(record) < len(names):
            self.short.append(records.line)
        self.rows += 1
        values: dict[str, JSON] = dict(zip(names, record, strict=False))
        yield RowRead(self.rows, records.line, values)

    def _check(self, record: list[str], records: _Records) -> Problem | None:
        line, expected = records.line, len(self.columns.names)
        if records.is_open:
            return open_quote(line)
        if any(record[expected:]):
            message = (
                f"Line {line:,} has {count(len(record), 'value')}, "
                f"but the header has {count(expected, 'column')}."
            )
            return Problem("too_many_values", message, line=line, row=self.rows + 1)
        if self.rows >= self.limits.rows:
            message = (
                f"The file has more than {self.limits.rows:,} rows. "
                "Split it or upload fewer rows."
            )
            return Problem("too_many_rows", message, line=line, is_fatal=True)
        return None

    def end(self) -> Iterator[Problem]:
        if self.blank:
            skipped = count(self.blank, "empty row was", "empty rows were")
            yield Problem("blank_rows", f"{skipped} skipped.", is_warning=True)
        if self.short:
            yield _lines_note(
                "missing_values", self.short, "fewer values than the header"
            )
        if self.nul:
            yield _lines_note("nul", self.nul, "a NUL character, which was kept")
        if not self.rows and not self.wrong:
            message = "The file has a header but no rows."
            yield Problem("no_rows", message, is_fatal=True)


def open_quote(line: int) -> Problem:
    message = f"Line {line:,} opens a quotation mark that is never closed."
    return Problem("open_quote", message, line=line)


def _lines_note(code: str, lines: list[int], what: str) -> Problem:
    shown = ", ".join(f"{line:,}" for line in lines[:10])
    if len(lines) == 1:
        message = f"Line {shown} has {what}."
    elif len(lines) <= 10:
        message = f"{len(lines)} rows have {what}: lines {shown}."
    else:
        message = f"{len(lines):,} rows have {what}: lines {shown} and more."
    return Problem(code, message, line=lines[0], is_warning=True)


def _without_empty_tail(header: list[str]) -> list[str]:
    """`header` up to its last cell with a name."""
    named = [i for i, cell in enumerate(header) if _visible(cell)]
    return header[: named[-1] + 1] if named else header


def _visible(name: str) -> str:
    """`name` without blanks around it and without characters that cannot be seen."""
    return name.translate(INVISIBLE).strip()
