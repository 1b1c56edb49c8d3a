"""What a spec is checked against: catalogue, models, dataset, paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import media_kinds
from assay.data.paths import MISSING, nested_paths, resolve
from assay.running.spec import EvaluationSpec, ModelFacts, Surroundings
from datasets.models import DatasetVersion
from evaluations.models import Evaluation
from evaluators.known import evaluators_of
from targets.models import Deployment
from workspace.models import Project

SAMPLED_ROWS = 50
GENERATED_PATHS = ("sample.output_text", "sample.output_items", "sample.tool_calls")
NEW = 0


@dataclass(frozen=True, slots=True)
class View:
    """Surroundings, and the rows and models that they were made from."""

    around: Surroundings
    version: DatasetVersion | None
    rows: Sequence[JSONObject]
    deployments: Mapping[str, Deployment] = field(default_factory=dict)


def deployments_of(project: Project) -> dict[str, Deployment]:
    """All models of a project by ref, real ones before the simulator."""
    found = Deployment.objects.select_related("connection__project").filter(
        connection__project=project
    )
    ordered = sorted(
        found, key=lambda d: (d.connection.is_simulated, d.label.casefold())
    )
    return {d.ref: d for d in ordered}


def look_around(
    project: Project, spec: EvaluationSpec, *, evaluation: Evaluation | None = None
) -> View:
    """Four queries: models, dataset version with sampled rows, evaluators, the name."""
    version = (
        DatasetVersion.objects.select_related("dataset")
        .filter(
            ref=spec.dataset_version,
            dataset__project=project,
            state=DatasetVersion.State.READY,
        )
        .first()
        if spec.dataset_version
        else None
    )
    rows = (
        [row.values for row in version.rows.order_by("index")[:SAMPLED_ROWS]]
        if version
        else []
    )
    models = deployments_of(project)
    paths = known_paths(version, rows, generates=generates(spec))
    taken = Evaluation.objects.filter(project=project, name__iexact=spec.name.strip())
    around = Surroundings(
        catalogue=evaluators_of(
            project, also=[criterion.evaluator for criterion in spec.criteria]
        ),
        models={ref: facts_of(d) for ref, d in models.items()},
        dataset_ready=version is not None,
        row_count=version.row_count if version else 0,
        paths=paths,
        media=media_by_path(version, rows, paths),
        name_taken=evaluation is None and bool(spec.name) and taken.exists(),
    )
    return View(around, version, rows, models)


def facts_of(deployment: Deployment) -> ModelFacts:
    reads = {kind: deployment.can_read(kind) for kind in ("image", "audio")}
    test = deployment.last_test
    checks = test.get("checks") or [{}]
    trouble = "" if test.get("ok", True) else str(checks[0].get("error", ""))
    return ModelFacts(deployment.label, reads, trouble)


def generates(spec: EvaluationSpec) -> bool:
    """Whether the target makes the responses."""
    return spec.target is not None and spec.target.kind != "dataset"


def known_paths(
    version: DatasetVersion | None, rows: Sequence[JSONObject], *, generates: bool
) -> list[str]:
    """All paths that a mapping may name: what is generated, columns, members."""
    paths = list(GENERATED_PATHS) if generates else []
    if version is None:
        return paths
    paths.extend(f"item.{column['name']}" for column in version.columns)
    members: dict[str, None] = {}
    for row in rows:
        members.update(dict.fromkeys(nested_paths(row)))
    paths.extend(path for path in members if path not in paths)
    return paths


def media_by_path(
    version: DatasetVersion | None, rows: Sequence[JSONObject], paths: Sequence[str]
) -> dict[str, frozenset[str]]:
    """The kinds of media that the values of a path hold."""
    if version is None:
        return {}
    found: dict[str, set[str]] = {
        f"item.{column['name']}": {column["kind"]}
        for column in version.columns
        if column["kind"] in {"image", "audio"}
    }
    for path in paths:
        if not path.startswith("item."):
            continue
        for row in rows:
            kinds = _kinds(path, row)
            if kinds:
                found.setdefault(path, set()).update(kinds)
    return {path: frozenset(kinds) for path, kinds in found.items()}


def _kinds(path: str, row: JSONObject) -> set[str]:
    value: JSON | object = resolve(path, {"item": row})
    if value is MISSING or not isinstance(value, (dict, list)):
        return set()
    return {str(kind) for kind in media_kinds(value)}
