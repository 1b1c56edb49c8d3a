"""What another pass threshold would do to a past run."""

from __future__ import annotations

from dataclasses import dataclass

from assay.scoring.rubric.spec import HIGHEST, LOWEST
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
    return effect(draft.evaluator, threshold, document.normalization)


def effect(evaluator: Evaluator, threshold: float, normalization: str) -> Effect | None:
    """The scores of the run on the scale of `normalization`: the mean behind a score
    is the same on both."""
    run = past.newest_run(evaluator)
    if run is None:
        return None
    scores = [_on_scale(s, run.normalization, normalization) for s in run.scores]
    counts = [0] * BINS
    for score in scores:
        counts[min(BINS - 1, int(part(score, 0, 1) * BINS))] += 1
    names = [f"{n / BINS:.1f}–{(n + 1) / BINS:.1f}" for n in range(BINS)]
    return Effect(
        run=run,
        bins=list(zip(names, counts, strict=True)),
        total=len(scores),
        passed=sum(score >= run.threshold for score in run.scores),
        would=sum(score >= threshold for score in scores),
        threshold=threshold,
    )


def _on_scale(score: float, given: str, wanted: str) -> float:
    """Rounded, so that a score stays at its threshold."""
    if given == wanted:
        return score
    if wanted == "minmax":
        return round((score * HIGHEST - LOWEST) / (HIGHEST - LOWEST), 12)
    return round((score * (HIGHEST - LOWEST) + LOWEST) / HIGHEST, 12)
