"""What a person says about a file goes before what is detected."""

from __future__ import annotations

import io

import pytest

from assay.data.records import Limits, Problem, RowRead
from assay.data.tabular import HEAD_BYTES, Overrides, read, sniff


def found_in(text, name="x.csv", **overrides):
    data = text.encode()
    detected = sniff(data[:HEAD_BYTES], name, Overrides(**overrides))
    found = list(read(io.BytesIO(data), detected, Limits()))
    values = [item.values for item in found if isinstance(item, RowRead)]
    return detected, values, [item for item in found if isinstance(item, Problem)]


def test_the_delimiter_can_be_told():
    text = "a,b;c,d\n1,2;3,4\n"
    assert found_in(text)[1] == [{"a": "1", "b;c": "2;3", "d": "4"}]
    assert found_in(text, delimiter=";")[1] == [{"a,b": "1,2", "c,d": "3,4"}]


@pytest.mark.parametrize("delimiter", ["::", '"', "\n"])
def test_what_cannot_separate_columns_is_refused(delimiter):
    with pytest.raises(ValueError, match="cannot separate columns"):
        Overrides(delimiter=delimiter)


def test_a_file_without_a_header_keeps_its_first_row():
    _, values, problems = found_in("1,2\n3,4\n", has_header=False)
    assert values == [
        {"column_1": "1", "column_2": "2"},
        {"column_1": "3", "column_2": "4"},
    ]
    assert [p.message for p in problems] == [
        "The file was read without a header row. Its columns: column_1 … column_2."
    ]


def test_more_values_than_the_first_row_are_named():
    problem = found_in("1,2\n3,4,5\n", has_header=False)[2][-1]
    assert problem.message == "Line 2 has 3 values, but the first row has 2 columns."


def test_lines_before_the_header_are_skipped_and_counted():
    text = "# a comment, with a comma\n# another\nx;y\n1;2\n3;4;5\n"
    detected, values, problems = found_in(text, skip_lines=2)
    assert (detected.delimiter, values) == (";", [{"x": "1", "y": "2"}])
    assert [p.line for p in problems] == [5]


def test_lines_before_json_are_skipped_as_well():
    text = '// made by a tool\n{"a": 1}\n{"a": \n'
    _, values, problems = found_in(text, "x.jsonl", skip_lines=1)
    assert values == [{"a": 1}]
    assert [p.line for p in problems] == [3]
    text = '// made by a tool\n[{"a": 1},\n{"a": x}]\n'
    _, values, problems = found_in(text, "x.jsonl", skip_lines=1)
    assert values == [{"a": 1}]
    assert [p.line for p in problems] == [None, 3]


def test_more_lines_than_the_file_has_leave_nothing():
    assert [p.code for p in found_in("a\n1\n", skip_lines=9)[2]] == ["empty_file"]


def test_json_in_cells_is_read_only_on_request():
    text = 'a,b\n"{""n"":1.50,""n2"":[1]}","[1,"\n"{""x"":1,""x"":2}"," [] "\n'
    plain = found_in(text)[1]
    assert plain[0]["a"] == '{"n":1.50,"n2":[1]}'
    _, values, problems = found_in(text, read_json=True)
    assert values == [
        {"a": {"n": 1.5, "n2": [1]}, "b": "[1,"},
        {"a": '{"x":1,"x":2}', "b": []},
    ]
    assert str(values[0]["a"]["n"]) == "1.50"
    assert problems == []


def test_what_was_told_is_stored_with_the_report():
    detected = found_in(
        "#\n1;2\n", delimiter=";", has_header=False, skip_lines=1, read_json=True
    )[0]
    told = detected.as_json()
    assert told["delimiter"] == ";"
    assert (told["has_header"], told["skip_lines"]) == (False, 1)
    assert (told["read_json"], told["is_document"]) == (True, False)
