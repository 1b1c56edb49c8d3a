"""JSON Lines: one object in each line. Says in plain words what is wrong in a line.

Stricter than `json`: a key may stand once, NaN and Infinity are refused, numbers keep
their digits (`exact`), nesting is bounded. `null`, "" and an absent key stay three
different things.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from assay.data.exact import ExactFloat, NotFiniteError, parse_float, refuse_constant
from assay.data.jsonx import JSON, JSONObject
from assay.data.lines import Lines, UnreadableLineError
from assay.data.records import Detected, Limits, Problem, RowRead, count

_NO_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
HOPELESS = 20
"""After so many wrong lines and no good one, the rest is not read."""


def read(
    lines: Lines, _detected: Detected, limits: Limits
) -> Iterator[RowRead | Problem]:
    state = _State(limits)
    while True:
        try:
            text = lines.next_line()
        except UnreadableLineError as stop:
            yield stop.problem
            if stop.problem.is_fatal:
                return
            continue
        if not text:
            break
        yield from state.take(text, lines.number)
        if state.is_over:
            return
    yield from state.end()


class _State:
    """What reading needs to know about the lines before."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rows = 0
        self.wrong = 0
        self.blank = 0
        self.is_over = False
        self._in_open_string = False
        self._columns: set[str] = set()

    def take(self, text: str, line: int) -> Iterator[RowRead | Problem]:
        stripped = text.strip(" \t\r\n\ufeff")
        if not stripped:
            self.blank += not self._in_open_string
            return
        if self._in_open_string and not stripped.startswith("{"):
            return
        self._in_open_string = False
        found = self._parse(stripped, line)
        if isinstance(found, Problem):
            self.wrong += 1
            self._in_open_string = found.code == "open_string"
            hopeless = self.wrong >= HOPELESS and not self.rows
            self.is_over = found.is_fatal or hopeless
        yield found

    def end(self) -> Iterator[Problem]:
        if self.blank:
            skipped = count(self.blank, "empty line was", "empty lines were")
            yield Problem("blank_lines", f"{skipped} skipped.", is_warning=True)
        if not self.rows and not self.wrong:
            yield Problem("no_rows", "The file has no rows.", is_fatal=True)

    def _parse(self, text: str, line: int) -> RowRead | Problem:
        exact: list[ExactFloat] = []

        def number(digits: str) -> float:
            value = parse_float(digits)
            if isinstance(value, ExactFloat):
                exact.append(value)
            return value

        try:
            value: JSON = json.loads(
                text,
                parse_float=number,
                parse_constant=refuse_constant,
                object_pairs_hook=_object,
            )
        except _RepeatedKeyError as error:
            message = f"Line {line:,} has the key {_quoted(error.key)} twice."
            return Problem("duplicate_key", message, line=line)
        except NotFiniteError as error:
            what = str(error)[:40]
            message = f"Line {line:,} holds {what}, which is not a JSON number."
            return Problem("not_finite", message, line=line)
        except json.JSONDecodeError as error:
            return self._explain(error, text, line)
        except RecursionError:
            return _too_deep(line, self.limits.depth)
        except ValueError:
            message = f"Line {line:,} holds a whole number with too many digits."
            return Problem("huge_number", message, line=line)
        return self._row(value, text, line, is_exact=bool(exact))

    def _row(
        self, value: JSON, text: str, line: int, *, is_exact: bool
    ) -> RowRead | Problem:
        if not isinstance(value, dict):
            return self._not_an_object(value, line)
        if _is_too_deep(value, text, self.limits.depth):
            return _too_deep(line, self.limits.depth)
        strange = next((key for key in value if not _is_name(key)), None)
        if strange is not None:
            message = (
                f"Line {line:,} has the key {_quoted(strange)}, which is no name for a "
                "column: it is empty or has control characters."
            )
            return Problem("bad_key", message, line=line)
        self._columns.update(value)
        if len(self._columns) > self.limits.columns:
            message = (
                f"Line {line:,} brings the file above {self.limits.columns:,} columns."
            )
            return Problem("too_many_columns", message, line=line, is_fatal=True)
        if self.rows >= self.limits.rows:
            return too_many_rows(self.limits, line)
        self.rows += 1
        return RowRead(self.rows, line, value, is_exact)

    def _not_an_object(self, value: JSON, line: int) -> Problem:
        is_first = not self.rows and not self.wrong
        if is_first and isinstance(value, list) and value and _are_objects(value):
            return _array(line)
        kind = _kind(value)
        message = (
            f"Line {line:,} is {kind}, not an object. "
            'Each line must look like {"query": "…", "response": "…"}.'
        )
        return Problem("not_an_object", message, line=line, is_fatal=is_first)

    def _explain(self, error: json.JSONDecodeError, text: str, line: int) -> Problem:
        """The first line tells whether the whole file is something else."""
        is_first = not self.rows and not self.wrong
        if is_first and text.startswith("["):
            return _array(line)
        if is_first and re.fullmatch(r'\{|\{\s*"[^"]*"\s*:\s*[\[{]?', text):
            message = (
                "This is one JSON document over several lines, not JSON Lines. "
                "Write each row as one object on a line of its own."
            )
            return Problem("pretty_json", message, line=line, is_fatal=True)
        code, reason = explain(error, text)
        place = f"Line {line:,} is not valid JSON: {reason}"
        return Problem(code, place, line=line)


