"""The stepper: which steps are done, what was chosen in each."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from assay.running.spec import STEPS, EvaluationSpec, Problem, Step, errors
from evaluations.models import EvaluationDraft
from evaluations.surroundings import View

LABELS: dict[Step, str | Promise] = {
    "target": gettext_lazy("Target"),
    "data": gettext_lazy("Data"),
    "criteria": gettext_lazy("Criteria"),
    "mapping": gettext_lazy("Field mapping"),
    "review": gettext_lazy("Review"),
}


def steps_of(draft: EvaluationDraft) -> tuple[Step, ...]:
    """A new run of an evaluation has no criteria step: they are fixed."""
    if draft.evaluation_id:
        return tuple(step for step in STEPS if step != "criteria")
    return STEPS


def neighbour(draft: EvaluationDraft, step: Step, distance: int) -> Step:
    steps = steps_of(draft)
    position = steps.index(step) + distance
    return steps[max(0, min(position, len(steps) - 1))]


def step_url(draft: EvaluationDraft, step: Step) -> str:
    return reverse("draft_step", args=[draft.project.slug, draft.ref, step])


def stepper(
    draft: EvaluationDraft,
    spec: EvaluationSpec,
    view: View,
    current: Step,
    found: list[Problem],
) -> list[dict[str, Any]]:
    """The steps for the template. Visited ones are links; wrong ones are marked."""
    steps = steps_of(draft)
    reached = steps.index(draft.step) if draft.step in steps else 0
    reached = max(reached, steps.index(current))
    rows = []
    for position, step in enumerate(steps):
        visited = position <= reached
        has_errors = bool(errors(found, step))
        state = ""
        if visited and step != current:
            state = "problem" if has_errors else "done"
        rows.append(
            {
                "label": LABELS[step],
                "url": step_url(draft, step) if visited else "",
                "current": step == current,
                "state": state,
                "value": chosen(step, spec, view)
                if visited and step != current
                else "",
            }
        )
    return rows


def chosen(step: Step, spec: EvaluationSpec, view: View) -> str:
    """What was chosen in a step, in a few words."""
    if step == "target" and spec.target:
        if spec.target.kind == "dataset":
            return _("Answers of the dataset")
        deployment = view.deployments.get(spec.target.deployment)
        return deployment.label if deployment else ""
    if step == "data" and view.version:
        count = view.version.row_count
        rows = ngettext("%(n)s row", "%(n)s rows", count) % {"n": f"{count:,}"}
        return f"{view.version}, {rows}"
    if step == "criteria" and spec.criteria:
        count = len(spec.criteria)
        return ngettext("%(n)s evaluator", "%(n)s evaluators", count) % {"n": count}
    if step == "mapping" and spec.criteria:
        count = sum(1 for c in spec.criteria for path in c.mapping.values() if path)
        text = ngettext("%(n)s input assigned", "%(n)s inputs assigned", count)
        return text % {"n": count}
    return ""
