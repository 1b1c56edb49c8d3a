"""An evaluation: criteria that are fixed, so that its runs can be compared."""

from __future__ import annotations

from functools import partial

from django.db import models
from django.db.models.functions import Lower

from assay.scoring.definition import EvaluatorDefinition, MetricSpec
from evaluators.models import EvaluatorVersion
from targets.models import Deployment
from workspace.fields import new_ref
from workspace.models import Project, Timestamped, User


class Evaluation(Timestamped):
    """`spec` is the frozen `EvaluationSpec` that the first run was submitted with."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="evaluations"
    )
    ref = models.CharField(max_length=40, unique=True, default=partial(new_ref, "eval"))
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=120)
    level = models.CharField(max_length=12, default="turn")
    spec = models.JSONField()
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", Lower("name"), name="evaluation_name_unique"
            ),
            models.UniqueConstraint("project", "slug", name="evaluation_slug_unique"),
        ]
        indexes = [
            models.Index(fields=["project", "-created_at"], name="evaluation_newest")
        ]

    def __str__(self) -> str:
        return self.name


class Criterion(models.Model):
    """One configured evaluator. `definition` is resolved and frozen at submit.

    `version` is set for an evaluator that the project made itself.
    """

    evaluation = models.ForeignKey(
        Evaluation, on_delete=models.CASCADE, related_name="criteria"
    )
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=120)
    definition = models.JSONField()
    version = models.ForeignKey(
        EvaluatorVersion, null=True, on_delete=models.PROTECT, related_name="criteria"
    )
    deployment = models.ForeignKey(Deployment, null=True, on_delete=models.SET_NULL)
    judge_name = models.CharField(max_length=200, blank=True, default="")
    mapping = models.JSONField(default=dict)
    params = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("evaluation", "name", name="criterion_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def evaluator(self) -> EvaluatorDefinition:
        return EvaluatorDefinition.model_validate(self.definition)


class Metric(models.Model):
    """One number of a criterion, with the scale and threshold that it is judged by."""

    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, related_name="metrics"
    )
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=80)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=12)
    minimum = models.FloatField()
    maximum = models.FloatField()
    direction = models.CharField(max_length=10)
    threshold = models.FloatField(null=True)
    is_primary = models.BooleanField()

    class Meta:
        ordering = ["criterion__position", "position"]
        constraints = [
            models.UniqueConstraint("criterion", "key", name="metric_key_unique"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def spec(self) -> MetricSpec:
        return MetricSpec.model_validate(
            {
                "key": self.key,
                "name": self.name,
                "kind": self.kind,
                "minimum": self.minimum,
                "maximum": self.maximum,
                "direction": self.direction,
                "threshold": self.threshold,
                "primary": self.is_primary,
            }
        )