def too_many_rows(limits: Limits, line: int) -> Problem:
    message = (
        f"The file has more than {limits.rows:,} rows. Split it or upload fewer rows."
    )
    return Problem("too_many_rows", message, line=line, is_fatal=True)


def explain(error: json.JSONDecodeError, text: str) -> tuple[str, str]:
    """A code and a sentence for what the parser stumbled over."""
    at, message, rest = error.pos, error.msg, text[error.pos :]
    place = f"at character {at + 1:,}"
    if message == "Extra data":
        if rest.strip() == ",":
            return "trailing_comma", "it ends with a comma."
        return "extra_data", f"something follows the object {place}."
    by_text = _explain_by_text(rest, place)
    if by_text and not message.startswith(("Unterminated", "Invalid")):
        return by_text
    if message == "Expecting ',' delimiter":
        return "missing_comma", _missing_comma(text, at)
    for beginning, code, sentence in SENTENCES:
        if message.startswith(beginning):
            return code, sentence.format(place=place)
    if at == 0:
        return "not_json", "it does not begin with {."
    return "not_json", f"a value is missing {place}."


SENTENCES = [
    (
        "Unterminated string",
        "open_string",
        "the text that begins {place} has no closing quotation mark on this line. "
        "A line break inside a text is written as \\n.",
    ),
    (
        "Expecting property name",
        "property_name",
        "a key in double quotes is missing {place}.",
    ),
    (
        "Illegal trailing comma",
        "property_name",
        "a comma {place} is followed by nothing.",
    ),
    ("Expecting ':' delimiter", "missing_colon", "a colon is missing {place}."),
    (
        "Invalid control character",
        "control_character",
        "there is a control character inside a text {place}. "
        "Tabs and line breaks are written as \\t and \\n.",
    ),
    ("Invalid \\", "bad_escape", "the backslash {place} begins no known escape."),
]
"""How the parser's messages begin, and what people are told."""


def _explain_by_text(rest: str, place: str) -> tuple[str, str] | None:
    if rest.startswith("'"):
        return "single_quotes", "texts stand in single quotes, not in double quotes."
    if found := re.match(r"(None|True|False)\b", rest):
        return "python_literal", f"{found[0]} {place} is Python, not JSON."
    if not rest.strip():
        return "cut_off", "it ends too early. The file may be cut off."
    return None


def _missing_comma(text: str, at: int) -> str:
    before = re.search(r'"([^"\\]{1,40})"\s*:\s*"(?:[^"\\]|\\.)*"?\s*$', text[:at])
    if before and text[at : at + 1] not in ('"', "{", "["):
        return f"a quotation mark is missing or not escaped in {_quoted(before[1])}."
    return f"a comma or a quotation mark is missing at character {at + 1:,}."


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, JSON]]) -> JSONObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _item in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return value


def _is_too_deep(value: JSON, text: str, limit: int) -> bool:
    if text.count("[") + text.count("{") <= limit:
        return False
    stack: list[tuple[JSON, int]] = [(value, 1)]
    while stack:
        current, depth = stack.pop()
        if isinstance(current, dict):
            children = list(current.values())
        elif isinstance(current, list):
            children = current
        else:
            continue
        if depth > limit:
            return True
        stack.extend((child, depth + 1) for child in children)
    return False


def _too_deep(line: int, limit: int) -> Problem:
    message = f"Line {line:,} is nested deeper than {limit} levels."
    return Problem("too_deep", message, line=line)


def _array(line: int) -> Problem:
    message = (
        "This is a JSON array, not JSON Lines. "
        "Write each row as one object on a line of its own, without [ ] and commas."
    )
    return Problem("json_array", message, line=line, is_fatal=True)


def _is_name(key: str) -> bool:
    return bool(key.strip()) and not _NO_NAME.search(key)


def _are_objects(values: list[JSON]) -> bool:
    return all(isinstance(item, dict) for item in values)


def _kind(value: JSON) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "a number"


def _quoted(text: str) -> str:
    shown = _printable(text if len(text) <= 40 else text[:39] + "…")
    return f'"{shown}"'


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
