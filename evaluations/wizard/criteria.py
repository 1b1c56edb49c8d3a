"""Step 3: which evaluators, with which judge, thresholds and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.data.text import Sentence, gettext_noop
from assay.running.spec import LACKS_LEVEL, CriterionSpec, EvaluationSpec, Problem
from assay.scoring.definition import EvaluatorDefinition, ParamSpec
from assay.scoring.rubric.definition import DIMENSION
from evaluations.drafts import choose
from evaluations.surroundings import View
from evaluators.judges import WORDS as GUIDANCE_WORDS
from evaluators.judges import guidance_in
from workspace.sentences import say

CATEGORIES: dict[str, str | Promise] = {
    "quality": gettext_lazy("Quality"),
    "rag": gettext_lazy("Retrieval"),
    "agent": gettext_lazy("Agent"),
    "nlp": gettext_lazy("Text similarity"),
    "safety": gettext_lazy("Safety"),
}
SHORT: dict[str, str | Promise] = {
    "quality": gettext_lazy("Quality"),
    "rag": gettext_lazy("Retrieval"),
    "agent": gettext_lazy("Agent"),
    "nlp": gettext_lazy("Text similarity"),
    "safety": gettext_lazy("Safety"),
}


def read(
    spec: EvaluationSpec, post: QueryDict, view: View
) -> tuple[EvaluationSpec, list[Problem]]:
    """The posted choices. A number that is none is a problem; the old one is kept.

    Only evaluators that the page showed can be unticked: the others were filtered out.
    """
    shown = set(post.getlist("shown"))
    kept = {c.evaluator for c in spec.criteria} - shown
    wanted = tuple(kept | set(post.getlist("evaluator")))
    removed = post.get("remove")
    chosen = tuple(name for name in wanted if name != removed)
    spec = choose(spec, chosen, view.around.catalogue)
    judge = post.get("judge", spec.judge)
    spec = spec.model_copy(update={"judge": judge if judge in view.deployments else ""})
    found: list[Problem] = []
    criteria = tuple(_read_one(c, post, view, found) for c in spec.criteria)
    return spec.model_copy(update={"criteria": criteria}), found


def _read_one(
    criterion: CriterionSpec, post: QueryDict, view: View, found: list[Problem]
) -> CriterionSpec:
    definition = view.around.catalogue[criterion.evaluator]
    name = criterion.evaluator
    judge = post.get(f"judge-{name}", criterion.judge)
    thresholds = dict(criterion.thresholds)
    for metric in definition.metrics:
        field = f"threshold-{name}-{metric.key}"
        if field in post:
            value = _number(post.get(field, ""), field, metric.name, found)
            if value is not None:
                thresholds[metric.key] = value
    params = dict(criterion.params)
    for param in definition.params:
        field = f"param-{name}-{param.key}"
        if field in post:
            read_param = _param(post.get(field, ""), param, field, found)
            if read_param is not None:
                params[param.key] = read_param
    return criterion.model_copy(
        update={
            "judge": judge if judge in view.deployments else "",
            "thresholds": thresholds,
            "params": params,
        }
    )


def _number(text: str, field: str, label: str, found: list[Problem]) -> float | None:
    try:
        value = float(text.strip().replace(",", "."))
        if not math.isfinite(value):
            raise ValueError(text)
        return value
    except ValueError:
        message = gettext_noop("%(name)s: enter a number.")
        sentence = Sentence(message, {"name": label})
        found.append(Problem("not_a_number", "criteria", field, sentence))
        return None


def _param(
    text: str, param: ParamSpec, field: str, found: list[Problem]
) -> str | float | None:
    if param.kind == "choice":
        return text if text in param.choices else None
    value = _number(text, field, param.name, found)
    if value is None:
        return None
    low = param.minimum is not None and value < param.minimum
    high = param.maximum is not None and value > param.maximum
    if low or high:
        sentence = Sentence(
            gettext_noop("%(name)s: enter a number from %(low)s to %(high)s."),
            {"name": param.name, "low": param.minimum, "high": param.maximum},
        )
        found.append(Problem("param_range", "criteria", field, sentence))
        return None
    return value


def context(
    spec: EvaluationSpec, view: View, query: Mapping[str, str], post: QueryDict | None
) -> dict[str, Any]:
    """Groups of the catalogue (filtered), the selection, and the judges."""
    chosen = {c.evaluator: c for c in spec.criteria}
    category, words = query.get("category", ""), query.get("q", "").strip().casefold()
    groups: dict[str, list[dict[str, Any]]] = {}
    counts = dict.fromkeys(CATEGORIES, 0)
    for name, definition in view.around.catalogue.items():
        counts[definition.category] += 1
        if category and definition.category != category:
            continue
        if (
            words
            and words not in f"{definition.name} {definition.description}".casefold()
        ):
            continue
        row = {
            "id": name,
            "definition": definition,
            "chosen": name in chosen,
            "lacks": _lacks(spec, definition),
        }
        groups.setdefault(definition.category, []).append(row)
    judged = [c for c in spec.criteria if _definition(c, view).needs_judge]
    return {
        "groups": [
            {"label": label, "rows": groups[key]}
            for key, label in CATEGORIES.items()
            if key in groups
        ],
        "chips": [
            {"key": key, "label": SHORT[key], "count": counts[key]}
            for key in CATEGORIES
            if counts[key]
        ],
        "total": len(view.around.catalogue),
        "category": category,
        "q": query.get("q", ""),
        "selected": [selected_row(c, view, post) for c in spec.criteria],
        "judged": len(judged),
        "judge": view.deployments.get(spec.judge),
        "judges": view.deployments.values(),
        "reads": _reads(spec, view),
        "guidance": _guidance(spec, view),
    }


def _lacks(spec: EvaluationSpec, definition: EvaluatorDefinition) -> str:
    """Why an evaluator cannot be chosen for the level of the draft, or nothing."""
    if spec.level in definition.levels:
        return ""
    return say(Sentence(LACKS_LEVEL[spec.level], {"name": definition.name}))


def _definition(criterion: CriterionSpec, view: View) -> EvaluatorDefinition:
    return view.around.catalogue[criterion.evaluator]


def selected_row(
    criterion: CriterionSpec, view: View, post: QueryDict | None
) -> dict[str, Any]:
    """One chosen evaluator for the side panel. Posted text is shown as it was typed."""
    definition = _definition(criterion, view)
    posted = {name: post.get(name, "") for name in post} if post else {}
    name = criterion.evaluator
    thresholds = []
    for metric in definition.metrics:
        if metric.key.startswith(DIMENSION):
            continue
        field = f"threshold-{name}-{metric.key}"
        value = criterion.thresholds.get(metric.key, metric.threshold)
        if value is None:
            continue
        thresholds.append(
            {
                "field": field,
                "metric": metric,
                "sign": "≥" if metric.direction == "increase" else "≤",
                "value": posted.get(field, f"{value:g}"),
            }
        )
    params = []
    for param in definition.params:
        field = f"param-{name}-{param.key}"
        setting = criterion.params.get(param.key, param.default)
        params.append(
            {"field": field, "spec": param, "value": posted.get(field, str(setting))}
        )
    return {
        "criterion": criterion,
        "definition": definition,
        "thresholds": thresholds,
        "params": params,
    }


def _guidance(spec: EvaluationSpec, view: View) -> dict[str, Any]:
    """Advice about the chosen judge where a rubric is judged, nothing else."""
    deployment = view.deployments.get(spec.judge)
    has_rubric = any(_definition(c, view).kind == "rubric" for c in spec.criteria)
    if deployment is None or not has_rubric or deployment.connection.is_simulated:
        return {}
    level = guidance_in(deployment.connection.project, deployment.model)
    return {"is_warning": level == "not_recommended", "text": GUIDANCE_WORDS[level]}


def _reads(spec: EvaluationSpec, view: View) -> str:
    """What the chosen judge reads, as far as it is known."""
    deployment = view.deployments.get(spec.judge)
    if deployment is None:
        return ""
    words = [_("text")]
    for kind, word in (("image", _("images")), ("audio", _("audio"))):
        if deployment.can_read(kind):
            words.append(word)
    unknown = [k for k in ("image", "audio") if deployment.can_read(k) is None]
    text = _("Reads %(what)s.") % {"what": ", ".join(words)}
    if unknown:
        text += " " + _("Not tested yet: %(what)s.") % {"what": ", ".join(unknown)}
    return text


def media_warnings(spec: EvaluationSpec, view: View) -> list[str]:
    """Said before the mapping: media in the dataset that a judge cannot read."""
    kinds = {kind for found in view.around.media.values() for kind in found}
    warnings = []
    judges = {
        spec.judge_of(c) for c in spec.criteria if _definition(c, view).needs_judge
    }
    for ref in sorted(judges):
        deployment = view.deployments.get(ref)
        if deployment is None:
            continue
        if "image" in kinds and deployment.can_read("image") is False:
            warnings.append(
                _("%(name)s cannot see images. It is told that there is one.")
                % {"name": deployment.label}
            )
        if "audio" in kinds and deployment.can_read("audio") is False:
            warnings.append(
                _("%(name)s cannot hear audio. It is told that there is a clip.")
                % {"name": deployment.label}
            )
    return warnings
