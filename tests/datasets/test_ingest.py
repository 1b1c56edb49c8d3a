from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from assay.data.media import as_blob
from blobs import store
from blobs.models import Blob
from datasets import ingest, uploads, writing
from datasets.models import Contents, DataJob, DatasetVersion, Row
from datasets.requests import ReadRequest
from datasets.sweep import sweep
from datasets.tasks import ingest as ingest_task
from tests.factories import (
    add_file,
    jsonl,
    make_project,
    make_version,
    png,
    run_import,
    wav,
)
from workspace.leases import claim_job
from workspace.models import JobState

pytestmark = pytest.mark.django_db
State = DatasetVersion.State


def uri(mime, data):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def stored(version):
    rows = Row.objects.filter(version=version).order_by("index")
    return [row.values for row in rows]


def problems(version):
    return [p["message"] for p in version.import_report["problems"]]


def notes(version):
    return [n["message"] for n in version.import_report["notes"]]


# Rows


def test_a_file_becomes_rows(project):
    version = make_version(project, [{"query": "Hi", "n": 1}, {"query": "Ho"}])
    assert stored(version) == [{"query": "Hi", "n": 1}, {"query": "Ho"}]
    assert (version.row_count, version.number) == (2, 1)
    facts = [(c["name"], c["kind"], c["filled"], c["sample"]) for c in version.columns]
    assert facts == [("query", "text", 2, "Hi"), ("n", "number", 1, "1")]
    assert version.columns[1]["stats"]["distinct"] == 1
    assert version.content == " number text "
    assert version.column_names == "query\nn"
    assert version.import_report["detected"]["encoding"] == "utf-8"
    job = version.job
    assert (job.state, job.progress) == (JobState.DONE, job.progress_total)
    assert job.lease == ""


def test_a_csv_file_becomes_rows_of_text(project):
    version = run_import(
        add_file(project, b"id;note\n007;\n08;NA\n", file_name="rows.csv")
    )
    assert stored(version) == [{"id": "007", "note": ""}, {"id": "08", "note": "NA"}]
    assert version.import_report["detected"]["delimiter"] == ";"


def test_rows_are_stored_digit_for_digit(project):
    line = (
        '{"a":1.50,"b":12345678901234567890123,"c":"\\u0000\\ud800 é",'
        '"d":null,"e":"","f":[1e5,{"z":1,"a":2}]}'
    )
    version = run_import(add_file(project, line.encode()))
    assert Row.objects.get(version=version).data == line


def test_the_digest_tells_content_apart(project):
    rows = [{"a": 1, "b": 2}, {"a": 3}]
    first = make_version(project, rows, name="one")
    same = make_version(make_project(), [{"b": 2, "a": 1}, {"a": 3}])
    other = make_version(project, rows[::-1], name="three")
    assert first.digest == same.digest != other.digest
    assert first.rows.first().digest == other.rows.get(index=2).digest


def test_versions_are_numbered(project):
    first = make_version(project, [{"a": 1}], name="numbers")
    second = make_version(project, [{"a": 2}], name="Numbers")
    assert first.dataset == second.dataset
    assert (first.number, second.number) == (1, 2)


# Problems


def test_a_wrong_line_refuses_the_file_and_keeps_no_row(project):
    good = [json.dumps({"a": n}) for n in range(1200)]
    good[700] = '{"a": '
    version = run_import(add_file(project, "\n".join(good).encode()))
    assert version.state == State.FAILED
    assert problems(version) == [
        "Line 701 is not valid JSON: it ends too early. The file may be cut off."
    ]
    assert version.import_report["good_rows"] == 1199
    assert not Row.objects.filter(version=version).exists()
    assert version.job.state == JobState.FAILED
    assert version.job.error == problems(version)[0]


def test_only_the_first_problems_are_listed_but_all_are_counted(project):
    data = b'{"a": 1}\n' + b"{broken\n" * 250
    version = run_import(add_file(project, data))
    assert version.import_report["problem_count"] == 250
    assert len(problems(version)) == 100


def test_the_good_rows_can_be_imported_on_request(project):
    data = b'{"a": 1}\n{broken\n{"a": 3}\n'
    version = run_import(add_file(project, data))
    again = uploads.import_again(version, by=None, request=ReadRequest(skip_bad=True))
    assert again == version
    run_import(version)
    assert version.state == State.READY
    assert stored(version) == [{"a": 1}, {"a": 3}]
    assert [row.index for row in version.rows.order_by("index")] == [1, 2]
    assert version.import_report["problem_count"] == 1


