"""Numbers that keep the digits they were written with.

JSON numbers are read as `int` or `float`. A float whose own text differs from what
stood in the file (`1.50`, `1e5`, `123456789.123456789012345`) is read as an
`ExactFloat`: a float for arithmetic, with its text beside it. `dumps` writes that
text back and `loads` reads it again, so a row is stored digit for digit. Plain
`json.dumps` writes an `ExactFloat` as any other float.
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


def refuse_constant(text: str) -> float:
    """For `json.loads(parse_constant=…)`: NaN and Infinity are not JSON."""
    raise NotFiniteError(text)


def loads(text: str) -> JSON:
    """The value written in `text`, floats with their digits."""
    value: JSON = json.loads(
        text, parse_float=parse_float, parse_constant=refuse_constant
    )
    return value


def dumps(value: JSON) -> str:
    """As `jsonx.dumps`, but an `ExactFloat` is written with its own digits."""
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

    written = json.dumps(replace(value), ensure_ascii=True, separators=(",", ":"))
    if not texts:
        return written
    pattern = re.compile(f'"{mark}([0-9]+)"')
    return pattern.sub(lambda found: texts[int(found[1])], written)


def number_text(value: float) -> str:
    """The digits to show for a number of a row."""
    return cast("Any", value).text if isinstance(value, ExactFloat) else repr(value)
