"""The card on which a draft is tried: what can be chosen, and the newest try."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from datasets.models import DatasetVersion
from datasets.queries import current_versions
from evaluators import judges
from rubrics import queries
from rubrics.forms import TryForm
from rubrics.models import RubricDraft, RubricJob
from rubrics.tries import shown
from targets.models import Deployment
from workspace.models import Project


def context(draft: RubricDraft, post: QueryDict) -> dict[str, Any]:
    """3 queries, and those of the newest try."""
    last = queries.last_try(draft)
    models = models_in(draft.project)
    return {
        "try_form": form_of(draft, post, last, models),
        "judge_words": judge_words(draft.project, models, post, last),
        "tried": shown(last) if last else None,
    }


def models_in(project: Project) -> list[Deployment]:
    """The models of the project, the simulator last. 1 query."""
    found = Deployment.objects.select_related("connection").filter(
        connection__project=project
    )
    return sorted(found, key=lambda d: (d.connection.is_simulated, d.label.casefold()))


def form_of(
    draft: RubricDraft,
    post: QueryDict,
    last: RubricJob | None,
    models: list[Deployment],
) -> TryForm | None:
    """The choices, by default those of the newest try. None when there is no dataset
    or no model. 1 query."""
    versions = [
        v
        for v in current_versions(draft.project).order_by("-pk")
        if v.state == DatasetVersion.State.READY and v.row_count
    ]
    if not versions or not models:
        return None
    initial: dict[str, Any] = {"row": 1, "count": TryForm.ONE}
    if last is not None:
        indexes = last.request["indexes"]
        refs = {v.pk: v.ref for v in versions}
        initial = {
            "version": refs.get(last.request["dataset_version"]),
            "row": indexes[0],
            "count": TryForm.TEN if len(indexes) > 1 else TryForm.ONE,
            "judge": last.deployment.ref if last.deployment else None,
        }
    posted = post if "try-version" in post else None
    return TryForm(versions, models, posted, initial=initial, prefix="try")


def judge_words(
    project: Project,
    models: list[Deployment],
    post: QueryDict,
    last: RubricJob | None,
) -> dict[str, Any] | None:
    """What is known of the chosen judge: its guidance, and whether it is simulated."""
    by_ref = {model.ref: model for model in models}
    judge = by_ref.get(str(post.get("try-judge", "")))
    if judge is None and last is not None and last.deployment is not None:
        judge = by_ref.get(last.deployment.ref)
    judge = judge or next(iter(models), None)
    if judge is None:
        return None
    if judge.connection.is_simulated:
        return {"is_simulated": True}
    level = judges.guidance_in(project, judge.model)
    return {"level": level, "text": judges.WORDS[level]}
