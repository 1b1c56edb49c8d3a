"""JSON Lines: one object in each line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.data.json_rows import Rows
from assay.data.lines import Block, Lines, UnreadableLineError
from assay.data.records import Limits, Problem, RowRead, count, lines_note

HOPELESS = 20
"""After so many wrong lines and no good one, the rest is not read."""
OF_THE_WHOLE_FILE = frozenset({"single_quotes", "python_literal", "not_an_object"})
"""When the first line is wrong in this way, so are the others."""
_BLANKS = " \t\r\n\ufeff"


def read(lines: Lines, limits: Limits) -> Iterator[RowRead | Problem]:
    reader = _Reader(lines, limits)
    for block in lines.blocks():
        if isinstance(block, Problem):
            yield block
            reader.is_over = block.is_fatal
        else:
            yield from reader.take(block)
        if reader.is_over:
            return
    yield from reader.end()


class _Reader:
    """What reading needs to know about the lines before."""

    def __init__(self, lines: Lines, limits: Limits) -> None:
        self.is_over = False
        self._lines = lines
        self._rows = Rows(limits)
        self._wrong = 0
        self._blank = 0
        self._with_comma: list[int] = []
        self._in_open_string = False

    def take(self, block: Block) -> Iterator[RowRead | Problem]:
        """Many lines at once while nothing is odd in them, else one by one."""
        rows = None
        if not self._in_open_string:
            rows = self._rows.fast(block.lines, block.data, block.first)
        if rows is not None:
            yield from rows
            return
        for number, line in enumerate(block.lines, block.first):
            found = self._one(line, number)
            if found is not None:
                yield found
            if self.is_over:
                return

    def _one(self, line: bytes, number: int) -> RowRead | Problem | None:
        if not self._in_open_string:
            rows = self._rows.fast([line], line, number)
            if rows is not None:
                return rows[0]
        return self._slowly(line, number)

    def _slowly(self, line: bytes, number: int) -> RowRead | Problem | None:
        """The row on `line`, or what is wrong with it, or None when it is empty."""
        try:
            text = self._lines.text_of(line, number).strip(_BLANKS)
        except UnreadableLineError as stop:
            self.is_over = True
            return stop.problem
        if not text:
            self._blank += not self._in_open_string
            return None
        if self._in_open_string and not text.startswith("{"):
            return None
        self._in_open_string = False
        found = self._rows.exact(text, number)
        if isinstance(found, Problem) and found.code == "trailing_comma":
            found = self._without_comma(text, number)
        return self._wrong_line(found) if isinstance(found, Problem) else found

    def _without_comma(self, text: str, number: int) -> RowRead | Problem:
        """A line out of an array: only its comma is too much."""
        found = self._rows.exact(text.removesuffix(","), number)
        if isinstance(found, RowRead):
            self._with_comma.append(number)
        return found

    def _wrong_line(self, problem: Problem) -> Problem:
        is_first = not self._rows.count and not self._wrong
        if is_first and problem.code in OF_THE_WHOLE_FILE:
            problem = replace(problem, is_fatal=True)
        self._wrong += 1
        self._in_open_string = problem.code == "open_string"
        hopeless = self._wrong >= HOPELESS and not self._rows.count
        self.is_over = problem.is_fatal or hopeless
        return problem

    def end(self) -> Iterator[Problem]:
        if self._blank:
            skipped = count(self._blank, "empty line was", "empty lines were")
            yield Problem("blank_lines", f"{skipped} skipped.", is_warning=True)
        if self._with_comma:
            what = "ends|end with a comma, which was left out"
            yield lines_note("trailing_comma", self._with_comma, what)
        yield from self._rows.notes()
        if not self._rows.count and not self._wrong:
            yield Problem("no_rows", "The file has no rows.", is_fatal=True)
