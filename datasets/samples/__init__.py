"""A small dataset to start from, imported by the same code as any upload."""

from __future__ import annotations

from pathlib import Path

from django.db import transaction

from blobs import store
from datasets import ingest
from datasets.models import DataJob, Dataset, DatasetVersion
from datasets.versions import free_slug, new_version
from workspace.leases import claim_job
from workspace.models import Project

FILE = Path(__file__).resolve().parent / "restaurant-booking.jsonl"
NAME = "restaurant-booking-samples"
DESCRIPTION = "24 requests to a booking agent, some with an image or a voice message"


def ensure_sample(project: Project) -> DatasetVersion:
    """The sample in `project`, imported now unless it is there. Safe to call again."""
    known = (
        DatasetVersion.objects.filter(
            dataset__project=project,
            source=DatasetVersion.Source.SAMPLE,
            state=DatasetVersion.State.READY,
        )
        .select_related("dataset")
        .first()
    )
    if known is not None:
        return known
    with FILE.open("rb") as file:
        blob = store.put_stream(
            iter(lambda: file.read(store.CHUNK_BYTES), b""), project=project
        )
    with transaction.atomic():
        dataset, _created = Dataset.objects.get_or_create(
            project=project,
            name=NAME,
            defaults={
                "slug": free_slug(project, NAME),
                "description": DESCRIPTION,
            },
        )
        version = new_version(
            dataset,
            blob,
            file_name=FILE.name,
            by=None,
            source=DatasetVersion.Source.SAMPLE,
        )
        queued = DataJob.objects.create(
            project=project, version=version, progress_total=blob.size
        )
    job = claim_job(DataJob, queued.pk)
    if job is not None:
        ingest.run(job)
    version.refresh_from_db()
    return version
