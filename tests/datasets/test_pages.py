from __future__ import annotations

import base64
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from datasets import queries, usage
from datasets.models import DataJob, Dataset, DatasetVersion
from datasets.samples import ensure_sample
from tests.factories import add_file, jsonl, make_version, png, run_import, wav
from workspace.models import JobState

pytestmark = pytest.mark.django_db
State = DatasetVersion.State
XHR = {"X-Requested-With": "XMLHttpRequest"}
HTMX = {"HX-Request": "true"}


def uri(mime, data):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def page(project, name="datasets", *args):
    return reverse(name, args=[project.slug, *args])


def version_page(version, name="dataset_version", *args):
    dataset = version.dataset
    parts = [dataset.project.slug, dataset.slug, version.number, *args]
    return reverse(name, args=parts)


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def upload(client, project, data=b'{"a": 1}\n', file_name="rows.jsonl", **fields):
    headers = fields.pop("headers", {})
    file = SimpleUploadedFile(file_name, data, "application/octet-stream")
    address = fields.pop("address", page(project, "dataset_upload"))
    return client.post(address, {"file": file, **fields}, headers=headers)


@pytest.fixture
def version(project):
    rows = [
        {"query": f"Question {n}", "response": f"Answer {n}"} for n in range(1, 121)
    ]
    return make_version(project, rows, name="Booking rows")


# Who may do what

READS = ["dataset_version", "dataset_download"]


def test_a_stranger_sees_no_page(client_stranger, project, version):
    addresses = [page(project), page(project, "dataset", version.dataset.slug)]
    addresses += [version_page(version, name) for name in READS]
    addresses += [version_page(version, "dataset_row", 1)]
    addresses += [page(project, "dataset_preview", version.ref)]
    for address in addresses:
        assert client_stranger.get(address).status_code == 404, address


def test_a_viewer_sees_pages_without_actions(client_viewer, project, version):
    for address in [page(project), version_page(version)]:
        response = client_viewer.get(address)
        assert response.status_code == 200
        assert "Add dataset" not in response.content.decode()
        assert "Upload new version" not in response.content.decode()


def test_a_viewer_may_not_change_anything(client_viewer, project, version):
    slug = version.dataset.slug
    addresses = [
        page(project, "dataset_upload"),
        page(project, "dataset_sample"),
        page(project, "dataset_version_new", slug),
        page(project, "dataset_rename", slug),
        page(project, "dataset_delete", slug),
        version_page(version, "dataset_cancel"),
        version_page(version, "dataset_import_again"),
    ]
    for address in addresses:
        assert client_viewer.post(address).status_code == 403, address
    assert Dataset.objects.count() == 1


def test_the_dataset_of_another_project_does_not_exist(
    client_stranger, stranger, version
):
    other = stranger.projects.get()
    slug = version.dataset.slug
    assert client_stranger.get(page(other, "dataset", slug)).status_code == 404
    address = page(other, "dataset_preview", version.ref)
    assert client_stranger.get(address).status_code == 404


# The list


def test_the_empty_list_offers_a_start(client_owner, project):
    text = text_of(client_owner.get(page(project)))
    assert "No datasets yet" in text
    assert "Add the sample dataset" in text


def test_the_list_shows_the_version_in_use(client_owner, project, version):
    add_file(project, b"{broken", name="Booking rows")
    run_import(version.dataset.versions.get(number=2))
    text = text_of(client_owner.get(page(project)))
    assert "Booking rows v1" in text
    assert "1–1 of 1 dataset" in text


def test_the_list_filters_and_sorts(client_owner, project, version):
    make_version(project, [{"image_url": uri("image/png", png())}], name="pictures")
    make_version(project, [{"other": 1}] * 3, name="abc")

    def names(query):
        response = client_owner.get(page(project) + query)
        return [v.dataset.name for v in response.context["page"]]

    assert names("") == ["abc", "pictures", "Booking rows"]
    assert names("?q=pict") == ["pictures"]
    assert names("?q=RESPONSE") == ["Booking rows"]
    assert names("?content=image") == ["pictures"]
    assert names("?content=chat") == []
    assert names("?source=sample") == []
    assert names("?sort=name") == ["abc", "Booking rows", "pictures"]
    assert names("?sort=-rows") == ["Booking rows", "abc", "pictures"]
    assert names("?sort=nonsense&page=99&content=nonsense") == names("")


