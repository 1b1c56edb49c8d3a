"""What a page shows of a try: rows with their results and what changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from assay.scoring.rubric.spec import RubricSpec
from datasets.models import Row
from evaluators.models import EvaluatorVersion
from rubrics import past
from rubrics.documents import read
from rubrics.models import RubricDraft, RubricJob
from rubrics.saving import document_of, keyless
from workspace.formats import preview
from workspace.models import JobState

NAMES = ("query", "question", "prompt", "input", "messages", "response")
LOOKED_AT = 20
WAITING_LONG = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the row scored before, and by what: "v4" or "the try before"."""

    name: str
    score: float


@dataclass(slots=True)
class TriedRow:
    """A row with its result; `score` is that of the first part that has one."""

    result: dict[str, Any]
    text: str
    earlier: Earlier | None = None

    @property
    def score(self) -> float | None:
        return score_of(self.result)

    @property
    def change(self) -> float | None:
        if self.earlier is None or self.score is None:
            return None
        return self.score - self.earlier.score


@dataclass(slots=True)
class Shown:
    """A try as its fragment shows it."""

    job: RubricJob
    rows: list[TriedRow]
    waits_long: bool
    is_stale: bool
    """The rubric has changed since."""

    @property
    def is_canceling(self) -> bool:
        return not self.job.is_over and self.job.cancel_requested_at is not None

    @property
    def counts(self) -> dict[str, int]:
        """Rows by outcome."""
        outcomes = [row.result["outcome"] for row in self.rows]
        return {name: outcomes.count(name) for name in sorted(set(outcomes))}

    @property
    def mean(self) -> float | None:
        scores = [row.score for row in self.rows if row.score is not None]
        return sum(scores) / len(scores) if scores else None


def score_of(result: dict[str, Any]) -> float | None:
    scores = [p["score"] for p in result["parts"] if p["score"] is not None]
    return scores[0] if scores else None


def shown(job: RubricJob) -> Shown:
    """4 queries: the rows' texts, earlier tries, and the newest version's scores."""
    results = job.result.get("rows", [])
    indexes = [result["index"] for result in results]
    texts = _texts(job, indexes)
    before = _earlier(job, indexes)
    rows = [
        TriedRow(r, texts.get(r["index"], ""), before.get(r["index"])) for r in results
    ]
    waited = timezone.now() - job.created_at
    waits_long = job.state == JobState.QUEUED and waited > WAITING_LONG
    return Shown(job, rows, waits_long, _is_stale(job))


def _is_stale(job: RubricJob) -> bool:
    if job.draft is None:
        return False
    spec, _problems = read(document_of(job.draft))
    return spec is None or not _judges_as(job, spec)


def _judges_as(job: RubricJob, spec: RubricSpec) -> bool:
    """Whether the try was made by this rubric."""
    return keyless(RubricSpec.model_validate(job.request["rubric"])) == keyless(spec)


def _texts(job: RubricJob, indexes: list[int]) -> dict[int, str]:
    rows = Row.objects.filter(
        version=job.request.get("dataset_version"), index__in=indexes
    )
    return {row.index: _words(row) for row in rows}


def _words(row: Row) -> str:
    values = {name.casefold(): value for name, value in row.values.items()}
    for name in NAMES:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return preview(value, 90)
    texts = [v for v in values.values() if isinstance(v, str) and v.strip()]
    return preview(texts[0], 90) if texts else ""


def _earlier(job: RubricJob, indexes: list[int]) -> dict[int, Earlier]:
    """What the version that the draft goes on from gave for these rows, in a run or
    a try; else what the try before gave."""
    draft, found = job.draft, {}
    rows_of = job.request.get("dataset_version")
    for other in reversed(_others(job, draft)):
        name = _name_of(other, job)
        if other.request.get("dataset_version") != rows_of or not name:
            continue
        for result in other.result.get("rows", []):
            score = score_of(result)
            if score is not None:
                found[result["index"]] = Earlier(name, score)
    base = draft.base if draft else None
    if base is not None and rows_of is not None:
        name = f"v{base.number}"
        ran = past.row_scores(base, rows_of, indexes)
        found |= {index: Earlier(name, score) for index, score in ran.items()}
    return found


def _others(job: RubricJob, draft: RubricDraft | None) -> list[RubricJob]:
    """Earlier tries of the draft and of its version; the version's come first."""
    if draft is None:
        return []
    tries = RubricJob.objects.filter(
        project=job.project_id, kind=RubricJob.Kind.TRY, pk__lt=job.pk
    ).exclude(result={})
    ordered = tries.order_by("-pk")
    of_draft = list(ordered.filter(draft=draft)[:LOOKED_AT])
    if draft.base is None:
        return of_draft
    of_version = ordered.filter(draft=None, request__version=draft.base.ref)
    same = [other for other in of_draft if _is_base(other, draft.base)]
    rest = [other for other in of_draft if other not in same]
    return [*same, *of_version[:LOOKED_AT], *rest]


def _is_base(job: RubricJob, base: EvaluatorVersion) -> bool:
    spec = base.evaluator_definition.rubric
    return spec is not None and _judges_as(job, spec)


def _name_of(other: RubricJob, job: RubricJob) -> str:
    draft = job.draft
    base = draft.base if draft else None
    if base is not None and (other.draft_id is None or _is_base(other, base)):
        return f"v{base.number}"
    same = _judges_as(other, RubricSpec.model_validate(job.request["rubric"]))
    return "" if same else _("the try before")
