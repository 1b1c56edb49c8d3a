"""Files of a run: complete, safe, and streamed."""

from __future__ import annotations

import csv
import io
import json
import sys

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from assay.scoring.outcome import Outcome
from evaluations.exports import STEP, WORDS
from evaluations.models import Item, Result

pytestmark = pytest.mark.django_db


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_a_csv_has_every_row_and_every_score(run, page, client_viewer):
    response = client_viewer.get(page("run_export", query="?format=csv"))
    assert response.streaming
    assert 'filename="release-gate-run-1.csv"' in response["Content-Disposition"]
    rows = table(body(response))
    assert [int(row["row"]) for row in rows] == list(range(1, 61))
    for row in rows:
        item = Item.objects.get(run=run, index=row["row"])
        assert row["result"] == WORDS[Outcome(item.outcome)]
        assert row["item.query"] == item.row.values["query"]
        for result in item.results.select_related("metric__criterion"):
            stem = f"{result.metric.criterion.name}.{result.metric.key}"
            score = row[f"{stem}.score"]
            assert score == ("" if result.score is None else str(result.score))
            assert row[f"{stem}.result"] == WORDS[Outcome(result.outcome)]


def test_a_missing_score_is_empty_and_never_zero(run, page, client_viewer):
    rows = table(body(client_viewer.get(page("run_export"))))
    missing = [
        r for r in rows if r["Coherence.coherence.status"] in ("error", "skipped")
    ]
    assert missing
    assert {row["Coherence.coherence.score"] for row in missing} == {""}


def test_media_are_named_and_not_inlined(run, page, client_viewer):
    rows = table(body(client_viewer.get(page("run_export"))))
    assert rows[4]["item.image_url"].startswith("blob:")


def test_json_lines_can_be_read_back(run, page, client_viewer):
    response = client_viewer.get(page("run_export", query="?format=jsonl"))
    lines = [json.loads(line) for line in body(response).splitlines()]
    assert len(lines) == 60
    for line in lines:
        item = Item.objects.get(run=run, index=line["row"])
        assert line["item"] == json.loads(item.row.data)
        by_key = {result["metric"]: result for result in line["results"]}
        for result in item.results.select_related("metric"):
            shown = by_key[result.metric.key]
            assert shown["score"] == result.score
            assert (shown["passed"] is None) == (result.score is None)


def test_parquet_can_be_read_back(run, tmp_path):
    call_command("export_run", run.ref, str(tmp_path / "run.parquet"))
    read = pq.read_table(tmp_path / "run.parquet")
    assert read.num_rows == 60
    assert str(read.schema.field("Coherence.coherence.score").type) == "double"
    frame = read.to_pylist()
    results = Result.objects.filter(run=run, metric__key="coherence")
    stored = dict(results.values_list("item__index", "score"))
    assert {r["row"]: r["Coherence.coherence.score"] for r in frame} == stored


@pytest.mark.django_db(transaction=True)
def test_the_web_server_hands_out_parquet(run, page, client_viewer, monkeypatch):
    """The child is a stand-in here: it has no view of the database of a test."""
    asked = []

    def child(command, **options):
        asked.append((command, options["cwd"]))
        call_command("export_run", *command[3:])

    monkeypatch.setattr("workspace.parquet.subprocess.run", child)
    response = client_viewer.get(page("run_export", query="?format=parquet"))
    assert pq.read_table(io.BytesIO(body(response))).num_rows == 60
    command, _folder = asked[0]
    assert command[:4] == [sys.executable, "manage.py", "export_run", run.ref]


def test_a_long_run_is_read_in_steps(
    run, page, client_viewer, django_assert_max_num_queries, monkeypatch
):
    monkeypatch.setattr("evaluations.exports.STEP", 25)
    assert STEP == 500
    with django_assert_max_num_queries(17):
        content = body(client_viewer.get(page("run_export")))
    assert len(table(content)) == 60


def test_the_raw_run_adds_up(run, page, client_viewer):
    raw = client_viewer.get(page("run_raw")).json()
    counts = raw["rows"]
    parts = ("passed", "failed", "errored", "not_applicable")
    assert sum(counts[part] for part in parts) == counts["done"] == 60
    for metric in raw["metrics"]:
        judged = metric["passed"] + metric["failed"]
        assert metric["pass_rate"] == pytest.approx(metric["passed"] / judged)
        assert sum(metric["histogram"]) == judged


def test_the_raw_row_has_its_calls(run, page, client_viewer):
    raw = client_viewer.get(page("run_raw", query="?row=7")).json()
    assert raw["row"] == 7
    assert raw["item"]["query"].startswith("Question 7")
    assert {"call", "errors_before"} <= set(raw)
    assert client_viewer.get(page("run_raw", query="?row=70")).status_code == 404
