"""A rubric while it is written: every value as it was typed, so that none is lost."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import get_args

from pydantic import BaseModel, ConfigDict

from assay.data.text import Sentence
from assay.data.text import gettext_noop as _
from assay.scoring.rubric.exchange import NO, YES, ReadDimension, ReadRubric
from assay.scoring.rubric.spec import (
    Dimension,
    Normalization,
    RubricCategory,
    RubricLevel,
    RubricProblem,
    RubricSpec,
    Scoring,
    problems,
    residual_dimension,
    simple_id,
)
from evaluators.models import EvaluatorVersion

ALLOWED: dict[str, bool | None] = {"": None, YES: True, NO: False}
CHOICES: dict[str, tuple[str, ...]] = {
    "category": get_args(RubricCategory),
    "level": get_args(RubricLevel),
    "scoring": get_args(Scoring),
    "normalization": get_args(Normalization),
}
MAX_TITLE = 120
MOST_REMOVED = 20


class _Typed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DimensionText(_Typed):
    """A dimension as it was typed. `key` stays the same whatever the id becomes.
    `allowed` is "yes", "no" or ""."""

    key: str = ""
    id: str = ""
    description: str = ""
    weight: str = ""
    always_applicable: bool = False
    allowed: str = ""
    generated_weight: int | None = None


class Removed(_Typed):
    """A dimension that was taken out, and where it stood."""

    position: int
    dimension: DimensionText


class Document(_Typed):
    """A rubric as it was typed. `pass_threshold` and weights are texts.

    `removed` are dimensions that can be brought back, the last one first.
    """

    name: str = ""
    title: str = ""
    description: str = ""
    category: str = "quality"
    level: str = "turn"
    scoring: str = "likert"
    pass_threshold: str = "0.50"  # noqa: S105 - no password
    normalization: str = "ratio"
    fail_on_any_1: bool = False
    one_call_per_dimension: bool = False
    dimensions: tuple[DimensionText, ...] = ()
    removed: tuple[Removed, ...] = ()

    @property
    def is_checklist(self) -> bool:
        """Pass or fail for each dimension, no weights."""
        return self.scoring == "boolean"

    @property
    def is_safety(self) -> bool:
        return self.category == "safety"

    @property
    def shape(self) -> str:
        """Which columns the sheet has: those of "likert", "boolean" or "safety"."""
        return "safety" if self.is_safety else self.scoring


def fresh_key() -> str:
    """The identity of a new dimension."""
    return secrets.token_hex(6)


def read(document: Document) -> tuple[RubricSpec | None, list[RubricProblem]]:
    """The rubric that `document` means, or None and everything that is wrong."""
    found = list(_unreadable(document))
    bad = {(problem.field, problem.position) for problem in found}
    spec = RubricSpec(
        dimensions=tuple(
            _dimension(document, d, n) for n, d in enumerate(document.dimensions)
        ),
        pass_threshold=_threshold(document.pass_threshold) or 0.0,
        **{name: _choice(document, name) for name in CHOICES},  # type: ignore[arg-type]
        fail_on_any_1=document.fail_on_any_1,
        one_call_per_dimension=document.one_call_per_dimension,
    )
    found += [p for p in problems(spec) if (p.field, p.position) not in bad]
    found.sort(key=lambda problem: -1 if problem.position is None else problem.position)
    return (None, found) if found else (spec, [])


def _unreadable(document: Document) -> Iterator[RubricProblem]:
    """What is not even a number or a known word."""
    if _threshold(document.pass_threshold) is None:
        message = _('The pass threshold "%(value)s" is not a number from 0.0 to 1.0.')
        value = document.pass_threshold.strip()[:40]
        yield RubricProblem("pass_threshold", Sentence(message, {"value": value}))
    for name, words in CHOICES.items():
        value = getattr(document, name)
        if value not in words:
            message = _('%(field)s: "%(value)s" is not one of %(words)s.')
            listed = ", ".join(words)
            params = {"field": name, "value": value[:40], "words": listed}
            yield RubricProblem(name, Sentence(message, params))
    for position, dimension in enumerate(document.dimensions):
        if document.is_checklist or not dimension.weight.strip():
            continue
        if whole_number(dimension.weight) is None:
            message = _(
                '%(name)s: the weight "%(weight)s" is not a whole number from 1 to 10.'
            )
            name = dimension.id or f"{position + 1}"
            params = {"name": name, "weight": dimension.weight.strip()[:40]}
            yield RubricProblem("weight", Sentence(message, params), position)


def _choice(document: Document, name: str) -> str:
    value: str = getattr(document, name)
    return value if value in CHOICES[name] else CHOICES[name][0]


def _dimension(document: Document, typed: DimensionText, position: int) -> Dimension:
    weight: int | None = None
    if not document.is_checklist and typed.weight.strip():
        weight = whole_number(typed.weight)
        # A weight that cannot be read is named once; it does not count as missing.
        weight = 1 if weight is None else weight
    return Dimension(
        id=typed.id.strip(),
        description=typed.description,
        weight=weight,
        always_applicable=typed.always_applicable,
        allowed=ALLOWED.get(typed.allowed),
        generated_weight=typed.generated_weight,
        key=typed.key,
    )


def whole_number(text: str) -> int | None:
    """The whole number that `text` means, or None: "2.5" and "x" mean none."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not value.is_finite() or value != value.to_integral_value() or abs(value) > 1e6:
        return None
    return int(value)


