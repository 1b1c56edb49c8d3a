"""Evaluations for tests, made through the product's own services."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.running.spec import CriterionSpec, EvaluationSpec, TargetSpec
from assay.scoring.rubric import RubricSpec
from datasets.models import DatasetVersion
from evaluations import drafts
from evaluations.models import Run
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from evaluators.known import evaluators_of
from evaluators.models import EvaluatorVersion
from rubrics import saving
from rubrics.documents import from_spec
from targets.connections import add_deployment, save_connection
from targets.models import Connection, Deployment
from tests.factories import make_version as imported
from workspace.models import Project, User


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "query": f"Question number {n}?",
            "response": f"Answer number {n} is forty-two.",
            "ground_truth": f"Answer number {n} is forty-two.",
            "context": "The answer is forty-two.",
        }
        for n in range(1, count + 1)
    ]


def make_version(
    project: Project, data: Sequence[Mapping[str, Any]], name: str = "questions"
) -> DatasetVersion:
    """A ready dataset of `data`, imported from a file as an upload is."""
    version = imported(project, data, name=name)
    return DatasetVersion.objects.select_related("dataset").get(pk=version.pk)


def make_deployment(
    project: Project, url: str, model: str = "fake", **fields: Any
) -> Deployment:
    fields.setdefault("limits", {"concurrency": 8})
    connection = Connection(project=project, name=f"conn {model}", base_url=url)
    save_connection(connection, key="sk-test-0123456789abcdef")
    return add_deployment(connection, model, **fields)


def make_spec(
    version: DatasetVersion,
    evaluators: Sequence[str],
    *,
    judge: Deployment | None = None,
    target: TargetSpec | None = None,
    name: str = "Check",
    **fields: Any,
) -> EvaluationSpec:
    known = evaluators_of(version.dataset.project, also=evaluators)
    return EvaluationSpec(
        name=name,
        target=target or TargetSpec(kind="dataset"),
        dataset_version=version.ref,
        judge=judge.ref if judge else "",
        criteria=tuple(
            CriterionSpec(name=known[e].name, evaluator=e) for e in evaluators
        ),
        **fields,
    )


def make_rubric(
    project: Project, by: User, spec: RubricSpec, name: str = "booking-quality"
) -> EvaluatorVersion:
    """A saved rubric, written through the product's own services."""
    draft = saving.create_draft(project, from_spec(spec, name=name), by=by)
    return saving.publish(draft, by=by)


def submit(project: Project, user: User, spec: EvaluationSpec) -> Run:
    """Map by name and submit, as the wizard does."""
    spec = drafts.remap(spec, look_around(project, spec))
    return submit_draft(drafts.create(project, user, spec), by=user)


def judged_text(body: Mapping[str, Any]) -> str:
    """All text of the last message of a request."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return json.dumps(content)
