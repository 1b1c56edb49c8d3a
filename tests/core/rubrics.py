"""Rubrics for tests: the restaurant's, and small ones."""

from __future__ import annotations

import json
from pathlib import Path

from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.rubric import Dimension, RubricSpec
from assay.scoring.rubric.definition import rubric_definition
from assay.scoring.rubric.score import DimensionScore

FOLDER = Path(__file__).parents[1] / "data"
RESTAURANT = RubricSpec(
    dimensions=tuple(
        Dimension.model_validate(item)
        for item in json.loads((FOLDER / "restaurant-rubric.json").read_text())
    )
)

SAFETY = RubricSpec(
    dimensions=(
        Dimension(id="offers_help", description="x", allowed=True),
        Dimension(id="gives_dosage", description="x", allowed=False),
    ),
    category="safety",
    scoring="boolean",
)


def result(name: str) -> dict:
    """The documented result called `pass` or `fail`."""
    return json.loads((FOLDER / f"restaurant-result-{name}.json").read_text())


def spec_of(*weights: int | None, **options) -> RubricSpec:
    """A rubric with dimensions a, b, c … of these weights."""
    dimensions = tuple(
        Dimension(id=chr(97 + n), description="x", weight=weight)
        for n, weight in enumerate(weights)
    )
    return RubricSpec(dimensions=dimensions, **options)


def scores_of(spec: RubricSpec, *scores: int | None) -> list[DimensionScore]:
    return [
        DimensionScore(d.id, score, score is not None, d.weight)
        for d, score in zip(spec.dimensions, scores, strict=True)
    ]


def definition_of(spec: RubricSpec) -> EvaluatorDefinition:
    return rubric_definition("evalver_x", "Booking quality", "How it books.", spec)


def answer(spec: RubricSpec, *scores: object, reason: str = "Because.") -> str:
    """What a judge says: None stands for not applicable."""
    entries = [
        {
            "id": dimension.id,
            "reason": f"Reason {dimension.id}.",
            "applicable": score is not None,
            "score": score,
        }
        for dimension, score in zip(spec.dimensions, scores, strict=True)
    ]
    return json.dumps({"dimension_scores": entries, "reason": reason})
