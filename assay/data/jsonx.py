"""JSON for data that came from outside: canonical and safe to store as text."""

from __future__ import annotations

import json
from typing import TypeAlias, Union

JSON: TypeAlias = Union[
    None, bool, int, float, str, "list[JSON]", "tuple[JSON, ...]", "dict[str, JSON]"
]
"""A value of JSON. Sequences are lists when read, tuples are accepted when written."""

JSONObject: TypeAlias = dict[str, JSON]


def dumps(value: JSON) -> str:
    """The text of `value` in key order as given, ASCII only.

    ASCII escapes keep control characters and lone surrogates storable in every
    database and survive a round trip.
    """
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def canonical(value: JSON) -> str:
    """One text per value: keys sorted, no blanks. Used for digests and cache keys."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def loads(text: str) -> JSON:
    """The value written in `text`. Raises `ValueError` when it is not JSON."""
    value: JSON = json.loads(text)
    return value
