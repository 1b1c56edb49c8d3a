"""Changes of a rubric that is being written. Documents in, documents out."""

from __future__ import annotations

from collections.abc import Callable

from rubrics.documents import (
    MOST_REMOVED,
    DimensionText,
    Document,
    Removed,
    fresh_key,
    residual_of,
)


def add(document: Document, dimension: DimensionText | None = None) -> Document:
    """With a dimension at the end: an empty one by default."""
    weighted = any(d.weight for d in document.dimensions) or not document.dimensions
    weight = "5" if weighted and not document.is_checklist else ""
    new = dimension or DimensionText(key=fresh_key(), weight=weight)
    return _with(document, (*document.dimensions, new))


def add_residual(document: Document) -> Document:
    """With the dimension for what no other covers, when it is missing."""
    residual = residual_of(document)
    return add(document, residual) if residual else document


def move(document: Document, key: str, *, by: int) -> Document:
    """With the dimension one place up (-1) or down (1), as far as there is room."""
    dimensions = list(document.dimensions)
    place = _place(document, key)
    target = place + by
    if place < 0 or not 0 <= target < len(dimensions):
        return document
    dimensions[place], dimensions[target] = dimensions[target], dimensions[place]
    return _with(document, tuple(dimensions))


def remove(document: Document, key: str) -> Document:
    """Without the dimension; `undo` brings it back."""
    place = _place(document, key)
    if place < 0:
        return document
    gone = Removed(position=place, dimension=document.dimensions[place])
    rest = tuple(d for d in document.dimensions if d.key != key)
    removed = (gone, *document.removed)[:MOST_REMOVED]
    return document.model_copy(update={"dimensions": rest, "removed": removed})


def undo(document: Document) -> Document:
    """With the dimension that was removed last, where it stood."""
    if not document.removed:
        return document
    last, *others = document.removed
    dimensions = list(document.dimensions)
    dimensions.insert(last.position, last.dimension)
    changes = {"dimensions": tuple(dimensions), "removed": tuple(others)}
    return document.model_copy(update=changes)


def forget(document: Document) -> Document:
    """Without the memory of what was removed."""
    return document.model_copy(update={"removed": ()})


def _with(document: Document, dimensions: tuple[DimensionText, ...]) -> Document:
    return document.model_copy(update={"dimensions": dimensions})


def _place(document: Document, key: str) -> int:
    keys = [dimension.key for dimension in document.dimensions]
    return keys.index(key) if key in keys else -1


Change = Callable[[Document, str], Document]
CHANGES: dict[str, Change] = {
    "add": lambda document, _key: add(document),
    "residual": lambda document, _key: add_residual(document),
    "up": lambda document, key: move(document, key, by=-1),
    "down": lambda document, key: move(document, key, by=1),
    "remove": remove,
    "undo": lambda document, _key: undo(document),
    "forget": lambda document, _key: forget(document),
}
"""What a button of the editor does, by its name; the key names the dimension."""
