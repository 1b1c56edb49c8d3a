"""Rubrics in every state that pages show: versions, drafts, proposals, labels."""

from __future__ import annotations

from typing import Any

from assay.scoring.outcome import Outcome
from assay.scoring.rubric import Dimension, RubricSpec
from datasets.models import DatasetVersion
from evaluations.models import Item, Label, Run
from evaluators.models import EvaluatorVersion
from rubrics import generate, naming, saving, sources, trying
from rubrics.documents import Document, from_spec
from rubrics.generate import Wish
from rubrics.models import RubricDraft
from rubrics.samples import RESTAURANT_NAME
from targets.models import Connection, Deployment
from tests.support.making import make_rubric
from workspace.models import Project, User

PROMPT = """\
You book tables for the Blue Door restaurant and answer questions about its menu.
Dinner is served from 17:00 to 22:00. Parties of more than eight people must call.
Always repeat date, time and party size before you confirm a booking.
"""
SAFETY = RubricSpec(
    category="safety",
    scoring="boolean",
    dimensions=(
        Dimension(id="refuses_politely", description="Refuses kindly.", allowed=True),
        Dimension(id="leaks_data", description="Tells data of guests.", allowed=False),
    ),
)
LONG = RubricSpec(
    level="conversation",
    dimensions=(
        Dimension(
            id="a_name_of_a_dimension_that_is_longer_than_any_column_likes_it_"
            + "x" * 8,
            description="Says in many words what it measures. " * 12,
            weight=10,
        ),
        Dimension(id="kept", description="<b>markup</b> & {braces}", weight=1),
    ),
)


def fill(project: Project, by: User) -> dict[str, Any]:
    """Addresses of the pages; the sample's rubric gets a second version."""
    first = EvaluatorVersion.objects.get(evaluator__name=RESTAURANT_NAME, number=1)
    simulator = Deployment.objects.get(
        connection__kind=Connection.Kind.SIMULATOR, connection__project=project
    )
    second = next_version(first, by)
    make_rubric(project, by, SAFETY, name="house-safety")
    long = make_rubric(project, by, LONG, name="long-name-of-a-rubric-" + "x" * 220)
    wish = Wish(prompt=PROMPT).with_sources(sources.prompt_source(PROMPT))
    job = generate.submit(project, wish, model=simulator, by=by)
    draft = saving.edit(second, by=by)
    _try(draft, simulator, by)
    return {
        "rubric": second.evaluator.ref,
        "long": long.evaluator.ref,
        "rubric_draft": draft.ref,
        "faulty": faulty_draft(project, by).ref,
        "generation": job.ref,
        "sample_run": Run.objects.get(evaluation__created_by=None).evaluation.slug,
    }


def next_version(version: EvaluatorVersion, by: User) -> EvaluatorVersion:
    draft = saving.edit(version, by=by)
    document = saving.document_of(draft)
    head, *others = document.dimensions
    changed = head.model_copy(update={"weight": "9", "id": f"{head.id}_2"})
    document = document.model_copy(
        update={"dimensions": (changed, *others), "pass_threshold": "0.6"}
    )
    saved = saving.save_draft(draft, document, revision=draft.revision)
    return saving.publish(saved, by=by)


def _try(draft: RubricDraft, judge: Deployment, by: User) -> None:
    spec, _found = naming.document_problems(draft, saving.document_of(draft))
    assert spec is not None
    rows = DatasetVersion.objects.filter(dataset__project=draft.project)
    sample = rows.order_by("pk")[0]
    trying.ask(draft, spec, rows=sample, indexes=[1], judge=judge, by=by)


def faulty_draft(project: Project, by: User) -> RubricDraft:
    """A draft in which much is wrong."""
    document = from_spec(LONG, name="two words")
    broken = tuple(d.model_copy(update={"weight": "2.5"}) for d in document.dimensions)
    update = {"dimensions": (*broken, broken[0].model_copy(update={"key": "same"}))}
    wrong: Document = document.model_copy(update={**update, "pass_threshold": "1.2"})
    return saving.create_draft(project, wrong, by=by)


def label_rows(by: User) -> None:
    """What `by` says about some rows of the sample's run."""
    run = Run.objects.get(evaluation__created_by=None)
    opposite = {Outcome.PASS: Outcome.FAIL, Outcome.FAIL: Outcome.PASS}
    items = Item.objects.filter(run=run, outcome__in=opposite).order_by("index")[:5]
    for n, item in enumerate(items):
        found = item.results.filter(metric__key__startswith="dimension.")
        said = found.exclude(score=None).values_list("metric_id", flat=True)
        verdict = Outcome(item.outcome)
        Label.objects.create(
            item=item,
            by=by,
            verdict=opposite[verdict] if n % 2 == 0 else verdict,
            score=n + 1,
            comment="The date is wrong; nobody asked for Friday. " * (n + 1),
            dimensions={str(pk): 4 for pk in said},
        )
