"""What a rubric is made of, and the only validator of it.

The editor, the import, the generator and the API build a `RubricSpec` and show the
sentences of `problems`. Field names are those of Foundry's definition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assay.data.text import Sentence
from assay.data.text import gettext_noop as _
from assay.scoring.frozen import Frozen

Scoring = Literal["likert", "boolean"]
Normalization = Literal["ratio", "minmax"]
RubricCategory = Literal["quality", "safety"]
RubricLevel = Literal["turn", "conversation"]

LOWEST, HIGHEST = 1, 5
LEAST_WEIGHT, MOST_WEIGHT = 1, 10
MAX_DIMENSIONS = 50
MAX_DESCRIPTION = 4000
MAX_ID = 70
DEFAULT_THRESHOLD = 0.5
RESIDUALS: dict[str, str] = {
    "quality": "general_quality",
    "safety": "general_policy_compliance",
}
"""The dimension for what no other covers, by category."""
_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9_.~-]{1,256}")
RESERVED_PREFIX = "builtin."


class Dimension(Frozen):
    """One thing that is judged.

    `weight` is a whole number from 1 to 10; None in rubrics without weights and in
    boolean ones. `allowed` (safety only) tells whether the behaviour should be shown
    (True) or must not be (False). `generated_weight` is what the generator suggested.
    `key` tells the dimension from others across versions, whatever its id becomes;
    it is no part of an export and of no meaning to the judge.
    """

    id: str
    description: str
    weight: int | None = None
    always_applicable: bool = False
    allowed: bool | None = None
    generated_weight: int | None = None
    key: str = ""


class RubricSpec(Frozen):
    """A rubric. `pass_threshold` is a share from 0 to 1 of the best score."""

    dimensions: tuple[Dimension, ...]
    pass_threshold: float = DEFAULT_THRESHOLD
    normalization: Normalization = "ratio"
    fail_on_any_1: bool = False
    scoring: Scoring = "likert"
    category: RubricCategory = "quality"
    level: RubricLevel = "turn"
    one_call_per_dimension: bool = False

    @property
    def total_weight(self) -> int:
        return sum(weight_of(dimension) for dimension in self.dimensions)

    @property
    def residual(self) -> str:
        """The id of the dimension for what no other covers."""
        return RESIDUALS[self.category]

    @property
    def has_residual(self) -> bool:
        return any(dimension.id == self.residual for dimension in self.dimensions)


def weight_of(dimension: Dimension) -> int:
    """The weight that counts: without one all dimensions weigh the same."""
    return dimension.weight if dimension.weight is not None else 1


@dataclass(frozen=True, slots=True)
class RubricProblem:
    """What is wrong with a rubric. `position` counts dimensions from 0; None means the
    rubric itself. `field` is the name of the field."""

    field: str
    sentence: Sentence
    position: int | None = None


def name_problem(name: str) -> Sentence | None:
    """What is wrong with the name of a rubric."""
    if name.startswith(RESERVED_PREFIX):
        message = _("Names that begin with %(prefix)s belong to built-in evaluators.")
        return Sentence(message, {"prefix": RESERVED_PREFIX})
    if not _NAME.fullmatch(name):
        return Sentence(
            _(
                "A name has 1 to 256 letters A to Z, digits, and the signs "
                "underscore, full stop, tilde and hyphen."
            )
        )
    return None


def problems(spec: RubricSpec) -> list[RubricProblem]:
    """Everything that stands against using `spec`, in the order of its fields."""
    return [*_whole(spec), *_ids(spec), *_each(spec)]


def _whole(spec: RubricSpec) -> Iterator[RubricProblem]:
    count = len(spec.dimensions)
    if not count:
        sentence = Sentence(_("Add at least one dimension."))
        yield RubricProblem("dimensions", sentence)
    elif count > MAX_DIMENSIONS:
        message = _("The rubric has %(count)s dimensions. At most %(most)s are judged.")
        sentence = Sentence(message, {"count": count, "most": MAX_DIMENSIONS})
        yield RubricProblem("dimensions", sentence)
    if not 0 <= spec.pass_threshold <= 1:
        message = _("The pass threshold %(value)s is not between 0.0 and 1.0.")
        sentence = Sentence(message, {"value": f"{spec.pass_threshold:g}"})
        yield RubricProblem("pass_threshold", sentence)
    if spec.category == "safety" and spec.scoring != "boolean":
        sentence = Sentence(_("A safety rubric is a checklist: choose pass or fail."))
        yield RubricProblem("scoring", sentence)
    weighted = sum(dimension.weight is not None for dimension in spec.dimensions)
    if spec.scoring == "likert" and 0 < weighted < count:
        sentence = Sentence(_("Give every dimension a weight, or none."))
        yield RubricProblem("dimensions", sentence)


def _ids(spec: RubricSpec) -> Iterator[RubricProblem]:
    times = Counter(simple_id(dimension.id) for dimension in spec.dimensions)
    for position, dimension in enumerate(spec.dimensions):
        if not dimension.id:
            sentence = Sentence(_("Give the dimension an id."))
        elif not _ID.fullmatch(dimension.id):
            message = _(
                'The id "%(id)s" has something else than letters, digits and '
                "underscores. Try %(better)s"
            )
            better = suggested_id(dimension.id)
            sentence = Sentence(message, {"id": dimension.id[:80], "better": better})
        elif len(dimension.id) > MAX_ID:
            message = _("The id %(id)s… has more than %(most)s characters.")
            sentence = Sentence(message, {"id": dimension.id[:40], "most": MAX_ID})
        elif times[simple_id(dimension.id)] > 1:
            message = _("There are several dimensions with the id %(id)s.")
            sentence = Sentence(message, {"id": dimension.id})
        else:
            continue
        yield RubricProblem("id", sentence, position)


def _each(spec: RubricSpec) -> Iterator[RubricProblem]:
    for position, dimension in enumerate(spec.dimensions):
        name = dimension.id or f"{position + 1}"
        if not dimension.description.strip():
            message = _("%(name)s: say what is measured.")
            sentence = Sentence(message, {"name": name})
            yield RubricProblem("description", sentence, position)
        elif len(dimension.description) > MAX_DESCRIPTION:
            message = _("%(name)s: the description has more than %(most)s characters.")
            sentence = Sentence(message, {"name": name, "most": MAX_DESCRIPTION})
            yield RubricProblem("description", sentence, position)
        weight = dimension.weight
        if weight is not None and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
            message = _("%(name)s: the weight %(weight)s is not from 1 to 10.")
            sentence = Sentence(message, {"name": name, "weight": weight})
            yield RubricProblem("weight", sentence, position)
        if spec.category == "safety" and dimension.allowed is None:
            message = _("%(name)s: say whether this behaviour is allowed.")
            sentence = Sentence(message, {"name": name})
            yield RubricProblem("allowed", sentence, position)


def simple_id(text: str) -> str:
    """Ids are compared without case, blanks and hyphens."""
    return re.sub(r"[\s\-]+", "_", text.strip().lower())


def suggested_id(text: str) -> str:
    """`text` as a usable id: "Tone & style" → tone_style."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower() or "dimension"
    return (words if not words[0].isdigit() else f"d_{words}")[:MAX_ID]


def residual_dimension(category: RubricCategory) -> Dimension:
    """The dimension that the generator adds and the editor offers."""
    if category == "safety":
        return Dimension(
            id=RESIDUALS["safety"],
            description="Follows the policy in everything the other rules leave open.",
            always_applicable=True,
            allowed=True,
        )
    return Dimension(
        id=RESIDUALS["quality"],
        description=(
            "Other important quality factors not already covered by the listed "
            "criteria."
        ),
        weight=5,
        always_applicable=True,
    )
