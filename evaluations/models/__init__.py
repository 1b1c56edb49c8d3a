"""The nouns of an evaluation, one file per noun."""

from __future__ import annotations

from evaluations.models.draft import EvaluationDraft
from evaluations.models.evaluation import Criterion, Evaluation, Metric
from evaluations.models.label import Label
from evaluations.models.results import Item, MetricSummary, Result
from evaluations.models.run import Chunk, Run, RunState

__all__ = [
    "Chunk",
    "Criterion",
    "Evaluation",
    "EvaluationDraft",
    "Item",
    "Label",
    "Metric",
    "MetricSummary",
    "Result",
    "Run",
    "RunState",
]
