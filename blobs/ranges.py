"""One byte range of a file, as asked for by the Range header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_RANGE = re.compile(
    r"\s*bytes\s*=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*", re.IGNORECASE
)
"""More digits than any file needs are an odd range."""


class Span(NamedTuple):
    """First and last byte, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


class UnsatisfiableError(Exception):
    """The range lies outside the file."""


def parse(header: str, size: int) -> Span | None:
    """The span asked for; None means the whole file (no, several or odd ranges)."""
    found = _RANGE.fullmatch(header)
    if not found or found.group(1) == found.group(2) == "":
        return None
    first, last = found.groups()
    if not first:
        if int(last) == 0 or size == 0:
            raise UnsatisfiableError
        return Span(max(0, size - int(last)), size - 1)
    if int(first) >= size:
        raise UnsatisfiableError
    end = min(int(last), size - 1) if last else size - 1
    return Span(int(first), end) if end >= int(first) else None


def chunks(file: BinaryIO, span: Span, chunk_bytes: int = 64 * 1024) -> Iterator[bytes]:
    """The bytes of `span`; closes `file` at the end."""
    with file:
        file.seek(span.first)
        left = span.length
        while left > 0:
            data = file.read(min(chunk_bytes, left))
            if not data:
                return
            left -= len(data)
            yield data
