"""Turns an uploaded file into the rows of a version: all of them or none.

1. Rows of an earlier, interrupted try are removed.
2. The file streams through the reader; media become blobs; rows are written.
3. A wrong row ends the writing; reading goes on, so that all wrong lines are told.
4. The check-up looks at the rows once more.
5. The version is ready, waits for a decision about what was found, or failed.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from django.conf import settings

from assay.data.records import Detected, Limits, Overrides, Problem, RowRead, size
from assay.data.rowtext import text_of
from assay.data.tabular import HEAD_BYTES, read, sniff
from blobs import store
from blobs.models import Blob
from blobs.net import networks
from blobs.queries import visible_blob
from datasets import checkup
from datasets.media import Extractor, RowRefusedError
from datasets.models import DataJob, DatasetVersion
from datasets.pins import Pins
from datasets.report import Report
from datasets.requests import ReadRequest
from datasets.writing import (
    CanceledError,
    LeaseLostError,
    RowWriter,
    delete_rows,
)

log = logging.getLogger("datasets.ingest")

ROWS_AHEAD = 16


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
        work.writer.conclude_canceled()
    except OSError as error:
        log.exception("import_failed job=%s", job.pk)
        work.writer.conclude_broken(DISK_FULL if error.errno in NO_ROOM else "")
    except Exception:
        log.exception("import_failed job=%s", job.pk)
        work.writer.conclude_broken()


NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
DISK_FULL = "The disk of the server is full. Ask whoever runs it to make room."


class _Import:
    def __init__(self, job: DataJob) -> None:
        versions = DatasetVersion.objects.select_related("dataset__project", "original")
        self.job = job
        self.version = versions.get(pk=job.version_id)
        self.project = self.version.dataset.project
        self.request = ReadRequest.of(job.request)
        self.drop = frozenset(self.request.drop)
        self.limits = limits_of_settings()
        self.report = Report(skips_bad=self.request.skip_bad)
        self.writer = RowWriter(job, self.version, self.report)
        self.extractor = Extractor(
            put=self._put,
            find=self._find,
            note=self.report.add,
            max_bytes=self.limits.medium_bytes,
            allowed=networks(settings.LINK_NETWORKS),
        )
        self.pins: Pins | None = None
        if self.request.fetch_links:
            self.pins = Pins(self.project, self.writer.beat)
            self.extractor.pin = self.pins.pin

    def run(self) -> None:
        original = self.version.original
        assert original is not None
        delete_rows(self.version)
        with store.open_blob(original.sha256) as file:
            self._read(file)
            self.writer.flush(file.tell())
        self.report.media = self.extractor.counts
        if self.report.refuses:
            self.writer.conclude_failed()
            return
        columns = checkup.run(self.writer)
        review = self.request.needs_review and self.report.needs_decision
        state = DatasetVersion.State.REVIEW if review else DatasetVersion.State.READY
        self.writer.conclude(columns, state=state)

    def _read(self, file: BinaryIO) -> None:
        detected = sniffed(file, self.version.original_name, self.request)
        self.report.detected = detected
        found = read(file, detected, self.limits)
        for item in found if self.pins is None else self._with_links(found, self.pins):
            if isinstance(item, Problem):
                self.report.add(item)
            else:
                self._take(item)
            if self.writer.is_due:
                self.writer.flush(file.tell())

    def _with_links(
        self, found: Iterator[RowRead | Problem], pins: Pins
    ) -> Iterator[RowRead | Problem]:
        """The same, with the media behind the links of some rows loaded ahead."""
        while some := list(islice(found, ROWS_AHEAD)):
            pins.load(item.values for item in some if isinstance(item, RowRead))
            yield from some

    def _take(self, read_row: RowRead) -> None:
        if self.report.refuses and not self.report.skips_bad:
            self.report.good_rows += 1
            return
        try:
            values = self.extractor.take_out(read_row.values, read_row.line)
            text = text_of(read_row, values)
            if len(text) > self.limits.row_bytes:
                raise RowRefusedError(self._too_large(read_row, len(text)))
        except RowRefusedError as refused:
            self.report.add(refused.problem)
            return
        self.report.good_rows += 1
        if self.report.good_rows in self.drop:
            self.report.drop(read_row.line)
        else:
            self.writer.add(values, text, is_exact=read_row.is_exact)

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


@dataclass(frozen=True, slots=True)
class FirstRows:
    """How a file begins when it is read in some way. Media are still inside."""

    detected: Detected
    rows: list[RowRead]
    problems: list[Problem]


def first_rows(version: DatasetVersion, request: ReadRequest, wanted: int) -> FirstRows:
    """The first `wanted` rows of the file of `version`, read as `request` says.

    Nothing is stored. Reading stops after ten times as many wrong lines.
    """
    assert version.original is not None
    with store.open_blob(version.original.sha256) as file:
        detected = sniffed(file, version.original_name, request)
        found = FirstRows(detected, [], [])
        for item in read(file, detected, limits_of_settings()):
            if isinstance(item, Problem):
                found.problems.append(item)
            else:
                found.rows.append(item)
            if len(found.rows) >= wanted or len(found.problems) >= 10 * wanted:
                break
    return found


def sniffed(file: BinaryIO, name: str, request: ReadRequest) -> Detected:
    """What `file` is, as detected or as `request` says."""
    head = file.read(HEAD_BYTES)
    overrides = Overrides(
        encoding=request.encoding or None,
        delimiter=request.delimiter or None,
        has_header={"yes": True, "no": False}.get(request.has_header),
        read_json=request.read_json,
    )
    return sniff(head, name, overrides)
