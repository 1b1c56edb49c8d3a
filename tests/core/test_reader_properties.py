"""What holds for any table: it reads back as it was written, however that was."""

from __future__ import annotations

import csv
import io
import json
from unittest import mock

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from assay.data import exact, json_exact, json_fast, lines
from assay.data.csv_records import Records
from assay.data.records import Limits, Problem, RowRead
from assay.data.rowtext import row_digest, row_text, text_of
from assay.data.tabular import HEAD_BYTES, Overrides, read, sniff


def found_in(data, name, **overrides):
    detected = sniff(data[:HEAD_BYTES], name, Overrides(**overrides))
    return list(read(io.BytesIO(data), detected, Limits()))


def values_in(data, name, **overrides):
    found = found_in(data, name, **overrides)
    wrong = [p for p in found if isinstance(p, Problem) and not p.is_warning]
    assert wrong == []
    return [item.values for item in found if isinstance(item, RowRead)]


# CSV

DELIMITERS = [",", ";", "\t", "|"]
ENDS = ["\n", "\r\n", "\r"]
MARKED = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
LEGACY = ["cp1252", "gb18030", "shift_jis"]


@st.composite
def tables(draw, without=""):
    """A header, and rows of text that are not empty."""
    width = draw(st.integers(1, 5))
    plain = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=without)
    special = [c for c in ",;\t|\"\n\r \u2028\x85'" if c not in without]
    cell = st.text(plain | st.sampled_from(special), max_size=8)
    row = st.lists(cell, min_size=width, max_size=width).filter(any)
    return [
        [f"c{i}" for i in range(width)],
        *draw(st.lists(row, min_size=1, max_size=6)),
    ]


def written(table, **dialect):
    text = io.StringIO()
    csv.writer(text, **dialect).writerows(table)
    return text.getvalue()


def as_rows(table):
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


@given(tables(), *map(st.sampled_from, (DELIMITERS, ENDS, MARKED)))
@settings(max_examples=300)
def test_a_quoted_table_reads_back(table, delimiter, end, encoding):
    text = written(
        table, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL
    )
    data = text.encode(encoding)
    assert values_in(data, "x.csv", delimiter=delimiter) == as_rows(table)


@given(
    st.sampled_from(ENDS).flatmap(
        # In a cell that is not quoted, any line end ends the row.
        lambda end: st.tuples(st.just(end), tables("".join({"\n", "\r"} - {*end})))
    ),
    st.sampled_from(DELIMITERS),
    st.sampled_from(MARKED),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
)
@settings(max_examples=300)
def test_a_table_with_few_quotation_marks_reads_back(case, delimiter, encoding, style):
    end, table = case
    text = written(table, delimiter=delimiter, lineterminator=end, quoting=style)
    data = text.encode(encoding)
    assert values_in(data, "x.csv", delimiter=delimiter) == as_rows(table)


@given(tables(without='"\r'), st.sampled_from(DELIMITERS))
def test_a_table_that_never_doubles_quotation_marks_reads_back(table, delimiter):
    text = written(table, delimiter=delimiter, doublequote=False, lineterminator="\n")
    assert values_in(text.encode(), "x.csv", delimiter=delimiter) == as_rows(table)


@given(tables(), st.sampled_from(LEGACY))
@settings(max_examples=200)
def test_a_table_in_a_chosen_encoding_reads_back(table, encoding):
    def kept(cell):
        return cell.encode(encoding, "replace").decode(encoding)

    table = [[kept(cell) for cell in row] for row in table]
    text = written(table, quoting=csv.QUOTE_ALL)
    data = text.encode(encoding)
    assume(data.decode(encoding) == text)
    found = values_in(data, "x.csv", delimiter=",", encoding=encoding)
    assert found == as_rows(table)


@given(
    st.text(st.sampled_from('ab,;"\n\r\t \0é\u2028'), max_size=40),
    st.sampled_from(DELIMITERS),
)
@settings(max_examples=800)
@example('a"b,"c\n","d""\r\n', ",")
def test_records_are_those_of_the_csv_module(text, delimiter):
    found = Records(
        lines.Lines(io.BytesIO(text.encode()), "utf-8", 999), delimiter, LIMITS
    )
    expected = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert list(found) == list(expected)


LIMITS = Limits()


@given(tables())
def test_without_a_header_the_first_row_is_a_row(table):
    text = written(table, quoting=csv.QUOTE_ALL)
    found = values_in(text.encode(), "x.csv", delimiter=",", has_header=False)
    assert [list(row.values()) for row in found] == table
    assert list(found[0]) == [f"column_{i + 1}" for i in range(len(table[0]))]


# JSON

NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6
).filter(str.strip)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(['"', '\\"', ":", '":', '": ', "\\", "\0", "é", "\u2028", "-0"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
ROWS = st.lists(
    st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), min_size=1, max_size=5
)
STYLES = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :\t")]),
    }
)


def same(one, other):
    """Equal, and of the same types in the same order."""
    return repr(one) == repr(other)


@given(ROWS, STYLES, st.sampled_from(MARKED), st.sampled_from(ENDS))
@settings(max_examples=400)
def test_rows_of_json_read_back(rows, style, encoding, end):
    text = end.join(json.dumps(row, **style) for row in rows)
    assert same(values_in(text.encode(encoding), "x.jsonl"), rows)


