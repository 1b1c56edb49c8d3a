"""Rubrics being written, and the jobs that generate or try them.

A saved rubric is an `EvaluatorVersion`; nothing here is needed to use it.
"""

from __future__ import annotations

from functools import partial

from django.db import models

from evaluators.models import Evaluator, EvaluatorVersion
from targets.models import Deployment
from workspace.fields import new_ref
from workspace.models import LeasedJob, Project, Timestamped, User


class RubricDraft(Timestamped):
    """A rubric that a person is writing: of a new one, or the next version of one.

    `document` is a `rubrics.documents.Document` as JSON: texts as they were typed, so
    that a wrong one is not lost. `revision` grows with every save: who saves over a
    newer one is told, unless the newer one came from the same page (`saved_from`),
    where two saves may be under way. `origin` becomes that of the version.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "rubdraft")
    )
    evaluator = models.ForeignKey(
        Evaluator, null=True, on_delete=models.CASCADE, related_name="drafts"
    )
    base = models.ForeignKey(
        EvaluatorVersion, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    document = models.JSONField(default=dict)
    origin = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=1)
    saved_from = models.CharField(max_length=32, blank=True, default="")
    by = models.ForeignKey(User, on_delete=models.CASCADE)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "evaluator",
                "by",
                condition=models.Q(evaluator__isnull=False),
                name="rubric_draft_unique",
            ),
        ]

    def __str__(self) -> str:
        return self.ref


class RubricJob(LeasedJob):
    """Model calls for a draft: `generate` its dimensions, or `try` it on rows.

    `request` and `result` are frozen documents: for `generate` the sources and the
    generated document with its warnings, for `try` the rows and their results.
    `usage` counts tokens and cost.
    """

    class Kind(models.TextChoices):
        GENERATE = "generate"
        TRY = "try"

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    draft = models.ForeignKey(
        RubricDraft, null=True, on_delete=models.CASCADE, related_name="jobs"
    )
    deployment = models.ForeignKey(
        Deployment, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    request = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    usage = models.JSONField(default=dict)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        indexes = [
            models.Index(fields=["state", "lease_until"], name="rubricjob_state")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"
