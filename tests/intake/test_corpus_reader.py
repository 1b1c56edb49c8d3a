"""Each file of the corpus through the reader."""

from __future__ import annotations

import json
import time

import pytest

from assay.data import exact
from tests.intake.cases import FOLDER, NAMES, reading
from tests.intake.expected import CHOICES, FILES, Expected


def test_every_file_has_its_expectation_and_its_source():
    assert list(FILES) == NAMES
    assert set(CHOICES) <= set(FILES)
    sources = (FOLDER / "SOURCES.md").read_text()
    assert [name for name in NAMES if f"**{name}**" not in sources] == []


@pytest.mark.parametrize("name", NAMES)
def test_it_reads_the_file_as_expected(name):
    found = reading(name)
    columns = list(dict.fromkeys(key for row in found.values for key in row))
    assert FILES[name] == Expected(
        rows=len(found.rows),
        columns=columns,
        notes=[p.code for p in found.problems if p.is_warning],
        wrong=[(p.code, p.line) for p in found.problems if not p.is_warning],
    )
    assert [row.number for row in found.rows] == list(range(1, len(found.rows) + 1))
    for problem in found.problems:
        assert problem.message.endswith(".")


# What stands in a cell. The row is counted from 1.
CELLS = [
    ("az_qr.csv", 1, "response", "42."),
    ("az_quarterly_results_thousands.csv", 1, "revenue", "1,057"),
    ("csvkit_cr_only_newlines.csv", 2, "a", "Once upon\ra time"),
    ("csvkit_latin1_no_final_newline.csv", 2, "c", "©"),
    ("csvkit_null_byte.csv", 1, "a", "\0"),
    ("csvkit_utf16_little.csv", 2, "c", "ʤ"),
    ("fr_backslash_escaped_quotes.csv", 3, "Test", ' "Test \\" line 3"'),
    ("fr_french_latin1_decimal_comma.csv", 1, "Occupancy rate", "0,611553068"),
    ("fr_italian_codes_semicolon.csv", 1, "comune", "030151360"),
    ("fr_timezones.csv", 3, "time", "15:00:00+03:00"),
    ("jl_escaped_nul.jsonl", 1, "query", "hello\0world"),
    ("jl_huge_numbers.jsonl", 1, "id", 12345678901234567890123),
    ("jl_lone_surrogates.jsonl", 1, "response", "\udc00"),
    ("jl_lone_surrogates.jsonl", 2, "query", "good 😀"),
    ("jl_mixed_schemas.jsonl", 2, "response", ["b", "c"]),
    ("jl_number_scores_as_text.jsonl", 3, "human_score", "4,5"),
    ("qr_number_like_text.csv", 1, "id", "007"),
    ("qr_number_like_text.csv", 3, "id", "12345678901234567890"),
    ("qr_number_like_text.csv", 4, "response", "NA"),
]


@pytest.mark.parametrize(("name", "number", "column", "value"), CELLS)
def test_cells_stay_what_they_were(name, number, column, value):
    assert reading(name).rows[number - 1].values[column] == value


def test_digits_are_kept_in_the_stored_text():
    for row in reading("jl_huge_numbers.jsonl").rows:
        line = (FOLDER / "jl_huge_numbers.jsonl").read_text().splitlines()[row.line - 1]
        assert exact.dumps(row.values) == exact.dumps(exact.loads(line))
        assert json.loads(exact.dumps(row.values)) == json.loads(line)


def test_a_line_is_named_as_an_editor_counts_it():
    found = reading("az_conversation_leading_blank_line.jsonl")
    assert [row.line for row in found.rows] == [2, 3]
    found = reading("qr_nul_in_utf8.csv")
    assert found.problems[0].message == (
        "2 rows have a NUL character, which was kept: lines 2, 3."
    )


def test_a_comment_before_the_header_can_be_skipped():
    found = reading("fr_comment_line_before_header.csv", skip_lines=1)
    assert found.problems == []
    assert found.values[0] == {"id": "1", "name": "english"}
    assert found.rows[0].line == 3


def test_the_encoding_can_be_told():
    found = reading("fr_iso_8859_7_greek.csv", encoding="iso8859_7")
    assert found.problems == []
    found = reading("xquad_ru_cp1251_semicolon.csv", encoding="cp1251")
    assert (len(found.rows), found.problems) == (20, [])


def test_json_in_cells_is_read_on_request():
    found = reading("inspect_metadata_json_cell.csv", read_json=True)
    assert isinstance(found.values[0]["metadata"], dict)
    turns = reading("deepeval_convo_goldens.csv", read_json=True).values[0]["turns"]
    assert isinstance(turns, list)
    assert "role" in turns[0]


def test_a_wall_of_brackets_costs_no_time():
    start = time.perf_counter()
    reading("jts_n_structure_100000_opening_arrays.json")
    assert time.perf_counter() - start < 1
