"""What another pass threshold would do to a past run."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.models import Evaluator
from rubrics import past
from rubrics.documents import Document, threshold_of
from rubrics.models import RubricDraft
from workspace.charts import part

BINS = 10


@dataclass(frozen=True, slots=True)
class Effect:
    """What the typed threshold would do to the newest run."""

    run: past.PastRun
    bins: list[tuple[str, int]]
    total: int
    passed: int
    would: int
    threshold: float


def effect_on(draft: RubricDraft, document: Document) -> Effect | None:
    """What the threshold does to the newest run, when there is one."""
    threshold = threshold_of(document)
    if draft.evaluator is None or threshold is None or document.is_checklist:
        return None
    return effect(draft.evaluator, threshold)


def effect(evaluator: Evaluator, threshold: float) -> Effect | None:
    run = past.newest_run(evaluator)
    if run is None:
        return None
    counts = [0] * BINS
    for score in run.scores:
        counts[min(BINS - 1, int(part(score, 0, 1) * BINS))] += 1
    names = [f"{n / BINS:.1f}–{(n + 1) / BINS:.1f}" for n in range(BINS)]
    return Effect(
        run=run,
        bins=list(zip(names, counts, strict=True)),
        total=len(run.scores),
        passed=sum(score >= run.threshold for score in run.scores),
        would=sum(score >= threshold for score in run.scores),
        threshold=threshold,
    )
