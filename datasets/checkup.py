"""The second look at the rows of an import: what is questionable, how values spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.data.checkup import KINDS, Finding
from assay.data.colstats import ColumnStats
from assay.data.jsonx import JSONObject
from blobs.models import Blob
from blobs.queries import references
from datasets.models import DatasetVersion, Row, RowFinding
from datasets.queries import row_steps
from datasets.writing import RowWriter

STEP = 500
WRITE = 2000


def run(writer: RowWriter) -> list[JSONObject]:
    """Check the rows that `writer` has written, and store what is found.

    Gives the columns with their statistics. Raises as `RowWriter.flush` does.
    """
    from assay.data.checkup import Checkup  # the web process never needs it

    version, columns = writer.version, writer.columns()
    checks, stats = Checkup(columns), ColumnStats()
    found: list[Finding] = []
    for rows in _steps(version):
        broken = _broken_media([values for _index, values in rows])
        for index, values in rows:
            stats.add(values)
            found += checks.add(index, values, _of_row(values, broken))
        found = _written(writer, found)
    for finding in checks.end(lambda indexes: _rows_at(version, indexes)):
        found.append(finding)
        if len(found) >= WRITE:
            found = _written(writer, found)
    _written(writer, found)
    return [{**column, "stats": stats.of(str(column["name"]))} for column in columns]


def _steps(version: DatasetVersion) -> Iterator[list[tuple[int, JSONObject]]]:
    """All rows of `version`, `STEP` at a time."""
    for batch in row_steps(version.pk, STEP):
        yield [(row.index, row.values) for row in batch]


def _rows_at(
    version: DatasetVersion, indexes: Sequence[int]
) -> Mapping[int, JSONObject]:
    found: dict[int, JSONObject] = {}
    for start in range(0, len(indexes), STEP):
        wanted = list(indexes[start : start + STEP])
        for row in Row.objects.filter(version=version, index__in=wanted):
            found[row.index] = row.values
    return found


def _broken_media(rows: list[JSONObject]) -> dict[str, str]:
    """The sentence of each medium in `rows` that cannot be shown, by its hash."""
    wanted = references(value for row in rows for value in row.values())
    if not wanted:
        return {}
    broken = Blob.objects.filter(sha256__in=wanted, is_shown=False)
    return dict(broken.values_list("sha256", "problem"))


def _of_row(values: JSONObject, broken: Mapping[str, str]) -> dict[str, str]:
    if not broken:
        return {}
    return {sha: broken[sha] for sha in references(values.values()) if sha in broken}


def _written(writer: RowWriter, found: list[Finding]) -> list[Finding]:
    """Store `found`, count it in the report, and give an empty list."""
    for finding in found:
        writer.report.count_finding(KINDS[finding.kind].slug, finding.row)
    rows = [
        RowFinding(
            version=writer.version,
            index=finding.row,
            kind=int(finding.kind),
            column=finding.column or "",
            detail=[finding.detail.message, dict(finding.detail.params)],
        )
        for finding in found
    ]
    writer.write_findings(rows, writer.job.progress_total)
    return []
