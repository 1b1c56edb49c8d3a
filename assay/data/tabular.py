"""Reading CSV and JSONL files: what a file is, and its rows one after the other.

Nothing here raises because of what is in a file: a file that is something else, a
wrong line, a broken encoding are `Problem`s that name the line. Memory is bounded by
one row. Values stay what they were: a CSV cell is text, a JSON value is itself.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from assay.data import csv_reader, encodings, filetypes, jsonl_reader
from assay.data.lines import Lines
from assay.data.records import Detected, Format, Limits, Problem, RowRead

HEAD_BYTES = 256 * 1024
DELIMITERS = ",;\t|"
JSON_NAMES = {".jsonl", ".json", ".ndjson", ".jsonlines"}
_SEP_LINE = re.compile(r'"?sep=(.)"?[ \t]*(\r\n|\r|\n|$)', re.IGNORECASE)
_SAMPLE_RECORDS = 50

__all__ = [
    "HEAD_BYTES",
    "Detected",
    "Limits",
    "Problem",
    "RowRead",
    "read",
    "sniff",
]


def sniff(head: bytes, name: str, *, encoding: str | None = None) -> Detected:
    """What the file is that begins with `head` and is called `name`.

    `encoding` overrides what would be detected; the content decides everything else,
    the name only what the content leaves open.
    """
    by_name: Format = "jsonl" if _suffix(name) in JSON_NAMES else "csv"
    found = encodings.detect(head)
    chosen = encodings.Encoding(encoding) if encoding else found
    refusal = filetypes.foreign(head)
    if refusal is None and not found.name.startswith(("utf-16", "utf-32")):
        refusal = filetypes.binary(head)
    if refusal is not None:
        return Detected(by_name, chosen.name, refusal=refusal)
    text = encodings.decode_head(head, chosen.name)
    if not text.strip("\ufeff \t\r\n"):
        return Detected(by_name, chosen.name, refusal=EMPTY)
    kind = _format(text, by_name)
    skip_lines, delimiter = _delimiter(text) if kind == "csv" else (0, "")
    return Detected(
        kind,
        chosen.name,
        delimiter=delimiter,
        has_bom=found.has_mark,
        newline=_newline(text),
        is_guess=chosen.is_guess,
        skip_lines=skip_lines,
    )


EMPTY = Problem("empty_file", "The file is empty.", is_fatal=True)


def read(
    file: BinaryIO, detected: Detected, limits: Limits
) -> Iterator[RowRead | Problem]:
    """The rows of `file` from its beginning, and what is wrong with it."""
    if detected.refusal is not None:
        yield detected.refusal
        return
    if detected.is_guess:
        yield Problem(
            "encoding_guessed",
            f"The file was read as {detected.encoding_label}. "
            "Check the preview, or choose another encoding.",
            is_warning=True,
        )
    lines = Lines(file, detected.encoding, limits.raw_row_bytes)
    reader = jsonl_reader if detected.format == "jsonl" else csv_reader
    yield from reader.read(lines, detected, limits)


def _suffix(name: str) -> str:
    return PurePath(name.lower()).suffix


def _format(text: str, by_name: Format) -> Format:
    """By the first line with content; the name decides what begins like neither."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("{"):
        opens_like_json = re.match(r"\{\s*[\"'}]|\{\s*$", start) is not None
        return "jsonl" if opens_like_json else by_name
    if start.startswith("["):
        opens_like_json = re.match(r"\[\s*[\[{\"\]\d-]|\[\s*$", start) is not None
        return "jsonl" if opens_like_json else by_name
    return by_name


def _newline(text: str) -> str:
    found = re.search(r"\r\n|\r|\n", text)
    return found[0] if found else "\n"


def _delimiter(text: str) -> tuple[int, str]:
    """Lines to skip, and the delimiter: Excel's hint, else what splits most evenly."""
    text = text.lstrip("\ufeff")
    hint = _SEP_LINE.match(text)
    if hint:
        return 1, hint[1]
    return 0, max(DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[float, int]:
    """How well it explains `text`: (share of rows like the header, columns)."""
    csv_reader.allow_large_fields()
    counts: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for record in reader:
            if record:
                counts.append(len(record))
            if len(counts) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    if not counts or counts[0] < 2:
        return 0.0, 0
    rows = counts[1:-1] or counts[1:]
    if not rows:
        return 1.0, counts[0]
    return sum(n == counts[0] for n in rows) / len(rows), counts[0]
