"""Settings of an evaluator that the user may change: checked, with defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.data.jsonx import JSON
from assay.scoring.definition import EvaluatorDefinition, ParamSpec

ParamValue = str | float


class ParamError(ValueError):
    """A setting that does not exist or has a value outside its choices or range."""


def resolve_params(
    definition: EvaluatorDefinition, given: Mapping[str, JSON]
) -> dict[str, ParamValue]:
    """All settings of `definition`, defaults where nothing was given.

    Raises `ParamError` with a sentence for the user.
    """
    known = {spec.key: spec for spec in definition.params}
    for key in given:
        if key not in known:
            raise ParamError(f"{definition.name} has no setting {key}.")
    return {
        key: _checked(spec, given.get(key, spec.default)) for key, spec in known.items()
    }


def _checked(spec: ParamSpec, value: JSON) -> ParamValue:
    if spec.kind == "choice":
        if isinstance(value, str) and value in spec.choices:
            return value
        raise ParamError(f"{spec.name} must be one of {', '.join(spec.choices)}.")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ParamError(f"{spec.name} must be a number.")
    low = -math.inf if spec.minimum is None else spec.minimum
    high = math.inf if spec.maximum is None else spec.maximum
    if not low <= value <= high:
        raise ParamError(f"{spec.name} must be a number from {low:g} to {high:g}.")
    return float(value)
