"""Makes the rows of a version from those of another: edited, chosen, converted."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from django.db import transaction

from assay.data.convert import Converter
from assay.data.exact import loads
from assay.data.jsonx import JSONObject
from assay.data.records import Problem
from assay.data.rowtext import row_text
from blobs import store
from blobs.queries import visible_blob
from datasets import checkup
from datasets.ingest import limits_of_settings
from datasets.media import Extractor, RowRefusedError
from datasets.models import DataJob, DatasetVersion, Row, RowChange
from datasets.queries import row_steps
from datasets.report import Report
from datasets.requests import DeriveRequest
from datasets.writing import (
    CanceledError,
    LeaseLostError,
    RowWriter,
    delete_rows,
)
from workspace.models import Project

log = logging.getLogger("datasets.derive")

STEP = 500


def run(job: DataJob) -> None:
    """Fill the version of `job`, which this process has claimed."""
    try:
        version = DatasetVersion.objects.select_related("dataset__project").get(
            pk=job.version_id
        )
    except DatasetVersion.DoesNotExist:
        return  # deleted while it waited; its job went with it
    writer = RowWriter(job, version, Report())
    try:
        _derive(writer, DeriveRequest.of(job.request))
    except LeaseLostError:
        log.warning("derive_lease_lost job=%s", job.pk)
    except CanceledError:
        writer.conclude_canceled()
    except Exception:
        log.exception("derive_failed job=%s", job.pk)
        writer.conclude_broken()


def _derive(writer: RowWriter, request: DeriveRequest) -> None:
    version, report = writer.version, writer.report
    assert version.base_id is not None
    delete_rows(version)
    converter = Converter(request.kinds)
    media = _extractor(version.dataset.project, report, request)
    for index, stored in _rows(version, request):
        values = converter.convert(index, stored)
        if request.kinds:
            values = _with_media(media, report, values, index)
        report.good_rows += 1
        writer.add(values, row_text(values))
        if writer.is_due:
            writer.flush(min(writer.rows, writer.job.progress_total))
    writer.flush(writer.job.progress_total)
    for problem in converter.problems():
        report.add(problem)
    report.media = media.counts
    _conclude(writer, checkup.run(writer))


@transaction.atomic
def _conclude(writer: RowWriter, columns: list[JSONObject]) -> None:
    """Ready; the changes are rows now, and nobody's any more."""
    writer.conclude(columns, state=DatasetVersion.State.READY)
    ready = DatasetVersion.objects.filter(
        pk=writer.version.pk, state=DatasetVersion.State.READY
    )
    if ready.exists():
        RowChange.objects.filter(version=writer.version).delete()


def _rows(
    version: DatasetVersion, request: DeriveRequest
) -> Iterator[tuple[int, JSONObject]]:
    """Index in the base and values of the rows to write, added ones at the end as 0."""
    changes = list(RowChange.objects.filter(version=version).order_by("pk"))
    changed = {c.index: c.data for c in changes if c.index}
    assert version.base_id is not None
    for row in _stored(version.base_id, request.rows):
        text = changed.get(row.index, row.data)
        if text:
            yield row.index, _values(text)
    for change in changes:
        if not change.index:
            yield 0, _values(change.data)


def _stored(base: int, wanted: list[int] | None) -> Iterator[Row]:
    if wanted is None:
        for batch in row_steps(base, STEP):
            yield from batch
        return
    rows = Row.objects.filter(version=base)
    for start in range(0, len(wanted), STEP):
        step = wanted[start : start + STEP]
        found = {row.index: row for row in rows.filter(index__in=step)}
        yield from (found[index] for index in step if index in found)


def _values(text: str) -> JSONObject:
    value = loads(text)
    assert isinstance(value, dict)
    return value


def _extractor(project: Project, report: Report, request: DeriveRequest) -> Extractor:
    kinds = request.kinds.items()
    return Extractor(
        put=lambda data: store.put_bytes(data, project=project),
        find=lambda sha256: visible_blob(project, sha256),
        note=report.add,
        max_bytes=limits_of_settings().medium_bytes,
        named=frozenset(name for name, kind in kinds if kind in ("image", "audio")),
    )


def _with_media(
    media: Extractor, report: Report, values: JSONObject, index: int
) -> JSONObject:
    """`values` with media out of texts that became images or audio."""
    try:
        return media.take_out(values, index)
    except RowRefusedError as refused:
        report.add(
            Problem(
                refused.problem.code,
                refused.problem.message,
                row=index,
                is_warning=True,
            )
        )
        return values
