"""What is downloaded reads back equal."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets import downloads
from datasets.models import Row
from tests.datasets.test_pages import uri, version_page
from tests.factories import add_file, make_version, png, run_import, wav

pytestmark = pytest.mark.django_db


def texts(version):
    rows = Row.objects.filter(version=version).order_by("index")
    return list(rows.values_list("data", flat=True))


def body(client, version, form):
    query = f"?format={form}" if form else ""
    response = client.get(version_page(version, "dataset_download") + query)
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def again(project, data, name):
    return run_import(add_file(project, data, file_name=name, name=f"again {name}"))


def test_the_original_is_what_was_uploaded(client_viewer, project):
    data = "\ufeffa;b\r\n1;é\r\n".encode()
    version = run_import(add_file(project, data, file_name="x.csv"))
    assert body(client_viewer, version, "") == data


def test_json_lines_read_back_equal_with_their_media(client_viewer, project):
    small, sound = uri("image/png", png(9)), uri("audio/wav", wav())
    rows = [
        {"a": 1, "b": None, "c": "", "d": [1, {"x": "é\u0000\ud800"}]},
        {"a": "007", "e": True},
        {
            "image_url": uri("image/png", png()),
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Hi"},
                        {"type": "image_url", "image_url": {"url": small}},
                        {
                            "type": "input_audio",
                            "input_audio": {"data": sound, "format": "wav"},
                        },
                    ],
                }
            ],
        },
    ]
    line = '{"n":1.50,"big":123456789012345678901234567890,"e":1e5}\n'
    data = "".join(json.dumps(row) + "\n" for row in rows) + line
    version = run_import(add_file(project, data.encode()))
    copy = again(project, body(client_viewer, version, "jsonl"), "copy.jsonl")
    assert texts(copy) == texts(version)
    assert copy.digest == version.digest


def test_csv_reads_back_equal(client_viewer, project):
    data = 'a,b,c\n=1+1,"x, ""y""\nz",007\n-5,,\n"  pad ",é\n@x,NA,null\n'.encode()
    version = run_import(add_file(project, data, file_name="x.csv"))
    copy = again(project, body(client_viewer, version, "csv"), "copy.csv")
    assert texts(copy) == texts(version)


def test_cells_for_spreadsheets_are_no_formulas(client_viewer, project):
    version = make_version(project, [{"a": "=1+1", "b": -5, "c": "-5"}])
    text = body(client_viewer, version, "sheet").decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows == [["a", "b", "c"], ["'=1+1", "-5", "'-5"]]


@pytest.mark.django_db(transaction=True)
def test_parquet_has_types(project, tmp_path):
    import pyarrow.parquet as pq

    rows = [
        {"text": "x", "whole": 1, "part": 1.5, "flag": True, "list": [1]},
        {"text": None, "whole": 2**60, "part": 2, "flag": False, "big": 10**30},
    ]
    path = tmp_path / "rows.parquet"
    downloads.write_parquet(make_version(project, rows), path)
    table = pq.read_table(path)
    assert {field.name: str(field.type) for field in table.schema} == {
        "text": "string",
        "whole": "int64",
        "part": "double",
        "flag": "bool",
        "list": "string",
        "big": "double",
    }
    assert table.to_pylist()[1]["whole"] == 2**60


def test_a_name_in_any_language_is_the_name_of_the_file(client_viewer, project):
    version = make_version(project, [{"a": 1}], name="тест 评估 é / 1")
    address = version_page(version, "dataset_download") + "?format=jsonl"
    assert "filename*=utf-8''" in client_viewer.get(address)["Content-Disposition"]


def test_an_unknown_format_does_not_exist(client_viewer, project):
    version = make_version(project, [{"a": 1}])
    address = version_page(version, "dataset_download")
    assert client_viewer.get(address + "?format=exe").status_code == 404


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.text("abc xyzé日", min_size=1, max_size=4).filter(str.strip)
ROWS = st.dictionaries(NAMES, VALUES, min_size=1)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=st.lists(ROWS, min_size=1, max_size=4))
def test_any_rows_read_back_equal(project, rows):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    version = run_import(add_file(project, data))
    copy = again(project, b"".join(downloads.as_jsonl(version)) + b"\n", "copy.jsonl")
    assert texts(copy) == texts(version)
    version.dataset.delete()
    copy.dataset.delete()
