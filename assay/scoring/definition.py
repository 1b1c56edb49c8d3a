"""The definition of an evaluator: built-in, user-made and rubric alike end here."""

from __future__ import annotations

from typing import Literal

from assay.scoring.frozen import Frozen
from assay.scoring.outcome import Direction
from assay.scoring.rubric.spec import RubricSpec

Category = Literal["quality", "rag", "agent", "safety", "nlp"]
EvaluatorKind = Literal["judge", "metric", "composite", "rubric"]
Level = Literal["turn", "conversation"]
ScaleKind = Literal["ordinal", "continuous", "boolean"]


class MetricSpec(Frozen):
    """One number that an evaluator gives, with its scale and pass rule.

    Only `primary` metrics decide whether a row passes.
    """

    key: str
    name: str
    kind: ScaleKind
    minimum: float
    maximum: float
    direction: Direction = "increase"
    threshold: float | None = None
    primary: bool = True


class ParamSpec(Frozen):
    """A setting of an evaluator that the user may change."""

    key: str
    name: str
    kind: Literal["choice", "number"]
    default: str | int | float
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    help: str = ""


class PromptVariant(Frozen):
    """Instructions to the judge, used when all of `inputs` are mapped."""

    inputs: tuple[str, ...]
    instructions: str


class EvaluatorDefinition(Frozen):
    """What an evaluator needs, what it gives, and how it judges.

    `input_sets` are the alternative sets of required inputs: one complete set is
    enough. `variants` (judge only) are tried in order. `function` (metric only)
    names an arithmetic evaluator. `members` (composite only) are evaluator ids whose
    metrics this evaluator gives under their own keys. `rubric` (rubric only) holds
    the dimensions.
    """

    id: str
    name: str
    description: str
    category: Category
    kind: EvaluatorKind
    input_sets: tuple[tuple[str, ...], ...]
    optional_inputs: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ("turn",)
    media: tuple[Literal["image", "audio"], ...] = ()
    metrics: tuple[MetricSpec, ...]
    params: tuple[ParamSpec, ...] = ()
    max_tokens: int = 800
    variants: tuple[PromptVariant, ...] = ()
    function: str | None = None
    members: tuple[str, ...] = ()
    rubric: RubricSpec | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """All inputs, required ones first, each once, in the order declared."""
        names = [name for group in self.input_sets for name in group]
        return tuple(dict.fromkeys([*names, *self.optional_inputs]))

    @property
    def always_required(self) -> frozenset[str]:
        """Inputs that stand in every alternative set."""
        return frozenset.intersection(*(frozenset(s) for s in self.input_sets))

    @property
    def needs_judge(self) -> bool:
        """True for judge evaluators and for composites (their members may judge)."""
        return self.kind != "metric"

    def metric(self, key: str) -> MetricSpec:
        """The metric named `key`. Raises `KeyError`."""
        for metric in self.metrics:
            if metric.key == key:
                return metric
        raise KeyError(key)
