"""Submit: one transaction that freezes a draft into an evaluation and a run."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify

from assay.running.spec import EvaluationSpec, Problem, errors, problems
from assay.scoring.definition import EvaluatorDefinition
from evaluations.drafts import spec_of, with_run
from evaluations.lifecycle import WORK
from evaluations.models import Criterion, Evaluation, EvaluationDraft, Metric, Run
from evaluations.surroundings import View, look_around
from evaluators.known import numbered
from targets.models import Deployment
from workspace.bells import ring
from workspace.models import Project, User


class SpecInvalid(Exception):
    """The spec has problems; nothing was saved."""

    def __init__(self, found: Sequence[Problem]) -> None:
        super().__init__("; ".join(str(p.sentence) for p in found))
        self.problems = list(found)


@transaction.atomic
def submit_draft(draft: EvaluationDraft, *, by: User) -> Run:
    """Freeze and queue. A second Submit of the same draft returns the same run.

    Raises `SpecInvalid`.
    """
    locked = EvaluationDraft.objects.select_for_update().get(pk=draft.pk)
    if locked.run is not None:
        return locked.run
    spec = spec_of(locked)
    view = look_around(locked.project, spec, evaluation=locked.evaluation)
    found = errors(problems(spec, view.around))
    if found:
        raise SpecInvalid(found)
    evaluation = locked.evaluation or _create_evaluation(locked, spec, view, by)
    Evaluation.objects.select_for_update().get(pk=evaluation.pk)
    run = create_run(evaluation, spec, view, by=by, name=spec.run_name.strip()[:120])
    locked.run = run
    locked.save(update_fields=["run"])
    return run


def _create_evaluation(
    draft: EvaluationDraft, spec: EvaluationSpec, view: View, by: User
) -> Evaluation:
    evaluation = Evaluation.objects.create(
        project=draft.project,
        name=spec.name.strip(),
        slug=free_slug(draft.project, spec.name),
        level=spec.level,
        spec=spec.model_dump(mode="json"),
        created_by=by,
    )
    versions = numbered(chosen.evaluator for chosen in spec.criteria)
    for position, chosen in enumerate(spec.criteria):
        definition = view.around.catalogue[chosen.evaluator]
        judge = _judge(spec.judge_of(chosen), definition, view)
        criterion = Criterion.objects.create(
            evaluation=evaluation,
            position=position,
            name=chosen.name,
            definition=definition.model_dump(mode="json"),
            version=versions.get(chosen.evaluator),
            deployment=judge,
            judge_name=judge.label if judge else "",
            mapping=chosen.mapping,
            params=chosen.params,
        )
        Metric.objects.bulk_create(_metrics(criterion, definition, chosen.thresholds))
    return evaluation


def _judge(ref: str, definition: EvaluatorDefinition, view: View) -> Deployment | None:
    return view.deployments.get(ref) if definition.needs_judge else None


def _metrics(
    criterion: Criterion,
    definition: EvaluatorDefinition,
    thresholds: dict[str, float],
) -> list[Metric]:
    return [
        Metric(
            criterion=criterion,
            position=position,
            key=spec.key,
            name=spec.name,
            kind=spec.kind,
            minimum=spec.minimum,
            maximum=spec.maximum,
            direction=spec.direction,
            threshold=thresholds.get(spec.key, spec.threshold),
            is_primary=spec.primary,
        )
        for position, spec in enumerate(definition.metrics)
    ]


def free_slug(project: Project, name: str) -> str:
    """A slug that no evaluation of the project has; `new` is a page of its own."""
    stem = slugify(name)[:100] or "evaluation"
    taken = set(
        Evaluation.objects.filter(project=project, slug__startswith=stem).values_list(
            "slug", flat=True
        )
    ) | {"new"}
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug


def create_run(
    evaluation: Evaluation,
    spec: EvaluationSpec,
    view: View,
    *,
    by: User,
    name: str = "",
) -> Run:
    """A queued run; its doorbell rings when the transaction is committed."""
    assert view.version is not None
    assert spec.target is not None
    latest = evaluation.runs.aggregate(latest=Max("number"))["latest"] or 0
    deployment = view.deployments.get(spec.target.deployment)
    judges = [c.deployment for c in evaluation.criteria.select_related("deployment")]
    used = [d for d in [deployment, *judges] if d is not None]
    run = Run.objects.create(
        evaluation=evaluation,
        number=latest + 1,
        name=name,
        target=spec.target.model_dump(mode="json"),
        deployment=deployment if spec.target.kind == "model" else None,
        dataset_version=view.version,
        mappings={c.name: c.mapping for c in spec.criteria},
        simulated=any(
            view.deployments[d.ref].connection.is_simulated
            for d in used
            if d.ref in view.deployments
        ),
        total=view.version.row_count,
        max_cost=spec.max_cost,
        created_by=by,
    )
    ring(WORK, run.pk)
    return run


@transaction.atomic
def run_again(run: Run, *, by: User) -> Run:
    """The same criteria, data and target once more. Raises `SpecInvalid`."""
    evaluation = Evaluation.objects.select_for_update().get(pk=run.evaluation_id)
    spec = with_run(EvaluationSpec.model_validate(evaluation.spec), run)
    view = look_around(evaluation.project, spec, evaluation=evaluation)
    found = errors(problems(spec, view.around))
    if found:
        raise SpecInvalid(found)
    return create_run(evaluation, spec, view, by=by)
