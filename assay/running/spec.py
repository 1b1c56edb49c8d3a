"""What an evaluation is made of, and the only validator of it.

The wizard, the API and the command line build an `EvaluationSpec` and show the
sentences of `problems`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from assay.data.template import placeholders, unclosed
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _
from assay.scoring.definition import EvaluatorDefinition, Level

Step = Literal["target", "data", "criteria", "mapping", "review"]
UNREAD: Mapping[str, str] = {
    "image": _("%(name)s cannot see images. %(path)s holds images."),
    "audio": _("%(name)s cannot hear audio. %(path)s holds audio."),
}
UNREAD_BY_EVALUATOR: Mapping[str, str] = {
    "image": _("%(name)s reads text only. %(path)s holds images."),
    "audio": _("%(name)s reads text only. %(path)s holds audio."),
}
STEPS: tuple[Step, ...] = ("target", "data", "criteria", "mapping", "review")


class Loose(BaseModel):
    """Frozen; ignores nothing: an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TargetSpec(Loose):
    """What is evaluated. `deployment` and the prompts count for a model only."""

    kind: Literal["dataset", "model"] = "dataset"
    deployment: str = ""
    system_prompt: str = ""
    user_prompt: str = "{{item.query}}"
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None


class CriterionSpec(Loose):
    """One chosen evaluator. `judge` empty means the judge of the evaluation."""

    name: str
    evaluator: str
    judge: str = ""
    thresholds: dict[str, float] = Field(default_factory=dict)
    params: dict[str, str | int | float] = Field(default_factory=dict)
    mapping: dict[str, str | None] = Field(default_factory=dict)


class EvaluationSpec(Loose):
    """All choices. A draft is the same with gaps; `problems` tells which matter."""

    name: str = ""
    run_name: str = ""
    level: Level = "turn"
    target: TargetSpec | None = None
    dataset_version: str = ""
    judge: str = ""
    criteria: tuple[CriterionSpec, ...] = ()
    max_cost: float | None = Field(default=None, gt=0)

    def judge_of(self, criterion: CriterionSpec) -> str:
        return criterion.judge or self.judge


@dataclass(frozen=True, slots=True)
class Problem:
    """`error` blocks Submit, `warning` does not. `field` is the form field's id."""

    code: str
    step: Step
    field: str
    sentence: Sentence
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a deployment: its name, what it reads (None: not known), and
    what its last test said when it failed."""

    name: str
    reads: Mapping[str, bool | None] = field(default_factory=dict)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a spec is checked against.

    `samples` are a few rows; `paths` all paths that a mapping may name;
    `media` the kinds of media by path.
    """

    catalogue: Mapping[str, EvaluatorDefinition]
    models: Mapping[str, ModelFacts]
    dataset_ready: bool = False
    row_count: int = 0
    paths: Sequence[str] = ()
    media: Mapping[str, frozenset[str]] = field(default_factory=dict)
    name_taken: bool = False


def problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    """Everything that stands against running `spec`, in the order of the steps."""
    return [
        *_target_problems(spec, around),
        *_data_problems(spec, around),
        *_criteria_problems(spec, around),
        *_mapping_problems(spec, around),
        *_review_problems(spec, around),
    ]


def errors(found: Sequence[Problem], step: Step | None = None) -> list[Problem]:
    return [
        p for p in found if p.severity == "error" and (step is None or p.step == step)
    ]


def _target_problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    target = spec.target
    if target is None:
        sentence = Sentence(_("Choose what to evaluate."))
        return [Problem("target_missing", "target", "kind", sentence)]
    if target.kind != "model":
        return []
    found = []
    if not target.deployment:
        sentence = Sentence(_("Choose a model."))
        found.append(Problem("model_missing", "target", "deployment", sentence))
    elif facts := around.models.get(target.deployment):
        found.extend(_trouble(facts, "target", "deployment"))
    else:
        sentence = Sentence(
            _("The chosen model does not exist any more. Choose another one.")
        )
        found.append(Problem("model_gone", "target", "deployment", sentence))
    for name in ("system_prompt", "user_prompt"):
        found.extend(_template_problems(target, name, around))
    if not target.user_prompt.strip():
        sentence = Sentence(_("Write the prompt that is sent for each row."))
        found.append(Problem("prompt_missing", "target", "user_prompt", sentence))
    return found


