"""What people say about rows, beside what judges say."""

from __future__ import annotations

from django.db import models

from evaluations.models.results import Item, OutcomeChoice
from workspace.models import Timestamped, User


class Label(Timestamped):
    """One person's judgement of one row. Nobody changes that of another.

    `verdict` is pass or fail or null, `score` 1 to 5 or null; `dimensions` holds
    scores by the id of a dimension's metric, as text.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="labels")
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    verdict = models.SmallIntegerField(choices=OutcomeChoice.choices, null=True)
    score = models.PositiveSmallIntegerField(null=True)
    dimensions = models.JSONField(default=dict)
    comment = models.TextField(blank=True, default="")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("item", "by", name="label_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.by} on {self.item}"

    @property
    def is_empty(self) -> bool:
        said = (self.verdict, self.score, self.dimensions or None, self.comment or None)
        return all(part is None for part in said)