def test_a_filter_without_result_can_be_cleared(client_owner, project, version):
    text = text_of(client_owner.get(page(project) + "?q=nothing"))
    assert "No datasets match these filters." in text


def test_the_list_answers_htmx_with_the_region(client_owner, project, version):
    response = client_owner.get(page(project), headers=HTMX)
    assert response.content.decode().strip().startswith('<div id="datasets">')
    assert "HX-Request" in response["Vary"]


def test_the_list_takes_seven_queries(
    client_owner, project, version, django_assert_num_queries
):
    make_version(project, [{"a": 1}], name="two")
    # session, person, membership, projects of the shell, count, page
    with django_assert_num_queries(7):
        client_owner.get(page(project))


# Upload


def test_an_upload_becomes_a_version_and_a_job(client_editor, project):
    response = upload(client_editor, project, file_name="My rows.jsonl")
    version = DatasetVersion.objects.get()
    assert response.status_code == 302
    assert response["Location"] == version_page(version)
    assert (version.dataset.name, version.dataset.slug) == ("My rows", "my-rows")
    assert (version.state, version.original_name) == (State.IMPORTING, "My rows.jsonl")
    assert version.created_by is not None
    assert version.job.state == JobState.QUEUED


def test_a_script_gets_the_address_as_json(client_editor, project):
    response = upload(client_editor, project, headers=XHR)
    assert response.json() == {"location": version_page(DatasetVersion.objects.get())}


@pytest.mark.parametrize(
    "kind", ["text/csv", "application/vnd.ms-excel", "application/octet-stream", ""]
)
def test_the_declared_type_does_not_matter(client_editor, project, kind):
    file = SimpleUploadedFile("rows.csv", b"a\n1\n", kind)
    response = client_editor.post(page(project, "dataset_upload"), {"file": file})
    assert response.status_code == 302


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Choose a CSV or JSONL file."),
        ({"data": b""}, "The file is empty."),
        ({"data": b"x", "name_field": "n" * 121}, "at most 120 characters"),
    ],
)
def test_a_refused_upload_says_why(client_editor, project, fields, message):
    form = {"name": fields.get("name_field", "")}
    if "data" in fields:
        form["file"] = SimpleUploadedFile("x.csv", fields["data"])
    address = page(project, "dataset_upload")
    plain = client_editor.post(address, form)
    assert plain.status_code == 422
    assert message in text_of(plain)
    if "data" in fields:
        form["file"] = SimpleUploadedFile("x.csv", fields["data"])
    script = client_editor.post(address, form, headers=XHR)
    assert script.status_code == 422
    assert message in script.json()["message"]
    assert not Dataset.objects.exists()


def test_a_file_above_the_limit_is_refused_with_its_size(
    client_editor, project, settings, tmp_path
):
    settings.MAX_UPLOAD_BYTES = 100_000
    before = {p for p in tmp_path.rglob("*") if p.is_file()}
    response = upload(client_editor, project, b"x" * 300_000, headers=XHR)
    assert response.status_code == 422
    assert response.json()["message"] == (
        "The file has 293 KB. The limit is 98 KB. Split it or upload fewer rows."
    )
    assert {p for p in tmp_path.rglob("*") if p.is_file()} == before


def test_an_upload_needs_the_token_of_the_form(editor, project):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    assert upload(client, project).status_code == 403
    assert not Dataset.objects.exists()


def test_the_same_file_again_leads_to_what_is_there(client_editor, project, version):
    data = b"".join(
        jsonl([{"query": f"Question {n}", "response": f"Answer {n}"}])
        for n in range(1, 121)
    )
    response = client_editor.post(
        page(project, "dataset_upload"),
        {"file": SimpleUploadedFile("other.jsonl", data)},
        follow=True,
    )
    assert "This file is already here as Booking rows v1." in text_of(response)
    assert DatasetVersion.objects.count() == 1


