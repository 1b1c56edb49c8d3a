"""Public bug reports about files, encodings and mapping, repeated by their steps.

Each test has the number of its report in the name.
"""

from __future__ import annotations

import json

import pytest
from django.test import Client

from datasets.models import Dataset, DatasetVersion
from evaluations import drafts, runner
from evaluations.models import EvaluationDraft, Run, RunState
from evaluations.submit import SpecInvalid
from tests.factories import run_import
from tests.fakes.llm import error, verdict
from tests.intake.reports import (
    body,
    data,
    names,
    notes,
    problems,
    table,
    values,
)
from tests.support.making import judged_text, make_spec, rows

pytestmark = pytest.mark.django_db
State = DatasetVersion.State
BOM = "\ufeff"


def test_b001_the_first_column_behind_a_bom_has_its_name(person):
    version = person.bring_case("xquad_zh_excel_utf8_bom_crlf.csv")
    assert names(version) == ["id", "query", "context", "ground_truth"]
    assert "黑豹队的防守丢了多少分？" in person.look(version, "dataset_row", 1)
    spec = person.mapped(version, ["f1_score"], response="item.id")
    assert spec.criteria[0].mapping["response"] == "item.id"


def test_b002_bare_quotes_in_a_csv_cell_stay(person):
    version = person.bring(b'query,response\nHi,{"answer":""}\n', "quotes.csv")
    assert values(version)[0]["response"] == '{"answer":""}'


@pytest.mark.parametrize(
    "kind", ["application/vnd.ms-excel", "application/octet-stream", "text/csv", ""]
)
def test_b004_the_declared_type_of_a_csv_does_not_matter(person, kind):
    version = person.bring_case("az_qr.csv", kind=kind)
    assert (version.state, version.row_count) == (State.READY, 3)


def test_b005_a_workbook_named_csv_is_refused_with_its_name(person):
    assert person.bring_case("az_qr.csv", kind="application/vnd.ms-excel").row_count
    version = person.bring_case("excel_workbook_named.csv")
    assert version.state == State.FAILED
    assert "Excel" in problems(version)[0]
    assert "Excel" in person.look(version)


@pytest.mark.parametrize("name", ["qr_cell_200kB.csv", "fr_large_cells.csv"])
def test_b006_very_large_cells_load_whole(person, name):
    version = person.bring_case(name)
    assert version.state == State.READY, problems(version)
    longest = max(len(str(v)) for row in values(version) for v in row.values())
    assert longest > 5_000
    person.look(version)


def test_b010_one_column_serves_two_inputs(person, engine):
    version = person.bring_rows(*rows(2))
    spec = person.mapped(
        version,
        ["f1_score"],
        response="item.ground_truth",
        ground_truth="item.ground_truth",
    )
    draft = drafts.create(person.project, person.user, spec)
    kept = drafts.spec_of(EvaluationDraft.objects.get(pk=draft.pk)).criteria[0].mapping
    assert set(kept.values()) == {"item.ground_truth"}
    run = person.evaluate(spec)
    assert (run.state, run.passed) == (RunState.COMPLETED, 2)


def test_b011_a_form_is_taken_after_the_session_was_renewed(person, editor, settings):
    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    address = person.at("dataset_upload")
    token = client.get(address).cookies[settings.CSRF_COOKIE_NAME].value
    client.force_login(editor)  # another tab signs in
    first = {"csrfmiddlewaretoken": token}
    sent = Client(enforce_csrf_checks=True)
    sent.cookies = client.cookies
    person.client = sent
    assert person.send(data("az_qr.csv"), "az_qr.csv", **first).status_code == 302
    assert DatasetVersion.objects.count() == 1


def test_b013_every_way_in_reads_the_same(person):
    name = "xquad_zh_excel_utf8_bom_crlf.csv"
    first = person.bring_case(name)
    address = person.at("dataset_version_new", first.dataset.slug)
    # The same bytes are known already; one more line makes them another file.
    changed = data(name) + b"1,q,c,t\r\n"
    second = person.bring(changed, name, address=address)
    again = person.at("dataset_import_again", first.dataset.slug, second.number)
    person.client.post(again, {})
    third = run_import(DatasetVersion.objects.order_by("-pk")[0])
    assert (second.number, third.number) == (2, 3)
    assert names(first) == names(second) == names(third)
    assert values(second) == values(third)
    assert values(second)[:-1] == values(first)


