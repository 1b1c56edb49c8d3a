"""What a reader of tables takes and gives: limits, rows, problems, findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from assay.data.jsonx import JSON, JSONObject

Format = Literal["csv", "jsonl"]
MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read. `raw_row_bytes` bounds one row as it stands in the file.

    Media are still inside then; the limit of a row without its media is kept by
    whoever takes the media out.
    """

    rows: int = 100_000
    columns: int = 2000
    raw_row_bytes: int = 64 * MB
    row_bytes: int = 2 * MB
    medium_bytes: int = 20 * MB
    depth: int = 200


class RowRead(NamedTuple):
    """One row. `number` counts rows, `line` is where it begins in the file.

    `is_exact` is false when it is certain that every writer of JSON writes the row
    alike: no number has an exponent, an odd fraction or more than 64 bits, no text has
    half a character. `text` is the row as it is stored, where reading made that anyway.
    """

    number: int
    line: int
    values: JSONObject
    is_exact: bool = True
    text: bytes | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in the file, or worth saying about it.

    `line` counts as an editor counts, `row` counts rows. A warning does not stop
    the import. After a fatal problem nothing more can be read.
    """

    code: str
    message: str
    line: int | None = None
    row: int | None = None
    column: str | None = None
    is_warning: bool = False
    is_fatal: bool = False

    def as_json(self) -> JSONObject:
        value: JSONObject = {"code": self.code, "message": self.message}
        places: dict[str, JSON] = {
            "line": self.line,
            "row": self.row,
            "column": self.column,
        }
        value.update({key: place for key, place in places.items() if place is not None})
        return value


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a person says about a file; what is left open is detected.

    `skip_lines` counts lines before the header or the first row that are not read.
    With `read_json` a cell of a CSV file that holds a JSON object or list is read as
    that. Raises `ValueError` for a delimiter that is not one usable character.
    """

    encoding: str | None = None
    delimiter: str | None = None
    has_header: bool | None = None
    skip_lines: int | None = None
    read_json: bool = False

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter and (len(delimiter) != 1 or delimiter in NO_DELIMITER):
            raise ValueError(f"{delimiter!r} cannot separate columns.")
        if self.skip_lines is not None and self.skip_lines < 0:
            raise ValueError("A number of lines cannot be negative.")


NO_DELIMITER = '"\r\n\0'


@dataclass(frozen=True, slots=True)
class Detected:
    """What the first bytes say about a file, and what a person said.

    `refusal` is set when it is no CSV or JSONL file at all; reading then gives that
    problem only. `is_guess` is true when the encoding was inferred from the text.
    `skip_lines` counts lines before the header (Excel's `sep=`, comments).
    `is_document` is true for JSON that does not stand on one line for each row.
    """

    format: Format
    encoding: str
    delimiter: str = ""
    has_bom: bool = False
    newline: str = "\n"
    is_guess: bool = False
    skip_lines: int = 0
    has_header: bool = True
    read_json: bool = False
    is_document: bool = False
    refusal: Problem | None = None

    @property
    def encoding_label(self) -> str:
        return ENCODING_LABELS.get(self.encoding, self.encoding)

    def as_json(self) -> JSONObject:
        return {
            "format": self.format,
            "encoding": self.encoding,
            "encoding_label": self.encoding_label,
            "delimiter": self.delimiter,
            "has_bom": self.has_bom,
            "newline": self.newline,
            "is_guess": self.is_guess,
            "skip_lines": self.skip_lines,
            "has_header": self.has_header,
            "read_json": self.read_json,
            "is_document": self.is_document,
        }


ENCODING_LABELS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with byte-order mark",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32 LE",
    "utf-32-be": "UTF-32 BE",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1252": "Windows-1252 (Western European)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "iso8859_7": "ISO 8859-7 (Greek)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
}
"""The encodings that a file can be read in, with the name that people know."""


def count(number: int, one: str, many: str | None = None) -> str:
    """ "1 value", "2,000 values"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number_of_bytes: int) -> str:
    """The size as people read it: "18.4 MB", "96 KB"."""
    if number_of_bytes >= MB:
        return f"{number_of_bytes / MB:,.1f}".removesuffix(".0") + " MB"
    return f"{max(1, round(number_of_bytes / 1024))} KB"


def lines_note(code: str, lines: list[int], what: str) -> Problem:
    """A warning about these lines: "Line 3 has …", "2 rows have …: lines 3, 5."

    `what` begins with a word that fits one and many: "has|have a NUL character".
    """
    verb, _, rest = what.partition(" ")
    one, _, many = verb.partition("|")
    shown = ", ".join(f"{line:,}" for line in lines[:10])
    if len(lines) == 1:
        message = f"Line {shown} {one} {rest}."
    elif len(lines) <= 10:
        message = f"{len(lines)} rows {many} {rest}: lines {shown}."
    else:
        message = f"{len(lines):,} rows {many} {rest}: lines {shown} and more."
    return Problem(code, message, line=lines[0], is_warning=True)
