"""Numbers that keep the digits they were written with.

JSON numbers are read as `int` or `float`. A float whose own text differs from what
stood in the file (`1.50`, `1e5`, `123456789.123456789012345`) is read as an
`ExactFloat`: a float for arithmetic, with its text beside it. `dumps` writes that
text back and `loads` reads it again, so a row is stored digit for digit. Plain
`json.dumps` writes an `ExactFloat` as any other float, and so does `canonical`.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from typing import Any, cast

from assay.data.jsonx import JSON


class ExactFloat(float):
    """A float that remembers how it was written."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> ExactFloat:
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[ExactFloat], tuple[str]]:
        return ExactFloat, (self.text,)


class NotFiniteError(ValueError):
    """A number that JSON or a float cannot hold: NaN, Infinity, 1e999."""


def parse_float(text: str) -> float:
    """The number `text`, exact where a plain float would be written otherwise."""
    value = float(text)
    if not math.isfinite(value):
        raise NotFiniteError(text)
    return value if repr(value) == text else ExactFloat(text)


def parse_int(text: str) -> int | float:
    """The number `text`. No `int` is minus zero."""
    return ExactFloat(text) if text == "-0" else int(text)


def refuse_constant(text: str) -> float:
    """For `json.loads(parse_constant=…)`: NaN and Infinity are not JSON."""
    raise NotFiniteError(text)


def loads(text: str) -> JSON:
    """The value written in `text`, floats with their digits."""
    value: JSON = _read(text)
    return value


_read = json.JSONDecoder(
    parse_float=parse_float, parse_int=parse_int, parse_constant=refuse_constant
).decode


def dumps(value: JSON) -> str:
    """The stored text of `value`: keys in the order given, no blanks, own digits.

    Characters stand as themselves. Control characters and half characters (lone
    surrogates) are escaped: no database stores them.
    """
    if not _holds_exact(value):
        return _whole(_write(value))
    texts: list[str] = []
    mark = secrets.token_hex(8)

    def replace(current: JSON) -> JSON:
        if isinstance(current, ExactFloat):
            texts.append(current.text)
            return f"{mark}{len(texts) - 1}"
        if isinstance(current, dict):
            return {key: replace(item) for key, item in current.items()}
        if isinstance(current, (list, tuple)):
            return [replace(item) for item in current]
        return current

    written = _whole(_write(replace(value)))
    pattern = re.compile(f'"{mark}([0-9]+)"')
    return pattern.sub(lambda found: texts[int(found[1])], written)


def _holds_exact(value: JSON) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_exact, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_holds_exact, value))
    return isinstance(value, ExactFloat)


def canonical(value: JSON) -> str:
    """One text for equal values, as `dumps` but with sorted keys. For digests."""
    return _whole(_write_sorted(value))


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_write_sorted = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True
).encode
HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def _whole(text: str) -> str:
    """JSON text whose half characters are escaped."""
    if text.isascii():
        return text
    return HALF_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def number_text(value: float) -> str:
    """The digits to show for a number of a row."""
    return cast("Any", value).text if isinstance(value, ExactFloat) else repr(value)