def test_b014_no_column_begins_with_a_bom(person):
    version = person.bring_case("pf_monitoring_utf8_bom_nbsp.jsonl")
    assert names(version)[0] == "question"
    assert not any(BOM in name for name in names(version))
    for form in ("jsonl", "csv"):
        exported = person.download(version, form).decode()
        assert BOM not in exported.removeprefix(BOM)


def test_b015_jsonl_with_a_bom_works_from_preview_to_export(person, engine):
    version = person.bring_case("jl_bom_blank_crlf.jsonl")
    person.look(version)
    run = person.evaluate(person.mapped(version, ["f1_score"]))
    assert run.state == RunState.COMPLETED
    address = person.at("run_export", run.evaluation.slug, 1)
    exported = table(body(person.client.get(address)))
    assert len(exported) == version.row_count
    assert exported[0]["item.query"] == "What is the meaning of life?"


def test_b016_a_file_without_rows_starts_no_run(person):
    version = person.bring_case("fr_header_only.csv")
    assert version.state == State.FAILED
    assert "no rows" in problems(version)[0]
    with pytest.raises(SpecInvalid):
        person.evaluate(make_spec(version, ["f1_score"]))
    assert not Run.objects.exists()


def test_b017_answers_of_digits_stay_text(person, engine):
    version = person.bring_case("qr_number_like_text.csv")
    first, *_rest, empty = values(version)
    assert first["id"] == "007"
    assert empty["id"] == ""
    assert [row["id"] for row in values(version)][1:4] == [
        "1e5",
        "12345678901234567890",
        "NA",
    ]
    run = person.evaluate(person.mapped(version, ["f1_score"]))
    assert run.done == version.row_count
    assert "007" in person.download(version, "csv").decode()


@pytest.mark.parametrize("name", ["jl_escaped_nul.jsonl", "qr_nul_in_utf8.csv"])
def test_b019_a_nul_character_is_no_failure(person, name):
    version = person.bring_case(name)
    page = person.look(version)
    if version.state == State.READY:
        assert "\x00" not in page
        person.look(version, "dataset_row", 1)
        person.download(version, "csv")
    else:
        assert problems(version)[0]


def test_b019_a_nul_in_the_reason_of_a_judge_is_kept_without_failure(person, llm):
    llm.script = lambda _b, _n: verdict(4, "good\x00 reason")
    version = person.bring_case("jl_escaped_nul.jsonl")
    run = person.evaluate(person.mapped(version, ["coherence"], llm))
    assert run.done == version.row_count
    assert "reason" in run.items.first().results.get().reason
    address = person.at("run_row", run.evaluation.slug, 1, 1)
    assert person.client.get(address).status_code == 200


def test_b021_only_what_is_mapped_is_sent(person, llm):
    talk = [
        {"role": "user", "content": "only the conversation"},
        {"role": "assistant", "content": "yes"},
    ]
    row = {"conversation": talk, "query": "not asked for", "response": "Fine so far."}
    version = person.bring_rows(row)
    nothing = {"context": None}
    mapping = {"query": "item.conversation", "response": "item.response", **nothing}
    spec = person.mapped(version, ["coherence"], llm, **mapping)
    person.evaluate(spec)
    assert "only the conversation" in judged_text(llm.calls[0])
    assert "not asked for" not in json.dumps(llm.calls[0])


def test_b022_a_mapping_to_a_column_that_went_blocks_the_submit(person):
    spec = person.mapped(person.bring_rows(*rows(2)), ["f1_score"])
    other = person.bring_rows({"query": "q", "response": "r"}, name="other.jsonl")
    moved = spec.model_copy(update={"dataset_version": other.ref})
    with pytest.raises(SpecInvalid, match="ground_truth"):
        person.evaluate(moved)
    assert not Run.objects.exists()


def test_b023_the_run_again_gets_the_same_inputs(person, llm):
    version = person.bring_rows({"query": "q", "answer": "in another column"})
    spec = person.mapped(version, ["coherence"], llm, response="item.answer")
    run = person.evaluate(spec)
    response = person.client.post(person.at("run_again", run.evaluation.slug, 1))
    assert response.status_code == 302
    runner.work(Run.objects.order_by("-pk")[0].pk)
    assert len(llm.calls) == 2
    assert llm.calls[0]["messages"] == llm.calls[1]["messages"]


