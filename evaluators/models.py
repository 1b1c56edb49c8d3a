"""Evaluators that a project made itself, and their immutable versions."""

from __future__ import annotations

from functools import partial

from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from assay.scoring.definition import EvaluatorDefinition
from workspace.fields import new_ref
from workspace.models import Project, Timestamped, User


class Evaluator(Timestamped):
    """One name for a line of versions. Built-in evaluators are files, not rows."""

    class Kind(models.TextChoices):
        RUBRIC = "rubric", _("Rubric")

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="evaluators"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "evaluator")
    )
    name = models.CharField(max_length=256)
    title = models.CharField(max_length=120, blank=True, default="")
    description = models.TextField(blank=True, default="")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", Lower("name"), name="evaluator_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.name


class EvaluatorVersion(Timestamped):
    """What an evaluator was at one time. `definition` is an `EvaluatorDefinition`
    whose id is the `ref` of this version. `origin` tells where it came from:
    `{"kind": "written" | "generated" | "imported" | "copied" | "sample", …}`, with the
    quality warnings of a generated one."""

    evaluator = models.ForeignKey(
        Evaluator, on_delete=models.CASCADE, related_name="versions"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "evalver")
    )
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    origin = models.JSONField(default=dict)
    notes = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "evaluator", "number", name="evaluator_number_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.evaluator} v{self.number}"

    @property
    def evaluator_definition(self) -> EvaluatorDefinition:
        return EvaluatorDefinition.model_validate(self.definition)
