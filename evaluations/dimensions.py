"""The dimensions of rubrics on the pages of a run.

A dimension is a metric that is reported only; pages show it under its rubric, and
errors are told once for the rubric.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.scoring.rubric.definition import DIMENSION
from assay.scoring.rubric.spec import weight_of
from evaluations.models import Metric
from evaluations.scores import ScoreCard


def is_dimension(metric: Metric) -> bool:
    return metric.key.startswith(DIMENSION)


@dataclass(frozen=True, slots=True)
class DimensionLine:
    """One dimension over all rows of a run.

    `share` is what it brings to the mean score of the rubric, from 0 to 1; None where
    nothing was scored. `spread` is the standard deviation of its scores.
    """

    card: ScoreCard
    weight: int | None
    share: float | None
    spread: float | None

    @property
    def counts(self) -> list[int]:
        """How many rows have each level, lowest first."""
        return list(self.card.tally.histogram)

    @property
    def not_applicable(self) -> int:
        return self.card.tally.not_applicable


@dataclass(frozen=True, slots=True)
class RubricCard:
    """A rubric of a run by its dimensions."""

    name: str
    is_checklist: bool
    lines: list[DimensionLine]


def rubric_cards(cards: Iterable[ScoreCard]) -> list[RubricCard]:
    """One card per rubric, dimensions in their order. No query."""
    by_criterion: dict[int, list[ScoreCard]] = {}
    for card in cards:
        if is_dimension(card.metric):
            by_criterion.setdefault(card.metric.criterion_id, []).append(card)
    return [_rubric_card(found) for found in by_criterion.values()]


def _rubric_card(cards: list[ScoreCard]) -> RubricCard:
    criterion = cards[0].metric.criterion
    rubric = criterion.evaluator.rubric
    assert rubric is not None
    weights = {d.id: weight_of(d) for d in rubric.dimensions}
    shown = {d.id: d.weight for d in rubric.dimensions}
    brought = {
        card.metric.name: weights[card.metric.name] * card.mean
        for card in cards
        if card.mean is not None
    }
    total = sum(brought.values())
    lines = [
        DimensionLine(
            card=card,
            weight=shown[card.metric.name],
            share=brought[card.metric.name] / total
            if total and card.metric.name in brought
            else None,
            spread=card.tally.deviation(),
        )
        for card in cards
    ]
    return RubricCard(criterion.name, rubric.scoring == "boolean", lines)