def test_a_new_version_goes_to_its_dataset(client_editor, project, version):
    address = page(project, "dataset_version_new", version.dataset.slug)
    assert client_editor.get(address).status_code == 200
    upload(client_editor, project, file_name="different.jsonl", address=address)
    assert version.dataset.versions.count() == 2


def test_names_of_files_are_only_names(client_editor, project):
    upload(client_editor, project, file_name="..\\..\\étude 评估 #1.jsonl")
    version = DatasetVersion.objects.get()
    assert version.original_name == "étude 评估 #1.jsonl"
    assert version.dataset.slug == "etude-1"


def test_slugs_of_pages_are_not_taken(client_editor, project):
    for name in ("new", "New!", "评估", "估评"):
        upload(client_editor, project, f'{{"a": "{name}"}}'.encode(), name, name=name)
    slugs = set(Dataset.objects.values_list("slug", flat=True))
    assert slugs == {"new-data", "new-data-2", "dataset", "dataset-2"}


def test_the_way_back_to_the_wizard(client_editor, project):
    target = f"/p/{project.slug}/evaluations/new/x/data/?source=upload"
    response = upload(client_editor, project, next=target)
    version = DatasetVersion.objects.get()
    assert response["Location"].startswith(version_page(version) + "?next=")
    run_import(version)
    done = client_editor.get(response["Location"])
    assert done["Location"] == f"{target}&dataset={version.ref}"


def test_the_way_back_stays_in_the_portal(client_editor, project):
    response = upload(client_editor, project, next="https://evil.example/")
    assert response["Location"] == version_page(DatasetVersion.objects.get())


# While it is imported


def test_the_page_of_an_import_polls(client_editor, project):
    version = add_file(project, jsonl([{"a": 1}]))
    response = client_editor.get(version_page(version))
    html = response.content.decode()
    assert "data-poll" in html
    assert "Waiting to be read" in html
    assert "Cancel the import" in html
    part = client_editor.get(version_page(version), headers=HTMX)
    assert part.content.decode().strip().startswith("<section")


def test_the_poll_leads_to_the_result(client_editor, project):
    version = add_file(project, jsonl([{"a": 1}]))
    run_import(version)
    headers = {**HTMX, "HX-Target": "progress"}
    response = client_editor.get(version_page(version), headers=headers)
    assert response["HX-Redirect"] == version_page(version)


def test_an_import_can_be_canceled(client_editor, project):
    version = add_file(project, jsonl([{"a": 1}]))
    response = client_editor.post(version_page(version, "dataset_cancel"), follow=True)
    assert "The import was canceled. No rows were kept." in text_of(response)
    assert DataJob.objects.get().state == JobState.CANCELED


# What went wrong


def test_a_failed_import_lists_lines_and_offers_ways_out(client_editor, project):
    version = run_import(add_file(project, b'{"a": 1}\n{oops\n{"a": 2}\n{,}\n'))
    text = text_of(client_editor.get(version_page(version)))
    assert "2 lines are wrong." in text
    assert "Line 2 is not valid JSON" in text
    assert "Import the 2 good rows" in text
    assert "Upload the file again" in text
    assert "Delete this version" in text


def test_the_good_rows_are_imported_from_the_page(client_editor, project):
    version = run_import(add_file(project, b'{"a": 1}\n{oops\n'))
    address = version_page(version, "dataset_import_again")
    response = client_editor.post(address, {"skip_bad": "on"})
    assert response["Location"] == version_page(version)
    run_import(version)
    text = text_of(client_editor.get(version_page(version)))
    assert "1 line was left out." in text
    report = text_of(client_editor.get(version_page(version) + "?tab=report"))
    assert "Line 2 is not valid JSON" in report


