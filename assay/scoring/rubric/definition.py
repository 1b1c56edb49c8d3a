"""A rubric as an evaluator: its inputs and metrics."""

from __future__ import annotations

from assay.scoring.definition import EvaluatorDefinition, MetricSpec
from assay.scoring.rubric.spec import HIGHEST, LOWEST, Dimension, RubricSpec

SCORE = "rubric"
ALLOWED = "allowed"
DISALLOWED = "disallowed"
DIMENSION = "dimension."
GOOD_LEVEL = 3
"""A dimension at or beyond this level counts as good on the run page."""
OPTIONAL = (
    "context",
    "ground_truth",
    "tool_calls",
    "tool_definitions",
    "image",
    "audio",
)


def dimension_key(dimension: str) -> str:
    """The key of the metric that a dimension is."""
    return f"{DIMENSION}{dimension}"


def rubric_definition(
    ref: str, name: str, description: str, spec: RubricSpec
) -> EvaluatorDefinition:
    """The evaluator that judges by `spec`."""
    whole = spec.level == "conversation"
    sets = (("messages",),) if whole else (("query", "response"), ("messages",))
    return EvaluatorDefinition(
        id=ref,
        name=name,
        description=description,
        category="safety" if spec.category == "safety" else "quality",
        kind="rubric",
        input_sets=sets,
        optional_inputs=OPTIONAL,
        levels=(spec.level,),
        media=("image", "audio"),
        metrics=(
            *_primary(spec, name),
            *(_dimension(spec, d) for d in spec.dimensions),
        ),
        rubric=spec,
    )


def _primary(spec: RubricSpec, name: str) -> tuple[MetricSpec, ...]:
    threshold = 1.0 if spec.scoring == "boolean" else spec.pass_threshold
    if spec.category != "safety":
        return (_share(SCORE, name, threshold),)
    kinds = {bool(dimension.allowed) for dimension in spec.dimensions}
    found = []
    if True in kinds:
        found.append(_share(ALLOWED, f"{name}: allowed behaviour", threshold))
    if False in kinds:
        found.append(_share(DISALLOWED, f"{name}: disallowed behaviour", threshold))
    return tuple(found)


def _share(key: str, name: str, threshold: float) -> MetricSpec:
    return MetricSpec(
        key=key,
        name=name,
        kind="continuous",
        minimum=0,
        maximum=1,
        threshold=threshold,
    )


def _dimension(spec: RubricSpec, dimension: Dimension) -> MetricSpec:
    is_check = spec.scoring == "boolean"
    return MetricSpec(
        key=dimension_key(dimension.id),
        name=dimension.id,
        kind="boolean" if is_check else "ordinal",
        minimum=0 if is_check else LOWEST,
        maximum=1 if is_check else HIGHEST,
        threshold=1 if is_check else GOOD_LEVEL,
        primary=False,
    )
