"""Changes of rows, kept until they become the next version; parts of a dataset.

Each verb owns its transaction. The rows of a new version are written by a job.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from django.db import transaction

from assay.data.exact import loads
from assay.data.jsonx import JSONObject
from assay.data.rowtext import row_text
from datasets.models import DatasetVersion, RowChange
from datasets.requests import DeriveRequest
from datasets.versions import dataset_called, new_version, queue_derivation
from workspace.models import User

MAX_CHANGES = 2000


class TooManyChangesError(Exception):
    """More changes than one version should take by hand."""


def changes_of(version: DatasetVersion, by: User) -> list[RowChange]:
    """What `by` changed and did not save yet, in the order of the rows. 1 query."""
    mine = RowChange.objects.filter(version=version, by=by)
    return sorted(mine, key=lambda change: (not change.index, change.index, change.pk))


def values_of(change: RowChange) -> JSONObject:
    """The row that a change puts in the place of the old one."""
    value = loads(change.data)
    assert isinstance(value, dict)
    return value


def change_row(
    version: DatasetVersion, by: User, index: int, values: JSONObject
) -> None:
    """Keep new values for row `index`; 0 adds a row. Raises `TooManyChangesError`."""
    _keep(version, by, index, row_text(values))


def take_out(version: DatasetVersion, by: User, index: int) -> None:
    """Keep that row `index` goes."""
    _keep(version, by, index, "")


@transaction.atomic
def _keep(version: DatasetVersion, by: User, index: int, data: str) -> None:
    mine = RowChange.objects.filter(version=version, by=by)
    known = mine.filter(index=index).exists() if index else False
    if not known and mine.count() >= MAX_CHANGES:
        raise TooManyChangesError
    if index:
        RowChange.objects.update_or_create(
            version=version, by=by, index=index, defaults={"data": data}
        )
    else:
        RowChange.objects.create(version=version, by=by, index=0, data=data)


def undo(version: DatasetVersion, by: User, pk: int | None = None) -> int:
    """Forget one change of `by`, or all. Gives how many there were."""
    mine = RowChange.objects.filter(version=version, by=by)
    gone, _per_model = (mine.filter(pk=pk) if pk else mine).delete()
    return gone


@transaction.atomic
def save(version: DatasetVersion, by: User) -> DatasetVersion | None:
    """Queue the next version with the changes of `by`. None when there are none."""
    mine = RowChange.objects.select_for_update().filter(version=version, by=by)
    if not list(mine.values_list("pk", flat=True)):
        return None
    new = new_version(
        version.dataset, None, by=by, source=DatasetVersion.Source.EDIT, base=version
    )
    mine.update(version=new)
    queue_derivation(new, DeriveRequest().as_json())
    return new


@transaction.atomic
def convert(version: DatasetVersion, by: User, kinds: dict[str, str]) -> DatasetVersion:
    """Queue the next version with columns of other kinds."""
    new = new_version(
        version.dataset, None, by=by, source=DatasetVersion.Source.EDIT, base=version
    )
    queue_derivation(new, DeriveRequest(kinds=kinds).as_json())
    return new


@transaction.atomic
def part(
    version: DatasetVersion, by: User, name: str, rows: Sequence[int]
) -> DatasetVersion:
    """Queue a version of the dataset `name`, new or existing, with these rows."""
    dataset = dataset_called(version.dataset.project, name, by)
    new = new_version(
        dataset, None, by=by, source=DatasetVersion.Source.PART, base=version
    )
    queue_derivation(new, DeriveRequest(rows=list(rows)).as_json())
    return new


def sampled(rows: Sequence[int], size: int, seed: int) -> tuple[list[int], list[int]]:
    """`size` rows drawn without repetition, and the rest, both in order. The same
    seed draws the same rows."""
    chance = random.Random(seed)  # noqa: S311 - to be drawn again, no secret
    drawn = set(chance.sample(list(rows), min(size, len(rows))))
    return sorted(drawn), [row for row in rows if row not in drawn]
