"""Turns an uploaded file into the rows of a version: all of them or none.

1. Rows of an earlier, interrupted try are removed.
2. The file streams through the reader; media become blobs; rows are written in
   batches. Each batch renews the lease in its own transaction: a process that lost
   the lease writes nothing more.
3. A wrong row ends the writing; reading goes on, so that all wrong lines are told.
4. At the end the version is ready with its rows, or failed without any.
"""

from __future__ import annotations

import hashlib
import logging
import time
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from assay.data.exact import dumps as exact_dumps
from assay.data.jsonx import JSONObject, canonical, dumps
from assay.data.profile import Profiler
from assay.data.records import Limits, Problem, RowRead, size
from assay.data.tabular import HEAD_BYTES, read, sniff
from blobs import store
from blobs.models import Blob
from blobs.queries import visible_blob
from datasets.media import Extractor, RowRefusedError
from datasets.models import Contents, DataJob, DatasetVersion, Row
from datasets.report import Report
from workspace.leases import finish_job, renew
from workspace.models import JobState

log = logging.getLogger("datasets.ingest")

BATCH_ROWS = 500
BATCH_CHARACTERS = 8 * 1024 * 1024
BEAT_SECONDS = 2.0
BITS = {
    "image": Contents.IMAGE,
    "audio": Contents.AUDIO,
    "chat": Contents.CHAT,
}


class LeaseLostError(Exception):
    """Another process has the job now."""


class CanceledError(Exception):
    """A person canceled the import."""


def limits_of_settings() -> Limits:
    medium = settings.MAX_MEDIUM_BYTES
    return Limits(
        rows=settings.MAX_ROWS,
        columns=settings.MAX_COLUMNS,
        row_bytes=settings.MAX_ROW_BYTES,
        medium_bytes=medium,
        raw_row_bytes=settings.MAX_ROW_BYTES + 3 * medium,
    )


def run(job: DataJob) -> None:
    """Import the file of `job`, which this process has claimed."""
    try:
        work = _Import(job)
    except DatasetVersion.DoesNotExist:
        return  # deleted while it waited; its job went with it
    try:
        work.run()
    except LeaseLostError:
        log.warning("import_lease_lost job=%s", job.pk)
    except CanceledError:
        work.conclude_canceled()
    except Exception:
        log.exception("import_failed job=%s", job.pk)
        work.conclude_broken()


class _Import:
    def __init__(self, job: DataJob) -> None:
        versions = DatasetVersion.objects.select_related("dataset__project", "original")
        self.job = job
        self.version = versions.get(pk=job.version_id)
        self.project = self.version.dataset.project
        self.limits = limits_of_settings()
        self.report = Report(skips_bad=bool(job.request.get("skip_bad")))
        self.profiler = Profiler()
        self.extractor = Extractor(
            put=self._put,
            find=self._find,
            note=self.report.add,
            max_bytes=self.limits.medium_bytes,
        )
        self.batch: list[Row] = []
        self.batch_characters = 0
        self.rows = 0
        self.digest = hashlib.sha256()
        self.beaten_at = time.monotonic()

    def run(self) -> None:
        original = self.version.original
        assert original is not None
        delete_rows(self.version)
        with store.open_blob(original.sha256) as file:
            self._read(file)
            self._flush(file)
        if self.report.refuses:
            self._conclude_failed()
        else:
            self._conclude_ready()

    def _read(self, file: BinaryIO) -> None:
        detected = sniff(
            file.read(HEAD_BYTES),
            self.version.original_name,
            encoding=self.job.request.get("encoding") or None,
        )
        self.report.detected = detected
        for item in read(file, detected, self.limits):
            if isinstance(item, Problem):
                self.report.add(item)
            else:
                self._take(item)
            if self._is_due():
                self._flush(file)

    def _take(self, read_row: RowRead) -> None:
        if self.report.refuses and not self.report.skips_bad:
            self.report.good_rows += 1
            return
        try:
            values = self.extractor.take_out(read_row.values, read_row.line)
            text = (exact_dumps if read_row.is_exact else dumps)(values)
            if len(text) > self.limits.row_bytes:
                raise RowRefusedError(self._too_large(read_row, len(text)))
        except RowRefusedError as refused:
            self.report.add(refused.problem)
            return
        self.report.good_rows += 1
        self._append(values, text)

    def _append(self, values: JSONObject, text: str) -> None:
        kinds = self.profiler.add(values)
        self.report.count_row(kinds)
        digest = hashlib.sha256(canonical(values).encode()).hexdigest()
        self.digest.update(digest.encode())
        self.rows += 1
        self.batch_characters += len(text)
        self.batch.append(
            Row(
                version=self.version,
                index=self.rows,
                data=text,
                digest=digest,
                contents=sum(bit for kind, bit in BITS.items() if kind in kinds),
            )
        )

    def _too_large(self, read_row: RowRead, characters: int) -> Problem:
        message = (
            f"Line {read_row.line:,} has {size(characters)} without its media. "
            f"The limit is {size(self.limits.row_bytes)}."
        )
        return Problem("row_too_large", message, line=read_row.line)

    def _put(self, data: bytes) -> Blob:
        return store.put_bytes(data, project=self.project)

    def _find(self, sha256: str) -> Blob | None:
        return visible_blob(self.project, sha256)

    def _is_due(self) -> bool:
        return (
            len(self.batch) >= BATCH_ROWS
            or self.batch_characters >= BATCH_CHARACTERS
            or time.monotonic() - self.beaten_at > BEAT_SECONDS
        )

    def _flush(self, file: BinaryIO) -> None:
        """Write the batch while the lease is ours. Raises when it is not."""
        with transaction.atomic():
            if not renew(self.job):
                raise LeaseLostError
            jobs = DataJob.objects.filter(pk=self.job.pk, lease=self.job.lease)
            jobs.update(progress=file.tell())
            if jobs.filter(cancel_requested_at__isnull=False).exists():
                raise CanceledError
            if not self.report.refuses:
                Row.objects.bulk_create(self.batch)
        self.batch.clear()
        self.batch_characters = 0
        self.beaten_at = time.monotonic()

    def _conclude_ready(self) -> None:
        columns = self.profiler.columns()
        kinds = sorted({str(column["kind"]) for column in columns})
        self._conclude(
            JobState.DONE,
            state=DatasetVersion.State.READY,
            row_count=self.rows,
            columns=columns,
            content=f" {' '.join(kinds)} ",
            column_names="\n".join(str(column["name"]) for column in columns),
            digest=self.digest.hexdigest(),
        )

    def _conclude_failed(self) -> None:
        self._conclude(JobState.FAILED, state=DatasetVersion.State.FAILED)

    def conclude_canceled(self) -> None:
        self.report.is_canceled = True
        self._conclude(JobState.CANCELED, state=DatasetVersion.State.FAILED)

    def conclude_broken(self) -> None:
        """Something failed that is no fault of the file."""
        self.report.is_broken = True
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
            self.report.media = self.extractor.counts
            report = self.report.as_json()
            versions = DatasetVersion.objects.filter(pk=self.version.pk)
            versions.update(import_report=report, **fields)


def delete_rows(version: DatasetVersion) -> None:
    """Remove the rows of a version that nothing refers to, without loading them."""
    rows = Row.objects.filter(version=version)
    rows._raw_delete(rows.db)
