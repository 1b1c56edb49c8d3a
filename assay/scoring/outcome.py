"""Four outcomes, never mixed: pass, fail, not applicable, error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from assay.data.jsonx import JSON

Status = Literal["completed", "skipped", "error"]
Direction = Literal["increase", "decrease"]


class Outcome(IntEnum):
    """Stored as a small integer, never as a boolean or a NaN."""

    PASS = 1
    FAIL = 2
    NOT_APPLICABLE = 3
    ERROR = 4


@dataclass(frozen=True, slots=True)
class ResultValue:
    """One score of one metric on one row: the one result contract.

    `score` is None unless the outcome is pass or fail. `properties` carry evaluator
    specific fields and, for a judge, tokens, model, what was sent and what came back.
    """

    metric: str
    outcome: Outcome
    score: float | None = None
    label: str | None = None
    reason: str | None = None
    threshold: float | None = None
    properties: dict[str, JSON] = field(default_factory=dict)
    error_code: str | None = None

    @property
    def passed(self) -> bool | None:
        if self.outcome in (Outcome.PASS, Outcome.FAIL):
            return self.outcome is Outcome.PASS
        return None

    @property
    def status(self) -> Status:
        if self.outcome is Outcome.ERROR:
            return "error"
        return "skipped" if self.outcome is Outcome.NOT_APPLICABLE else "completed"


def judge_score(score: float, threshold: float | None, direction: Direction) -> Outcome:
    """Pass when the score is at or beyond the threshold in the metric's direction.

    A metric without a threshold is reported and always passes.
    """
    if threshold is None:
        return Outcome.PASS
    good = score >= threshold if direction == "increase" else score <= threshold
    return Outcome.PASS if good else Outcome.FAIL


def row_outcome(primary: Iterable[Outcome]) -> Outcome:
    """The outcome of a row over its primary metrics.

    Any fail fails it; else any pass passes it (its errors are shown beside); else
    any error makes it an error; else it is not applicable.
    """
    seen = set(primary)
    for outcome in (Outcome.FAIL, Outcome.PASS, Outcome.ERROR):
        if outcome in seen:
            return outcome
    return Outcome.NOT_APPLICABLE
