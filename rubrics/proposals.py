"""What a model proposed, beside the rubric that it was asked to improve."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction

from assay.scoring.rubric.spec import RESIDUALS, Dimension, simple_id
from evaluators.models import Evaluator
from rubrics.documents import DimensionText, Document, Removed, typed
from rubrics.generate import Wish, notes_of, wish_of
from rubrics.models import RubricDraft, RubricJob
from rubrics.saving import create_draft, document_of, edit, save_draft
from workspace.models import User

GENERATED = "generated"
Status = Literal["added", "changed", "same", "removed"]


@dataclass(frozen=True, slots=True)
class Proposed:
    """A dimension as it would be. `before` is the one that it takes the place of; one
    that is "removed" is not proposed any more."""

    dimension: DimensionText
    status: Status
    before: DimensionText | None = None
    is_residual: bool = False

    @property
    def mark(self) -> str:
        """Tells it from the others of its proposal."""
        return f"old-{self.dimension.key}" if self.is_removed else self.dimension.id

    @property
    def is_removed(self) -> bool:
        return self.status == "removed"

    @property
    def is_reworded(self) -> bool:
        return bool(
            self.before and self.before.description != self.dimension.description
        )

    @property
    def is_reweighted(self) -> bool:
        return bool(self.before and self.before.weight != self.dimension.weight)


def proposal_of(job: RubricJob) -> list[Proposed]:
    """In the order of the answer; what is not proposed any more comes last."""
    wish = wish_of(job)
    generated = [Dimension.model_validate(d) for d in job.result["dimensions"]]
    free = {simple_id(d.id): d for d in wish.earlier}
    found = [
        _proposed(wish, dimension, free.pop(simple_id(dimension.id), None))
        for dimension in generated
    ]
    return [*found, *(Proposed(old, "removed") for old in free.values())]


def _proposed(wish: Wish, new: Dimension, old: DimensionText | None) -> Proposed:
    is_residual = new.id == RESIDUALS[wish.category]
    if old is not None and is_residual:
        return Proposed(old, "same", old, is_residual=True)
    text = typed(new)
    if not _is_weighted(wish):
        text = text.model_copy(update={"weight": ""})
    if old is None:
        return Proposed(text, "added", is_residual=is_residual)
    kept = {"key": old.key, "id": old.id, "always_applicable": old.always_applicable}
    text = text.model_copy(update=kept)
    compared = ("description", "weight", "allowed")
    is_same = all(getattr(text, name) == getattr(old, name) for name in compared)
    return Proposed(text, "same" if is_same else "changed", old)


def _is_weighted(wish: Wish) -> bool:
    """Checklists have no weights, and a rubric without them stays without."""
    if wish.scoring == "boolean":
        return False
    return not wish.earlier or any(d.weight.strip() for d in wish.earlier)


@transaction.atomic
def take(job: RubricJob, marks: Collection[str], *, by: User) -> RubricDraft:
    """The chosen dimensions as a draft: the one that they were generated for, the
    next version of the rubric, or a new one."""
    wish = wish_of(job)
    proposal = proposal_of(job)
    chosen = tuple(p.dimension for p in proposal if p.mark in marks)
    draft = _draft_for(job, wish, by)
    origin = origin_of(job, wish)
    if draft is None:
        document = new_document(wish).model_copy(update={"dimensions": chosen})
        return create_draft(job.project, document, by=by, origin=origin)
    before = document_of(draft)
    kept = {dimension.key for dimension in chosen}
    removed = tuple(_removed(before, kept))
    document = before.model_copy(update={"dimensions": chosen, "removed": removed})
    draft = save_draft(draft, document, revision=draft.revision)
    draft.origin = origin
    draft.save(update_fields=["origin"])
    return draft


def _removed(before: Document, kept: set[str]) -> Iterator[Removed]:
    """What the editor can bring back."""
    for position, dimension in enumerate(before.dimensions):
        if dimension.key not in kept:
            yield Removed(position=position, dimension=dimension)
    yield from before.removed


def _draft_for(job: RubricJob, wish: Wish, by: User) -> RubricDraft | None:
    drafts = RubricDraft.objects.filter(project=job.project, ref=wish.draft)
    draft = drafts.first() if wish.draft else None
    if draft is not None or not wish.evaluator:
        return draft
    evaluators = Evaluator.objects.filter(project=job.project, ref=wish.evaluator)
    evaluator = evaluators.select_related("project").first()
    if evaluator is None:
        return None
    newest = evaluator.versions.order_by("-number").first()
    if newest is None:
        return None
    newest.evaluator = evaluator
    return edit(newest, by=by)


def new_document(wish: Wish) -> Document:
    return Document(
        name=wish.name,
        title=wish.title,
        category=wish.category,
        level=wish.level,
        scoring=wish.scoring,
    )


def origin_of(job: RubricJob, wish: Wish) -> dict[str, Any]:
    """Where a version made of this proposal comes from."""
    return {
        "kind": GENERATED,
        "job": job.ref,
        "model": job.deployment.label if job.deployment else "",
        "simulated": bool(job.usage.get("simulated")),
        "based_on": [source.name for source in wish.sources],
        "warnings": job.result.get("warnings", []),
        "notes": [str(note) for note in notes_of(job)],
    }
