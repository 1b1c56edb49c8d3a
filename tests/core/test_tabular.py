from __future__ import annotations

import codecs
import csv
import io
import json
import tracemalloc

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import exact, jsonx
from assay.data.records import Limits, Problem, RowRead
from assay.data.tabular import HEAD_BYTES, read, sniff


def reading(data, name="rows.csv", *, encoding=None, limits=None):
    if isinstance(data, str):
        data = data.encode()
    detected = sniff(data[:HEAD_BYTES], name, encoding=encoding)
    found = list(read(io.BytesIO(data), detected, limits or Limits()))
    rows = [item for item in found if isinstance(item, RowRead)]
    problems = [item for item in found if isinstance(item, Problem)]
    return detected, rows, problems


def values(data, name="rows.csv", **options):
    return [row.values for row in reading(data, name, **options)[1]]


def codes(data, name="rows.csv", **options):
    return [problem.code for problem in reading(data, name, **options)[2]]


def only_problem(data, name="rows.csv", **options):
    problems = reading(data, name, **options)[2]
    assert len(problems) == 1, problems
    return problems[0]


# CSV

DELIMITERS = [",", ";", "\t", "|"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp1252"]
TABLE = [
    ["query", "réponse", "note"],
    ["Où êtes-vous ?", "à Genève, près du café", "007"],
    ['Il dit "non"', "deux\nlignes ; et | plus\tencore", ""],
    ["déjà", "été", "NA"],
]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_it_reads_each_delimiter_in_each_encoding(delimiter, encoding):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(TABLE)
    data = text.getvalue().encode(encoding)
    detected, rows, _problems = reading(data)
    assert detected.delimiter == delimiter
    assert [list(row.values.values()) for row in rows] == TABLE[1:]
    assert [list(row.values) for row in rows] == [TABLE[0]] * 3


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32"])
def test_it_recognises_wide_encodings_without_a_mark(encoding):
    assert values("query,n\nWhere?,1\n".encode(encoding)) == [
        {"query": "Where?", "n": "1"}
    ]


def test_cells_stay_text():
    data = "id,a,b,c\n007,NA,1e5,TRUE\n08,null,12345678901234567890,\n"
    assert values(data) == [
        {"id": "007", "a": "NA", "b": "1e5", "c": "TRUE"},
        {"id": "08", "a": "null", "b": "12345678901234567890", "c": ""},
    ]


def test_it_obeys_the_hint_line_of_excel():
    data = codecs.BOM_UTF8 + b"sep=;\r\nquery;response\r\na, b;c\r\n"
    detected, rows, problems = reading(data)
    assert (detected.delimiter, detected.has_bom, problems) == (";", True, [])
    assert [(row.line, row.values) for row in rows] == [
        (3, {"query": "a, b", "response": "c"})
    ]


def test_a_quoted_line_break_does_not_end_a_row():
    _, rows, _ = reading('query,response\n"one\ntwo\r\nthree",x\nnext,y\n')
    assert rows[0].values["query"] == "one\ntwo\r\nthree"
    assert [row.line for row in rows] == [2, 5]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_it_reads_every_line_end(end):
    data = end.join(["a,b", "1,2", '3,"4"'])
    assert values(data) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_a_row_with_more_values_names_line_and_counts():
    _, rows, problems = reading("a,b\n1,2\n3,4,5\n6,7\n")
    assert len(rows) == 2
    assert problems[0].line == 3
    assert problems[0].message == "Line 3 has 3 values, but the header has 2 columns."


def test_a_row_with_fewer_values_lacks_columns():
    _, rows, problems = reading("a,b,c\n1,2\n")
    assert rows[0].values == {"a": "1", "b": "2"}
    assert problems[0].is_warning
    assert problems[0].message == "Line 2 has fewer values than the header."


def test_empty_header_cells_get_a_name_and_a_note():
    _, rows, problems = reading("id,,age\n1,x,30\n")
    assert rows[0].values == {"id": "1", "column_2": "x", "age": "30"}
    assert problems[0].message == (
        "Column 2 has no name in line 1. It is called column_2."
    )


def test_empty_columns_at_the_end_are_left_out():
    _, rows, problems = reading("a,b,,\n1,2,,\n3,4,5,\n")
    assert [row.values for row in rows] == [{"a": "1", "b": "2"}]
    assert [p.code for p in problems] == ["nameless_columns", "too_many_values"]


def test_a_repeated_column_is_refused():
    problem = only_problem("a,b,a\n1,2,3\n")
    assert problem.is_fatal
    assert problem.message.startswith('Line 1 has 2 columns called "a".')


def test_names_lose_what_cannot_be_seen():
    _, rows, problems = reading("\u200bquery, re\u00adsponse \nx,y\n")
    assert rows[0].values == {"query": "x", "response": "y"}
    assert [p.code for p in problems] == ["header_cleaned"] * 2


def test_empty_rows_are_skipped_and_counted():
    _, rows, problems = reading("a,b\n1,2\n,\n\n,\n3,4\n")
    assert [row.number for row in rows] == [1, 2]
    assert problems[0].message == "3 empty rows were skipped."


def test_a_quotation_mark_that_never_closes_names_its_line():
    _, rows, problems = reading('a,b\n1,2\n3,"4\n5,6\n')
    assert len(rows) == 1
    assert problems[0].message == (
        "Line 3 opens a quotation mark that is never closed."
    )


def test_a_large_cell_is_read():
    assert values(f"a,b\n{'x' * 300_000},y\n")[0]["a"] == "x" * 300_000


def test_a_row_above_the_limit_is_refused_with_its_line():
    limits = Limits(raw_row_bytes=10_000)
    data = 'a,b\n1,2\n"' + "x\n" * 20_000
    problem = reading(data, limits=limits)[2][-1]
    assert problem.is_fatal
    assert problem.line == 3


def test_nul_is_kept_and_said():
    _, rows, problems = reading("a,b\n1\0,2\n")
    assert rows[0].values["a"] == "1\0"
    assert problems[0].code == "nul"


def test_a_header_without_rows():
    assert only_problem("query,response\n").message == (
        "The file has a header but no rows."
    )


def test_a_single_column_needs_no_delimiter():
    assert values('query\n"one, two"\nthree\n') == [
        {"query": "one, two"},
        {"query": "three"},
    ]


def test_a_text_with_semicolons_does_not_change_the_delimiter():
    data = "id,labels\n" + "".join(f"{i},a;b;c\n" for i in range(20))
    assert reading(data)[0].delimiter == ","


PLAIN = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"), max_size=12
)


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(PLAIN, min_size=width, max_size=width).filter(any),
            min_size=1,
            max_size=8,
        )
    )
)
@settings(max_examples=150)
def test_it_agrees_with_pandas_on_plain_files(table):
    header = [f"c{i}" for i in range(len(table[0]))]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [header, *table]
    )
    frame = pd.read_csv(
        io.StringIO(text.getvalue()), dtype=str, keep_default_na=False, na_filter=False
    )
    assert values(text.getvalue()) == frame.to_dict("records")


