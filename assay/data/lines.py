"""Text lines of a binary file, with their number and bounded in length.

A line ends at LF, CR LF or CR and nowhere else: U+2028 and form feeds are content.
"""

from __future__ import annotations

import io
from typing import BinaryIO

from assay.data.records import Problem, size


class UnreadableLineError(Exception):
    """This line cannot be read; when the problem is fatal, nor can those after it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _KeptOpen(io.RawIOBase):
    """Reads through to a file that its owner closes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class Lines:
    """`next_line` gives the next line with its end, and "" after the last.

    `number` is the number of that line, `is_over` is true after the last.
    """

    def __init__(self, file: BinaryIO, encoding: str, max_bytes: int) -> None:
        file.seek(0)
        self._text = io.TextIOWrapper(
            io.BufferedReader(_KeptOpen(file), 256 * 1024),
            encoding=encoding,
            errors="strict",
            newline="",
        )
        self._max = max_bytes
        self._encoding = encoding
        self.number = 0
        self.is_over = False

    def next_line(self) -> str:
        """Raises `UnreadableLineError` where the text ends to make sense."""
        try:
            line = self._text.readline(self._max)
        except UnicodeError as error:
            raise UnreadableLineError(self._broken(error)) from None
        if not line:
            self.is_over = True
            return ""
        self.number += 1
        if len(line) >= self._max and not line.endswith(("\n", "\r")):
            self._skip_rest()
            raise UnreadableLineError(self._too_long())
        return line

    def _skip_rest(self) -> None:
        try:
            part = self._text.readline(self._max)
            while len(part) >= self._max and not part.endswith(("\n", "\r")):
                part = self._text.readline(self._max)
        except UnicodeError as error:
            raise UnreadableLineError(self._broken(error)) from None

    def _broken(self, error: UnicodeError) -> Problem:
        """Lines before the bad byte are counted in the block that was being decoded."""
        line = self.number + 1
        byte = ""
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start]
            ends = before.count(b"\n") or before.count(b"\r")
            line += ends if not self._encoding.startswith(("utf-16", "utf-32")) else 0
            if error.start < len(error.object):
                byte = f" (byte 0x{error.object[error.start]:02X})"
        name = self._encoding.upper().removesuffix("-SIG")
        return Problem(
            "encoding",
            f"Line {line:,} is not {name}{byte}. "
            "Save the file as UTF-8 and add it again, or choose its encoding.",
            line=line,
            is_fatal=True,
        )

    def _too_long(self) -> Problem:
        return Problem(
            "line_too_long",
            f"Line {self.number:,} is longer than {size(self._max)}.",
            line=self.number,
        )
