"""Tallies of one metric over many rows: added to as results come, and merged.

Sums are kept in whole billionths, so that adding and merging give exactly the same
tally in every order; a summary made while running equals one counted at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from assay.data.jsonx import JSON, JSONObject
from assay.scoring.definition import MetricSpec, ScaleKind
from assay.scoring.outcome import Outcome
from assay.scoring.stats import Interval, mean_interval, wilson

UNIT = 10**9
BINS = 20


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its interval."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Scale:
    """How scores are sorted into a histogram.

    Ordinal scales have one bin per whole number, boolean ones two (0 and 1).
    Continuous scales have 20 equal bins from minimum to maximum; each holds its
    lower edge, the last one both. A score beyond an edge counts in the bin there.
    """

    kind: ScaleKind
    minimum: float
    maximum: float

    @classmethod
    def of(cls, metric: MetricSpec) -> Scale:
        return cls(metric.kind, metric.minimum, metric.maximum)

    @property
    def bins(self) -> int:
        if self.kind == "continuous":
            return BINS
        return 2 if self.kind == "boolean" else round(self.maximum - self.minimum) + 1

    def edges(self) -> list[float]:
        """The levels of an ordinal or boolean scale, else the 21 edges of the bins."""
        if self.kind == "boolean":
            return [0.0, 1.0]
        if self.kind == "ordinal":
            return [self.minimum + step for step in range(self.bins)]
        width = (self.maximum - self.minimum) / BINS
        return [self.minimum + width * step for step in range(BINS)] + [self.maximum]

    def bin_of(self, score: float) -> int:
        if self.kind == "boolean":
            place = int(score >= 0.5)
        elif self.kind == "ordinal":
            place = round(score - self.minimum)
        else:
            share = (score - self.minimum) / (self.maximum - self.minimum)
            place = int(share * BINS) if share > 0 else 0
        return min(max(place, 0), self.bins - 1)


@dataclass(slots=True)
class MetricTally:
    """Counts per outcome, sums and histogram of one metric.

    `passed + failed + not_applicable + errored` is the number of results added, and
    the histogram's counts add up to `scored`.
    """

    scale: Scale
    passed: int = 0
    failed: int = 0
    not_applicable: int = 0
    errored: int = 0
    sum_units: int = 0
    square_units: int = 0
    histogram: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.histogram = self.histogram or [0] * self.scale.bins
        if len(self.histogram) != self.scale.bins:
            raise ValueError("The histogram does not fit the scale.")

    @classmethod
    def of(cls, metric: MetricSpec) -> MetricTally:
        """An empty tally for `metric`."""
        return cls(Scale.of(metric))

    @property
    def scored(self) -> int:
        """Rows with a score: the denominator of every rate and mean."""
        return self.passed + self.failed

    @property
    def total(self) -> int:
        """All results."""
        return self.scored + self.not_applicable + self.errored

    @property
    def sum(self) -> float:
        return self.sum_units / UNIT

    @property
    def sum_squares(self) -> float:
        return self.square_units / UNIT

    def add(self, outcome: Outcome, score: float | None, count: int = 1) -> None:
        """Count `count` equal results.

        Raises `ValueError` for a pass or fail without a score.
        """
        if outcome is Outcome.NOT_APPLICABLE:
            self.not_applicable += count
        elif outcome is Outcome.ERROR:
            self.errored += count
        elif score is None:
            raise ValueError("A pass or fail has a score.")
        else:
            self._add_score(score, count)
            if outcome is Outcome.PASS:
                self.passed += count
            else:
                self.failed += count

    def _add_score(self, score: float, count: int) -> None:
        self.sum_units += round(score * UNIT) * count
        self.square_units += round(score * score * UNIT) * count
        self.histogram[self.scale.bin_of(score)] += count

    def merge(self, other: MetricTally) -> MetricTally:
        """Both tallies as one. Raises `ValueError` for tallies of different scales."""
        if self.scale != other.scale:
            raise ValueError("Tallies of different scales cannot be merged.")
        return MetricTally(
            self.scale,
            self.passed + other.passed,
            self.failed + other.failed,
            self.not_applicable + other.not_applicable,
            self.errored + other.errored,
            self.sum_units + other.sum_units,
            self.square_units + other.square_units,
            [a + b for a, b in zip(self.histogram, other.histogram, strict=True)],
        )

    def pass_rate(self, confidence: float = 0.95) -> Rate | None:
        """Passed among scored rows, with Wilson's interval; None without any.

        Errors and rows to which the metric does not apply are no failures.
        """
        if not self.scored:
            return None
        interval = wilson(self.passed, self.scored, confidence)
        return Rate(self.passed / self.scored, interval)

    def mean(self) -> float | None:
        """The mean over scored rows; None without any."""
        return self.sum / self.scored if self.scored else None

    def deviation(self) -> float | None:
        """The standard deviation of the scores (n − 1); None below two rows."""
        if self.scored < 2:
            return None
        around = self.sum_squares - self.sum * self.sum / self.scored
        return math.sqrt(max(0.0, around) / (self.scored - 1))

    def mean_interval(self, confidence: float = 0.95) -> Interval | None:
        """The interval of the mean, cut to the scale: no mean lies beyond it."""
        found = mean_interval(self.scored, self.sum, self.sum_squares, confidence)
        if found is None:
            return None
        low, high = self.scale.minimum, self.scale.maximum
        return Interval(max(found.low, low), min(found.high, high))

    def as_json(self) -> JSONObject:
        """Counts and sums as whole numbers; `from_json` reads it back unchanged."""
        return {
            "kind": self.scale.kind,
            "minimum": self.scale.minimum,
            "maximum": self.scale.maximum,
            "passed": self.passed,
            "failed": self.failed,
            "not_applicable": self.not_applicable,
            "errored": self.errored,
            "sum_billionths": self.sum_units,
            "squares_billionths": self.square_units,
            "histogram": list(self.histogram),
        }

    @classmethod
    def from_json(cls, value: JSONObject) -> MetricTally:
        """The tally that `as_json` wrote. Raises `ValueError` for anything else."""
        kind = value.get("kind")
        histogram = value.get("histogram")
        if kind not in ("ordinal", "continuous", "boolean"):
            raise ValueError("This is not a tally.")
        if not isinstance(histogram, (list, tuple)):
            raise ValueError("This tally has no histogram.")
        low, high = value.get("minimum"), value.get("maximum")
        if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
            raise ValueError("This tally has no range.")
        return cls(
            Scale(cast("ScaleKind", kind), low, high),
            _count(value.get("passed")),
            _count(value.get("failed")),
            _count(value.get("not_applicable")),
            _count(value.get("errored")),
            _count(value.get("sum_billionths")),
            _count(value.get("squares_billionths")),
            [_count(item) for item in histogram],
        )


def _count(value: JSON) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("A tally holds whole numbers.")
    return value


def merged(tallies: Iterable[MetricTally]) -> MetricTally | None:
    """All tallies as one; None when there is none."""
    result: MetricTally | None = None
    for tally in tallies:
        result = tally if result is None else result.merge(tally)
    return result
