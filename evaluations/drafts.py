"""The wizard's drafts: made, changed by one step at a time, saved at every step."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from pydantic import ValidationError

from assay.running.mapping import auto_map
from assay.running.spec import CriterionSpec, EvaluationSpec, Step, TargetSpec
from assay.scoring import catalogue
from assay.scoring.definition import EvaluatorDefinition
from datasets.models import DatasetVersion
from evaluations.models import Evaluation, EvaluationDraft, Run
from evaluations.surroundings import View, deployments_of, generates, look_around
from workspace.models import Project, User

DRAFT_LIFE = timedelta(days=30)
SAMPLE_EVALUATORS = ("relevance", "groundedness", "similarity", "f1_score")


class EditedElsewhere(Exception):
    """Somebody saved the draft after this form was loaded. Nothing was saved."""

    def __init__(self, draft: EvaluationDraft) -> None:
        super().__init__("edited elsewhere")
        self.draft = draft


def spec_of(draft: EvaluationDraft) -> EvaluationSpec:
    """The draft's choices. What a newer release does not know any more is dropped."""
    try:
        return EvaluationSpec.model_validate(draft.spec)
    except ValidationError:
        known = {k: v for k, v in draft.spec.items() if k in {"name", "judge"}}
        return EvaluationSpec.model_validate(known)


def create(
    project: Project,
    user: User,
    spec: EvaluationSpec | None = None,
    *,
    step: Step = "target",
    started_from: str = "",
    evaluation: Evaluation | None = None,
) -> EvaluationDraft:
    return EvaluationDraft.objects.create(
        project=project,
        spec=(spec or EvaluationSpec()).model_dump(mode="json"),
        step=step,
        started_from=started_from,
        evaluation=evaluation,
        created_by=user,
        updated_by=user,
        expires_at=timezone.now() + DRAFT_LIFE,
    )


@transaction.atomic
def save(
    draft: EvaluationDraft,
    spec: EvaluationSpec,
    *,
    by: User,
    revision: int,
    step: Step,
    page: str = "",
) -> EvaluationDraft:
    """Save when nobody saved since `revision` from another page.

    Raises `EditedElsewhere`.
    """
    current = EvaluationDraft.objects.select_for_update().get(pk=draft.pk)
    same_page = bool(page) and current.saved_from == page
    if current.revision != revision and not same_page:
        raise EditedElsewhere(current)
    current.spec = spec.model_dump(mode="json")
    current.step = step
    current.revision += 1
    current.updated_by = by
    current.saved_from = page
    current.expires_at = timezone.now() + DRAFT_LIFE
    current.save()
    return current


def for_sample(
    project: Project, user: User, version: DatasetVersion
) -> EvaluationDraft:
    """A filled-in draft on the sample dataset, ready to submit."""
    spec = EvaluationSpec(
        name=free_name(project, "First look: restaurant booking"),
        target=TargetSpec(kind="dataset"),
        dataset_version=version.ref,
        judge=simulator_of(project),
    )
    spec = choose(spec, SAMPLE_EVALUATORS, catalogue.load())
    spec = remap(spec, look_around(project, spec))
    return create(project, user, spec, step="review", started_from="sample")


def simulator_of(project: Project) -> str:
    """The ref of the simulator, "" where it was removed."""
    found = deployments_of(project).items()
    return next((ref for ref, d in found if d.connection.is_simulated), "")


def free_name(project: Project, wanted: str) -> str:
    """`wanted`, or `wanted 2`, `wanted 3` … when there is such an evaluation."""
    name, number = wanted, 2
    while Evaluation.objects.filter(project=project, name__iexact=name).exists():
        name, number = f"{wanted} {number}", number + 1
    return name


def for_new_run(evaluation: Evaluation, user: User) -> EvaluationDraft:
    """Add run: the criteria are fixed, data and target are chosen anew."""
    latest = evaluation.runs.order_by("-number").first()
    spec = EvaluationSpec.model_validate(evaluation.spec)
    if latest:
        spec = with_run(spec, latest)
    return create(
        evaluation.project,
        user,
        spec,
        step="target",
        started_from="run",
        evaluation=evaluation,
    )


