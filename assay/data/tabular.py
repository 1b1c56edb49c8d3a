"""Reading CSV and JSONL files: what a file is, and its rows one after the other.

Nothing here raises because of what is in a file: a file that is something else, a
wrong line, a broken encoding are `Problem`s that name the line. Memory is bounded by
one row. Values stay what they were: a CSV cell is text, a JSON value is itself.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from assay.data import csv_reader, encodings, filetypes, json_document, jsonl_reader
from assay.data.csv_records import allow_large_fields
from assay.data.lines import Lines
from assay.data.records import Detected, Format, Limits, Overrides, Problem, RowRead

HEAD_BYTES = 256 * 1024
DELIMITERS = ",;\t|"
JSON_NAMES = {".jsonl", ".json", ".ndjson", ".jsonlines"}
_SEP_LINE = re.compile(r'"?sep=([^"\r\n\0])"?[ \t]*(\r\n|\r|\n|$)', re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_SAMPLE_RECORDS = 50
_BLANKS = "\ufeff \t\r\n"
EMPTY = Problem("empty_file", "The file is empty.", is_fatal=True)

__all__ = [
    "HEAD_BYTES",
    "Detected",
    "Limits",
    "Overrides",
    "Problem",
    "RowRead",
    "read",
    "sniff",
]

AS_DETECTED = Overrides()


def sniff(head: bytes, name: str, overrides: Overrides = AS_DETECTED) -> Detected:
    """What the file is that begins with `head` and is called `name`.

    The content decides what `overrides` leave open, the name only what the content
    leaves open.
    """
    by_name: Format = "jsonl" if _suffix(name) in JSON_NAMES else "csv"
    found = encodings.detect(head)
    encoding = found
    if overrides.encoding:
        encoding = encodings.Encoding(overrides.encoding, has_mark=found.has_mark)
    refusal = filetypes.foreign(head)
    if refusal is None and not found.name.startswith(("utf-16", "utf-32")):
        refusal = filetypes.binary(head)
    if refusal is not None:
        return Detected(by_name, encoding.name, refusal=refusal)
    text = encodings.decode_head(head, encoding.name).lstrip("\ufeff")
    if not text.strip(_BLANKS):
        return Detected(by_name, encoding.name, refusal=EMPTY)
    skip_lines, delimiter = _hint(text, overrides)
    rest = _without_lines(text, skip_lines)
    kind = _format(rest, by_name)
    is_csv = kind == "csv"
    return Detected(
        kind,
        encoding.name,
        delimiter=(delimiter or _delimiter(rest)) if is_csv else "",
        has_bom=encoding.has_mark,
        newline=_newline(text),
        is_guess=encoding.is_guess,
        skip_lines=skip_lines,
        has_header=overrides.has_header is not False,
        read_json=overrides.read_json and is_csv,
        is_document=not is_csv and _is_document(rest),
    )


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
    max_bytes = limits.raw_row_bytes
    lines = Lines(file, detected.encoding, max_bytes, skip=detected.skip_lines)
    if detected.format == "csv":
        yield from csv_reader.read(lines, detected, limits)
    elif detected.is_document:
        yield from json_document.read(lines, limits)
    else:
        yield from jsonl_reader.read(lines, limits)


def _suffix(name: str) -> str:
    return PurePath(name.lower()).suffix


def _format(text: str, by_name: Format) -> Format:
    """By the first line with content; the name decides what begins like neither."""
    start = text.lstrip(_BLANKS)
    if start.startswith("{"):
        opens_like_json = re.match(r"\{\s*[\"'}]|\{\s*$", start) is not None
        return "jsonl" if opens_like_json else by_name
    if start.startswith("["):
        opens_like_json = re.match(r"\[\s*[\[{\"\]\d-]|\[\s*$", start) is not None
        return "jsonl" if opens_like_json else by_name
    return by_name


def _is_document(text: str) -> bool:
    """True when the rows are not lines: an array, or an object that goes on.

    The first line then is the beginning of JSON, and what follows continues it.
    """
    start = text.lstrip(_BLANKS)
    if start.startswith("["):
        return True
    first, _, rest = start.partition(_newline(start))
    if not start.startswith("{") or not rest.strip(_BLANKS) or not _goes_on(first):
        return False
    continues = first.rstrip().endswith(("{", "[", ",", ":"))
    return continues or rest.lstrip(_BLANKS).startswith((",", ":", "}", "]"))


def _goes_on(line: str) -> bool:
    """True when `line` is valid JSON as far as it goes, but has no end."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return error.msg != "Extra data" and line[error.pos :].strip() in ("", ",")
    except (ValueError, RecursionError):
        return False
    return False


def _newline(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def _without_lines(text: str, skip_lines: int) -> str:
    at = 0
    for _ in range(skip_lines):
        end = _LINE_END.search(text, at)
        if end is None:
            return ""
        at = end.end()
    return text[at:]


def _hint(text: str, overrides: Overrides) -> tuple[int, str]:
    """Lines to skip, and the delimiter when it is told, by a person or by Excel."""
    hint = _SEP_LINE.match(text)
    skip_lines = overrides.skip_lines
    if skip_lines is None:
        skip_lines = 1 if hint else 0
    delimiter = overrides.delimiter or (hint[1] if hint and skip_lines else "")
    return skip_lines, delimiter


def _delimiter(text: str) -> str:
    """What splits the text most evenly."""
    return max(DELIMITERS, key=lambda delimiter: _evenness(text, delimiter))


def _evenness(text: str, delimiter: str) -> tuple[float, int]:
    """How well it explains `text`: (share of rows like the header, columns)."""
    allow_large_fields()
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
