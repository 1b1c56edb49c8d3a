"""The records of a CSV file, cut exactly as Python's `csv` cuts them."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from assay.data.lines import Lines, UnreadableLineError
from assay.data.records import Limits, Problem, size

FIELD_LIMIT = 2**31 - 1
"""The largest that fits everywhere; the size of a row is bounded by the lines read."""


def allow_large_fields() -> None:
    """The limit of `csv` is one for the process, and its default is small."""
    if csv.field_size_limit() < FIELD_LIMIT:
        csv.field_size_limit(FIELD_LIMIT)


class Records:
    """Records of cells. Of the last one, `line` is where it began, `is_open` tells
    that a quotation mark is not closed, `has_nul` that there is a NUL character.

    Raises `UnreadableLineError` where the text ends to make sense: for an encoding
    that does not fit, and for a record beyond the limit, where a quotation mark was
    opened and never closed.
    """

    def __init__(self, lines: Lines, delimiter: str, limits: Limits) -> None:
        allow_large_fields()
        self.line = 0
        self.is_open = False
        self.has_nul = False
        self._lines = lines
        self._limits = limits
        self._delimiter = delimiter
        self._number = 0
        self._texts = self._read_texts()
        self._given: str | None = None
        self._reader = csv.reader(self._feed(), delimiter=delimiter)

    def __iter__(self) -> Iterator[list[str]]:
        """A line without quotation marks is a record; only `csv` understands others."""
        delimiter = self._delimiter
        for text in self._texts:
            self.line = self._number
            self.has_nul = "\0" in text
            if '"' in text:
                yield self._quoted(text)
            elif content := text.rstrip("\r\n"):
                yield content.split(delimiter)
            else:
                yield []

    def _quoted(self, text: str) -> list[str]:
        self._given = text
        try:
            return next(self._reader)
        except csv.Error as error:
            message = f"Line {self._number:,} is not valid CSV: {error}."
            problem = Problem("csv", message, line=self._number, is_fatal=True)
            raise UnreadableLineError(problem) from None

    def _feed(self) -> Iterator[str]:
        """The lines that belong to one record after the other."""
        while True:
            text, self._given = self._given, None
            length = 0
            while text is not None:
                length += len(text)
                if length > self._limits.raw_row_bytes:
                    raise UnreadableLineError(self._endless())
                yield text
                if self._given is not None:
                    break
                text = next(self._texts, None)
                self.has_nul = self.has_nul or (text is not None and "\0" in text)
            else:
                self.is_open = True
                return

    def _read_texts(self) -> Iterator[str]:
        for block in self._lines.blocks():
            if isinstance(block, Problem):
                raise UnreadableLineError(block)
            for number, line in enumerate(block.lines, block.first):
                self._number = number
                yield self._lines.text_of(line, number)

    def _endless(self) -> Problem:
        message = (
            f"The row that begins in line {self.line:,} is larger than "
            f"{size(self._limits.raw_row_bytes)}. A quotation mark may be missing."
        )
        return Problem("row_too_long", message, line=self.line, is_fatal=True)