def test_a_file_without_any_good_row_stays_refused(project):
    version = run_import(add_file(project, b"{broken\n"))
    uploads.import_again(version, by=None, request=ReadRequest(skip_bad=True))
    assert run_import(version).state == State.FAILED


def test_another_encoding_makes_a_new_version(project):
    data = ("имя;x\n" + "где находится ресторан;1\n" * 3).encode("cp1251")
    first = run_import(add_file(project, data, file_name="x.csv"))
    second = uploads.import_again(
        first, by=None, request=ReadRequest(encoding="cp1252")
    )
    run_import(second)
    assert (first.number, second.number) == (1, 2)
    assert first.columns[0]["name"] == "имя"
    assert second.columns[0]["name"] == "èìÿ"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv", b"PK\x03\x04xl/workbook.xml", "This is an Excel file."),
        ("x.csv", b"a,b\n", "The file has a header but no rows."),
        ("x.jsonl", b"[1]", "Line 1 is a list, not an object."),
    ],
)
def test_what_is_no_table_says_what_it_is(project, name, data, message):
    version = run_import(add_file(project, data, file_name=name))
    assert version.state == State.FAILED
    assert problems(version)[0].startswith(message)


def test_limits_of_rows_columns_and_size(project, settings):
    settings.MAX_ROWS, settings.MAX_COLUMNS, settings.MAX_ROW_BYTES = 3, 2, 100
    many = run_import(add_file(project, jsonl([{"a": n} for n in range(5)])))
    wide = run_import(add_file(project, jsonl([{"a": 1, "b": 2, "c": 3}])))
    large = run_import(add_file(project, jsonl([{"a": "x" * 200}])))
    assert problems(many) == [
        "The file has more than 3 rows. Split it or upload fewer rows."
    ]
    assert problems(wide) == ["Line 1 brings the file above 2 columns."]
    assert problems(large)[0].startswith("Line 1 has 1 KB without its media.")


# Media


def test_media_leave_the_rows(project):
    picture, sound = png(), wav()
    row = {
        "image_url": uri("image/png", picture),
        "audio_data": base64.b64encode(sound).decode(),
        "wrapped": {"url": uri("image/png", picture)},
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "See"},
                    {
                        "type": "image_url",
                        "image_url": {"url": uri("image/png", picture)},
                    },
                    {
                        "type": "input_audio",
                        "input_audio": {
                            "data": base64.b64encode(sound).decode(),
                            "format": "wav",
                        },
                    },
                ],
            }
        ],
    }
    version = make_version(project, [row])
    values = stored(version)[0]
    image, audio = as_blob(values["image_url"]), as_blob(values["audio_data"])
    assert store.read_bytes(image.sha256) == (picture, "image/png")
    assert store.read_bytes(audio.sha256) == (sound, "audio/wav")
    assert (image.size, audio.size) == (len(picture), len(sound))
    parts = values["messages"][0]["content"]
    assert as_blob(parts[1]["image_url"]["url"]) == image
    assert as_blob(parts[2]["input_audio"]["data"]) == audio
    kinds = {c["name"]: c["kind"] for c in version.columns}
    assert kinds == {
        "image_url": "image",
        "audio_data": "audio",
        "wrapped": "image",
        "messages": "chat",
    }
    assert version.import_report["media"] == {"image": 3, "audio": 2}
    assert version.import_report["rows_with"] == {"image": 1, "audio": 1, "chat": 1}
    assert Row.objects.get(version=version).contents == sum(Contents.values)


def test_media_leave_csv_cells_as_well(project):
    text = base64.b64encode(png()).decode()
    data = f'image_base64,image_url\n{text},"{uri("image/png", png())}"\n'
    version = run_import(add_file(project, data.encode(), file_name="x.csv"))
    values = stored(version)[0]
    assert as_blob(values["image_base64"]) == as_blob(values["image_url"])


def test_json_in_a_csv_cell_stays_text(project):
    data = 'a,b\n"{""x"": [1]}",1\n'
    version = run_import(add_file(project, data.encode(), file_name="x.csv"))
    assert stored(version)[0]["a"] == '{"x": [1]}'
    assert version.columns[0]["kind"] == "text"


