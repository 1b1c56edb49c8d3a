"""Judges of one score: the request, and the answer as a result."""

from __future__ import annotations

from assay.data.chat import ChatModel, ChatRequest
from assay.data.jsonx import JSONObject
from assay.scoring.asking import DATA_RULES, Failure, Inputs, ask, question
from assay.scoring.definition import EvaluatorDefinition, MetricSpec, PromptVariant
from assay.scoring.inputs import is_empty
from assay.scoring.outcome import ResultValue
from assay.scoring.results import (
    MISSING_INPUT,
    Thresholds,
    errors,
    missing_inputs,
    missing_sentence,
    scored,
)
from assay.scoring.verdict import parse_verdict


def choose_variant(
    definition: EvaluatorDefinition, inputs: Inputs
) -> PromptVariant | None:
    """The first variant of which all inputs are given and not empty."""
    for variant in definition.variants:
        if not any(is_empty(inputs.get(name)) for name in variant.inputs):
            return variant
    return None


def build_request(
    definition: EvaluatorDefinition,
    inputs: Inputs,
    *,
    fence: str,
    max_tokens: int | None = None,
    schema: bool = True,
    repeat: int = 0,
) -> ChatRequest:
    """The request for a judge: instructions as system, the fenced inputs as user.

    Raises `ValueError` when no variant has all its inputs.
    """
    variant = choose_variant(definition, inputs)
    if variant is None:
        raise ValueError(f"No variant of {definition.id} has all its inputs.")
    metric = definition.metrics[0]
    return question(
        f"{variant.instructions}\n\n{DATA_RULES}\n\n{answer_format(metric)}",
        inputs,
        (*variant.inputs, *definition.optional_inputs),
        fence=fence,
        max_tokens=max_tokens or definition.max_tokens,
        schema=answer_schema(metric) if schema else None,
        repeat=repeat,
    )


def answer_format(metric: MetricSpec) -> str:
    """What the judge is told about the form of its answer."""
    low, high = f"{metric.minimum:g}", f"{metric.maximum:g}"
    scale = {
        "ordinal": f"one whole number from {low} to {high}",
        "continuous": f"one number from {low} to {high}",
        "boolean": "true or false",
    }[metric.kind]
    return (
        "Your answer\n"
        "Think first, then score. Answer with one JSON object and nothing else: "
        '{"reason": …, "score": …}. "reason" comes first and says in at most five '
        'sentences what in the material decides the score; "score" is '
        f"{scale}, with nothing added."
    )


def answer_schema(metric: MetricSpec) -> JSONObject:
    """The JSON Schema of the answer: the reason first, so that it is thought first."""
    score: JSONObject
    if metric.kind == "boolean":
        score = {"type": "boolean"}
    elif metric.kind == "ordinal":
        levels = range(int(metric.minimum), int(metric.maximum) + 1)
        score = {"type": "integer", "enum": list(levels)}
    else:
        score = {
            "type": "number",
            "minimum": metric.minimum,
            "maximum": metric.maximum,
        }
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "score": score},
        "required": ["reason", "score"],
        "additionalProperties": False,
    }


async def judge(
    model: ChatModel,
    definition: EvaluatorDefinition,
    inputs: Inputs,
    *,
    thresholds: Thresholds,
    fence: str,
    repeat: int = 0,
) -> tuple[ResultValue, ...]:
    """The judge's result for one row.

    An unusable answer is asked for once more; a second one gives an error with both
    raw answers, never a score. Without its inputs no judge is asked. Errors of the
    model become error results, except those that would meet every row: they are
    raised.
    """
    variant = choose_variant(definition, inputs)
    if variant is None:
        missing = missing_inputs(definition, inputs) or definition.inputs
        sentence = missing_sentence(missing)
        return errors(definition, thresholds, MISSING_INPUT, sentence)
    metric = definition.metrics[0]
    request = build_request(definition, inputs, fence=fence, repeat=repeat)
    asked = await ask(model, request, lambda reply: parse_verdict(reply, metric))
    properties = asked.ledger.properties(variant.inputs)
    if isinstance(asked.found, Failure):
        failure = asked.found
        if failure.details:
            properties["details"] = failure.details
        return errors(
            definition, thresholds, failure.code, failure.sentence, properties
        )
    verdict = asked.found
    if verdict.extra:
        properties["extra"] = verdict.extra
    return (
        scored(
            metric,
            verdict.score,
            thresholds,
            reason=verdict.reason or None,
            properties=properties,
        ),
    )
