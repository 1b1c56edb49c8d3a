"""One entry for all evaluators: judges, arithmetic metrics and composites."""

from __future__ import annotations

from collections.abc import Mapping

from assay.data.chat import ChatModel
from assay.data.jsonx import JSON
from assay.scoring import metrics
from assay.scoring.catalogue import load
from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.judge import judge
from assay.scoring.outcome import ResultValue
from assay.scoring.params import ParamError, resolve_params
from assay.scoring.results import (
    INVALID_PARAMETER,
    Thresholds,
    errors,
    threshold_of,
)
from assay.scoring.rubric.judge import judge_rubric
from assay.scoring.together import all_of

NO_JUDGE = "no_judge"
JUDGES = {"judge": judge, "rubric": judge_rubric}
Catalogue = Mapping[str, EvaluatorDefinition]


def evaluate_metric(
    definition: EvaluatorDefinition,
    inputs: Mapping[str, JSON],
    *,
    thresholds: Thresholds,
    params: Mapping[str, JSON],
) -> tuple[ResultValue, ...]:
    """The results of an arithmetic evaluator; a plain call that a thread can run."""
    if definition.function is None:
        raise ValueError(f"{definition.id} is not an arithmetic evaluator.")
    return metrics.evaluate(definition.function, inputs, definition, thresholds, params)


async def evaluate(
    definition: EvaluatorDefinition,
    inputs: Mapping[str, JSON],
    *,
    model: ChatModel | None,
    thresholds: Thresholds,
    params: Mapping[str, JSON],
    fence: str,
    repeat: int = 0,
    catalogue: Catalogue | None = None,
) -> tuple[ResultValue, ...]:
    """One result per metric of `definition`, in its order.

    Thresholds that are not given are the metrics' defaults. A composite runs its
    members side by side; they are looked up in `catalogue`, by default the built-in
    one. Raises `ModelError` only for errors that would meet every row.
    """
    if definition.kind == "metric":
        return evaluate_metric(definition, inputs, thresholds=thresholds, params=params)
    if model is None:
        sentence = f"{definition.name} needs a judge model and none was chosen."
        return errors(definition, thresholds, NO_JUDGE, sentence)
    try:
        resolve_params(definition, params)
    except ParamError as problem:
        return errors(definition, thresholds, INVALID_PARAMETER, str(problem))
    if definition.kind in JUDGES:
        return await JUDGES[definition.kind](
            model, definition, inputs, thresholds=thresholds, fence=fence, repeat=repeat
        )
    known = load() if catalogue is None else catalogue
    own = {
        metric.key: threshold_of(metric, thresholds) for metric in definition.metrics
    }
    calls = [
        evaluate(
            member,
            inputs,
            model=model,
            thresholds=own,
            params=_params_of(member, params),
            fence=fence,
            repeat=repeat,
            catalogue=known,
        )
        for member in (known[name] for name in definition.members)
    ]
    found = await all_of(calls)
    return _ordered(definition, [result for results in found for result in results])


def _params_of(
    member: EvaluatorDefinition, params: Mapping[str, JSON]
) -> dict[str, JSON]:
    keys = {spec.key for spec in member.params}
    return {key: value for key, value in params.items() if key in keys}


def _ordered(
    definition: EvaluatorDefinition, results: list[ResultValue]
) -> tuple[ResultValue, ...]:
    by_key = {result.metric: result for result in results}
    return tuple(by_key[metric.key] for metric in definition.metrics)
