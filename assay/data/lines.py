"""Lines of a binary file in blocks, numbered as an editor counts and bounded in length.

A line ends at LF, CR LF or CR and nowhere else: U+2028 and form feeds are content.
Whatever the encoding of the file, its lines are UTF-8. A file that says it is UTF-8 is
not checked here: `text_of` does that for one line.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from itertools import repeat
from typing import BinaryIO, NamedTuple

from assay.data.records import Problem, size

BLOCK_BYTES = 128 * 1024
_UTF8 = frozenset({"utf-8", "utf-8-sig"})
_MARK = codecs.BOM_UTF8
_LINE_END = re.compile(rb"\r\n|\r|\n")


class UnreadableLineError(Exception):
    """This line cannot be read, nor can those after it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Block(NamedTuple):
    """Whole lines with their ends; `first` is the number of the first of them.
    `data` are the lines in one piece."""

    first: int
    lines: list[bytes]
    data: bytes


class Lines:
    """The lines of `file` from its beginning, or its text in pieces: one of the two.

    `skip` lines at the beginning are left out; their numbers are counted.
    """

    def __init__(
        self, file: BinaryIO, encoding: str, max_bytes: int, skip: int = 0
    ) -> None:
        self._file = file
        self._encoding = encoding
        self._max = max_bytes
        self.skipped = skip
        self._number = 0
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._is_skipping_line = False

    def blocks(self) -> Iterator[Block | Problem]:
        """A line that is too long is a problem in its place; after a fatal problem
        nothing follows."""
        try:
            for piece in self._pieces():
                yield from self._whole_lines(piece)
        except UnicodeError as error:
            yield broken(self._encoding, self._number + 1, error)
            return
        if self._is_skipping_line:
            self._number += 1
            yield self._too_long()
        elif self._pending:
            yield from self._block(self._joined(b""))

    def pieces(self) -> Iterator[bytes]:
        """The text as UTF-8. No piece ends between CR and LF.

        Raises `UnreadableLineError` where the encoding does not fit.
        """
        left = self.skipped
        line = 1
        try:
            for piece in self._pieces():
                line += line_ends(piece)
                while left and (end := _LINE_END.search(piece)):
                    left, piece = left - 1, piece[end.end() :]  # noqa: PLW2901
                if piece and not left:
                    yield piece
        except UnicodeError as error:
            raise UnreadableLineError(broken(self._encoding, line, error)) from None

    def _whole_lines(self, piece: bytes) -> Iterator[Block | Problem]:
        if self._is_skipping_line:
            end = _LINE_END.search(piece)
            if end is None:
                return
            self._is_skipping_line = False
            self._number += 1
            yield self._too_long()
            piece = piece[end.end() :]
        cut = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if cut:
            yield from self._block(self._joined(memoryview(piece)[:cut]))
            piece = piece[cut:]
        if piece:
            self._pending.append(piece)
            self._pending_bytes += len(piece)
        if self._pending_bytes > self._max:
            self._joined(b"")
            self._is_skipping_line = True

    def _joined(self, end: bytes | memoryview) -> bytes:
        """What is pending, and `end`; nothing is pending then."""
        data = b"".join((*self._pending, end))
        self._pending.clear()
        self._pending_bytes = 0
        return data

    def _block(self, data: bytes) -> Iterator[Block | Problem]:
        lines = split(data)
        first = self._number + 1
        if first <= self.skipped:
            left_out = min(self.skipped - self._number, len(lines))
            lines = lines[left_out:]
            data = b"".join(lines)
            first += left_out
        if len(data) <= self._max:
            self._number = first - 1 + len(lines)
            yield Block(first, lines, data)
            return
        self._number = first - 1
        for line in lines:
            self._number += 1
            is_fit = len(line) <= self._max
            yield Block(self._number, [line], line) if is_fit else self._too_long()

    def _pieces(self) -> Iterator[bytes]:
        """The text as UTF-8 without its mark. A CR at an end waits for the rest."""
        held = b""
        is_first = True
        try:
            for piece in self._decoded():
                whole = held + piece if held else piece
                if is_first:
                    if _MARK.startswith(whole) and whole != _MARK:
                        held = whole
                        continue
                    whole = whole.removeprefix(_MARK)
                    is_first = False
                held = b"\r" if whole.endswith(b"\r") else b""
                yield whole[:-1] if held else whole
        except UnicodeError:
            yield held
            raise
        if held:
            yield held

    def _decoded(self) -> Iterator[bytes]:
        self._file.seek(0)
        if self._encoding in _UTF8:
            while data := self._file.read(BLOCK_BYTES):
                yield data
            return
        decoder = codecs.getincrementaldecoder(self._encoding)("strict")
        is_over = False
        while not is_over:
            data = self._file.read(BLOCK_BYTES)
            is_over = not data
            try:
                yield decoder.decode(data, is_over).encode()
            except UnicodeDecodeError as error:
                yield self._before(error)
                raise

    def _before(self, error: UnicodeDecodeError) -> bytes:
        """The text of a block up to what is wrong in it."""
        name = self._encoding
        if name in ("utf-16", "utf-32"):  # their mark was read with the first block
            name += "-le" if self._is_little() else "-be"
        return error.object[: error.start].decode(name, "replace").encode()

    def _is_little(self) -> bool:
        at = self._file.tell()
        self._file.seek(0)
        mark = self._file.read(2)
        self._file.seek(at)
        return mark == codecs.BOM_UTF16_LE

    def text_of(self, line: bytes, number: int) -> str:
        """Raises `UnreadableLineError` when it is not UTF-8."""
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            raise UnreadableLineError(broken(self._encoding, number, error)) from None

    def _too_long(self) -> Problem:
        return Problem(
            "line_too_long",
            f"Line {self._number:,} is longer than {size(self._max)}.",
            line=self._number,
        )


def split(data: bytes) -> list[bytes]:
    """The lines of `data` with their ends. A file in memory finds LF much faster than
    `splitlines` does, which is needed where a CR stands alone."""
    lines = io.BytesIO(data).readlines()
    if b"\r" not in data:
        return lines
    pairs = sum(map(bytes.endswith, lines, repeat(b"\r\n")))
    return lines if data.count(b"\r") == pairs else data.splitlines(keepends=True)


def line_ends(data: bytes) -> int:
    """How many lines end in `data`."""
    ends = data.count(b"\n")
    if b"\r" in data:
        ends += data.count(b"\r") - data.count(b"\r\n")
    return ends


def broken(encoding: str, line: int, error: UnicodeError) -> Problem:
    """The problem of a line whose bytes are no text in `encoding`."""
    byte = ""
    if isinstance(error, UnicodeDecodeError) and error.start < len(error.object):
        byte = f" (byte 0x{error.object[error.start]:02X})"
    name = encoding.upper().removesuffix("-SIG")
    return Problem(
        "encoding",
        f"Line {line:,} is not {name}{byte}. "
        "Save the file as UTF-8 and add it again, or choose its encoding.",
        line=line,
        is_fatal=True,
    )
