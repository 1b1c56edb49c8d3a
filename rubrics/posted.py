"""Reading the editor's form back into a document."""

from __future__ import annotations

import re

from django.http import QueryDict

from assay.data.text import storable
from rubrics.documents import ALLOWED, CHOICES, DimensionText, Document

TEXTS = ("name", "title", "description", "pass_threshold")
SWITCHES = ("fail_on_any_1", "one_call_per_dimension")
_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")


def document_from(post: QueryDict, before: Document) -> Document:
    """`before` with what was posted. Fields that the page did not show stay."""
    changes: dict[str, object] = {
        name: _text(post[name]) for name in (*TEXTS, *CHOICES) if name in post
    }
    if "name" in changes:
        changes["name"] = str(changes["name"]).strip()
    if "settings" in post:
        changes |= {name: name in post for name in SWITCHES}
    if changes.get("category") == "safety" and before.category != "safety":
        changes["scoring"] = "boolean"
    if "dimensions" in post:
        known = {dimension.key: dimension for dimension in before.dimensions}
        keys = [key for key in post.getlist("key") if _KEY.fullmatch(key)]
        changes["dimensions"] = tuple(
            _dimension(post, known.get(key) or DimensionText(key=key))
            for key in dict.fromkeys(keys)
        )
    return before.model_copy(update=changes)


def _dimension(post: QueryDict, before: DimensionText) -> DimensionText:
    key = before.key
    changes: dict[str, object] = {
        "always_applicable": f"always-{key}" in post,
    }
    for name in ("id", "description", "weight"):
        if f"{name}-{key}" in post:
            changes[name] = _text(post[f"{name}-{key}"])
    allowed = post.get(f"allowed-{key}")
    if allowed in ALLOWED:
        changes["allowed"] = allowed
    return before.model_copy(update=changes)


def _text(value: str | list[object]) -> str:
    """Text as it was typed: a browser sends line ends its own way."""
    return storable(str(value).replace("\r\n", "\n"))
