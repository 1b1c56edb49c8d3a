"""From the rows of the database to a plan that the engine can run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.conf import settings

from assay.data.template import placeholders
from assay.running.engine import PlannedCriterion, RunPlan
from assay.running.plan import chunks
from assay.running.spec import TargetSpec
from evaluations.models import Chunk, Criterion, Metric, Run
from targets.gateway import DeploymentConfig
from targets.models import Deployment

ARITHMETIC_CHUNK_ROWS = 250


@dataclass(frozen=True, slots=True)
class Loaded:
    """A run ready to work on: the plan, its models, and metric ids by criterion."""

    run: Run
    plan: RunPlan
    models: dict[str, DeploymentConfig]
    metric_ids: dict[tuple[int, str], int]
    primary: frozenset[int]
    input_paths: tuple[str, ...] = ()
    response_paths: tuple[str, ...] = ()

    @property
    def concurrency(self) -> int:
        """Rows in flight at once: enough to keep the widest model busy."""
        widths = [config.concurrency for config in self.models.values()]
        return max(widths, default=settings.CHUNK_ROWS)


def load(run: Run) -> Loaded:
    """Read the plan of `run`. A judge that was deleted meanwhile is missing from
    `models`; the runner says so."""
    criteria = list(
        run.evaluation.criteria.select_related("deployment").prefetch_related("metrics")
    )
    refs = {c.deployment.ref for c in criteria if c.deployment}
    if run.deployment:
        refs.add(run.deployment.ref)
    deployments = Deployment.objects.select_related("connection").filter(ref__in=refs)
    target = TargetSpec.model_validate(run.target)
    plan = RunPlan(
        criteria=tuple(_planned(criterion, run) for criterion in criteria),
        fence_key=fence_key(run),
        target=target if target.kind == "model" else None,
    )
    metrics = [m for criterion in criteria for m in criterion.metrics.all()]
    return Loaded(
        run=run,
        plan=plan,
        models={d.ref: DeploymentConfig.of(d) for d in deployments},
        metric_ids={(m.criterion_id, m.key): m.pk for m in metrics},
        primary=frozenset(m.pk for m in metrics if m.is_primary),
        input_paths=paths_for(plan, "query"),
        response_paths=paths_for(plan, "response"),
    )


def paths_for(plan: RunPlan, name: str) -> tuple[str, ...]:
    """Columns that hold an input, as mapped; for the query also those of the prompt."""
    paths = [c.mapping.get(name) for c in plan.criteria]
    if name == "query" and plan.target is not None:
        paths += placeholders(plan.target.user_prompt)
    columns = [path for path in paths if path and path.startswith("item.")]
    return tuple(dict.fromkeys(columns))


def _planned(criterion: Criterion, run: Run) -> PlannedCriterion:
    definition = criterion.evaluator
    return PlannedCriterion(
        key=criterion.pk,
        name=criterion.name,
        definition=definition,
        mapping=run.mappings.get(criterion.name, criterion.mapping),
        thresholds={m.key: m.threshold for m in _metrics(criterion)},
        params=criterion.params,
        judge=criterion.deployment.ref if criterion.deployment else "",
    )


def _metrics(criterion: Criterion) -> list[Metric]:
    return list(criterion.metrics.all())


def fence_key(run: Run) -> bytes:
    """The key of the fences around data: the same for every attempt at a run."""
    seed = f"{settings.SECRET_KEY}|{run.evaluation.ref}".encode()
    return hashlib.sha256(seed).digest()


def plan_chunks(run: Run) -> None:
    """Insert the chunks of a run. Planning twice changes nothing."""
    calls_models = run.deployment_id or run.evaluation.criteria.filter(
        deployment__isnull=False
    )
    size = settings.CHUNK_ROWS if calls_models else ARITHMETIC_CHUNK_ROWS
    Chunk.objects.bulk_create(
        [
            Chunk(run=run, first=span.first, last=span.last)
            for span in chunks(run.total, size)
        ],
        ignore_conflicts=True,
        batch_size=500,
    )
