"""A draft as JSON text, also while something in it is wrong."""

from __future__ import annotations

from assay.data.jsonx import JSON, JSONObject
from assay.scoring.rubric.exchange import (
    YES,
    definition_json,
    dimensions_json,
    pretty,
)
from assay.scoring.rubric.spec import RubricSpec
from rubrics.documents import DimensionText, Document, read, whole_number

LIST, DEFINITION = "list", "definition"


def text_of(document: Document, form: str) -> str:
    """The text to edit: the dimensions alone, or the whole definition.

    What cannot be read as a rubric stands there as it was typed.
    """
    spec, _problems = read(document)
    dimensions: list[JSON] = (
        dimensions_json(spec) if spec else [_as_typed(d) for d in document.dimensions]
    )
    if form == LIST:
        return pretty(dimensions)
    whole = definition_json(
        spec or RubricSpec(dimensions=()),
        name=document.name,
        title=document.title,
        description=document.description,
    )
    if spec is None:
        body = whole["definition"]
        assert isinstance(body, dict)
        whole["category"] = document.category
        body |= {
            "dimensions": dimensions,
            "pass_threshold": document.pass_threshold,
            "scoring": {"mode": document.scoring},
            "level": document.level,
            "normalization": document.normalization,
            "fail_on_any_1": document.fail_on_any_1,
            "one_call_per_dimension": document.one_call_per_dimension,
        }
    return pretty(whole)


def _as_typed(dimension: DimensionText) -> JSONObject:
    found: JSONObject = {"id": dimension.id, "description": dimension.description}
    if dimension.weight.strip():
        number = whole_number(dimension.weight)
        found["weight"] = dimension.weight if number is None else number
    if dimension.always_applicable:
        found["always_applicable"] = True
    if dimension.allowed:
        found["allowed"] = dimension.allowed == YES
    if dimension.generated_weight is not None:
        found["generated_weight"] = dimension.generated_weight
    return found
