"""What a page shows of the columns of a version: their kind and how values spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from datasets.models import DatasetVersion


@dataclass(frozen=True, slots=True)
class Spread:
    """Bins for `minicharts.bars`, and the same in words."""

    bins: list[list[float]]
    range: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """`different` counts the values that differ; None when there are too many."""

    name: str
    kind: str
    filled: int
    sample: str
    different: int | None
    top: list[list[Any]]
    spreads: list[Spread]


def shown(version: DatasetVersion) -> list[ShownColumn]:
    """No query. Versions from before the statistics have none."""
    return [_column(column) for column in version.columns]


def _column(column: dict[str, Any]) -> ShownColumn:
    stats = column.get("stats") or {"distinct": None, "top": [], "spreads": {}}
    spreads = [_spread(what, found) for what, found in stats["spreads"].items()]
    return ShownColumn(
        name=column["name"],
        kind=column["kind"],
        filled=column["filled"],
        sample=column["sample"],
        different=stats["distinct"],
        top=stats["top"],
        spreads=spreads,
    )


def _spread(what: str, found: dict[str, Any]) -> Spread:
    ends = {"least": _number(found["least"]), "most": _number(found["largest"])}
    middle = {"median": _number(found["median"]), "mean": _number(found["mean"])}
    if what == "characters":
        text = _("%(least)s to %(most)s characters, median %(median)s")
    elif what == "messages":
        text = _("%(least)s to %(most)s messages, median %(median)s")
    else:
        text = _("%(least)s to %(most)s, mean %(mean)s")
    words = text % {**ends, **middle}
    return Spread(found["bins"], words, words)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