def _template_problems(
    target: TargetSpec, name: str, around: Surroundings
) -> list[Problem]:
    template: str = getattr(target, name)
    line = unclosed(template)
    if line is not None:
        message = _("Line %(line)s: a placeholder opens with {{ and is not closed.")
        sentence = Sentence(message, {"line": line})
        return [Problem("template_open", "target", name, sentence)]
    found = []
    for path in placeholders(template):
        if not path.startswith("item."):
            message = _(
                "%(path)s is not known here. Placeholders name a dataset column, "
                "such as {{item.query}}."
            )
            sentence = Sentence(message, {"path": f"{{{{{path}}}}}"})
            found.append(Problem("template_scope", "target", name, sentence))
        elif around.dataset_ready and not _is_known(path, around.paths):
            message = _(
                "The dataset has no column %(column)s. Change the placeholder or "
                "choose another dataset."
            )
            sentence = Sentence(message, {"column": path.removeprefix("item.")})
            found.append(Problem("template_column", "target", name, sentence))
    return found


def _is_known(path: str, paths: Sequence[str]) -> bool:
    """True for a listed path and for a path into one (list positions)."""
    if path in paths:
        return True
    return any(
        path.startswith(known + ".") and path[len(known) + 1 :][:1].isdigit()
        for known in paths
    )


def _data_problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    if not spec.dataset_version:
        sentence = Sentence(_("Choose a dataset."))
        return [Problem("data_missing", "data", "dataset", sentence)]
    if not around.dataset_ready:
        sentence = Sentence(_("The chosen dataset cannot be used. Choose another one."))
        return [Problem("data_gone", "data", "dataset", sentence)]
    if around.row_count == 0:
        sentence = Sentence(_("The dataset has no rows."))
        return [Problem("data_empty", "data", "dataset", sentence)]
    return []


def _criteria_problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    if not spec.criteria:
        sentence = Sentence(_("Choose at least one evaluator."))
        return [Problem("criteria_missing", "criteria", "evaluators", sentence)]
    found: list[Problem] = []
    for criterion in spec.criteria:
        definition = around.catalogue.get(criterion.evaluator)
        if definition is None:
            message = _("%(name)s: this evaluator does not exist any more.")
            sentence = Sentence(message, {"name": criterion.name})
            where = f"criterion-{criterion.evaluator}"
            found.append(Problem("evaluator_gone", "criteria", where, sentence))
            continue
        found.extend(_level_problems(spec, criterion, definition))
        found.extend(_judge_problems(spec, criterion, definition, around))
        found.extend(_threshold_problems(criterion, definition))
    return found


LACKS_LEVEL: Mapping[str, str] = {
    "turn": _("%(name)s judges whole conversations only."),
    "conversation": _("%(name)s judges single turns only."),
}


def _level_problems(
    spec: EvaluationSpec, criterion: CriterionSpec, definition: EvaluatorDefinition
) -> list[Problem]:
    if spec.level in definition.levels:
        return []
    sentence = Sentence(LACKS_LEVEL[spec.level], {"name": criterion.name})
    where = f"criterion-{criterion.evaluator}"
    return [Problem("level", "criteria", where, sentence)]


def _judge_problems(
    spec: EvaluationSpec,
    criterion: CriterionSpec,
    definition: EvaluatorDefinition,
    around: Surroundings,
) -> list[Problem]:
    if not definition.needs_judge:
        return []
    judge = spec.judge_of(criterion)
    where = f"judge-{criterion.evaluator}" if criterion.judge else "judge"
    if not judge:
        message = _("%(name)s needs a judge. Choose a judge model.")
        sentence = Sentence(message, {"name": criterion.name})
        return [Problem("judge_missing", "criteria", "judge", sentence)]
    if judge not in around.models:
        message = _("%(name)s: the chosen judge does not exist any more.")
        sentence = Sentence(message, {"name": criterion.name})
        return [Problem("judge_gone", "criteria", where, sentence)]
    return _trouble(around.models[judge], "criteria", where)


