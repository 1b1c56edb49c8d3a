from __future__ import annotations

import codecs
import csv
import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data.records import Limits, Problem, RowRead
from assay.data.tabular import HEAD_BYTES, Overrides, read, sniff


def reading(data, name="rows.csv", *, encoding=None, limits=None):
    if isinstance(data, str):
        data = data.encode()
    detected = sniff(data[:HEAD_BYTES], name, Overrides(encoding=encoding))
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


def test_a_repeated_column_gets_another_name_and_a_note():
    _, rows, problems = reading("a,b,a,a_2,a\n1,2,3,4,5\n")
    assert rows[0].values == {"a": "1", "b": "2", "a_3": "3", "a_2": "4", "a_4": "5"}
    assert [p.code for p in problems] == ["duplicate_column"] * 2
    assert problems[0].message == (
        'Line 1 has more than one column called "a". Column 3 is called a_3.'
    )


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
