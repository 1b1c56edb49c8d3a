"""JSON that does not stand on one line for each row: an array of objects, one object,
or several after each other, over any number of lines.

The file is searched for where each object ends; only one object is in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.data.json_rows import Rows, not_an_object
from assay.data.lines import Lines, UnreadableLineError, line_ends
from assay.data.records import Limits, Problem, RowRead, size

_OUTSIDE = re.compile(rb'["{}\[\]]')
_INSIDE = re.compile(rb'["\\]')
_BLANKS = re.compile(rb"[ \t\r\n]*")
_ARRAY = "The file is a JSON array, not JSON Lines."
_OBJECTS = "The file is a JSON document over several lines, not JSON Lines."
_KINDS = {b'"': "a text", b"[": "a list", b"t": "true", b"f": "false", b"n": "null"}


def read(lines: Lines, limits: Limits) -> Iterator[RowRead | Problem]:
    document = _Document(lines, limits)
    try:
        yield from document.read()
    except UnreadableLineError as stop:
        yield stop.problem


class _Document:
    """The text from where it is read; `_line` is the number of the line there."""

    def __init__(self, lines: Lines, limits: Limits) -> None:
        self._pieces = lines.pieces()
        self._limits = limits
        self._rows = Rows(limits)
        self._wrong = 0
        self._text = bytearray()
        self._line = 1 + lines.skipped
        self._is_whole = True

    def read(self) -> Iterator[RowRead | Problem]:
        is_array = self._next() == b"["
        if is_array:
            self._pass(1)
        if self._next() not in (b"{", b"]"):
            yield self._other_item(is_first=True)
            return
        message = _ARRAY if is_array else _OBJECTS
        code = "json_array" if is_array else "json_document"
        yield Problem(code, message, is_warning=True)
        yield from self._array() if is_array else self._objects()
        yield from self._rows.notes()
        if not self._rows.count and not self._wrong:
            yield Problem("no_rows", "The file has no rows.", is_fatal=True)

    def _array(self) -> Iterator[RowRead | Problem]:
        """Objects up to the closing bracket, with a comma between two of them."""
        while self._next() == b"{":
            yield self._item()
            if self._next() != b",":
                break
            comma = self._line
            self._pass(1)
            if self._next() == b"]":
                message = f"Line {comma:,} has a comma after the last object."
                yield Problem("trailing_comma", message, comma, is_warning=True)
        yield from self._after_items()

    def _after_items(self) -> Iterator[Problem]:
        after = self._next()
        if after == b"]":
            self._pass(1)
            if self._next():
                message = f"Line {self._line:,}: something follows the array."
                yield self._wrong_place("extra_data", message, self._line)
        elif not after and self._is_whole:
            message = "The array has no end. The file may be cut off."
            yield self._wrong_place("cut_off", message, self._line)
        elif after == b"{":
            message = f"Line {self._line:,}: a comma is missing before the object."
            yield self._wrong_place("missing_comma", message, self._line)
        elif after:
            yield self._other_item(is_first=False)

    def _objects(self) -> Iterator[RowRead | Problem]:
        while self._next() == b"{":
            yield self._item()
        if self._next():
            message = f"Line {self._line:,}: something follows the object."
            yield self._wrong_place("extra_data", message, self._line)

    def _item(self) -> RowRead | Problem:
        """The object that begins here; reading goes on behind it."""
        line, length = self._line, self._length_of_object()
        data = bytes(self._text[:length])
        self._pass(length)
        rows = self._rows.fast([data], data, line)
        found = rows[0] if rows else self._exact(data, line)
        if isinstance(found, Problem):
            self._wrong += 1
            if found.is_fatal:
                raise UnreadableLineError(found)
        return found

    def _exact(self, data: bytes, line: int) -> RowRead | Problem:
        try:
            return self._rows.exact(data.decode(), line)
        except UnicodeDecodeError as error:
            line += line_ends(data[: error.start])
            byte = data[error.start]
            message = (
                f"Line {line:,} is not UTF-8 (byte 0x{byte:02X}). "
                "Save the file as UTF-8 and add it again, or choose its encoding."
            )
            return Problem("encoding", message, line=line, is_fatal=True)

    def _length_of_object(self) -> int:
        """Up to its closing bracket, or to the end of the file."""
        at = depth = 0
        is_inside = False
        while True:
            pattern = _INSIDE if is_inside else _OUTSIDE
            found = pattern.search(self._text, at)
            if found is None:
                at = max(at, len(self._text))
                if not self._more():
                    self._is_whole = False
                    return len(self._text)
                continue
            mark, at = self._text[found.start()], found.end()
            if mark == ord('"'):
                is_inside = not is_inside
            elif mark == ord("\\"):
                at += 1
            else:
                depth += 1 if mark in b"{[" else -1
                if depth == 0:
                    return at

    def _next(self) -> bytes:
        """The next character that is no blank; b"" at the end."""
        while True:
            blanks = _BLANKS.match(self._text)
            assert blanks is not None
            self._pass(blanks.end())
            if self._text or not self._more():
                return bytes(self._text[:1])

    def _pass(self, length: int) -> None:
        self._line += line_ends(bytes(self._text[:length]))
        del self._text[:length]

    def _more(self) -> bool:
        """Read on. False at the end of the file."""
        if len(self._text) > self._limits.raw_row_bytes:
            message = (
                f"The object that begins in line {self._line:,} is larger than "
                f"{size(self._limits.raw_row_bytes)}. Its end may be missing."
            )
            problem = Problem("row_too_long", message, self._line, is_fatal=True)
            raise UnreadableLineError(problem)
        piece = next(self._pieces, b"")
        self._text += piece
        return bool(piece)

    def _other_item(self, *, is_first: bool) -> Problem:
        """A number, a text or a list where an object should begin."""
        found = self._next()
        kind = _KINDS.get(found, "a number" if found in b"-0123456789" else "no JSON")
        if is_first:
            return not_an_object("a list", self._line, is_fatal=True)
        message = f"Line {self._line:,}: the array holds {kind}, not an object."
        return Problem("not_an_object", message, line=self._line, is_fatal=True)

    def _wrong_place(self, code: str, message: str, line: int) -> Problem:
        self._wrong += 1
        return Problem(code, message, line=line)
