"""What a run will take, from the requests for a few sampled rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.data.chat import ChatRequest, ModelError
from assay.data.jsonx import JSON, JSONObject
from assay.running.mapping import inputs_of
from assay.running.plan import (
    JUDGE_ANSWER_TOKENS,
    TARGET_ANSWER_TOKENS,
    CallSample,
    Estimate,
    estimate,
)
from assay.running.spec import CriterionSpec, EvaluationSpec
from assay.running.targets import build_request
from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.judge import build_request as judge_request
from assay.scoring.rubric.judge import build_request as rubric_request
from assay.scoring.rubric.judge import rubric_of
from evaluations.surroundings import View
from targets.models import Deployment

SAMPLED = 5
FENCE = "0" * 16
STAND_IN = "An answer of usual length. " * 30


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of calls. `local`: computed here, no calls."""

    name: str
    estimate: Estimate
    local: bool = False
    simulated: bool = False


def _rubric_requests(
    definition: EvaluatorDefinition, inputs: Mapping[str, JSON]
) -> list[ChatRequest]:
    rubric = rubric_of(definition)
    wanted = rubric.dimensions if rubric.one_call_per_dimension else (None,)
    return [
        rubric_request(definition, inputs, fence=FENCE, only=only) for only in wanted
    ]


REQUESTS: Mapping[
    str, Callable[[EvaluatorDefinition, Mapping[str, JSON]], list[ChatRequest]]
] = {
    "judge": lambda definition, inputs: [
        judge_request(definition, inputs, fence=FENCE)
    ],
    "rubric": _rubric_requests,
}
"""The requests for one row, by the kind of the evaluator."""


def lines(spec: EvaluationSpec, view: View) -> tuple[list[Line], Estimate]:
    """A line for the target and for each evaluator, and their total."""
    rows = view.version.row_count if view.version else 0
    samples: list[tuple[CallSample, bool]] = []
    local = []
    if spec.target and spec.target.kind == "model":
        samples.extend(_target_sample(spec, view))
    for criterion in spec.criteria:
        definition = view.around.catalogue.get(criterion.evaluator)
        if definition is None:
            continue
        found = _criterion_samples(spec, criterion, definition, view)
        samples.extend(found)
        if not found:
            local.append(criterion.name)
    result = [
        Line(sample.name, estimate(rows, [sample]), simulated=simulated)
        for sample, simulated in samples
    ]
    if local:
        result.append(Line(", ".join(local), estimate(rows, []), local=True))
    return result, estimate(rows, [sample for sample, _s in samples])


def _target_sample(spec: EvaluationSpec, view: View) -> list[tuple[CallSample, bool]]:
    assert spec.target is not None
    deployment = view.deployments.get(spec.target.deployment)
    if deployment is None:
        return []
    requests = []
    for row in view.rows[:SAMPLED]:
        try:
            requests.append(build_request(spec.target, row))
        except ModelError:
            continue  # a row without a prompt makes no call
    tokens = min(spec.target.max_tokens or TARGET_ANSWER_TOKENS, TARGET_ANSWER_TOKENS)
    return [_sample(deployment.label, requests, tokens, deployment)]


def _criterion_samples(
    spec: EvaluationSpec,
    criterion: CriterionSpec,
    definition: EvaluatorDefinition,
    view: View,
) -> list[tuple[CallSample, bool]]:
    deployment = view.deployments.get(spec.judge_of(criterion))
    if deployment is None or not definition.needs_judge:
        return []
    members = [view.around.catalogue[m] for m in definition.members] or [definition]
    judged = [m for m in members if m.kind in REQUESTS]
    found = []
    for member in judged:
        requests = _judge_requests(member, criterion.mapping, view.rows[:SAMPLED])
        name = (
            criterion.name
            if member is definition
            else (f"{criterion.name}: {member.name}")
        )
        sample, simulated = _sample(name, requests, _answer_tokens(member), deployment)
        found.append((replace(sample, per_row=_calls_per_row(member)), simulated))
    return found


def _calls_per_row(definition: EvaluatorDefinition) -> int:
    rubric = definition.rubric
    one_each = rubric is not None and rubric.one_call_per_dimension
    return len(rubric.dimensions) if rubric is not None and one_each else 1


def _answer_tokens(definition: EvaluatorDefinition) -> int:
    """Tokens of one answer: a rubric's has a reason and a score for each dimension."""
    if definition.rubric is None:
        return JUDGE_ANSWER_TOKENS
    answered = len(definition.rubric.dimensions) // _calls_per_row(definition)
    return JUDGE_ANSWER_TOKENS * max(1, answered)


def _judge_requests(
    definition: EvaluatorDefinition,
    mapping: Mapping[str, str | None],
    rows: Sequence[JSONObject],
) -> list[ChatRequest]:
    requests = []
    for row in rows:
        sample: JSONObject = {"output_text": STAND_IN}
        scope: dict[str, JSON] = {"item": row, "sample": sample}
        inputs = inputs_of(mapping, scope)
        if any(
            all(name in inputs for name in group) for group in definition.input_sets
        ):
            requests += REQUESTS[definition.kind](definition, inputs)
    return requests


def _sample(
    name: str, requests: list[ChatRequest], answer_tokens: int, deployment: Deployment
) -> tuple[CallSample, bool]:
    checks = deployment.last_test.get("checks") or []
    seconds = (
        checks[0]["milliseconds"] / 1000 if checks and checks[0].get("ok") else None
    )
    simulated = deployment.connection.is_simulated
    sample = CallSample(
        name=name,
        requests=requests,
        answer_tokens=answer_tokens,
        price_input=_float(deployment.price_input),
        price_output=_float(deployment.price_output),
        seconds=0.05 if simulated else seconds,
        concurrency=deployment.concurrency,
    )
    return sample, simulated


def _float(value: object) -> float | None:
    return None if value is None else float(str(value))
