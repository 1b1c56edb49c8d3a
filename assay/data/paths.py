"""Reaching into a row: `item.answer.text`, `sample.output_text`, `item.docs.0`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BLOB_KEY


class _Missing(Enum):
    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing.MISSING
Missing = Literal[_Missing.MISSING]
MAX_DEPTH = 5


def resolve(path: str, scope: Mapping[str, JSON]) -> JSON | Missing:
    """The value at `path`, or MISSING when the row does not have it.

    A key that contains dots itself wins over nesting: the longest key that exists
    is taken first. Numbers reach into lists.
    """
    root, _, rest = path.partition(".")
    if root not in scope:
        return MISSING
    return _descend(scope[root], rest)


def _descend(value: JSON, path: str) -> JSON | Missing:
    if not path:
        return value
    if isinstance(value, dict):
        if path in value:
            return value[path]
        cut = path.rfind(".")
        while cut > 0:
            if path[:cut] in value:
                found = _descend(value[path[:cut]], path[cut + 1 :])
                if found is not MISSING:
                    return found
            cut = path.rfind(".", 0, cut)
        return MISSING
    if isinstance(value, (list, tuple)):
        head, _, rest = path.partition(".")
        if (
            head.isascii()
            and head.isdigit()
            and len(head) < 10
            and int(head) < len(value)
        ):
            return _descend(value[int(head)], rest)
    return MISSING


def is_blank(value: JSON | Missing) -> bool:
    """Nothing to work with: absent, null, or text of blanks only."""
    if value is MISSING or value is None:
        return True
    return isinstance(value, str) and not value.strip()


def nested_paths(row: JSONObject, prefix: str = "item") -> list[str]:
    """Paths of all objects' members inside `row`, columns themselves left out."""
    found: list[str] = []
    for name, value in row.items():
        if isinstance(value, dict) and BLOB_KEY not in value:
            _collect(value, f"{prefix}.{name}", 1, found)
    return found


def _collect(value: dict[str, JSON], prefix: str, depth: int, found: list[str]) -> None:
    for name, member in value.items():
        path = f"{prefix}.{name}"
        found.append(path)
        if isinstance(member, dict) and BLOB_KEY not in member and depth < MAX_DEPTH:
            _collect(member, path, depth + 1, found)
