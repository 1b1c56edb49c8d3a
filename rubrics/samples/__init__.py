"""The rubric that a person can start from."""

from __future__ import annotations

from pathlib import Path

from assay.scoring.rubric.exchange import read_json
from evaluators.models import EvaluatorVersion
from rubrics import saving
from rubrics.documents import Document, from_json
from workspace.models import Project, User

RESTAURANT_NAME = "booking-quality"
RESTAURANT_DESCRIPTION = (
    "How well an assistant books, changes and cancels tables in a restaurant."
)


def restaurant_json() -> str:
    """The dimensions as JSON text."""
    return (Path(__file__).parent / "restaurant.json").read_text("utf-8")


def ensure_rubric(project: Project, by: User) -> EvaluatorVersion:
    """The newest version of the restaurant rubric of `project`, written when there is
    none."""
    known = EvaluatorVersion.objects.filter(
        evaluator__project=project, evaluator__name__iexact=RESTAURANT_NAME
    )
    found = known.order_by("-number").first()
    if found is not None:
        return found
    blank = Document(name=RESTAURANT_NAME, description=RESTAURANT_DESCRIPTION)
    document = from_json(read_json(restaurant_json()), blank)
    draft = saving.create_draft(project, document, by=by, origin={"kind": "sample"})
    return saving.publish(draft, by=by)
