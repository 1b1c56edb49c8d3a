"""Writes the rows of a version in batches, as long as the job's lease is ours.

Whoever makes rows (a file, another version) gives them to a `RowWriter` and ends with
one of its `conclude…` methods. Each batch renews the lease in its own transaction: a
process that lost the lease writes nothing more. At the end the version has all its
rows, or none.
"""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any

from django.db import transaction

from assay.data.jsonx import JSONObject
from assay.data.media import media_kinds
from assay.data.profile import Profiler
from assay.data.rowtext import row_digest
from datasets.models import Contents, DataJob, DatasetVersion, Row, RowFinding
from datasets.report import Report
from workspace.leases import finish_job, renew
from workspace.models import JobState

log = logging.getLogger("datasets.writing")

BATCH_ROWS = 500
BATCH_CHARACTERS = 8 * 1024 * 1024
BEAT_SECONDS = 2.0


class LeaseLostError(Exception):
    """Another process has the job now."""


class CanceledError(Exception):
    """A person canceled the job."""


class RowWriter:
    """Rows of `version`, written for `job`. Not for several threads."""

    def __init__(self, job: DataJob, version: DatasetVersion, report: Report) -> None:
        self.job = job
        self.version = version
        self.report = report
        self.rows = 0
        self._profiler = Profiler()
        self._digest = hashlib.sha256()
        self._batch: list[Row] = []
        self._batch_characters = 0
        self._beaten_at = time.monotonic()
        self._progress = 0

    def add(self, values: JSONObject, text: str, *, is_exact: bool = True) -> None:
        """Take the next row; `text` is its `row_text`, `is_exact` as there."""
        kinds = self._profiler.add(values)
        contents = _contents(values, kinds)
        self.report.count_row(contents)
        digest = row_digest(values, is_exact=is_exact)
        self._digest.update(digest.encode())
        self.rows += 1
        self._batch_characters += len(text)
        self._batch.append(
            Row(
                version=self.version,
                index=self.rows,
                data=text,
                digest=digest,
                contents=contents,
            )
        )

    @property
    def is_due(self) -> bool:
        """True when `flush` should be called before the next row."""
        return (
            len(self._batch) >= BATCH_ROWS
            or self._batch_characters >= BATCH_CHARACTERS
            or time.monotonic() - self._beaten_at > BEAT_SECONDS
        )

    def flush(self, progress: int) -> None:
        """Write the batch. Raises `LeaseLostError` and `CanceledError`."""
        with transaction.atomic():
            self._hold(progress)
            if not self.report.refuses:
                Row.objects.bulk_create(self._batch)
        self._batch.clear()
        self._batch_characters = 0
        self._beaten_at = time.monotonic()

    def beat(self) -> None:
        """Keep the lease while nothing is written. Raises as `flush` does."""
        if time.monotonic() - self._beaten_at > BEAT_SECONDS:
            with transaction.atomic():
                self._hold(self._progress)
            self._beaten_at = time.monotonic()

    def write_findings(self, findings: list[RowFinding], progress: int) -> None:
        """Write what the check-up found. Raises as `flush` does."""
        with transaction.atomic():
            self._hold(progress)
            RowFinding.objects.bulk_create(findings, batch_size=BATCH_ROWS)

    def _hold(self, progress: int) -> None:
        self._progress = progress
        if not renew(self.job):
            raise LeaseLostError
        jobs = DataJob.objects.filter(pk=self.job.pk, lease=self.job.lease)
        jobs.update(progress=progress)
        if jobs.filter(cancel_requested_at__isnull=False).exists():
            raise CanceledError

    def columns(self) -> list[JSONObject]:
        """What the rows so far have in their columns."""
        return self._profiler.columns()

    def conclude(
        self, columns: list[JSONObject], *, state: DatasetVersion.State
    ) -> None:
        """End with all rows: `READY`, or `REVIEW` when somebody has to decide."""
        kinds = {str(column["kind"]) for column in columns}
        kinds |= set(self.report.rows_with)
        self._conclude(
            JobState.DONE,
            state=state,
            row_count=self.rows,
            columns=columns,
            content=f" {' '.join(sorted(kinds))} ",
            column_names="\n".join(str(column["name"]) for column in columns),
            digest=self._digest.hexdigest(),
        )

    def conclude_failed(self) -> None:
        """End without rows; the report says why."""
        self._conclude(JobState.FAILED, state=DatasetVersion.State.FAILED)

    def conclude_canceled(self) -> None:
        self.report.is_canceled = True
        self._conclude(JobState.CANCELED, state=DatasetVersion.State.FAILED)

    def conclude_broken(self, sentence: str = "") -> None:
        """Something failed that is no fault of the data."""
        self.report.is_broken = True
        self.report.broken_because = sentence
        self._conclude(JobState.FAILED, state=DatasetVersion.State.FAILED)

    def _conclude(self, job_state: JobState, **fields: Any) -> None:
        with transaction.atomic():
            total = self.job.progress_total
            error = self.report.summary()
            if not finish_job(self.job, job_state, progress=total, error=error):
                log.warning("import_lease_lost job=%s", self.job.pk)
                return
            if fields["state"] == DatasetVersion.State.FAILED:
                delete_rows(self.version)
            report = self.report.as_json()
            versions = DatasetVersion.objects.filter(pk=self.version.pk)
            versions.update(import_report=report, **fields)


def _contents(values: JSONObject, kinds: set[Any]) -> int:
    """Bits of `Contents`. Media count wherever they stand in the row."""
    bits = Contents.CHAT if "chat" in kinds else 0
    if kinds & {"image", "audio", "chat", "json", "tools"}:
        media = media_kinds(values)
        bits |= Contents.IMAGE if "image" in media else 0
        bits |= Contents.AUDIO if "audio" in media else 0
    return int(bits)


def delete_rows(version: DatasetVersion) -> None:
    """Remove the rows of a version that nothing refers to, without loading them."""
    for rows in (
        RowFinding.objects.filter(version=version),
        Row.objects.filter(version=version),
    ):
        rows._raw_delete(rows.db)
