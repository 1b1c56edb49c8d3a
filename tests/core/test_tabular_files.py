from __future__ import annotations

import codecs
import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import exact
from assay.data.records import Limits
from assay.data.tabular import read, sniff
from tests.core.test_tabular import codes, only_problem, reading, values

# Files that are something else


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", "empty_file", "The file is empty."),
        (b"  \r\n \n", "empty_file", "The file is empty."),
        (codecs.BOM_UTF8, "empty_file", "The file is empty."),
        (
            b"PK\x03\x04..xl/workbook.xml",
            "xlsx",
            "This is an Excel file. Save it as CSV",
        ),
        (b"PK\x03\x04rows.csv", "zip", "This is a ZIP archive."),
        (b"\x1f\x8b\x08\x00rest", "gzip", "compressed (gzip)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls", "old Office file"),
        (b"%PDF-1.7\n", "pdf", "PDF document"),
        (b"\x89PNG\r\n\x1a\n....", "png", "This is an image (PNG)."),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "wav", "This is an audio file (WAV)."),
        (b"<!DOCTYPE html><title>Sign in</title>", "html", "web page (HTML)"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "lfs_pointer", "Git LFS"),
        (b"PAR1\x15\x04", "parquet", "type Parquet"),
        (bytes(range(256)) * 4, "binary", "binary file"),
    ],
)
@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_it_names_what_the_file_is(data, code, words, name):
    problem = only_problem(data, name)
    assert (problem.code, problem.is_fatal) == (code, True)
    assert words in problem.message


def test_content_decides_more_than_the_name():
    assert values('{"a": 1}\n', "rows.csv") == [{"a": 1}]
    assert reading("a;b\n1;2\n", "rows.txt")[0].format == "csv"


# Limits


def test_too_many_rows_ends_the_reading():
    limits = Limits(rows=3)
    for text, name in [("a\n1\n2\n3\n4\n5\n", "x.csv"), ('{"a":1}\n' * 5, "x.jsonl")]:
        _, rows, problems = reading(text, name, limits=limits)
        assert len(rows) == 3
        assert problems[-1].message == (
            "The file has more than 3 rows. Split it or upload fewer rows."
        )


def test_too_many_columns_is_refused():
    limits = Limits(columns=2)
    assert codes("a,b,c\n1,2,3\n", limits=limits) == ["too_many_columns"]
    text = '{"a":1,"b":2}\n{"c":3}\n'
    assert codes(text, "x.jsonl", limits=limits) == ["too_many_columns"]


def test_a_line_above_the_limit_does_not_lose_the_others():
    limits = Limits(raw_row_bytes=1000)
    text = '{"a":1}\n{"a":"' + "x" * 5000 + '"}\n{"a":2}\n'
    _, rows, problems = reading(text, "x.jsonl", limits=limits)
    assert [row.line for row in rows] == [1, 3]
    assert [(p.code, p.line) for p in problems] == [("line_too_long", 2)]


class _Endless(io.RawIOBase):
    """A file of many megabytes that is never in memory."""

    def __init__(self, line: bytes, times: int) -> None:
        self.line, self.left, self.rest = line, times, b""

    def seekable(self):
        return True

    def seek(self, *_args):
        return 0

    def read(self, size=-1):
        while self.left and len(self.rest) < size:
            self.rest += self.line
            self.left -= 1
        data, self.rest = self.rest[:size], self.rest[size:]
        return data


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("x.jsonl", json.dumps({"a": "x" * 4000}).encode() + b"\n"),
        ("x.csv", b"x" * 4000 + b",y\n"),
    ],
)
def test_memory_is_bounded_by_one_row(name, line):
    detected = sniff(line * 20, name)
    tracemalloc.start()
    try:
        read_rows = sum(1 for _ in read(_Endless(line, 10_000), detected, Limits()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read_rows >= 9_999
    assert peak < 5_000_000


# Anything at all


def _lines_of(data):
    return data.count(b"\n") + data.count(b"\r") + 1


@given(st.binary(max_size=400), st.sampled_from(["x.csv", "x.jsonl", "x", "x.txt"]))
@settings(max_examples=400)
def test_it_never_raises_and_always_names_a_line(data, name):
    _, rows, problems = reading(data, name)
    for row in rows:
        assert 1 <= row.line <= _lines_of(data)
        exact.loads(exact.dumps(row.values))
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    for problem in problems:
        assert problem.message
        about_a_line = not problem.is_warning and not problem.is_fatal
        assert problem.line is not None or not about_a_line


@given(
    st.lists(
        st.sampled_from(
            [
                '{"a":1}',
                '{"a":',
                '"',
                ",",
                "\n",
                "\r",
                "é",
                "\ud83d\ude00",
                "[",
                "}",
                "x",
            ]
        ),
        max_size=30,
    ),
    st.sampled_from(["utf-8", "utf-16", "latin-1"]),
    st.sampled_from(["x.csv", "x.jsonl"]),
)
@settings(max_examples=300)
def test_it_never_raises_on_almost_good_text(pieces, encoding, name):
    data = "".join(pieces).encode(encoding, "replace")
    reading(data, name)