def test_an_unknown_encoding_is_refused(client_editor, project, version):
    address = version_page(version, "dataset_import_again")
    client_editor.post(address, {"encoding": "rot13"})
    assert version.dataset.versions.count() == 1


# Rows


def test_rows_are_paged_without_counting_them(
    client_owner, version, django_assert_num_queries
):
    # session, person, membership, version, versions of the menu, my changes,
    # rows, projects
    address = version_page(version) + "?page=3"
    with django_assert_num_queries(8) as queries:
        response = client_owner.get(address)
    assert [row.index for row in response.context["rows"]] == list(range(101, 121))
    assert "Rows 101–120 of 120" in text_of(response)
    assert not any("COUNT(" in query["sql"] for query in queries)


def test_a_page_with_media_takes_one_query_more(
    client_owner, project, django_assert_num_queries
):
    rows = [{"image_url": uri("image/png", png(n + 1))} for n in range(20)]
    version = make_version(project, rows)
    address = version_page(version)
    with django_assert_num_queries(9):
        client_owner.get(address)


def test_values_that_are_missing_are_told_apart(client_owner, project):
    version = make_version(project, [{"a": "", "b": None}, {"c": 0, "a": False}])
    html = client_owner.get(version_page(version)).content.decode()
    first, second = html.split("<tbody>")[1].split("</tr>")[:2]
    assert "Empty" in first
    assert ">null<" in first
    assert "–" in first
    assert ">false<" in second
    assert ">0<" in second


def test_long_texts_are_cut_on_the_server(client_owner, project):
    version = make_version(project, [{"query": "word " * 5000}])
    response = client_owner.get(version_page(version))
    assert len(response.content) < 40_000
    whole = client_owner.get(version_page(version, "dataset_row", 1))
    assert "word " * 4000 in whole.content.decode()


def test_media_are_shown_with_words(client_owner, project):
    rows = [
        {"image_url": uri("image/png", png(64, 48)), "caption": "A blue square"},
        {
            "image_url": uri("image/png", png(64, 48)),
            "audio_data": uri("audio/wav", wav(2)),
        },
    ]
    version = make_version(project, rows)
    html = client_owner.get(version_page(version)).content.decode()
    assert "base64" not in html
    assert 'alt="A blue square"' in html
    assert 'alt="Image of row 2"' in html
    assert "image_url of row 1 · 64&nbsp;×&nbsp;48 · " in html
    assert "<audio" in html
    assert "0:02" in html


def test_rows_can_be_filtered_by_content(client_owner, project):
    rows = [{"n": n} for n in range(60)]
    rows += [{"n": 60 + n, "image_url": uri("image/png", png())} for n in range(3)]
    version = make_version(project, rows)
    response = client_owner.get(version_page(version) + "?has=image")
    assert [row.index for row in response.context["rows"]] == [61, 62, 63]
    assert "Rows 1–3 of 3" in text_of(response)


@pytest.mark.parametrize("words", ["café", "CAF", "Zoë 👍", 'with "quotes"'])
def test_rows_can_be_searched(client_owner, project, words):
    rows = [{"a": "nothing"}, {"a": 'café Zoë 👍 with "quotes"'}]
    version = make_version(project, rows)
    response = client_owner.get(version_page(version), {"q": words})
    assert [row.index for row in response.context["rows"]] == [2]


def test_a_search_without_result(client_owner, version):
    text = text_of(client_owner.get(version_page(version) + "?q=nowhere"))
    assert "No rows match these filters." in text


def test_the_rows_answer_htmx_with_the_region(client_owner, version):
    response = client_owner.get(version_page(version), headers=HTMX)
    assert response.content.decode().strip().startswith('<div id="ds-rows">')


@pytest.mark.parametrize("tab", ["columns", "versions", "report", "runs", "odd"])
def test_every_tab_opens(client_owner, version, tab):
    response = client_owner.get(version_page(version) + f"?tab={tab}")
    assert response.status_code == 200


