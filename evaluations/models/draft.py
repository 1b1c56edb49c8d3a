"""A wizard in progress."""

from __future__ import annotations

from functools import partial

from django.db import models

from workspace.fields import new_ref
from workspace.models import Project, Timestamped, User


class EvaluationDraft(Timestamped):
    """What a person chose so far. `spec` is a partial `EvaluationSpec`.

    `revision` grows with every save: who saves over a newer one is shown both, unless
    the newer one came from the same page (`saved_from`): a save that is still under
    way when the next one is sent is no conflict.
    `evaluation` is set when the draft adds a run to an evaluation that exists (its
    criteria are then fixed). `run` is set once by Submit, so that a second Submit
    finds the same run.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "draft")
    )
    step = models.CharField(max_length=10, default="target")
    spec = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=1)
    saved_from = models.CharField(max_length=32, blank=True, default="")
    started_from = models.CharField(max_length=20, blank=True, default="")
    evaluation = models.ForeignKey(
        "evaluations.Evaluation", null=True, on_delete=models.CASCADE
    )
    run = models.ForeignKey("evaluations.Run", null=True, on_delete=models.SET_NULL)
    created_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    updated_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    updated_at = models.DateTimeField(auto_now=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "created_by"], name="draft_owner")]

    def __str__(self) -> str:
        return self.ref