@pytest.mark.parametrize(
    "text",
    [
        "https://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "../../etc/passwd",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml;utf8,<svg/>"[:10],
        "javascript:alert(1)",
        "A" * 400,
    ],
)
def test_links_and_other_texts_stay_text(project, text):
    version = make_version(project, [{"image_url": text}])
    assert stored(version) == [{"image_url": text}]
    assert Blob.objects.filter(kind="image").count() == 0


def test_bare_base64_needs_a_name_that_says_so(project):
    text = base64.b64encode(png()).decode()
    version = make_version(project, [{"note": text}])
    assert stored(version) == [{"note": text}]


@pytest.mark.parametrize("payload", ["@@@not-base64@@@", ""])
def test_a_broken_data_uri_is_kept_and_said(project, payload):
    text = f"data:image/png;base64,{payload}"
    version = make_version(project, [{"image_url": text}])
    assert stored(version) == [{"image_url": text}]
    assert notes(version) == [
        'Line 1: "image_url" has a data URI that cannot be decoded. '
        "It was kept as text."
    ]


def test_a_broken_image_is_imported_and_said(project):
    data = png(200, 200)[:100]
    version = make_version(project, [{"image_url": uri("image/png", data)}])
    assert notes(version) == ['Line 1, "image_url": The picture is incomplete.']


def test_a_type_that_lies_is_corrected(project):
    version = make_version(project, [{"image_url": uri("image/jpeg", png())}])
    assert stored(version)[0]["image_url"]["mime"] == "image/png"


def test_an_svg_is_stored_and_what_it_holds_is_said(project):
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"
    version = make_version(project, [{"image_url": uri("image/svg+xml", svg)}])
    reference = as_blob(stored(version)[0]["image_url"])
    assert store.read_bytes(reference.sha256) == (svg, "image/svg+xml")
    assert notes(version) == [
        'Line 1, "image_url": The SVG holds a script, which is not run.'
    ]


def test_a_medium_above_the_limit_is_refused(project, settings):
    settings.MAX_MEDIUM_BYTES = 1000
    version = run_import(
        add_file(project, jsonl([{"audio_data": uri("audio/wav", wav())}]))
    )
    assert problems(version)[0].startswith(
        'Line 1: the medium in "audio_data" has 8 KB.'
    )


@pytest.mark.parametrize("exists", [True, False])
def test_a_reference_to_the_media_of_others_is_data(project, exists):
    secret = png(colour="red")
    sha = hashlib.sha256(secret).hexdigest()
    if exists:
        store.put_bytes(secret, project=make_project())
    reference = {"$blob": sha, "mime": "image/png", "size": len(secret)}
    version = make_version(project, [{"image_url": reference}])
    kept = stored(version)[0]["image_url"]
    assert kept == {"blob": sha, "mime": "image/png", "size": len(secret)}
    assert as_blob(kept) is None
    assert notes(version) == [
        'Line 1: "image_url" refers to a medium that is not in this project. '
        'It was kept as data under the name "blob".'
    ]


def test_a_reference_to_own_media_is_kept_and_corrected(project):
    own = store.put_bytes(png(), project=project)
    reference = {"$blob": own.sha256, "mime": "text/html", "size": 1}
    version = make_version(project, [{"image_url": reference}])
    assert stored(version)[0]["image_url"]["mime"] == "image/png"
    assert stored(version)[0]["image_url"]["size"] == own.size


# The job


