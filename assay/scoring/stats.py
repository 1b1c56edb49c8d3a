"""Intervals: how sure a share or a mean is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def wilson(passed: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for the share `passed`/`n`, always inside 0 to 1.

    Without observations nothing is known: 0 to 1. Raises `ValueError` unless
    0 <= passed <= n and 0 < confidence < 1. (Wilson, 1927)
    """
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} of {n} is not a share.")
    z = NormalDist().inv_cdf(0.5 + _checked(confidence) / 2)
    if n == 0:
        return Interval(0.0, 1.0)
    share = passed / n
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # Rounding must not push the interval past the share itself or past 0 and 1.
    low, high = min(share, centre - half), max(share, centre + half)
    return Interval(max(0.0, low), min(1.0, high))


def mean_interval(
    n: int, total: float, total_squares: float, confidence: float = 0.95
) -> Interval | None:
    """Student's t interval for a mean, from count, sum and sum of squares.

    None for fewer than two observations: one value says nothing about its spread.
    """
    level = _checked(confidence)
    if n < 2:
        return None
    mean = total / n
    # Rounding can make the spread of equal values slightly negative.
    variance = max(0.0, (total_squares - total * mean) / (n - 1))
    if variance == 0:
        return Interval(mean, mean)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, 0.5 + level / 2)) * math.sqrt(variance / n)
    return Interval(mean - half, mean + half)


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"{confidence} is not a confidence between 0 and 1.")
    return confidence
