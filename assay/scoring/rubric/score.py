"""The arithmetic of a rubric. Code computes the score; the judge never does.

With A = Σ w·s ÷ Σ w over the applicable dimensions (scores s from 1 to 5, weights w),
`ratio` is A ÷ 5 and `minmax` is (A − 1) ÷ 4. Source: the examples of Foundry's rubric
documentation (`ratio`: 146 ÷ 31 ÷ 5 = 0.9419354839) and its API reference (`minmax`).
A checklist scores the share of its applicable checks that passed, and passes when all
of them did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.data.jsonx import JSONObject
from assay.scoring.rubric.spec import HIGHEST, LOWEST, RubricSpec, weight_of

DRIVERS = 3


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """What the judge said about one dimension.

    `score` is a whole number from 1 to 5, for a check 1 or 0, and None when the
    dimension is not applicable. `weight` is None where the rubric has none.
    """

    id: str
    score: int | None
    applicable: bool
    weight: int | None
    reason: str = ""

    def as_json(self) -> JSONObject:
        found: JSONObject = {
            "id": self.id,
            "score": self.score,
            "applicable": self.applicable,
        }
        if self.weight is not None:
            found["weight"] = self.weight
        return {**found, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class RubricScore:
    """`score` from 0 to 1, and the weighted mean behind it on the judge's scale.

    `failed_by_one` tells that a dimension scored 1 in a rubric that fails on that.
    """

    score: float
    mean: float
    failed_by_one: bool = False


def aggregate(spec: RubricSpec, scores: Sequence[DimensionScore]) -> RubricScore | None:
    """The score of a row; None when no dimension is applicable.

    Exact arithmetic: the order of the dimensions makes no difference.
    """
    weights = {dimension.id: weight_of(dimension) for dimension in spec.dimensions}
    if spec.scoring == "boolean":
        weights = dict.fromkeys(weights, 1)
    applied = [(weights[s.id], s.score) for s in scores if s.score is not None]
    total = sum(weight for weight, _score in applied)
    if not total:
        return None
    mean = Fraction(sum(weight * score for weight, score in applied), total)
    by_one = spec.fail_on_any_1 and spec.scoring == "likert"
    return RubricScore(
        score=float(_normalized(spec, mean)),
        mean=float(mean),
        failed_by_one=by_one and any(score == LOWEST for _weight, score in applied),
    )


def _normalized(spec: RubricSpec, mean: Fraction) -> Fraction:
    if spec.scoring == "boolean":
        return mean
    if spec.normalization == "minmax":
        return (mean - LOWEST) / (HIGHEST - LOWEST)
    return mean / HIGHEST


def drivers(
    spec: RubricSpec, scores: Sequence[DimensionScore], *, passed: bool
) -> list[DimensionScore]:
    """Up to three dimensions that drove the verdict, the strongest first.

    Those that brought most when it passed, those that cost most when it failed.
    """
    best = 1 if spec.scoring == "boolean" else HIGHEST
    found = [s for s in scores if s.score is not None]

    def pull(item: DimensionScore) -> int:
        assert item.score is not None
        weight = item.weight if item.weight is not None else 1
        return weight * (item.score if passed else best - item.score)

    ranked = sorted(found, key=pull, reverse=True)
    return [item for item in ranked[:DRIVERS] if pull(item) > 0]


def driver_sentence(
    spec: RubricSpec, scores: Sequence[DimensionScore], *, passed: bool
) -> str:
    """ "The verdict is driven most by intent_recognition (5) and …", or ""."""
    names = [f"{s.id} ({s.score})" for s in drivers(spec, scores, passed=passed)]
    if not names:
        return ""
    *first, last = names
    if len(first) > 1:
        listed = f"{', '.join(first)}, and {last}"
    else:
        listed = f"{first[0]} and {last}" if first else last
    return f"The verdict is driven most by {listed}."


def with_drivers(
    reason: str, spec: RubricSpec, scores: Sequence[DimensionScore], *, passed: bool
) -> str:
    """The judge's reason; it begins with the drivers unless it names one itself."""
    named = any(s.id in reason for s in drivers(spec, scores, passed=passed))
    if named:
        return reason
    return f"{driver_sentence(spec, scores, passed=passed)} {reason}".strip()