def test_the_bell_rings_once_it_is_committed(
    project, bells, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        version = add_file(project, jsonl([{"a": 1}]))
    assert bells == [("datasets.tasks.ingest", version.job.pk)]


def test_the_task_does_the_waiting_job_once(project):
    version = add_file(project, jsonl([{"a": 1}]))
    ingest_task(version.job.pk)
    ingest_task(version.job.pk)
    ingest_task(999_999)
    version.refresh_from_db()
    assert (version.state, version.row_count) == (State.READY, 1)


def test_the_same_content_is_not_imported_again(project):
    first = make_version(project, [{"a": 1}], name="one")
    added = uploads.add_file(
        [jsonl([{"a": 1}])], project=project, by=None, name="two", file_name="x.jsonl"
    )
    assert (added.version, added.is_new) == (first, False)


def test_a_failed_file_may_come_again(project):
    failed = run_import(add_file(project, b"{broken"))
    again = add_file(project, b"{broken")
    assert again != failed


def test_a_queued_import_is_canceled_at_once(project):
    version = add_file(project, jsonl([{"a": 1}]))
    uploads.cancel_import(version)
    version.refresh_from_db()
    assert version.state == State.FAILED
    assert version.import_report["is_canceled"]
    assert claim_job(DataJob, version.job.pk) is None


def test_a_running_import_is_canceled_at_the_next_batch(project, monkeypatch):
    monkeypatch.setattr(writing, "BATCH_ROWS", 10)
    version = add_file(project, jsonl([{"a": n} for n in range(1000)]))
    job = claim_job(DataJob, version.job.pk)
    renewals = []

    def renew_then_cancel(row):
        renewals.append(row)
        if len(renewals) == 3:
            uploads.cancel_import(version)
        return True

    monkeypatch.setattr(writing, "renew", renew_then_cancel)
    ingest.run(job)
    version.refresh_from_db()
    assert len(renewals) == 3
    assert version.state == State.FAILED
    assert version.import_report["is_canceled"]
    assert not Row.objects.filter(version=version).exists()
    assert DataJob.objects.get(version=version).state == JobState.CANCELED


def test_who_lost_the_lease_writes_nothing_more(project, monkeypatch):
    monkeypatch.setattr(writing, "BATCH_ROWS", 10)
    version = add_file(project, jsonl([{"a": n} for n in range(100)]))
    job = claim_job(DataJob, version.job.pk)
    DataJob.objects.filter(pk=job.pk).update(lease="another process")
    ingest.run(job)
    version.refresh_from_db()
    assert version.state == State.IMPORTING
    assert not Row.objects.filter(version=version).exists()
    assert DataJob.objects.get(pk=job.pk).lease == "another process"


def test_who_lost_the_lease_at_the_end_changes_nothing(project, monkeypatch):
    version = add_file(project, jsonl([{"a": 1}]))
    job = claim_job(DataJob, version.job.pk)
    work = ingest._Import(job)
    DataJob.objects.filter(pk=job.pk).update(lease="another process")
    work.writer.conclude([], state=State.READY)
    version.refresh_from_db()
    assert version.state == State.IMPORTING


def test_a_lost_process_is_replaced_and_starts_anew(
    project, bells, monkeypatch, django_capture_on_commit_callbacks
):
    version = add_file(project, jsonl([{"a": n} for n in range(20)]))
    claim_job(DataJob, version.job.pk)
    Row.objects.create(version=version, index=1, data="{}", digest="left behind")
    DataJob.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    with django_capture_on_commit_callbacks(execute=True):
        sweep()
    assert bells[-1] == ("datasets.tasks.ingest", version.job.pk)
    ingest_task(version.job.pk)
    version.refresh_from_db()
    assert (version.state, version.rows.count()) == (State.READY, 20)


def test_a_job_that_failed_three_times_ends_its_version(project):
    version = add_file(project, jsonl([{"a": 1}]))
    claim_job(DataJob, version.job.pk)
    DataJob.objects.update(
        attempts=3, lease_until=timezone.now() - timedelta(seconds=1)
    )
    sweep()
    version.refresh_from_db()
    assert version.state == State.FAILED
    assert version.import_report["is_broken"]


def test_a_failure_of_ours_is_no_fault_of_the_file(project, monkeypatch):
    monkeypatch.setattr(ingest, "sniff", lambda *_a, **_k: 1 / 0)
    version = run_import(add_file(project, jsonl([{"a": 1}])))
    assert version.state == State.FAILED
    assert version.import_report["is_broken"]


def test_a_version_deleted_while_its_job_waits_is_forgotten(project):
    version = add_file(project, jsonl([{"a": 1}]))
    job = claim_job(DataJob, version.job.pk)
    version.dataset.delete()
    ingest.run(job)
    assert not Row.objects.exists()


def test_a_version_deleted_during_the_import_leaves_nothing(project, monkeypatch):
    version = add_file(project, jsonl([{"a": n} for n in range(50)]))
    job = claim_job(DataJob, version.job.pk)
    monkeypatch.setattr(writing, "BATCH_ROWS", 10)
    real = writing.renew

    def renew(row):
        version.dataset.delete()
        return real(row)

    monkeypatch.setattr(writing, "renew", renew)
    ingest.run(job)
    assert not Row.objects.exists()


def test_progress_is_written_with_each_batch(project, monkeypatch):
    monkeypatch.setattr(writing, "BATCH_ROWS", 100)
    version = add_file(project, jsonl([{"a": "x" * 2000} for _ in range(1000)]))
    job = claim_job(DataJob, version.job.pk)
    seen = []
    real = writing.renew

    def renew(row):
        seen.append(DataJob.objects.get(pk=row.pk).progress)
        return real(row)

    monkeypatch.setattr(writing, "renew", renew)
    ingest.run(job)
    assert seen == sorted(seen)
    assert 0 < seen[5] < job.progress_total


# Size


def test_twenty_thousand_rows_need_little_memory():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.datasets.large_import"],
        cwd=root,
        env={"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    state, rows, size, grown = map(int, done.stdout.split()[-4:])
    assert (state, rows) == (State.READY, 20_200)
    assert size > 120_000_000
    assert grown < 60  # megabytes


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16"])
def test_a_file_that_is_not_in_the_chosen_encoding_says_so(project, encoding):
    version = run_import(add_file(project, b"a,b\n1,2\n3,\xff\n", file_name="r.csv"))
    again = uploads.import_again(
        version, by=None, request=ReadRequest(encoding=encoding)
    )
    run_import(again)
    assert again.state == State.FAILED
    assert not again.import_report["is_broken"]
    assert f"is not {encoding.upper()}" in problems(again)[0]


SVG = b'<svg xmlns="http://www.w3.org/2000/svg">\n<script>a,b</script>\n</svg>\n'
FRAME = b"\xff\xfb\x90\x64" + bytes(413)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (SVG, "This is an image (SVG)."),
        (b"\xef\xbb\xbf <?xml version='1.0'?>\n<!-- a -->" + SVG, "an image (SVG)."),
        (b"<!DOCTYPE svg PUBLIC 'x'>" + SVG, "an image (SVG)."),
        (b"<?xml version='1.0'?>\n<a>1</a>", "a file of type XML."),
        (b"<rss>\n  <channel>\n<item>", "a file of type XML."),
        (b'<feed a="b" xmlns="http://a">text', "a file of type XML."),
        (b"<?xml version='1.0'?><!DOCTYPE html><html>", "a web page (HTML)"),
        (FRAME * 3, "This is an MP3 file."),
        (b"ID3\x02\x00" + bytes(50), "This is an MP3 file."),
        (b"ID3\x04\x00" + bytes(50), "This is an MP3 file."),
    ],
)
def test_what_is_no_table_is_named(project, data, said):
    version = run_import(add_file(project, data, file_name="evil_script.svg"))
    assert version.state == State.FAILED
    assert said in problems(version)[0]