def for_copy(evaluation: Evaluation, user: User) -> EvaluationDraft:
    """The same choices in a new evaluation, where everything can be changed."""
    spec = EvaluationSpec.model_validate(evaluation.spec)
    latest = evaluation.runs.order_by("-number").first()
    if latest:
        spec = with_run(spec, latest)
    name = free_name(evaluation.project, f"{evaluation.name} (copy)"[:110])
    spec = spec.model_copy(update={"name": name})
    return create(evaluation.project, user, spec, step="review", started_from="copy")


def with_run(spec: EvaluationSpec, run: Run) -> EvaluationSpec:
    """`spec` with the target, data and mapping of a run."""
    criteria = tuple(
        c.model_copy(update={"mapping": run.mappings.get(c.name, c.mapping)})
        for c in spec.criteria
    )
    return spec.model_copy(
        update={
            "target": TargetSpec.model_validate(run.target),
            "dataset_version": run.dataset_version.ref,
            "criteria": criteria,
            "max_cost": run.max_cost,
            "run_name": "",
        }
    )


def choose(
    spec: EvaluationSpec,
    evaluators: tuple[str, ...],
    known: Mapping[str, EvaluatorDefinition],
) -> EvaluationSpec:
    """The chosen of the `known` evaluators, in their order; settings made so far stay.

    The name of a criterion is that of its evaluator, made different where two have
    the same.
    """
    before = {c.evaluator: c for c in spec.criteria}
    taken = {c.name for c in spec.criteria if c.evaluator in evaluators}
    criteria = []
    for evaluator in (name for name in known if name in evaluators):
        criterion = before.get(evaluator)
        if criterion is None:
            name = _free_name(known[evaluator].name, taken)
            criterion = CriterionSpec(name=name, evaluator=evaluator)
            taken.add(name)
        criteria.append(criterion)
    return spec.model_copy(update={"criteria": tuple(criteria)})


def _free_name(name: str, taken: set[str]) -> str:
    free, number = name[:120], 2
    while free in taken:
        free, number = f"{name[:110]} {number}", number + 1
    return free


def remap(
    spec: EvaluationSpec, view: View, *, again: bool = False, fresh: bool = False
) -> EvaluationSpec:
    """Match inputs that have no answer yet; `again` matches all of them anew.

    An input that a person set to Unassigned stays so, until `fresh` says that the data
    or the target are others; a path that the dataset does not have any more is matched
    again.
    """
    if view.version is None:
        return spec
    criteria = tuple(
        _remap_one(c, spec, view, again=again, fresh=fresh) for c in spec.criteria
    )
    return spec.model_copy(update={"criteria": criteria})


def _remap_one(
    criterion: CriterionSpec,
    spec: EvaluationSpec,
    view: View,
    *,
    again: bool,
    fresh: bool,
) -> CriterionSpec:
    definition = view.around.catalogue.get(criterion.evaluator)
    if definition is None:
        return criterion
    made = generates(spec)
    matched = auto_map(definition, view.around.paths, generates=made)
    mapping = dict(matched)
    if not again:
        for name, path in criterion.mapping.items():
            stale = path is not None and path not in view.around.paths
            changed_side = (
                made
                and path is not None
                and name == "response"
                and (path.startswith("item."))
            )
            open_again = fresh and path is None
            if name in matched and not (stale or changed_side or open_again):
                mapping[name] = path
    return criterion.model_copy(update={"mapping": mapping})


def with_mapping(
    spec: EvaluationSpec, posted: Mapping[str, Mapping[str, str | None]]
) -> EvaluationSpec:
    """`spec` with posted mappings by evaluator."""
    criteria = tuple(
        c.model_copy(update={"mapping": {**c.mapping, **posted.get(c.evaluator, {})}})
        for c in spec.criteria
    )
    return spec.model_copy(update={"criteria": criteria})


def open_drafts(project: Project, user: User) -> list[dict[str, Any]]:
    """Drafts of a person that were not submitted, the newest first."""
    found = EvaluationDraft.objects.filter(
        project=project, created_by=user, run=None
    ).order_by("-updated_at")[:5]
    return [
        {"draft": draft, "name": draft.spec.get("name") or "", "step": draft.step}
        for draft in found
    ]


def untouched(project: Project, user: User) -> EvaluationDraft | None:
    """A draft of this person in which nothing was chosen yet."""
    return EvaluationDraft.objects.filter(
        project=project,
        created_by=user,
        run=None,
        revision=1,
        started_from="",
        evaluation=None,
        spec=EvaluationSpec().model_dump(mode="json"),
    ).first()
