"""A finished evaluation to look at: the sample dataset judged by the sample rubric."""

from __future__ import annotations

from assay.running.spec import EvaluationSpec, TargetSpec
from datasets.models import DatasetVersion
from evaluations.drafts import choose, create, free_name, remap, simulator_of
from evaluations.models import Evaluation, Run
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from rubrics.samples import ensure_rubric
from workspace.models import Project, User

NAME = "Sample: booking quality"


def ensure_run(project: Project, version: DatasetVersion, owner: User) -> Run:
    """A queued run of the sample rubric over the sample dataset, with the simulator.

    It belongs to nobody, so that a project with nothing else still counts as new.
    """
    rubric = ensure_rubric(project, owner)
    spec = EvaluationSpec(
        name=free_name(project, NAME),
        target=TargetSpec(kind="dataset"),
        dataset_version=version.ref,
        judge=simulator_of(project),
    )
    view = look_around(project, spec)
    spec = choose(spec, (rubric.ref,), view.around.catalogue)
    draft = create(project, owner, remap(spec, view), step="review")
    run = submit_draft(draft, by=owner)
    Evaluation.objects.filter(pk=run.evaluation_id).update(created_by=None)
    Run.objects.filter(pk=run.pk).update(created_by=None)
    return run
