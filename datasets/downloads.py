"""A version as a file: JSON Lines and CSV that read back equal, Parquet, spreadsheets.

Media go in as data URIs, so that the file can be uploaded anywhere.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterator
from pathlib import Path

from assay.data.exact import dumps as exact_dumps
from assay.data.jsonx import JSON, JSONObject
from assay.data.media import as_blob
from assay.data.spreadsheets import safe_cell
from blobs import store
from datasets.models import DatasetVersion
from datasets.queries import row_steps

STEP = 100


def rows_of(version: DatasetVersion) -> Iterator[JSONObject]:
    """All rows in their order, `STEP` in memory at a time."""
    for batch in row_steps(version.pk, STEP):
        yield from (row.values for row in batch)


def as_jsonl(version: DatasetVersion) -> Iterator[bytes]:
    for values in rows_of(version):
        yield exact_dumps(_inlined(values)).encode() + b"\n"


def as_csv(
    version: DatasetVersion, *, for_spreadsheets: bool = False
) -> Iterator[bytes]:
    """Texts as they are, other values as JSON, `null` and absent cells empty.

    A row that lacks its last columns has fewer cells. `for_spreadsheets` adds a
    byte-order mark and an apostrophe before what would be taken for a formula.
    """
    names = [str(column["name"]) for column in version.columns]
    cell = _safe if for_spreadsheets else _cell
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    if for_spreadsheets:
        buffer.write("\ufeff")
    writer.writerow([cell(name) for name in names])
    for values in rows_of(version):
        inlined = _inlined(values)
        present = [i for i, name in enumerate(names, start=1) if name in inlined]
        width = present[-1] if present else 0
        writer.writerow([cell(inlined.get(name)) for name in names[:width]])
        yield _taken(buffer)
    yield _taken(buffer)


def write_parquet(version: DatasetVersion, path: Path) -> None:
    """Numbers and truth values as such where a column has nothing else; all other
    columns as text. Imports pyarrow: call it in a child process."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"number": pa.float64(), "boolean": pa.bool_()}
    whole = _whole_columns(version)
    schema = pa.schema(
        [
            (
                name := str(column["name"]),
                pa.int64() if name in whole else types.get(column["kind"], pa.string()),
            )
            for column in version.columns
        ]
    )
    with pq.ParquetWriter(path, schema) as parquet:
        batch: list[JSONObject] = []
        for values in rows_of(version):
            batch.append(_typed(_inlined(values), schema))
            if len(batch) >= STEP:
                parquet.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch = []
        parquet.write_table(pa.Table.from_pylist(batch, schema=schema))


def _whole_columns(version: DatasetVersion) -> set[str]:
    """Columns of numbers that are all whole and fit 64 bits."""
    numbers = {str(c["name"]) for c in version.columns if c["kind"] == "number"}
    for values in rows_of(version) if numbers else ():
        numbers -= {name for name in numbers if not _fits(values.get(name))}
    return numbers


def _fits(value: JSON) -> bool:
    return value is None or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _typed(values: JSONObject, schema: object) -> JSONObject:
    import pyarrow as pa

    assert isinstance(schema, pa.Schema)
    row: JSONObject = {}
    for field in schema:
        value = values.get(field.name)
        if pa.types.is_string(field.type) and value is not None:
            row[field.name] = str(_cell(value)).encode("utf-8", "replace").decode()
        elif pa.types.is_float64(field.type) and value not in (None, ""):
            row[field.name] = float(str(value))
        else:
            row[field.name] = None if value == "" else value
    return row


def _inlined(values: JSONObject) -> JSONObject:
    return {name: _value(value) for name, value in values.items()}


def _value(value: JSON) -> JSON:
    """`value` with data URIs in the place of references."""
    if (ref := as_blob(value)) is not None:
        try:
            data, mime = store.read_bytes(ref.sha256)
        except FileNotFoundError:
            return ref.as_json()
        return f"data:{mime};base64,{base64.b64encode(data).decode()}"
    if isinstance(value, dict):
        return {
            key: _bare(item) if key == "input_audio" else _value(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    return value


def _bare(value: JSON) -> JSON:
    """The recording of a message as chat models take it: base64 without a prefix."""
    inlined = _value(value)
    data = inlined.get("data") if isinstance(inlined, dict) else None
    if isinstance(inlined, dict) and isinstance(data, str) and data[:5] == "data:":
        inlined["data"] = data.partition(",")[2]
    return inlined


def _cell(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else exact_dumps(value)


def _safe(value: JSON) -> str:
    return _cell(value) if _is_number(value) else str(safe_cell(_cell(value)))


def _is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _taken(buffer: io.StringIO) -> bytes:
    """What was written; lone surrogates cannot stand in UTF-8 and become "?"."""
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode("utf-8", "replace")
