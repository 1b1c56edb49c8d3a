"""How the values of a column are spread, found while the rows stream by.

Numbers are measured by their value, texts by their characters, conversations by
their messages. Least, largest and mean are exact; median and bins come from up to
`SAMPLE` values drawn evenly (Vitter's algorithm R), all of them in small tables.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.data.jsonx import JSON, JSONObject
from assay.data.profile import kind_of, messages_of

SAMPLE = 2000
BINS = 12
MAX_DISTINCT = 1000
MAX_TOP = 12
TOP_CHARACTERS = 60


@dataclass(slots=True)
class _Spread:
    """Measures of one kind: `characters`, `value` or `messages`."""

    chance: random.Random
    count: int = 0
    total: float = 0.0
    least: float = math.inf
    largest: float = -math.inf
    sample: list[float] = field(default_factory=list)

    def add(self, measure: float) -> None:
        self.count += 1
        self.total += measure
        self.least = min(self.least, measure)
        self.largest = max(self.largest, measure)
        if len(self.sample) < SAMPLE:
            self.sample.append(measure)
        elif (place := self.chance.randrange(self.count)) < SAMPLE:
            self.sample[place] = measure

    def as_json(self) -> JSONObject:
        return {
            "count": self.count,
            "least": self.least,
            "median": statistics.median(self.sample),
            "mean": self.total / self.count,
            "largest": self.largest,
            "is_sampled": self.count > len(self.sample),
            "bins": _bins(self.sample),
        }


@dataclass(slots=True)
class _Column:
    values: Counter[str] = field(default_factory=Counter)
    is_varied: bool = False
    spreads: dict[str, _Spread] = field(default_factory=dict)


class ColumnStats:
    """Give it every row with `add`; then `of(name)` tells about a column."""

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}
        self._chance = random.Random(0)  # noqa: S311 - an even sample, no secret

    def add(self, values: JSONObject) -> None:
        for name, value in values.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = _Column()
            found = _measure(value)
            if found is None:
                continue
            what, measure, text = found
            if what not in column.spreads:
                column.spreads[what] = _Spread(self._chance)
            column.spreads[what].add(measure)
            if text is not None and not column.is_varied:
                column.values[text] += 1
                column.is_varied = len(column.values) > MAX_DISTINCT

    def of(self, name: str) -> JSONObject:
        """`{distinct, top, spreads}`: the number of different values (None when there
        are more than `MAX_DISTINCT`), the most frequent ones as (text, count) when a
        value stands more than once, and per measure its `_Spread`."""
        column = self._columns.get(name) or _Column()
        repeats = bool(column.values) and column.values.most_common(1)[0][1] > 1
        top: list[JSON] = []
        if repeats and not column.is_varied:
            most = column.values.most_common(MAX_TOP)
            top = [[text, count] for text, count in most]
        return {
            "distinct": None if column.is_varied else len(column.values),
            "top": top,
            "spreads": {what: s.as_json() for what, s in column.spreads.items()},
        }


def _measure(value: JSON) -> tuple[str, float, str | None] | None:
    """What is measured, how large it is, and the value as a short text."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        text = value if len(value) <= TOP_CHARACTERS else None
        return "characters", float(len(value)), text or f"{len(value)}:{hash(value)}"
    if isinstance(value, bool):
        return "value", float(value), str(value).lower()
    if isinstance(value, (int, float)):
        number = _float(value)
        return ("value", number, repr(value)) if number is not None else None
    if kind_of(value) == "chat":
        return "messages", float(len(messages_of(value) or ())), None
    return None


def _float(value: float) -> float | None:
    """None for a whole number that no float holds."""
    try:
        return float(value)
    except OverflowError:
        return None


def _bins(sample: Sequence[float]) -> list[JSON]:
    """(from, to, count) for up to `BINS` bins of equal width; one for equal values."""
    low, high = min(sample), max(sample)
    if low == high:
        return [[low, high, len(sample)]]
    width = high / BINS - low / BINS  # the difference itself may overflow
    counts = [0] * BINS
    for measure in sample:
        place = int(measure / width - low / width) if width else 0
        counts[min(max(place, 0), BINS - 1)] += 1
    return [[low + i * width, low + (i + 1) * width, n] for i, n in enumerate(counts)]