# Encodings


def test_a_guessed_encoding_is_said():
    data = "query;antwort\nÜber Straße;schön\nDas für;größer\n".encode("cp1252")
    detected, rows, problems = reading(data)
    assert detected.is_guess
    assert rows[0].values["query"] == "Über Straße"
    assert problems[0].message == (
        "The file was read as Windows-1252 (Western European). "
        "Check the preview, or choose another encoding."
    )


GUESSES = [
    ("cp1252", "query,réponse\nOù êtes-vous ?,à Genève\n"),
    ("cp1252", "frage;antwort\nÜber Straße;schön größer\n"),
    ("cp1252", "pergunta,resposta\nVocê não está só,São três opções\n"),
    ("cp1250", "otázka,odpověď\nPříliš žluťoučký kůň,úpěl ďábelské ódy\n" * 5),
    ("cp1251", "вопрос,ответ\nГде находится ресторан?,На улице Ленина\n"),
    ("koi8_r", "вопрос,ответ\nГде находится ресторан?,На улице Ленина\n" * 3),
    ("cp1253", "ερώτηση,απάντηση\nΠού είναι το εστιατόριο;,Στο κέντρο της πόλης\n"),
    ("cp1254", "soru,cevap\nRestoran nerede açık mı?,Şehir merkezinde ışıl\n" * 4),
    ("cp932", "質問,回答\nレストランはどこですか,レストランは町の中心にあります\n"),
    ("gb18030", "问题,回答\n餐厅在哪里,餐厅在市中心的大街上\n"),
    ("cp949", "질문,답변\n식당이 어디에 있습니까,식당은 시내 중심에 있습니다\n"),
]


@pytest.mark.parametrize(("encoding", "text"), GUESSES)
def test_it_guesses_legacy_encodings(encoding, text):
    detected, rows, _ = reading(text.encode(encoding))
    assert (detected.encoding, detected.is_guess) == (encoding, True)
    assert text.splitlines()[0].startswith(next(iter(rows[0].values)))


def test_a_chosen_encoding_is_used():
    data = "имя,x\nда,1\n".encode("koi8_r")
    detected, rows, _ = reading(data, encoding="koi8_r")
    assert rows[0].values == {"имя": "да", "x": "1"}
    assert not detected.is_guess


def test_bytes_that_are_not_utf8_far_into_the_file_name_the_line():
    lines = [b"query,response"] + [b"plain,text"] * 40_000
    lines[30_000] = "caf\u00e9,x".encode("latin-1")
    _, rows, problems = reading(b"\n".join(lines))
    assert problems[-1].is_fatal
    assert problems[-1].line == 30_001
    assert problems[-1].message.startswith("Line 30,001 is not UTF-8 (byte 0xE9).")
    assert all(row.values["query"] == "plain" for row in rows)


