"""Making results: verdicts against thresholds, and errors for every metric."""

from __future__ import annotations

from collections.abc import Mapping

from assay.data.jsonx import JSON
from assay.scoring.definition import EvaluatorDefinition, MetricSpec
from assay.scoring.inputs import is_empty
from assay.scoring.outcome import Outcome, ResultValue, judge_score

Thresholds = Mapping[str, float | None]

MISSING_INPUT = "missing_input"
INVALID_PARAMETER = "invalid_parameter"
JUDGE_UNPARSABLE = "judge_unparsable"
JUDGE_ECHO = "judge_echo"


def threshold_of(metric: MetricSpec, thresholds: Thresholds) -> float | None:
    """The threshold set for `metric`, or its default when none was set."""
    return thresholds.get(metric.key, metric.threshold)


def scored(
    metric: MetricSpec,
    score: float,
    thresholds: Thresholds,
    *,
    reason: str | None = None,
    properties: dict[str, JSON] | None = None,
) -> ResultValue:
    """The result of a score, passed or failed by the metric's threshold."""
    threshold = threshold_of(metric, thresholds)
    return ResultValue(
        metric.key,
        judge_score(score, threshold, metric.direction),
        score=score,
        reason=reason,
        threshold=threshold,
        properties=properties or {},
    )


def errors(
    definition: EvaluatorDefinition,
    thresholds: Thresholds,
    code: str,
    sentence: str,
    properties: dict[str, JSON] | None = None,
) -> tuple[ResultValue, ...]:
    """An error for every metric of `definition`; never a score."""
    return tuple(
        ResultValue(
            metric.key,
            Outcome.ERROR,
            reason=sentence,
            threshold=threshold_of(metric, thresholds),
            properties=dict(properties or {}),
            error_code=code,
        )
        for metric in definition.metrics
    )


def missing_inputs(
    definition: EvaluatorDefinition, inputs: Mapping[str, JSON]
) -> tuple[str, ...]:
    """The inputs that are missing or empty, or () when one input set is complete.

    Of several incomplete sets the one that lacks least is named.
    """
    lacking = [
        tuple(name for name in names if is_empty(inputs.get(name)))
        for names in definition.input_sets
    ]
    return min(lacking, key=len, default=())


def missing_sentence(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"The input {names[0]} is missing or empty."
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"The inputs {listed} are missing or empty."
