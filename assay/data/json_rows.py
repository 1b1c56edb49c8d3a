"""Turns what stands on a line, or is one object of a document, into a row."""

from __future__ import annotations

import json
import re
from itertools import chain, repeat
from itertools import count as counting_from

from assay.data import json_exact, json_fast
from assay.data.exact import HALF_CHARACTER
from assay.data.jsonx import JSON, JSONObject
from assay.data.records import Limits, Problem, RowRead, lines_note

_NO_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class Rows:
    """Numbers the rows of a file, keeps its limits, and remembers what to say of it."""

    def __init__(self, limits: Limits) -> None:
        self.count = 0
        self._limits = limits
        self._columns: set[str] = set()
        self._nul: list[int] = []
        self._halves: list[int] = []

    def fast(self, lines: list[bytes], data: bytes, first: int) -> list[RowRead] | None:
        """The rows on `lines`, which are `data` and begin with line number `first`.
        None when `exact` has to read them, or some of them."""
        found = json_fast.decode(lines, data, self._limits.depth)
        if found is None or self.count + len(lines) > self._limits.rows:
            return None
        if not self._columns.issuperset(chain.from_iterable(found.rows)):
            return None
        numbers = counting_from(self.count + 1)
        self.count += len(lines)
        places = counting_from(first)
        exact = repeat(False)  # noqa: FBT003 - positional like the others
        return list(map(RowRead, numbers, places, found.rows, exact, found.texts))

    def exact(self, text: str, line: int) -> RowRead | Problem:
        """The row written in `text`, which begins in `line`."""
        value = json_exact.decode(text, line, self._limits.depth)
        if isinstance(value, Problem):
            return value
        if not isinstance(value, dict):
            return not_an_object(kind_of(value), line)
        problem = self._check(value, line)
        if problem is not None:
            return problem
        if "\\u0000" in text and "\\u0000" in json.dumps(value):
            self._nul.append(line)
        if _ESCAPED_HALF.search(text) and _has_half(value):
            self._halves.append(line)
        self.count += 1
        return RowRead(self.count, line, value)

    def _check(self, value: JSONObject, line: int) -> Problem | None:
        strange = next((key for key in value if not _is_name(key)), None)
        if strange is not None:
            message = (
                f"Line {line:,} has the key {json_exact.quoted(strange)}, which is no "
                "name for a column: it is empty or has control characters."
            )
            return Problem("bad_key", message, line=line)
        self._columns.update(value)
        if len(self._columns) > self._limits.columns:
            message = (
                f"Line {line:,} brings the file above {self._limits.columns:,} columns."
            )
            return Problem("too_many_columns", message, line=line, is_fatal=True)
        if self.count >= self._limits.rows:
            return too_many_rows(self._limits, line)
        return None

    def notes(self) -> list[Problem]:
        """What is worth saying about all the rows."""
        notes = []
        if self._nul:
            what = "has|have a NUL character, which was kept"
            notes.append(lines_note("nul", self._nul, what))
        if self._halves:
            what = (
                "has|have half a character (a lone surrogate), "
                "which was kept and is shown as \ufffd"
            )
            notes.append(lines_note("half_character", self._halves, what))
        return notes


def not_an_object(kind: str, line: int, *, is_fatal: bool = False) -> Problem:
    message = (
        f"Line {line:,} is {kind}, not an object. "
        'Each line must look like {"query": "…", "response": "…"}.'
    )
    return Problem("not_an_object", message, line=line, is_fatal=is_fatal)


def too_many_rows(limits: Limits, line: int) -> Problem:
    message = (
        f"The file has more than {limits.rows:,} rows. Split it or upload fewer rows."
    )
    return Problem("too_many_rows", message, line=line, is_fatal=True)


def kind_of(value: JSON) -> str:
    """What `value` is, for a sentence."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "a number"


def _is_name(key: str) -> bool:
    return bool(key.strip()) and not _NO_NAME.search(key)


def _has_half(value: JSON) -> bool:
    return HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False)) is not None
