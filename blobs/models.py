"""Media by content hash, and which project may see them."""

from __future__ import annotations

from django.db import models

from workspace.models import Project, Timestamped


class Blob(models.Model):
    """One medium or file. `mime` is sniffed from the bytes, never taken from a name.

    `width` and `height` are pixels, `duration` seconds, `waveform` up to 60 levels
    from 0 to 100. `problem` is a sentence for people; `is_shown` is False when a page
    cannot show or play the medium and only offers it as a download.
    """

    class Kind(models.TextChoices):
        IMAGE = "image"
        AUDIO = "audio"
        OTHER = "other"

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.BigIntegerField()
    mime = models.CharField(max_length=100)
    kind = models.CharField(max_length=5, choices=Kind.choices)
    width = models.IntegerField(null=True, blank=True)
    height = models.IntegerField(null=True, blank=True)
    duration = models.FloatField(null=True, blank=True)
    waveform = models.JSONField(default=list, blank=True)
    problem = models.CharField(max_length=200, blank=True, default="")
    is_shown = models.BooleanField(default=True)
    stored_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256


class ProjectBlob(Timestamped):
    """The permission of a project to serve a blob."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    blob = models.ForeignKey(Blob, on_delete=models.CASCADE)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "blob", name="project_blob_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.blob} in {self.project}"