@given(ROWS, st.sampled_from([None, 0, 2]), st.booleans(), st.sampled_from(MARKED))
@settings(max_examples=300)
def test_rows_of_a_json_document_read_back(rows, indent, is_array, encoding):
    texts = [json.dumps(row, indent=2, ensure_ascii=False) for row in rows]
    text = json.dumps(rows, indent=indent) if is_array else "\n".join(texts)
    assert same(values_in(text.encode(encoding), "x.json"), rows)


NUMBERS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True
)


@given(st.lists(NUMBERS, min_size=1, max_size=4))
@settings(max_examples=400)
def test_numbers_are_stored_with_the_digits_of_the_file(numbers):
    first = '{"x":"","n":[]}\n'
    line = f'{{"x":{numbers[0]},"n":[{",".join(numbers)}]}}'
    row = found_in((first + line).encode(), "x.jsonl")[1]
    assert text_of(row, row.values) == line
    assert exact.dumps(exact.loads(line)) == line


PIECES = st.lists(
    st.sampled_from(
        [
            *'{}[]:,"\\ \t01-.e',
            *('"a"', '"b":', '"a":', '"a" :', '{"a":1}', '{"a":1,', '"":', "null"),
            *("-0", "-0,", "1.0", "1e5", "1" * 20, "true", "NaN", "é", "\\u0022"),
            *('\\"', "\\\\", "\\u0000", "\\ud800", "\\ud83d\\ude00", '":', "\\u00e9"),
        ]
    ),
    max_size=14,
)


@given(
    PIECES.map("".join) | ROWS.map(lambda rows: json.dumps(rows[0])), st.integers(1, 4)
)
@settings(max_examples=1500)
@example('{"a" : 1, "a" : 2, "b": ":x"}', 4)
@example('{"a":"\\u0022\\u0022","a":"b"}', 4)
@example('{"x":[{"a":1,"a":2}]}', 4)
@example('{"a":-0}', 4)
@example('{"a":1.10}', 4)
@example('{"a":1.192092896e-07}', 4)
@example('{"a":[1e16,1.5e-7,0.00001,1e400]}', 4)
@example('{"a":false,"b":"-0 "}', 4)
def test_the_fast_way_agrees_with_the_exact_way(text, depth):
    line = text.encode()
    fast = json_fast.decode([line], line, depth)
    if fast is not None:
        assert same(fast.rows, [json_exact.decode(text, 1, depth)])
        assert fast.texts[0].decode() == exact.dumps(fast.rows[0])


@given(ROWS, STYLES)
@settings(max_examples=300)
def test_all_writers_write_alike(rows, style):
    text = "\n".join(json.dumps(row, **style) for row in rows)
    for row in found_in((text + "\n" + text).encode(), "x.jsonl"):
        if not isinstance(row, RowRead):
            continue
        stored = text_of(row, row.values)
        assert stored == row_text(row.values)
        assert same(exact.loads(stored), row.values)
        stored.encode()
        assert "\0" not in stored
        digest = row_digest(row.values, is_exact=row.is_exact)
        turned = dict(reversed(row.values.items()))
        assert digest == row_digest(turned) == row_digest(turned, is_exact=True)


# Blocks


def messages_and_rows(data, name, size):
    with mock.patch.object(lines, "BLOCK_BYTES", size):
        found = found_in(data, name)
    return [
        item if isinstance(item, Problem) else (item.number, item.line, item.values)
        for item in found
    ]


CONTENT = st.lists(
    st.sampled_from(
        ['{"a":1}', '{"a":"é"}', "{", "}", "[", "]", '"', ",", "a", "\n", "\r", "\r\n"]
        + ["é", "😀", "\0", " ", "b;c"]
    ),
    max_size=30,
).map("".join)


@given(
    CONTENT,
    st.sampled_from([*MARKED, "utf-16-le", "cp1252", "gb18030"]),
    st.sampled_from(["x.csv", "x.jsonl", "x.json"]),
    st.integers(1, 9),
)
@settings(max_examples=600)
def test_the_size_of_a_block_never_matters(text, encoding, name, size):
    data = text.encode(encoding, "replace")
    whole = messages_and_rows(data, name, 1000)
    assert messages_and_rows(data, name, size) == whole


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
@pytest.mark.parametrize("size", [1, 5, 64, 100_000])
def test_a_broken_byte_names_its_line_whatever_the_size_of_a_block(encoding, size):
    text = "a,b\n" + "é,1\n" * 50
    bad = {"utf-8": b"\xff", "utf-16": b"\x00\xd8", "gb18030": b"\xff"}[encoding]
    data = text.encode(encoding) + bad + ",2\n".encode(encoding.replace("16", "16-le"))
    detected = sniff(data, "x.csv", Overrides(encoding=encoding))
    with mock.patch.object(lines, "BLOCK_BYTES", size):
        found = list(read(io.BytesIO(data), detected, Limits()))
    assert found[-1].code == "encoding"
    assert found[-1].line == 52
    assert len(found) == 51