def test_b076_a_row_beyond_the_context_of_a_model_stops_no_other(person, llm):
    def script(request, _n):
        if len(json.dumps(request)) > 150_000:
            return error(400, "too long", code="context_length_exceeded")
        return verdict()

    llm.script = script
    rest = b"\n" + b"".join(b"q %d,a short answer\n" % n for n in range(3))
    version = person.bring(data("qr_cell_200kB.csv").rstrip() + rest, "long.csv")
    run = person.evaluate(person.mapped(version, ["coherence"], llm))
    assert run.state == RunState.COMPLETED_WITH_ERRORS
    assert (run.done, run.errored) == (version.row_count, 1)


def test_b099_a_mapping_to_no_column_is_refused_at_once(person):
    version = person.bring_rows(*rows(15))
    spec = person.mapped(version, ["f1_score"], response="item.no_such_column")
    with pytest.raises(SpecInvalid, match="no_such_column"):
        person.evaluate(spec)


def test_b116_values_that_look_like_nothing_are_told_apart(person):
    odd = ["", " ", None, {}, [], 0, False]
    version = person.bring_rows(
        *({"query": f"q{n}", "v": v} for n, v in enumerate(odd))
    )
    assert [row["v"] for row in values(version)] == odd
    cells = person.client.get(person.at("dataset_version", "rows", 1)).context["rows"]
    seen = [(row.cells[1].kind, row.cells[1].text) for row in cells]
    assert len({(kind, text) for kind, text in seen}) == len(odd)
    page = person.look(version)
    for words in ("Empty", "null", "{}", "[]", "false"):
        assert words in page


def test_b122_times_carry_their_zone(person, engine):
    run = person.evaluate(person.mapped(person.bring_rows(*rows(1)), ["f1_score"]))
    address = person.at("run_raw", run.evaluation.slug, 1)
    raw = person.client.get(address).json()
    assert "+00:00" in json.dumps(raw)
    page = person.client.get(person.at("evaluations")).content.decode()
    assert f'datetime="{run.created_at.isoformat(timespec="seconds")}"' in page


NAMES = ["тест 评估 é / 1", "数据集", 'quote" and \\ and \r\n line', "🐼"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["csv", "jsonl", "sheet", ""])
def test_b127_a_download_keeps_a_name_of_any_script(person, name, form):
    version = person.bring_rows({"query": "q"}, name="rows.jsonl")
    Dataset.objects.update(name=name)
    address = person.at("dataset_download", version.dataset.slug, 1)
    response = person.client.get(address, {"format": form} if form else {})
    assert response.status_code == 200
    header = response["Content-Disposition"]
    assert header.startswith("attachment; filename")
    assert "\r" not in header
    assert "\n" not in header
    assert body(response)


def test_b127_an_export_of_a_run_keeps_its_name(person, engine):
    spec = person.mapped(person.bring_rows(*rows(1)), ["f1_score"])
    spec = spec.model_copy(update={"name": "тест 评估 é / 1"})
    run = person.evaluate(spec)
    for form in ("csv", "jsonl"):
        address = person.at("run_export", run.evaluation.slug, 1)
        response = person.client.get(address, {"format": form})
        assert response.status_code == 200
        assert body(response)


def test_b144_datasets_with_chinese_names_work_everywhere(person, engine):
    row = {"问题": "多少钱？", "回答": "很便宜", "标准答案": "很便宜"}
    version = person.bring_rows(row, name="评估数据.jsonl")
    assert version.dataset.name == "评估数据"
    assert version.dataset.slug.isascii()
    for tab in ("rows", "columns", "versions", "report"):
        person.look(version, tab=tab)
    for page, *args in (
        ("dataset_row", 1),
        ("dataset_row_edit", 1),
        ("dataset_changes",),
        ("dataset_part",),
        ("dataset_compare", 1),
    ):
        person.look(version, page, *args)
    mapping = {"response": "item.回答", "ground_truth": "item.标准答案"}
    run = person.evaluate(person.mapped(version, ["f1_score"], **mapping))
    assert run.state == RunState.COMPLETED


def test_b152_a_bom_does_not_change_the_columns(person):
    lines = b'{"query": "q", "n": 1, "ok": true, "tags": ["a"]}\n'
    plain = person.bring(lines, "plain.jsonl")
    marked = person.bring(BOM.encode() + lines, "marked.jsonl")
    assert plain.columns == marked.columns
    assert plain.digest == marked.digest
    assert notes(marked) in ([], notes(plain))