def test_a_single_wrong_byte_in_utf8_is_reported_not_guessed_away():
    data = "query\n" + "déjà vu été\n" * 20
    broken = data.encode() + b"caf\xe9\n"
    assert reading(broken)[2][-1].line == 22


# JSON Lines


def rows_of(text, **options):
    return values(text, "rows.jsonl", **options)


def test_null_empty_and_absent_differ():
    assert rows_of('{"a": null, "b": ""}\n{"b": "x"}\n') == [
        {"a": None, "b": ""},
        {"b": "x"},
    ]


def test_numbers_keep_their_digits():
    line = (
        '{"a":12345678901234567890123,"b":1.50,"c":1e5,"d":0.1,'
        '"e":123456789.123456789012345,"f":[{"g":2.0E-7}],"h":-0.0}'
    )
    row = reading(line, "x.jsonl")[1][0]
    assert row.is_exact
    assert exact.dumps(row.values) == line
    assert exact.dumps(exact.loads(line)) == line
    assert row.values["b"] + 1 == 2.5
    assert str(row.values["b"]) == "1.50"


def test_ordinary_numbers_need_nothing_special():
    row = reading('{"a": 1, "b": 0.25, "c": 1.0}', "x.jsonl")[1][0]
    assert not row.is_exact
    assert type(row.values["b"]) is float


def test_line_numbers_count_empty_lines():
    _, rows, problems = reading('\n{"a": 1}\n\n  \n{"a": 2}', "x.jsonl")
    assert [(row.number, row.line) for row in rows] == [(1, 2), (2, 5)]
    assert problems[0].message == "3 empty lines were skipped."


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ('{"a": NaN}', "not_finite", "holds NaN"),
        ('{"a": [1, -Infinity]}', "not_finite", "holds -Infinity"),
        ('{"a": 1e999}', "not_finite", "holds 1e999"),
        ('{"a": 1, "b": 2, "a": 3}', "duplicate_key", 'the key "a" twice'),
        ('{"a": {"x": 1, "x": 2}}', "duplicate_key", 'the key "x" twice'),
        ("[1, 2]", "not_an_object", "is a list, not an object"),
        ('"text"', "not_an_object", "is a text, not an object"),
        ('{"a": 1},', "trailing_comma", "it ends with a comma"),
        ("{'a': 'b'}", "single_quotes", "single quotes"),
        ('{"a": None}', "python_literal", "None at character 7 is Python"),
        ('{"a": "b', "open_string", "no closing quotation mark"),
        ('{"a": 1', "cut_off", "ends too early"),
        ('{"a": "b" "c": 1}', "missing_comma", "character 11"),
        ('{"a" 1}', "missing_colon", "a colon is missing"),
        ('{"a": "b\tc"}', "control_character", "control character"),
        ('{"a": "\\q"}', "bad_escape", "no known escape"),
        ('{"a": 1} {"b": 2}', "extra_data", "follows the object"),
        ("hello", "not_json", "does not begin with {"),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", "too_deep", "deeper than 200"),
        ('{"a": ' + "[" * 50_000, "too_deep", "deeper than 200"),
        ('{"a": ' + "9" * 5000 + "}", "huge_number", "too many digits"),
        ('{"a\\u0000b": 1}', "bad_key", "no name for a column"),
        ('{"": 1}', "bad_key", "no name for a column"),
    ],
)
def test_a_wrong_line_is_named_with_its_reason(line, code, words):
    good = '{"q": 1}\n'
    _, rows, problems = reading(good + line + "\n" + good, "x.jsonl")
    assert [row.line for row in rows] == [1, 3]
    assert [(p.code, p.line) for p in problems] == [(code, 2)]
    assert words in problems[0].message


def test_a_text_broken_over_lines_is_one_problem():
    text = '{"a": 1}\n{"a": "first\nsecond\n\nthird"}\n{"a": 2}\n'
    _, rows, problems = reading(text, "x.jsonl")
    assert [row.line for row in rows] == [1, 6]
    assert [p.code for p in problems] == ["open_string"]


def test_a_hopeless_file_is_given_up():
    assert len(codes("nothing\n" * 500, "x.jsonl")) == 20


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=[])),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_values_survive_the_round_trip(value):
    line = jsonx.dumps({"value": value})
    row = reading(line, "x.jsonl")[1][0]
    written = (exact.dumps if row.is_exact else jsonx.dumps)(row.values)
    assert json.loads(written) == {"value": value}
    assert exact.loads(written) == row.values


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


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('[{"a": 1}, {"a": 2}]', "json_array"),
        ('[\n  {"a": 1},\n  {"a": 2}\n]\n', "json_array"),
        ('[{"a": 1},\n{"a": 2}]\n', "json_array"),
        ('{\n  "a": 1\n}\n', "pretty_json"),
        ('{"rows": [\n {"a": 1}\n]}', "pretty_json"),
    ],
)
def test_json_that_is_not_lines_is_one_problem(text, code):
    problem = only_problem(text, "rows.jsonl")
    assert (problem.code, problem.is_fatal) == (code, True)


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
