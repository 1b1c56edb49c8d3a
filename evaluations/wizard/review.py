"""Step 5: name, cost limit, everything chosen."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from assay.data.text import Sentence, gettext_noop
from assay.running.spec import EvaluationSpec, Problem, TargetSpec
from evaluations import estimates
from evaluations.models import EvaluationDraft
from evaluations.surroundings import View
from evaluations.wizard.stepper import LABELS, step_url


def read(spec: EvaluationSpec, post: QueryDict) -> tuple[EvaluationSpec, list[Problem]]:
    update: dict[str, Any] = {
        "name": post.get("name", spec.name).strip(),
        "run_name": post.get("run_name", spec.run_name).strip()[:120],
    }
    text = post.get("max_cost", "").strip().replace(",", ".").lstrip("$")
    if "max_cost" in post:
        update["max_cost"] = None
        try:
            update["max_cost"] = _positive(text) if text else None
        except ValueError:
            sentence = Sentence(gettext_noop("Cost limit: enter an amount above 0."))
            problem = Problem("max_cost", "review", "max_cost", sentence)
            return spec.model_copy(update={**update}), [problem]
    return spec.model_copy(update=update), []


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError(text)
    return value


def context(
    draft: EvaluationDraft, spec: EvaluationSpec, view: View, post: QueryDict | None
) -> dict[str, Any]:
    judged = [
        (c, view.deployments.get(spec.judge_of(c)))
        for c in spec.criteria
        if c.evaluator in view.around.catalogue
        and view.around.catalogue[c.evaluator].needs_judge
    ]
    target = spec.target or TargetSpec()
    inputs = [path for c in spec.criteria for path in c.mapping.values()]
    lines, total = estimates.lines(spec, view)
    return {
        "lines": lines,
        "total": total,
        "target": target,
        "model": view.deployments.get(target.deployment),
        "judges": list(dict.fromkeys(d for _c, d in judged if d is not None)),
        "assigned": sum(1 for path in inputs if path),
        "inputs": len(inputs),
        "name_value": post.get("name", spec.name) if post else spec.name,
        "max_cost_value": _cost_text(spec, post),
        "urls": {step: step_url(draft, step) for step in LABELS},
    }


def _cost_text(spec: EvaluationSpec, post: QueryDict | None) -> str:
    if post and "max_cost" in post:
        return post.get("max_cost", "")
    return f"{spec.max_cost:.2f}" if spec.max_cost is not None else ""
