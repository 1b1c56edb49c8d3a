"""A run and the chunks of rows that workers claim."""

from __future__ import annotations

from functools import partial

from django.db import models
from django.utils.translation import gettext_lazy as _

from datasets.models import DatasetVersion
from evaluations.models.evaluation import Evaluation
from targets.models import Deployment
from workspace.fields import new_ref
from workspace.models import Leased, Timestamped, User

FIRST_INDEX = 1
"""Rows are numbered from 1, as people count them."""


class RunState(models.IntegerChoices):
    QUEUED = 1, _("Queued")
    RUNNING = 2, _("Running")
    PAUSED = 3, _("Paused")
    CANCELING = 4, _("Canceling")
    COMPLETED = 5, _("Completed")
    COMPLETED_WITH_ERRORS = 6, _("Completed with errors")
    FAILED = 7, _("Failed")
    CANCELED = 8, _("Canceled")


OPEN_STATES = (
    RunState.QUEUED,
    RunState.RUNNING,
    RunState.PAUSED,
    RunState.CANCELING,
)


class Run(Timestamped):
    """One execution of an evaluation against one dataset version and target.

    Counts are rows and always add up: done = passed + failed + errored + skipped,
    done ≤ total. The remaining time is told from the pace since `pace_from` (start,
    resume or retry), when `pace_done` rows were done. Costs are in the currency of
    the price list; `unpriced_calls` counts calls whose price is not known.
    """

    evaluation = models.ForeignKey(
        Evaluation, on_delete=models.CASCADE, related_name="runs"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "evalrun")
    )
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=120, blank=True, default="")
    state = models.IntegerField(choices=RunState.choices, default=RunState.QUEUED)
    target = models.JSONField()
    deployment = models.ForeignKey(
        Deployment, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    dataset_version = models.ForeignKey(
        DatasetVersion, on_delete=models.PROTECT, related_name="runs"
    )
    mappings = models.JSONField(default=dict)
    repeats = models.PositiveIntegerField(default=1)
    simulated = models.BooleanField(default=False)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    errored = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    target_prompt_tokens = models.BigIntegerField(default=0)
    target_completion_tokens = models.BigIntegerField(default=0)
    target_cost = models.FloatField(default=0)
    judge_prompt_tokens = models.BigIntegerField(default=0)
    judge_completion_tokens = models.BigIntegerField(default=0)
    judge_cost = models.FloatField(default=0)
    calls = models.BigIntegerField(default=0)
    unpriced_calls = models.BigIntegerField(default=0)
    max_cost = models.FloatField(null=True, blank=True)
    error = models.TextField(blank=True, default="")
    pause_reason = models.TextField(blank=True, default="")
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    pace_from = models.DateTimeField(null=True, blank=True)
    pace_done = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint("evaluation", "number", name="run_number_unique"),
        ]
        indexes = [
            models.Index(fields=["evaluation", "-created_at"], name="run_newest"),
            models.Index(
                fields=["state"],
                name="run_open",
                condition=models.Q(state__in=[s.value for s in OPEN_STATES]),
            ),
        ]

    def __str__(self) -> str:
        return self.name or f"Run {self.number}"

    @property
    def label(self) -> str:
        return self.name or str(_("Run %(number)s") % {"number": self.number})

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def state_key(self) -> str:
        return RunState(self.state).name.lower()

    @property
    def cost(self) -> float:
        return self.target_cost + self.judge_cost


class ChunkState(models.IntegerChoices):
    PENDING = 1
    LEASED = 2
    DONE = 3


class Chunk(Leased):
    """Rows `first` to `last` (inclusive, over rows × repeats) of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    state = models.IntegerField(choices=ChunkState.choices, default=ChunkState.PENDING)
    error = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint("run", "first", name="chunk_first_unique"),
        ]
        indexes = [
            models.Index(fields=["run", "state", "first"], name="chunk_next"),
            models.Index(fields=["state", "lease_until"], name="chunk_expired"),
        ]

    def __str__(self) -> str:
        return f"rows {self.first}-{self.last} of run {self.run_id}"
