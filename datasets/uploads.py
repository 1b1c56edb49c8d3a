"""Adds files to datasets. Each verb owns its transaction; the work is done by a job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.text import slugify

from blobs import store
from blobs.models import Blob
from datasets.models import DataJob, Dataset, DatasetVersion
from workspace.bells import ring
from workspace.leases import FREE
from workspace.models import JobState, Project, User

NAME_LENGTH = 120
BELL = "datasets.tasks.ingest"


@dataclass(frozen=True, slots=True)
class Added:
    """A version that is being imported, or one that already had the same content."""

    version: DatasetVersion
    is_new: bool


def name_from_file(file_name: str) -> str:
    """The name of a dataset for a file: "Booking rows.jsonl" → "Booking rows"."""
    return PurePath(_base_name(file_name)).stem.strip()[:NAME_LENGTH] or "dataset"


def _base_name(file_name: str) -> str:
    """The last part of a path of any system, without control characters."""
    name = PurePath(file_name.replace("\\", "/")).name
    return "".join(c for c in name if c.isprintable()) or "file"


def same_content(project: Project, blob: Blob) -> DatasetVersion | None:
    """The newest version in `project` made from the same bytes: one that is usable,
    or is being imported and not canceled."""
    state = DatasetVersion.State
    versions = DatasetVersion.objects.filter(
        Q(state=state.READY)
        | Q(state=state.IMPORTING, job__cancel_requested_at__isnull=True),
        dataset__project=project,
        original=blob,
    )
    return versions.select_related("dataset").order_by("-pk").first()


def add_file(
    chunks: Iterable[bytes],
    *,
    project: Project,
    by: User | None,
    name: str,
    file_name: str,
    dataset: Dataset | None = None,
    max_bytes: int | None = None,
) -> Added:
    """Store a file and queue its import as the next version of a dataset.

    Without `dataset` it is the one called `name`, new or existing. The same bytes
    again give the version that has them. Raises `blobs.store.TooLargeError`.
    """
    blob = store.put_stream(chunks, project=project, max_bytes=max_bytes)
    with transaction.atomic():
        # Uploads of a project come one after the other here, also those that make
        # their dataset: each sees the versions of those before it.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        known = same_content(project, blob)
        if known is not None:
            return Added(known, is_new=False)
        dataset = dataset or _dataset_called(project, name, by)
        version = new_version(dataset, blob, file_name=file_name, by=by)
        queue_import(version)
    return Added(version, is_new=True)


def new_version(
    dataset: Dataset,
    blob: Blob,
    *,
    file_name: str,
    by: User | None,
    source: str = DatasetVersion.Source.UPLOAD,
) -> DatasetVersion:
    """The next version of `dataset`. Needs a transaction: the lock orders them."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
    return DatasetVersion.objects.create(
        dataset=dataset,
        number=last + 1,
        source=source,
        original=blob,
        original_name=_base_name(file_name)[:200],
        created_by=by,
    )


def queue_import(version: DatasetVersion, **request: Any) -> DataJob:
    """A job for `version`, and a bell once it is committed."""
    assert version.original is not None
    job = DataJob.objects.create(
        project=version.dataset.project,
        version=version,
        progress_total=version.original.size,
        request=request,
    )
    ring(BELL, job.pk)
    return job


@transaction.atomic
def import_again(
    version: DatasetVersion, *, by: User | None, encoding: str = "", skip_bad: bool
) -> DatasetVersion:
    """Read the file of `version` once more, in another way.

    A failed version is read again itself; a ready one never changes, so its file
    becomes the next version.
    """
    request = {"encoding": encoding, "skip_bad": skip_bad}
    if version.state == DatasetVersion.State.READY:
        assert version.original is not None
        version = new_version(
            version.dataset,
            version.original,
            file_name=version.original_name,
            by=by,
        )
        queue_import(version, **request)
        return version
    changed = DatasetVersion.objects.filter(
        pk=version.pk, state=DatasetVersion.State.FAILED
    ).update(state=DatasetVersion.State.IMPORTING, import_report={})
    if changed:
        DataJob.objects.filter(version=version).delete()
        queue_import(version, **request)
    return version


@transaction.atomic
def cancel_import(version: DatasetVersion) -> None:
    """Stop the import. A job in work ends itself within seconds."""
    now = timezone.now()
    jobs = DataJob.objects.filter(version=version)
    jobs.filter(
        state__in=(JobState.QUEUED, JobState.RUNNING), cancel_requested_at=None
    ).update(cancel_requested_at=now)
    ended = jobs.filter(state=JobState.QUEUED).update(
        state=JobState.CANCELED, finished_at=now, **FREE
    )
    if ended:
        DatasetVersion.objects.filter(pk=version.pk).update(
            state=DatasetVersion.State.FAILED, import_report={"is_canceled": True}
        )


def _dataset_called(project: Project, name: str, by: User | None) -> Dataset:
    """The dataset of that name, whatever the case of its letters, or a new one."""
    name = name.strip()[:NAME_LENGTH]
    found = Dataset.objects.filter(project=project, name__iexact=name).first()
    if found is not None:
        return found
    return Dataset.objects.create(
        project=project, name=name, slug=free_slug(project, name), created_by=by
    )


def free_slug(project: Project, name: str) -> str:
    """A slug for `name` that no dataset of `project` has."""
    base = slugify(name)[:100] or "dataset"
    if base in RESERVED_SLUGS:
        base = f"{base}-data"
    taken = set(
        Dataset.objects.filter(project=project, slug__startswith=base).values_list(
            "slug", flat=True
        )
    )
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


RESERVED_SLUGS = frozenset({"new", "preview", "sample"})
