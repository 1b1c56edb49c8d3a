"""Reads rows of JSON quickly where that provably changes nothing.

orjson makes a float of a long integer, forgets how a fraction was written, makes zero
of minus zero and keeps the last of two equal keys. So what it reads is taken only when
every number is written as any writer writes it, and no key was lost; everything else
is left to `json_exact`. Many lines are looked at together: that is what makes it quick.
"""

from __future__ import annotations

import re
from itertools import chain, repeat
from typing import NamedTuple

import orjson

from assay.data.jsonx import JSON, JSONObject

_SCALARS = frozenset({str, int, bool, float, type(None)})
_KNOWN = _SCALARS | {dict, list}
_MINUS_ZERO = re.compile(rb"-0[\s,}\]]")
_FRACTION = re.compile(rb"[:,\[]\s*(-?\d+[.eE][\d.eE+-]*|-?\d{16,})")
"""A number with a fraction, or a long one. Some found are inside of texts."""


class Decoded(NamedTuple):
    """Rows, and the texts in which they are stored."""

    rows: list[JSONObject]
    texts: list[bytes]


class _Survey(NamedTuple):
    """What some rows hold, however deep."""

    strings: int
    has_float: bool
    has_zero: bool


def decode(lines: list[bytes], data: bytes, depth: int) -> Decoded | None:
    """The objects on `lines`, which are `data`, nested at most `depth` deep.

    None when one of them calls for a closer look: it is no such object, is wrong, or
    holds a number, a key or a character that calls for care.
    """
    try:
        rows = list(map(orjson.loads, lines))
        if set(map(type, rows)) != {dict}:
            return None
        survey = _survey(rows, depth)
        if survey is None or _has_odd_number(data, survey):
            return None
        texts = list(map(orjson.dumps, rows))
    except (ValueError, TypeError):
        return None
    return Decoded(rows, texts) if _has_all_keys(data, survey, texts) else None


def _survey(rows: list[JSONObject], depth: int) -> _Survey | None:
    """One level after the other, all rows at once. Keys count as strings."""
    strings = 0
    has_float = has_zero = False
    dicts, lists = rows, list[list[JSON]]()
    for _ in range(depth):
        strings += sum(map(len, dicts))
        items = list(chain.from_iterable(map(dict.values, dicts)))
        items.extend(chain.from_iterable(lists))
        kinds = list(map(type, items))
        strings += kinds.count(str)
        found = set(kinds)
        has_float = has_float or float in found
        has_zero = has_zero or 0 in items
        if found <= _SCALARS:
            return _Survey(strings, has_float, has_zero)
        if not found <= _KNOWN:
            return None
        dicts = [item for item in items if isinstance(item, dict)]
        lists = [item for item in items if isinstance(item, list)]
    return None


def _has_odd_number(data: bytes, survey: _Survey) -> bool:
    """True when a number may be written in another way than writers write it."""
    if survey.has_zero and b"-0" in data and _MINUS_ZERO.search(data):
        return True
    return survey.has_float and not all(map(_is_usual, _FRACTION.findall(data)))


def _is_usual(digits: bytes) -> bool:
    """True when every writer writes the number so: it has a fraction, no exponent."""
    text = digits.decode()
    try:
        return "." in text and "e" not in text and repr(float(text)) == text
    except ValueError:
        return False


def _has_all_keys(data: bytes, survey: _Survey, texts: list[bytes]) -> bool:
    r"""True when no key was dropped. NUL is left to the closer look as well.

    Each line has at least as many quotation marks as what was read of it: a key that
    was dropped would have brought two. So when the sums are equal, none was. A mark
    inside a string is `\"` in both, unless the line writes it as `\u0022`.
    """
    marks = 2 * survey.strings
    if b"\\" in data:
        if b"\\u00" in data and (b"\\u0022" in data or b"\\u0000" in data):
            return False
        marks = sum(map(bytes.count, texts, repeat(b'"')))
    return data.count(b'"') == marks
