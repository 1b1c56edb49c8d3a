"""How well a judge agrees with people who judged the same rows.

Pairs are (judge, person). Kappa is agreement beyond chance: 1 is complete, 0 what
chance alone would give. Sources: J. Cohen, "A coefficient of agreement for nominal
scales", Educational and Psychological Measurement 20 (1960); J. Cohen, "Weighted
kappa", Psychological Bulletin 70 (1968). Intervals: percentile bootstrap, B. Efron,
"Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from assay.scoring.stats import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
Pairs = Sequence[tuple[T, T]]
Weights = Literal["linear", "quadratic"]
ENOUGH = 30
"""With fewer pairs nothing should be concluded."""
RESAMPLES = 2000
COVERAGE = 0.95
SEED = 20
LEAST_DEFINED = 0.5
"""The share of resamples that must have a value for an interval to mean something."""


@dataclass(frozen=True, slots=True)
class TwoByTwo:
    """Counts of rows. `judge_only` passed with the judge alone, `person_only` with the
    person alone."""

    both_passed: int
    judge_only: int
    person_only: int
    both_failed: int

    @property
    def total(self) -> int:
        return self.both_passed + self.judge_only + self.person_only + self.both_failed

    @property
    def agreed(self) -> int:
        return self.both_passed + self.both_failed


@dataclass(frozen=True, slots=True)
class Measure:
    """A value with its 95% interval from `n` pairs.

    The value is None where it is undefined: no pairs, or for kappa one category only,
    where agreement by chance is complete. The interval is None when there is no value
    or when most resamples have none.
    """

    value: float | None
    interval: Interval | None
    n: int

    @property
    def enough(self) -> bool:
        return self.n >= ENOUGH


def two_by_two(pairs: Pairs[bool]) -> TwoByTwo:
    """The table of verdicts: True is pass."""
    counts = {(judge, person): 0 for judge in (True, False) for person in (True, False)}
    for judge, person in pairs:
        counts[bool(judge), bool(person)] += 1
    return TwoByTwo(
        both_passed=counts[True, True],
        judge_only=counts[True, False],
        person_only=counts[False, True],
        both_failed=counts[False, False],
    )


def agreement(pairs: Pairs[T]) -> Measure:
    """The share of pairs that are equal, 0 to 1."""
    return _measure(_table(pairs, _levels(pairs)), _shares)


def cohen_kappa(pairs: Pairs[T]) -> Measure:
    """Cohen's kappa of verdicts or other categories without an order.

    (p_o − p_e) ÷ (1 − p_e), with p_o the share of equal pairs and p_e the sum over
    the categories of the product of both sides' shares.
    """
    return _measure(_table(pairs, _levels(pairs)), _kappas)


def weighted_kappa(
    pairs: Pairs[T], levels: Sequence[T], weights: Weights = "quadratic"
) -> Measure:
    """Cohen's weighted kappa of scores on `levels`, given from low to high.

    1 − Σ v·o ÷ Σ v·e over all cells, with the disagreement v = |i − j| (linear) or
    (i − j)² (quadratic), o the observed and e the expected shares. Raises
    `ValueError` for a score that is none of the levels.
    """
    size = len(levels)
    power = 2 if weights == "quadratic" else 1
    cost = [[abs(i - j) ** power for j in range(size)] for i in range(size)]
    return _measure(_table(pairs, levels), lambda tables: _weighted(tables, cost))


def _levels(pairs: Pairs[T]) -> list[T]:
    return list(dict.fromkeys(value for pair in pairs for value in pair))


def _table(pairs: Pairs[T], levels: Sequence[T]) -> list[list[int]]:
    """Counts: a row for each level of the judge, a column for each of the person."""
    place = {level: at for at, level in enumerate(levels)}
    table = [[0] * len(levels) for _ in levels]
    for pair in pairs:
        strange = [value for value in pair if value not in place]
        if strange:
            raise ValueError(f"{strange[0]!r} is none of the levels.")
        judge, person = pair
        table[place[judge]][place[person]] += 1
    return table


Statistic = Callable[["NDArray[Any]"], "NDArray[Any]"]


def _measure(table: list[list[int]], statistic: Statistic) -> Measure:
    """Resampling the pairs is drawing tables: the time does not grow with the pairs."""
    import numpy as np

    counts = np.array(table, dtype=np.int64)
    n = int(counts.sum())
    if not n:
        return Measure(None, None, 0)
    value = float(statistic(counts[np.newaxis])[0])
    if np.isnan(value):
        return Measure(None, None, n)
    draw = np.random.default_rng(SEED)
    drawn = draw.multinomial(n, counts.ravel() / n, size=RESAMPLES)
    values = statistic(drawn.reshape(RESAMPLES, *counts.shape))
    defined = values[~np.isnan(values)]
    if len(defined) < LEAST_DEFINED * RESAMPLES:
        return Measure(value, None, n)
    low, high = np.quantile(defined, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Measure(value, Interval(float(low), float(high)), n)


# Statistics of many tables at once: arrays of shape (tables, levels, levels). Sums are
# whole numbers, so that the one division at the end is all that is rounded.


def _shares(tables: NDArray[Any]) -> NDArray[Any]:
    equal = tables.trace(axis1=1, axis2=2)
    return _divided(equal, tables.sum(axis=(1, 2)))


def _kappas(tables: NDArray[Any]) -> NDArray[Any]:
    n = tables.sum(axis=(1, 2))
    equal = tables.trace(axis1=1, axis2=2)
    chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    return _divided(n * equal - chance, n * n - chance)


def _weighted(tables: NDArray[Any], cost: Sequence[Sequence[int]]) -> NDArray[Any]:
    import numpy as np

    costs = np.array(cost, dtype=np.int64)
    n = tables.sum(axis=(1, 2))
    observed = n * (tables * costs).sum(axis=(1, 2))
    expected = np.einsum("ti,ij,tj->t", tables.sum(axis=2), costs, tables.sum(axis=1))
    return _divided(expected - observed, expected)


def _divided(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[Any]:
    """Not a number where there is nothing to divide by."""
    import numpy as np

    found = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole != 0)
    return found
