"""Connections, deployments, test calls, and the evidence of every call."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from workspace.fields import EncryptedTextField, new_ref
from workspace.models import LeasedJob, Project, Timestamped, User

SIMULATOR_MODEL = "assay-simulator"


class Connection(Timestamped):
    """An OpenAI-compatible endpoint and the key for it."""

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible")
        AZURE = "azure", _("Azure OpenAI")
        SIMULATOR = "simulator", _("Simulator")

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="connections"
    )
    ref = models.CharField(max_length=40, unique=True, default=partial(new_ref, "conn"))
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.OPENAI)
    base_url = models.CharField(max_length=500, blank=True)
    api_version = models.CharField(max_length=40, blank=True)
    api_key = EncryptedTextField(blank=True, default="")
    key_hint = models.CharField(max_length=4, blank=True, default="")
    headers = EncryptedTextField(blank=True, default="")
    concurrency = models.PositiveIntegerField(null=True, blank=True)
    last_test = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", Lower("name"), name="connection_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_simulated(self) -> bool:
        return self.kind == self.Kind.SIMULATOR

    @property
    def url(self) -> str:
        """The address to call; the simulator's is known only while it runs."""
        return settings.SIMULATOR_URL if self.is_simulated else self.base_url


class Deployment(Timestamped):
    """A model on a connection.

    `capabilities` is what a probe or the endpoint's own refusals taught: `images`,
    `audio`, `json_schema`, `json_mode` (true, false or absent = unknown), and
    `refused` (names of parameters that the model does not take). Prices are per
    million tokens. `limits`: `concurrency`, `requests_per_minute`,
    `tokens_per_minute`; an absent one is not limited.
    """

    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="deployments"
    )
    ref = models.CharField(
        max_length=40, unique=True, default=partial(new_ref, "model")
    )
    slug = models.SlugField(max_length=120)
    model = models.CharField(max_length=200)
    display_name = models.CharField(max_length=120, blank=True)
    capabilities = models.JSONField(default=dict, blank=True)
    price_input = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True
    )
    price_output = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True
    )
    limits = models.JSONField(default=dict, blank=True)
    default_params = models.JSONField(default=dict, blank=True)
    last_test = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "connection", "model", name="deployment_model_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def label(self) -> str:
        return self.display_name or self.model

    @property
    def concurrency(self) -> int:
        return int(self.limits.get("concurrency") or 8)

    def can_read(self, kind: str) -> bool | None:
        """Whether the model reads "image" or "audio": yes, no or not known yet."""
        known: bool | None = self.capabilities.get({"image": "images"}.get(kind, kind))
        return known


class Completion(models.Model):
    """Evidence of one call: what was sent (media by name) and what came back."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    deployment = models.ForeignKey(Deployment, null=True, on_delete=models.SET_NULL)
    key = models.CharField(max_length=64, db_index=True)
    request = models.TextField()
    response = models.TextField()
    prompt_tokens = models.IntegerField(default=0)
    completion_tokens = models.IntegerField(default=0)
    cost = models.FloatField(null=True, blank=True)
    latency_ms = models.IntegerField(default=0)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.key[:12]


class TestCall(LeasedJob):
    """A short call that a person waits for: a connection test, a try on one row."""

    class Kind(models.TextChoices):
        DEPLOYMENT = "deployment"
        ROW = "row"

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    deployment = models.ForeignKey(
        Deployment, null=True, on_delete=models.CASCADE, related_name="test_calls"
    )
    request = models.JSONField(default=dict)
    result: models.JSONField[Any, Any] = models.JSONField(default=dict)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL)

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"