def _threshold(text: str) -> float | None:
    """The number that `text` means; a comma counts as the decimal point."""
    try:
        value = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return None
    return float(value) if value.is_finite() else None


def threshold_of(document: Document) -> float | None:
    """The threshold when it is one, from 0 to 1."""
    value = _threshold(document.pass_threshold)
    return value if value is not None and 0 <= value <= 1 else None


def threshold_text(value: float) -> str:
    """Two decimals, more where the value has them."""
    return f"{value:.2f}" if round(value, 2) == value else str(value)


def from_spec(
    spec: RubricSpec, *, name: str = "", title: str = "", description: str = ""
) -> Document:
    """The document of a saved rubric. Dimensions without a key get one."""
    return Document(
        name=name,
        title=title,
        description=description,
        **{key: getattr(spec, key) for key in CHOICES},
        pass_threshold=threshold_text(spec.pass_threshold),
        fail_on_any_1=spec.fail_on_any_1,
        one_call_per_dimension=spec.one_call_per_dimension,
        dimensions=tuple(typed(dimension) for dimension in spec.dimensions),
    )


def from_version(version: EvaluatorVersion) -> Document:
    """The document to go on from. Needs the version's evaluator."""
    spec = version.evaluator_definition.rubric
    assert spec is not None
    evaluator = version.evaluator
    return from_spec(
        spec,
        name=evaluator.name,
        title=evaluator.title,
        description=evaluator.description,
    )


def typed(dimension: Dimension) -> DimensionText:
    allowed = {True: YES, False: NO}
    return DimensionText(
        key=dimension.key or fresh_key(),
        id=dimension.id,
        description=dimension.description,
        weight="" if dimension.weight is None else str(dimension.weight),
        always_applicable=dimension.always_applicable,
        allowed="" if dimension.allowed is None else allowed[dimension.allowed],
        generated_weight=dimension.generated_weight,
    )


def from_json(found: ReadRubric, before: Document) -> Document:
    """`before` with what was read. Dimensions that are the same keep their key."""
    changes: dict[str, object] = {
        name: value for name, value in found.fields.items() if name in _FIELDS
    }
    if changes.get("category") == "safety" and "scoring" not in changes:
        changes["scoring"] = "boolean"
    keys = _kept_keys(before, found.dimensions)
    changes["dimensions"] = tuple(
        DimensionText(
            key=key or fresh_key(),
            **{name: getattr(read_one, name) for name in ReadDimension.__slots__},
        )
        for key, read_one in zip(keys, found.dimensions, strict=True)
    )
    return before.model_copy(update=changes)


_FIELDS = frozenset(Document.model_fields) - {"dimensions", "removed"}


def _kept_keys(before: Document, dimensions: tuple[ReadDimension, ...]) -> list[str]:
    """The key of each dimension: by its id, else by its words, else ""."""
    free = list(before.dimensions)
    keys = [""] * len(dimensions)
    for same in (_same_id, _same_words):
        for position, dimension in enumerate(dimensions):
            if keys[position]:
                continue
            match = next((old for old in free if same(old, dimension)), None)
            if match is not None:
                keys[position] = match.key
                free.remove(match)
    return keys


def _same_id(old: DimensionText, new: ReadDimension) -> bool:
    return bool(new.id) and simple_id(old.id) == simple_id(new.id)


def _same_words(old: DimensionText, new: ReadDimension) -> bool:
    return bool(new.description) and old.description == new.description


def residual_of(document: Document) -> DimensionText | None:
    """The dimension for what no other covers, when the rubric has none."""
    category: RubricCategory = "safety" if document.is_safety else "quality"
    dimension = residual_dimension(category)
    ids = {simple_id(d.id) for d in document.dimensions}
    if dimension.id in ids:
        return None
    weightless = document.is_checklist or not any(d.weight for d in document.dimensions)
    found = typed(dimension)
    return found.model_copy(update={"weight": ""}) if weightless else found