def test_a_row_shows_everything(client_owner, project):
    row = {
        "query": "<script>alert(1)</script>",
        "messages": [{"role": "user", "content": "Hello"}],
        "data": {"n": 1.50, "deep": [1, {"x": "\ud800"}]},
        "big": 12345678901234567890,
        "image_url": uri("image/png", png()),
    }
    version = make_version(project, [row])
    html = client_owner.get(version_page(version, "dataset_row", 1)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>alert" not in html
    assert "12345678901234567890" in html
    assert "Hello" in html
    assert "<img" in html


def test_digits_are_shown_as_they_were_written(client_owner, project):
    version = run_import(add_file(project, b'{"a": 1.50, "b": 1e5}\n'))
    html = client_owner.get(version_page(version)).content.decode()
    assert ">1.50<" in html
    assert ">1e5<" in html


def test_a_row_that_is_not_there(client_owner, version):
    response = client_owner.get(version_page(version, "dataset_row", 121))
    assert response.status_code == 404


def test_hostile_names_and_values_stay_text(client_owner, project):
    bad = '"><img src=x onerror=alert(1)>'
    version = make_version(
        project, [{bad: bad, "b": [bad], "c": "{{ 7*7 }}"}], name=bad
    )
    addresses = [
        page(project),
        version_page(version),
        version_page(version) + "?tab=columns",
        version_page(version, "dataset_row", 1),
        page(project, "dataset_preview", version.ref),
        page(project, "dataset_delete", version.dataset.slug),
    ]
    for address in addresses:
        headers = HTMX if "preview" in address else {}
        html = client_owner.get(address, headers=headers).content.decode()
        assert "<img src=x" not in html, address
        assert "49" not in re.findall(r">(\d+)<", html)


def test_the_preview_shows_four_rows(client_owner, project, version):
    address = page(project, "dataset_preview", version.ref)
    text = text_of(client_owner.get(address + "?page=2", headers=HTMX))
    assert "Rows 5–8 of 120" in text
    assert "Question 8" in text
    assert "Question 9" not in text
    assert client_owner.get(address)["Location"] == version_page(version)


def test_the_preview_takes_seven_queries(
    client_owner, project, django_assert_num_queries
):
    rows = [{"image_url": uri("image/png", png(n + 1))} for n in range(4)]
    version = make_version(project, rows)
    address = page(project, "dataset_preview", version.ref)
    # session, person, membership, version, rows, media, projects of the shell
    with django_assert_num_queries(7):
        client_owner.get(address, headers=HTMX)


def test_the_file_comes_back_as_it_was(client_viewer, project):
    data = b"a;b\r\n1;\xe9\r\n"
    version = run_import(add_file(project, data, file_name="тест é 1.csv"))
    response = client_viewer.get(version_page(version, "dataset_download"))
    assert b"".join(response.streaming_content) == data
    assert response["Content-Disposition"].startswith("attachment;")
    assert "%D1%82%D0%B5%D1%81%D1%82" in response["Content-Disposition"]
    assert response["Content-Type"] == "application/octet-stream"


# Rename and delete


def test_a_dataset_is_renamed(client_editor, project, version):
    address = page(project, "dataset_rename", version.dataset.slug)
    assert client_editor.get(address).status_code == 200
    client_editor.post(address, {"name": "Other", "description": "About"})
    dataset = Dataset.objects.get()
    assert (dataset.name, dataset.slug) == ("Other", "booking-rows")


def test_a_name_that_is_taken_is_refused(client_editor, project, version):
    make_version(project, [{"a": 1}], name="Taken")
    address = page(project, "dataset_rename", version.dataset.slug)
    response = client_editor.post(address, {"name": "TAKEN", "description": ""})
    assert response.status_code == 422
    assert "There is already a dataset TAKEN." in text_of(response)
    assert "Rename Booking rows" in text_of(response)


def test_deleting_asks_first(client_editor, project, version):
    address = page(project, "dataset_delete", version.dataset.slug)
    text = text_of(client_editor.get(address))
    assert "Delete the dataset with its 1 version?" in text
    assert "120 rows go" in text
    assert Dataset.objects.exists()
    client_editor.post(address)
    assert not Dataset.objects.exists()
    assert not DatasetVersion.objects.exists()


def test_one_version_can_be_deleted(client_editor, project, version):
    other = make_version(project, [{"a": 1}], name="Booking rows")
    address = page(project, "dataset_delete", version.dataset.slug)
    text = text_of(client_editor.get(address + "?version=1"))
    assert "Delete version 1?" in text
    client_editor.post(address + "?version=1")
    assert list(DatasetVersion.objects.all()) == [other]


def test_a_version_that_is_gone_takes_no_other_along(client_editor, project, version):
    make_version(project, [{"a": 1}], name="Booking rows")
    address = page(project, "dataset_delete", version.dataset.slug)
    assert client_editor.post(address + "?version=1").status_code == 302
    assert client_editor.post(address + "?version=1").status_code == 404
    assert client_editor.get(address + "?version=1").status_code == 404
    assert DatasetVersion.objects.count() == 1


@pytest.mark.parametrize("query", ["", "?version=1"])
def test_the_slower_of_two_deletes_finds_nothing(
    client_editor, project, version, monkeypatch, query
):
    stale = list(queries.versions_of(version.dataset))
    dataset = version.dataset
    monkeypatch.setattr(queries, "dataset_in", lambda *_a: dataset)
    monkeypatch.setattr(queries, "versions_of", lambda _d: stale)
    Dataset.objects.filter(pk=dataset.pk).delete()
    address = page(project, "dataset_delete", dataset.slug) + query
    assert client_editor.post(address).status_code == 404
    stale.clear()
    assert client_editor.post(address).status_code == 404


def test_what_runs_use_is_not_deleted(client_editor, project, version, monkeypatch):
    monkeypatch.setattr(usage, "_finders", [])
    usage.register(lambda ids: [("Run 7", "/runs/7/")] if version.pk in ids else [])
    address = page(project, "dataset_delete", version.dataset.slug)
    text = text_of(client_editor.get(address))
    assert "1 run uses this data." in text
    assert "Run 7" in text
    response = client_editor.post(address)
    assert response.status_code == 409
    assert version.rows.count() == 120


def test_an_action_of_an_upper_app_is_offered(client_owner, version, monkeypatch):
    monkeypatch.setattr(usage, "_actions", [])
    usage.register_action(lambda v: ("Evaluate", f"/start/{v.ref}"))
    html = client_owner.get(version_page(version)).content.decode()
    assert f'href="/start/{version.ref}"' in html


# The sample


def test_the_sample_is_added_once(client_editor, project):
    for _ in range(2):
        response = client_editor.post(page(project, "dataset_sample"), follow=True)
        assert response.status_code == 200
    version = DatasetVersion.objects.get()
    assert (version.source, version.row_count) == ("sample", 24)
    assert ensure_sample(project) == version


def test_the_sample_has_everything(project):
    version = ensure_sample(project)
    kinds = {column["name"]: column["kind"] for column in version.columns}
    assert kinds == {
        "query": "text",
        "response": "text",
        "ground_truth": "text",
        "context": "text",
        "image_url": "image",
        "caption": "text",
        "audio_data": "audio",
        "expected": "text",
    }
    assert version.import_report["media"] == {"image": 6, "audio": 5}
    assert version.import_report["notes"] == []
    assert version.original.size < 350_000


def test_many_columns_are_shown_four_at_a_time(client_owner, project):
    row = {f"c{n}": n for n in range(9)} | {"image_url": uri("image/png", png())}
    version = make_version(project, [row])
    seen = []
    for group in ("", "?cols=2", "?cols=3", "?cols=99"):
        response = client_owner.get(version_page(version) + group)
        seen.append(response.context["names"])
    assert seen[0] == ["c0", "c1", "c2", "image_url"]
    assert seen[1] == ["c3", "c4", "c5", "c6"]
    assert seen[2] == seen[3] == ["c7", "c8"]
    assert "2 of 10 columns" in text_of(response)