def _trouble(facts: ModelFacts, step: Step, where: str) -> list[Problem]:
    """A model whose last test failed: said before Submit, no obstacle to it."""
    if not facts.trouble:
        return []
    message = _("The last test of %(name)s failed: %(trouble)s")
    sentence = Sentence(message, {"name": facts.name, "trouble": facts.trouble})
    return [Problem("model_trouble", step, where, sentence, "warning")]


def _threshold_problems(
    criterion: CriterionSpec, definition: EvaluatorDefinition
) -> list[Problem]:
    found = []
    for metric in definition.metrics:
        value = criterion.thresholds.get(metric.key)
        if value is None or metric.minimum <= value <= metric.maximum:
            continue
        sentence = Sentence(
            _("%(metric)s: enter a threshold from %(minimum)s to %(maximum)s."),
            {
                "metric": metric.name,
                "minimum": f"{metric.minimum:g}",
                "maximum": f"{metric.maximum:g}",
            },
        )
        where = f"threshold-{criterion.evaluator}-{metric.key}"
        found.append(Problem("threshold_range", "criteria", where, sentence))
    return found


def _mapping_problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    if not around.dataset_ready:
        return []
    found: list[Problem] = []
    for criterion in spec.criteria:
        definition = around.catalogue.get(criterion.evaluator)
        if definition is None:
            continue
        for name in unassigned(definition, criterion.mapping):
            message = _("%(name)s: choose a column for %(input)s")
            sentence = Sentence(message, {"name": criterion.name, "input": name})
            where = f"map-{criterion.evaluator}-{name}"
            found.append(Problem("input_unassigned", "mapping", where, sentence))
        for name, path in criterion.mapping.items():
            if path and not _is_known(path, around.paths):
                sentence = Sentence(
                    _("%(name)s: %(path)s is not there. Choose another for %(input)s"),
                    {"name": criterion.name, "path": path, "input": name},
                )
                where = f"map-{criterion.evaluator}-{name}"
                found.append(Problem("path_unknown", "mapping", where, sentence))
        found.extend(_media_problems(spec, criterion, definition, around))
    return found


def _media_problems(
    spec: EvaluationSpec,
    criterion: CriterionSpec,
    definition: EvaluatorDefinition,
    around: Surroundings,
) -> list[Problem]:
    """Media that an evaluator or its judge cannot read: said before Submit."""
    facts = around.models.get(spec.judge_of(criterion))
    found = []
    for name, path in criterion.mapping.items():
        for kind in sorted(around.media.get(path or "", ())):
            if kind not in UNREAD:
                continue
            if kind not in definition.media:
                message, who = UNREAD_BY_EVALUATOR[kind], criterion.name
            elif facts and facts.reads.get(kind) is False:
                message, who = UNREAD[kind], facts.name
            else:
                continue
            sentence = Sentence(message, {"name": who, "path": path})
            where = f"map-{criterion.evaluator}-{name}"
            found.append(Problem("media_unread", "mapping", where, sentence, "warning"))
    return found


def unassigned(
    definition: EvaluatorDefinition, mapping: Mapping[str, str | None]
) -> list[str]:
    """Inputs to assign until one alternative set is complete; empty when one is.

    Names those of the set that lacks the fewest.
    """
    lacking = [
        [name for name in group if not mapping.get(name)]
        for group in definition.input_sets
    ]
    return min(lacking, key=len)


def _review_problems(spec: EvaluationSpec, around: Surroundings) -> list[Problem]:
    if not spec.name.strip():
        sentence = Sentence(_("Enter a name."))
        return [Problem("name_missing", "review", "name", sentence)]
    if len(spec.name) > 120:
        sentence = Sentence(_("The name has more than 120 characters. Shorten it."))
        return [Problem("name_long", "review", "name", sentence)]
    if around.name_taken:
        message = _("There is already an evaluation %(name)s. Choose another name.")
        sentence = Sentence(message, {"name": spec.name})
        return [Problem("name_taken", "review", "name", sentence)]
    return []
