"""New versions of datasets, and the jobs that fill them. Needs a transaction."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from django.db.models import Max
from django.utils.text import slugify

from blobs.models import Blob
from datasets.models import DataJob, Dataset, DatasetVersion
from datasets.requests import AS_DETECTED, ReadRequest
from workspace.bells import ring
from workspace.models import Project, User

NAME_LENGTH = 120
BELL = "datasets.tasks.ingest"


def base_name(file_name: str) -> str:
    """The last part of a path of any system, without control characters."""
    name = PurePath(file_name.replace("\\", "/")).name
    return "".join(c for c in name if c.isprintable()) or "file"


def new_version(
    dataset: Dataset,
    blob: Blob | None,
    *,
    file_name: str = "",
    by: User | None,
    source: str = DatasetVersion.Source.UPLOAD,
    base: DatasetVersion | None = None,
) -> DatasetVersion:
    """The next version of `dataset`. Needs a transaction: the lock orders them."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    last = dataset.versions.aggregate(last=Max("number"))["last"] or 0
    return DatasetVersion.objects.create(
        dataset=dataset,
        number=last + 1,
        source=source,
        original=blob,
        original_name=base_name(file_name)[:200] if blob else "",
        base=base,
        created_by=by,
    )


def queue_import(
    version: DatasetVersion, request: ReadRequest = AS_DETECTED
) -> DataJob:
    """A job that reads the file of `version`, and a bell once it is committed."""
    assert version.original is not None
    job = DataJob.objects.create(
        project=version.dataset.project,
        version=version,
        progress_total=version.original.size,
        request=request.as_json(),
    )
    ring(BELL, job.pk)
    return job


def queue_derivation(version: DatasetVersion, request: dict[str, Any]) -> DataJob:
    """A job that makes the rows of `version` from its base, and a bell."""
    base = version.base
    job = DataJob.objects.create(
        project=version.dataset.project,
        version=version,
        kind=DataJob.Kind.DERIVE,
        progress_total=base.row_count if base else 0,
        request=request,
    )
    ring(BELL, job.pk)
    return job


def dataset_called(project: Project, name: str, by: User | None) -> Dataset:
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
