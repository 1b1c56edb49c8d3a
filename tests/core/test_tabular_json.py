from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import exact, jsonx
from assay.data.records import Limits
from tests.core.test_tabular import codes, reading, values

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
    assert type(row.values["b"]) is float
    text = '{"a": 1, "b": "0.25"}\n' * 2
    assert not reading(text, "x.jsonl")[1][1].is_exact


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
        ('{"a": 1},,', "extra_data", "something follows the object"),
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


# Documents: JSON that does not stand on one line for each row


@pytest.mark.parametrize(
    ("text", "code", "rows"),
    [
        ('[{"a": 1}, {"a": 2}]', "json_array", [(1, {"a": 1}), (1, {"a": 2})]),
        (
            '\n[\n {"a": 1},\n {"a": 2}\n]\n',
            "json_array",
            [(3, {"a": 1}), (4, {"a": 2})],
        ),
        ('{\n  "a": "}{"\n}\n', "json_document", [(1, {"a": "}{"})]),
        ('{"rows": [\n {"a": 1}\n]}', "json_document", [(1, {"rows": [{"a": 1}]})]),
        ('{\n"a": 1\n}\n{\n"a": 2\n}', "json_document", [(1, {"a": 1}), (4, {"a": 2})]),
        ('{"a": 1\n, "b": 2}', "json_document", [(1, {"a": 1, "b": 2})]),
    ],
)
def test_a_document_is_read_and_said(text, code, rows):
    _, found, problems = reading(text, "rows.jsonl")
    assert [(row.line, row.values) for row in found] == rows
    assert [(p.code, p.is_warning) for p in problems] == [(code, True)]


def test_an_array_says_that_it_is_no_json_lines():
    message = reading('[{"a": 1}]', "x.jsonl")[2][0].message
    assert message == "The file is a JSON array, not JSON Lines."


@pytest.mark.parametrize(
    ("text", "code", "line", "good"),
    [
        ("[1, 2]", "not_an_object", 1, 0),
        ('["a", "b"]\n["c", "d"]', "not_an_object", 1, 0),
        ("[]", "no_rows", None, 0),
        ('[{"a": 1},\n 2]', "not_an_object", 2, 1),
        ('[{"a": 1}\n {"a": 2}]', "missing_comma", 2, 1),
        ('[\n{"a": 1},\n{"a": ', "cut_off", 3, 1),
        ('[\n{"a": 1},\n', "cut_off", 3, 1),
        ('[{"a": 1}]\n[{"a": 2}]', "extra_data", 2, 1),
        ('[{"a": 1},\n{"a": NaN},\n{"a": 3}]', "not_finite", 2, 2),
        ('[\n{"a": 1,\n "a": 2},\n{"a": 3}]', "duplicate_key", 2, 1),
        ('[\n{"a": 1,\n "b": x},\n{"a": 3}]', "not_json", 3, 1),
    ],
)
def test_what_is_wrong_in_a_document_names_its_line(text, code, line, good):
    _, rows, problems = reading(text, "rows.json")
    assert [(p.code, p.line) for p in problems if not p.is_warning] == [(code, line)]
    assert len(rows) == good


def test_a_comma_at_the_end_is_left_out_and_said():
    _, rows, problems = reading('[{"a": 1},\n]', "x.json")
    assert len(rows) == 1
    assert [p.code for p in problems] == ["json_array", "trailing_comma"]
    _, rows, problems = reading('{"a": 1},\n{"a": 2},\n', "x.jsonl")
    assert len(rows) == 2
    assert problems[0].message == (
        "2 rows end with a comma, which was left out: lines 1, 2."
    )


def test_an_object_without_an_end_is_refused_at_the_limit():
    limits = Limits(raw_row_bytes=1000)
    problem = reading('[{"a": [' + "1,\n" * 200_000, "x.json", limits=limits)[2][-1]
    assert (problem.code, problem.line, problem.is_fatal) == ("row_too_long", 1, True)


def test_what_was_kept_but_cannot_be_shown_is_said():
    problems = reading('{"a":"\\u0000"}\n{"a":"\\ud800"}\n', "x.jsonl")[2]
    assert [(p.code, p.line) for p in problems] == [("nul", 1), ("half_character", 2)]
