"""Renames and deletes datasets and versions."""

from __future__ import annotations

from django.db import transaction

from datasets import usage
from datasets.models import Dataset, DatasetVersion
from datasets.writing import delete_rows


class InUseError(Exception):
    """Runs use what should be deleted."""

    def __init__(self, uses: list[usage.Use]) -> None:
        super().__init__(f"{len(uses)} uses")
        self.uses = uses


def rename(dataset: Dataset, *, name: str, description: str) -> None:
    """The slug stays: addresses do not change."""
    dataset.name, dataset.description = name, description
    dataset.save(update_fields=["name", "description"])


@transaction.atomic
def delete_dataset(dataset: Dataset) -> None:
    """Remove all versions with their rows. Raises `InUseError` when runs use one,
    `Dataset.DoesNotExist` when another process was faster."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    for version in _unused(list(dataset.versions.all())):
        delete_rows(version)
    dataset.delete()


@transaction.atomic
def delete_version(version: DatasetVersion) -> None:
    """Remove one version; the last one takes its dataset along. Raises `InUseError`,
    and `DoesNotExist` when another process was faster."""
    dataset = Dataset.objects.select_for_update().get(pk=version.dataset_id)
    version = dataset.versions.get(pk=version.pk)
    _unused([version])
    delete_rows(version)
    version.delete()
    if not dataset.versions.exists():
        dataset.delete()


def _unused(versions: list[DatasetVersion]) -> list[DatasetVersion]:
    uses = usage.uses_of([version.pk for version in versions])
    if uses:
        raise InUseError(uses)
    return versions
