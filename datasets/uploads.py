"""Adds files to datasets. Each verb owns its transaction; the work is done by a job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from blobs import store
from blobs.models import Blob
from datasets.models import DataJob, Dataset, DatasetVersion
from datasets.requests import AS_DETECTED, ReadRequest
from datasets.versions import (
    NAME_LENGTH,
    base_name,
    dataset_called,
    new_version,
    queue_derivation,
    queue_import,
)
from workspace.leases import FREE
from workspace.models import JobState, Project, User


@dataclass(frozen=True, slots=True)
class Added:
    """A version that is being imported, or one that already had the same content."""

    version: DatasetVersion
    is_new: bool


def name_from_file(file_name: str) -> str:
    """The name of a dataset for a file: "Booking rows.jsonl" → "Booking rows"."""
    return PurePath(base_name(file_name)).stem.strip()[:NAME_LENGTH] or "dataset"


def same_content(project: Project, blob: Blob) -> DatasetVersion | None:
    """The newest version in `project` made from the same bytes: one that is usable,
    or is being imported and not canceled."""
    state = DatasetVersion.State
    versions = DatasetVersion.objects.filter(
        Q(state__in=(state.READY, state.REVIEW))
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
    request: ReadRequest = AS_DETECTED,
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
        dataset = dataset or dataset_called(project, name, by)
        version = new_version(dataset, blob, file_name=file_name, by=by)
        queue_import(version, request)
    return Added(version, is_new=True)


@transaction.atomic
def import_again(
    version: DatasetVersion, *, by: User | None, request: ReadRequest
) -> DatasetVersion:
    """Read the file of `version` once more, in another way.

    A version that is not ready is read again itself; a ready one never changes, so
    its file becomes the next version.
    """
    state = DatasetVersion.State
    if version.state == state.READY:
        assert version.original is not None
        version = new_version(
            version.dataset,
            version.original,
            file_name=version.original_name,
            by=by,
        )
        queue_import(version, request)
        return version
    changed = DatasetVersion.objects.filter(
        pk=version.pk, state__in=(state.FAILED, state.REVIEW)
    ).update(state=state.IMPORTING, import_report={})
    if changed:
        job = DataJob.objects.filter(version=version).first()
        DataJob.objects.filter(version=version).delete()
        if version.original is None:
            assert job is not None
            queue_derivation(version, job.request)
        else:
            queue_import(version, request)
    return version


def keep(version: DatasetVersion) -> bool:
    """Make a version ready as it is, whatever the check-up found. False when it does
    not wait for that decision any more."""
    state = DatasetVersion.State
    waiting = DatasetVersion.objects.filter(pk=version.pk, state=state.REVIEW)
    return bool(waiting.update(state=state.READY))


def give_up(version: DatasetVersion) -> bool:
    """Take a version out of everybody's hands before it is deleted. False when it was
    saved meanwhile."""
    state = DatasetVersion.State
    unsaved = DatasetVersion.objects.filter(pk=version.pk).exclude(state=state.READY)
    return bool(unsaved.update(state=state.FAILED))


def keep_without(version: DatasetVersion, kinds: Iterable[int]) -> bool:
    """Make a version ready without the rows that have a finding of these kinds.

    The file is read once more in the same way. False when the version does not wait
    for that decision any more.
    """
    found = version.findings.filter(kind__in=list(kinds))
    drop = sorted(set(found.values_list("index", flat=True)))
    request = request_of(version)
    with transaction.atomic():
        state = DatasetVersion.State
        waiting = DatasetVersion.objects.filter(pk=version.pk, state=state.REVIEW)
        if not waiting.update(state=state.IMPORTING, import_report={}):
            return False
        DataJob.objects.filter(version=version).delete()
        queue_import(version, replace(request, drop=drop, needs_review=False))
    return True


def request_of(version: DatasetVersion) -> ReadRequest:
    """How the file of `version` was read."""
    job = DataJob.objects.filter(version=version).first()
    return ReadRequest.of(job.request if job else {})


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
