"""The files of the corpus, and reading one of them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

from assay.data.records import Detected
from assay.data.tabular import (
    HEAD_BYTES,
    Limits,
    Overrides,
    Problem,
    RowRead,
    read,
    sniff,
)

FOLDER = Path(__file__).parent.parent / "data" / "cases" / "data"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")


class Reading(NamedTuple):
    detected: Detected
    rows: list[RowRead]
    problems: list[Problem]

    @property
    def values(self):
        return [row.values for row in self.rows]


def upload_name(name: str) -> str:
    """The name under which a file is uploaded: those of a JSON test suite are lines."""
    return f"{Path(name).stem}.jsonl" if name.startswith("jts_") else name


def reading(name: str, **overrides) -> Reading:
    return reading_of((FOLDER / name).read_bytes(), upload_name(name), **overrides)


def reading_of(data: bytes, name: str, **overrides) -> Reading:
    detected = sniff(data[:HEAD_BYTES], name, Overrides(**overrides))
    found = list(read(io.BytesIO(data), detected, Limits()))
    rows = [item for item in found if isinstance(item, RowRead)]
    return Reading(detected, rows, [p for p in found if isinstance(p, Problem)])
