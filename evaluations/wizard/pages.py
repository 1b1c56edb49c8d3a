"""What each step's page shows, and what its form says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from assay.running.spec import EvaluationSpec, Problem, Step, TargetSpec
from datasets.models import DatasetVersion
from evaluations.drafts import choose
from evaluations.models import EvaluationDraft
from evaluations.surroundings import View, deployments_of
from evaluations.wizard import criteria, data, mapping, review, target
from evaluations.wizard.stepper import LABELS, step_url
from evaluations.wizard.values import described, last_output, row_media, sample_row
from evaluators.known import evaluators_of
from workspace.models import Project
from workspace.scoping import PortalRequest
from workspace.sentences import say


def prefilled(
    project: Project, query: Mapping[str, str]
) -> tuple[EvaluationSpec, Step]:
    """Coming from a model, a dataset or an evaluator, that is chosen already."""
    spec = EvaluationSpec()
    model, dataset = query.get("model", ""), query.get("dataset", "")
    if model in deployments_of(project):
        chosen = TargetSpec(kind="model", deployment=model)
        spec = spec.model_copy(update={"target": chosen})
    if DatasetVersion.objects.filter(ref=dataset, dataset__project=project).exists():
        spec = spec.model_copy(update={"dataset_version": dataset})
    evaluator = query.get("evaluator", "")
    known = evaluators_of(project, also=(evaluator,))
    if evaluator in known:
        spec = choose(spec, (evaluator,), known)
    return spec, "target"


def read_step(
    step: Step, spec: EvaluationSpec, post: QueryDict, view: View
) -> tuple[EvaluationSpec, list[Problem]]:
    """The spec with what a step posted, and what of it could not be read."""
    if step == "target":
        return target.read(spec, post, view)
    if step == "data":
        chosen = post.get("dataset", spec.dataset_version)
        return spec.model_copy(update={"dataset_version": chosen}), []
    if step == "criteria":
        return criteria.read(spec, post, view)
    if step == "mapping":
        return mapping.read(spec, post), []
    return review.read(spec, post)


def linked(
    wrong: list[Problem], draft: EvaluationDraft, step: Step
) -> list[dict[str, str]]:
    """Problems with links to their fields, on this page or on their step's."""
    return [
        {
            "text": say(p.sentence),
            "href": f"#{p.field}"
            if p.step == step
            else f"{step_url(draft, p.step)}#{p.field}",
        }
        for p in wrong
    ]


def warnings(found: list[Problem], step: Step) -> list[str]:
    """What does not block Submit but should be known, on its step and at review."""
    texts = [
        say(p.sentence)
        for p in found
        if p.severity == "warning" and step in (p.step, "review")
    ]
    return list(dict.fromkeys(texts))


def differences(
    mine: EvaluationSpec, theirs: EvaluationSpec, view: View
) -> list[dict[str, str]]:
    """What two versions of a draft choose differently, in words."""
    one, other = _in_words(mine, view), _in_words(theirs, view)
    return [
        {"label": label, "mine": one.get(label, ""), "theirs": other.get(label, "")}
        for label in dict.fromkeys([*one, *other])
        if one.get(label, "") != other.get(label, "")
    ]


def _in_words(spec: EvaluationSpec, view: View) -> dict[str, str]:
    """Every choice by its label, with names instead of ids."""
    made = spec.target or TargetSpec()
    words = {
        _("Name"): spec.name,
        _("Run name"): spec.run_name,
        str(LABELS["target"]): made.kind,
        str(LABELS["data"]): _dataset_name(spec.dataset_version),
        _("Judge model"): _model_name(spec.judge, view),
        _("Cost limit"): "" if spec.max_cost is None else f"${spec.max_cost:.2f}",
        str(LABELS["criteria"]): ", ".join(c.name for c in spec.criteria),
    }
    if made.kind == "model":
        words |= {
            _("Model"): _model_name(made.deployment, view),
            _("System prompt"): made.system_prompt,
            _("Message"): made.user_prompt,
        }
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            value = getattr(made, name)
            words[name] = "" if value is None else f"{value:g}"
    for chosen in spec.criteria:
        for name, path in chosen.mapping.items():
            words[f"{chosen.name}: {name}"] = path or ""
        for key, threshold in chosen.thresholds.items():
            words[f"{chosen.name}: {key} ≥"] = f"{threshold:g}"
    return words


def _model_name(ref: str, view: View) -> str:
    deployment = view.deployments.get(ref)
    return f"{deployment.label} ({deployment.connection})" if deployment else ""


def _dataset_name(ref: str) -> str:
    version = DatasetVersion.objects.select_related("dataset").filter(ref=ref).first()
    return str(version) if version else ""


def step_context(
    request: PortalRequest,
    step: Step,
    draft: EvaluationDraft,
    spec: EvaluationSpec,
    view: View,
    wrong: list[Problem],
    *,
    posted: bool,
) -> dict[str, Any]:
    post = request.POST if posted else None
    if step == "target":
        return target.context(request, spec, view, post)
    if step == "data":
        return data.context(request, draft, spec)
    if step == "criteria":
        found = criteria.context(spec, view, request.GET, post)
        return {**found, "media_warnings": criteria.media_warnings(spec, view)}
    if step == "mapping":
        number, item = sample_row(request, view)
        sample = last_output(request.project, spec)
        found = mapping.context(spec, view, wrong, item=item, sample=sample)
        return {
            **found,
            "row_number": number,
            "row_count": view.version.row_count if view.version else 0,
            "item": described(request.project, item),
            "sample": described(request.project, sample),
            "media": row_media(request.project, item),
        }
    return review.context(draft, spec, view, post)
