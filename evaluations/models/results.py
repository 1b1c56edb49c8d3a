"""Rows of a run, their scores, and the summaries per metric."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from datasets.models import Row
from evaluations.models.evaluation import Metric
from evaluations.models.run import Run
from targets.models import Completion


class OutcomeChoice(models.IntegerChoices):
    """`assay.scoring.outcome.Outcome` for the database and for people."""

    PASS = 1, _("Pass")
    FAIL = 2, _("Fail")
    NOT_APPLICABLE = 3, _("Not applicable")
    ERROR = 4, _("Error")


class Item(models.Model):
    """One row of one run. `outcome` is null until every criterion has its result.

    `output` is JSON text of what the target gave (empty for a Dataset target);
    `preview` is its beginning, for lists. `history` is JSON text: the errors that
    were retried.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="items")
    row = models.ForeignKey(Row, on_delete=models.PROTECT, related_name="+")
    index = models.PositiveIntegerField()
    repeat = models.PositiveSmallIntegerField(default=0)
    outcome = models.SmallIntegerField(choices=OutcomeChoice.choices, null=True)
    input_preview = models.CharField(max_length=200, blank=True, default="")
    preview = models.CharField(max_length=200, blank=True, default="")
    output = models.TextField(blank=True, default="")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_text = models.TextField(blank=True, default="")
    latency_ms = models.IntegerField(null=True)
    history = models.TextField(blank=True, default="")
    completion = models.ForeignKey(
        Completion, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("run", "index", "repeat", name="item_unique"),
        ]
        indexes = [
            models.Index(fields=["run", "outcome", "index"], name="item_outcome"),
        ]

    def __str__(self) -> str:
        return f"row {self.index} of run {self.run_id}"


class Result(models.Model):
    """One score. `score` is null unless the outcome is pass or fail."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="results")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="results")
    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, related_name="results")
    score = models.FloatField(null=True)
    outcome = models.SmallIntegerField(choices=OutcomeChoice.choices)
    label = models.CharField(max_length=80, blank=True, default="")
    reason = models.TextField(blank=True, default="")
    error_code = models.CharField(max_length=40, blank=True, default="")
    details = models.TextField(blank=True, default="")
    completion = models.ForeignKey(
        Completion, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("item", "metric", name="result_unique"),
        ]
        indexes = [
            models.Index(
                fields=["run", "metric", "outcome", "score", "item"],
                name="result_sorted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric_id}: {self.score}"


class MetricSummary(models.Model):
    """Tallies of one metric in one run, refreshed while it runs and once at its end.

    `tally` is `assay.scoring.summary.MetricTally` as JSON.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="summaries")
    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, related_name="+")
    tally = models.JSONField(default=dict)
    fresh_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("run", "metric", name="summary_unique"),
        ]

    def __str__(self) -> str:
        return f"summary of {self.metric_id} in run {self.run_id}"