@pytest.mark.parametrize(
    "data",
    [
        b"<DATE>\t<TIME>\t<OPEN>\n1\t2\t3\n",
        b"<TICKER>,<PER>\nA,1\n",
        "явление,слово\nодин,два\n".encode("cp1251"),
        b"<svgs>,b\n1,2\n",
    ],
)
def test_tables_that_begin_like_something_else_are_tables(project, data):
    version = run_import(add_file(project, data, file_name="rows.csv"))
    assert version.state == State.READY, version.import_report


def test_the_same_bytes_are_imported_once(project):
    first = add_file(project, b"a\n1\n", name="one")
    assert add_file(project, b"a\n1\n", name="one") == first
    assert add_file(project, b"a\n1\n", name="two") == first
    assert DatasetVersion.objects.count() == 1
    assert first.dataset.project.datasets.count() == 1


def test_an_import_that_is_being_canceled_is_not_taken(project):
    first = add_file(project, b"a\n1\n", name="one")
    job = claim_job(DataJob, first.job.pk)
    uploads.cancel_import(first)
    assert job is not None
    second = add_file(project, b"a\n1\n", name="one")
    assert second.number == 2


@pytest.mark.django_db(transaction=True)
def test_parallel_uploads_of_the_same_bytes_give_one_version(project):
    start = threading.Barrier(8)

    def upload(_n):
        try:
            start.wait()
            return add_file(project, b"a\n1\n", name="one").pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(upload, range(8)))
    assert len(found) == DatasetVersion.objects.count() == 1
