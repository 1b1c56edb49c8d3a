"""Wrong numbers, missing fields, hostile names, many columns: no page fails."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from datasets import changes, tasks, uploads
from datasets.models import DataJob, DatasetVersion, Row, RowChange
from tests.datasets.test_pages import text_of, upload, version_page
from tests.datasets.test_review import INJECTED, ROWS, decide, uploaded
from tests.factories import jsonl, make_project, make_version, png, run_import
from workspace.leases import claim_job

pytestmark = pytest.mark.django_db
State = DatasetVersion.State

LARGE = 10**30
PAGES = [
    "dataset_version",
    "dataset_row",
    "dataset_row_edit",
    "dataset_row_new",
    "dataset_changes",
    "dataset_compare",
    "dataset_part",
    "dataset_download",
    "dataset_reread",
]
POSTS = [
    "dataset_row_edit",
    "dataset_row_new",
    "dataset_row_remove",
    "dataset_changes",
    "dataset_part",
    "dataset_convert",
    "dataset_reread",
    "dataset_decide",
    "dataset_discard",
    "dataset_cancel",
    "dataset_import_again",
    "dataset_delete",
    "dataset_rename",
    "dataset_version_new",
    "dataset_upload",
]
WITH_INDEX = ("dataset_row", "dataset_row_edit", "dataset_row_remove")
WITHOUT_VERSION = ("dataset_delete", "dataset_rename", "dataset_version_new")
NONSENSE = [
    {},
    {"page": "-1", "cols": "0", "tab": "x", "finding": "x", "has": "x"},
    {"page": "9" * 40, "cols": "9" * 40, "q": "\x00", "finding": ""},
    {"q": "\ufffd %_\\\"'", "tab": "columns\x00", "format": "../x"},
    {"undo": "9" * 30, "size": "9" * 30, "seed": "-1", "how": "split", "name": "\x00"},
    {"undo": "²", "size": "1e5", "how": "found", "name": " ", "encoding": "\x00"},
    {"kind-0": "chat", "kind-1": "x", "kind-99": "number", "state-0": "x"},
    {"cell-0": "\x00\ufffd", "state-0": "value", "cell-1": "{", "state-1": "null"},
    {
        "next": "//evil.example",
        "version": "9" * 30,
        "injection": "x",
        "delimiter": "\t",
    },
]


@pytest.fixture
def version(project):
    return make_version(project, [{"query": "q", "n": 1}, {"query": "r", "n": 2}])


@pytest.fixture
def waiting(client_owner, project):
    return uploaded(client_owner, project, [*ROWS, INJECTED], file_name="odd.jsonl")


def address(version, name, index=1):
    project = version.dataset.project.slug
    if name == "dataset_upload":
        return reverse(name, args=[project])
    if name in WITHOUT_VERSION:
        return reverse(name, args=[project, version.dataset.slug])
    if name in WITH_INDEX or name == "dataset_compare":
        return version_page(version, name, index)
    return version_page(version, name)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("state", ["version", "waiting"])
def test_nonsense_in_a_query_is_no_failure(client_editor, request, name, state):
    version = request.getfixturevalue(state)
    for query in NONSENSE:
        for headers in ({}, {"HX-Request": "true"}):
            response = client_editor.get(address(version, name), query, headers=headers)
            assert response.status_code < 500, (name, query)


@pytest.mark.parametrize("name", POSTS)
@pytest.mark.parametrize("state", ["version", "waiting"])
def test_nonsense_in_a_form_is_no_failure(client_editor, request, name, state):
    version = request.getfixturevalue(state)
    for fields in NONSENSE:
        response = client_editor.post(address(version, name), fields)
        assert response.status_code < 500, (name, fields)
        if not DatasetVersion.objects.filter(pk=version.pk).exists():
            break


@pytest.mark.parametrize("index", [0, 3, 2**31, 2**63, LARGE])
def test_numbers_that_lead_nowhere_are_not_found(client_editor, version, index):
    for name in (*WITH_INDEX, "dataset_compare"):
        send = client_editor.post if name == "dataset_row_remove" else client_editor.get
        assert send(address(version, name, index)).status_code == 404, name
    version.number = index
    assert client_editor.get(version_page(version)).status_code == 404


def test_the_body_of_a_form_may_be_no_form(client_editor, version):
    for name in POSTS:
        for body, kind in (
            (b"\xff\xfe{", "application/json"),
            (b"a=%ff%00&a=1", "application/x-www-form-urlencoded"),
            (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
            (b"", "multipart/form-data"),
        ):
            place = address(version, name)
            response = client_editor.post(place, body, content_type=kind)
            assert response.status_code < 500, (name, kind)
        if not DatasetVersion.objects.filter(pk=version.pk).exists():
            version = make_version(version.dataset.project, [{"query": name}])


# Other people and other projects


def test_a_version_of_another_project_is_not_compared(client_editor, version):
    other = make_project("Other")
    foreign = make_version(other, [{"query": "secret"}], name="theirs")
    make_version(other, [{"query": "secret two"}], name="theirs")
    assert client_editor.get(version_page(foreign)).status_code == 404
    here = version_page(version, "dataset_compare", 2)
    assert client_editor.get(here).status_code == 404
    again = version_page(version, "dataset_compare", 1)
    assert "secret" not in client_editor.get(again).content.decode()


@pytest.mark.parametrize("name", POSTS)
def test_a_viewer_changes_nothing_by_a_direct_post(client_viewer, version, name):
    before = (Row.objects.count(), DatasetVersion.objects.count())
    fields = {"cell-0": "changed", "name": "n", "how": "sample", "size": "1"}
    assert client_viewer.post(address(version, name), fields).status_code == 403
    assert (Row.objects.count(), DatasetVersion.objects.count()) == before
    assert not RowChange.objects.exists()


@pytest.mark.parametrize("name", [*PAGES, *POSTS])
def test_a_stranger_gets_no_page_at_all(client_stranger, version, name):
    assert client_stranger.get(address(version, name)).status_code in (403, 404, 405)
    assert client_stranger.post(address(version, name)).status_code in (403, 404, 405)


def test_two_people_edit_the_same_row_and_both_are_kept(
    client_owner, client_editor, version
):
    place = address(version, "dataset_row_edit")
    for client, text in ((client_owner, "of the owner"), (client_editor, "of mine")):
        client.post(place, {"cell-0": text, "state-0": "value"})
    saved = []
    for client in (client_owner, client_editor):
        client.post(version_page(version, "dataset_changes"))
        saved.append(run_import(DatasetVersion.objects.order_by("-pk")[0]))
    assert [v.number for v in saved] == [2, 3]
    first = [v.rows.get(index=1).values["query"] for v in saved]
    assert first == ["of the owner", "of mine"]
    assert version.rows.get(index=1).values["query"] == "q"


def test_two_decisions_at_once_save_once(client_owner, client_editor, waiting):
    decide(client_owner, waiting, injection="drop")
    response = decide(client_editor, waiting, injection="keep")
    assert response.status_code == 302
    version = run_import(waiting)
    assert (version.state, version.row_count) == (State.READY, len(ROWS))
    discard = version_page(version, "dataset_discard")
    client_editor.post(discard)
    assert DatasetVersion.objects.filter(pk=version.pk).exists()


def test_a_dataset_is_deleted_while_it_is_imported(client_owner, project):
    upload(client_owner, project, jsonl(ROWS))
    version = DatasetVersion.objects.get()
    job = claim_job(DataJob, DataJob.objects.get().pk)
    place = reverse("dataset_delete", args=[project.slug, version.dataset.slug])
    assert client_owner.get(place).status_code == 200
    assert client_owner.post(place).status_code == 302
    tasks.do(job)
    assert not Row.objects.exists()
    assert not DatasetVersion.objects.exists()


def test_the_base_of_an_edited_version_may_go(client_owner, project, owner, version):
    changes.change_row(version, owner, 1, {"query": "edited"})
    new = changes.save(version, owner)
    run_import(new)
    place = reverse("dataset_delete", args=[project.slug, version.dataset.slug])
    assert client_owner.post(f"{place}?version=1").status_code == 302
    for tab in ("rows", "columns", "versions", "report"):
        page = client_owner.get(version_page(new), {"tab": tab})
        assert page.status_code == 200


def test_an_import_again_of_a_version_without_a_file_is_no_failure(
    client_owner, owner, version
):
    changes.change_row(version, owner, 1, {"query": "edited"})
    new = run_import(changes.save(version, owner))
    response = client_owner.post(version_page(new, "dataset_import_again"), {})
    assert response.status_code < 500
    assert client_owner.get(version_page(new, "dataset_reread")).status_code < 500
    assert client_owner.get(version_page(new, "dataset_download")).status_code == 200


# Names and shapes

MARKUP = '"><script>window.__xss=1</script>'


def test_markup_in_names_is_text_on_every_page(client_editor, project):
    rows = [{MARKUP: "a", "b": MARKUP}, {MARKUP: "c", "b": "d"}]
    upload(
        client_editor, project, jsonl(rows), file_name=f"{MARKUP}.jsonl", name=MARKUP
    )
    version = run_import(DatasetVersion.objects.get())
    uploads.keep(version)
    client_editor.post(address(version, "dataset_row_edit"), {"cell-0": MARKUP * 2})
    version.refresh_from_db()
    for name in PAGES[:-2]:
        for tab in ("rows", "columns", "versions", "report"):
            page = client_editor.get(address(version, name), {"tab": tab}, follow=True)
            assert page.status_code == 200, name
            assert "<script>window" not in page.content.decode(), (name, tab)


def test_two_thousand_columns_open_everywhere(client_editor, project):
    row = {f"c{n}": n for n in range(2000)}
    version = make_version(project, [row])
    for name in PAGES[:-2]:
        assert client_editor.get(address(version, name)).status_code == 200, name
    for tab in ("columns", "report"):
        assert client_editor.get(version_page(version), {"tab": tab}).status_code == 200


def test_a_row_of_many_columns_is_edited_with_all_its_fields(client_editor, project):
    """A browser sends an empty part for each file field that nobody used."""
    row = {f"c{n}": None if n % 2 else f"text {n}" for n in range(500)}
    version = make_version(project, [row])
    page = client_editor.get(address(version, "dataset_row_edit")).content.decode()
    fields = {f"cell-{n}": row[f"c{n}"] or "" for n in range(500)}
    fields |= {f"state-{n}": "null" if n % 2 else "value" for n in range(500)}
    fields["cell-0"] = "changed"
    offered = [n for n in range(500) if f'name="file-{n}"' in page]
    body, kind = multipart(fields, offered)
    place = address(version, "dataset_row_edit")
    response = client_editor.post(place, body, content_type=kind)
    assert response.status_code == 302, response.status_code
    change = RowChange.objects.get()
    assert changes.values_of(change) == {**row, "c0": "changed"}


def multipart(fields, files):
    """A form as a browser sends it, unused file fields included."""
    lines = []
    for name, value in fields.items():
        head = f'--x\r\nContent-Disposition: form-data; name="{name}"'
        lines.append(f"{head}\r\n\r\n{value}\r\n")
    for n in files:
        head = f'--x\r\nContent-Disposition: form-data; name="file-{n}"; filename=""'
        lines.append(f"{head}\r\nContent-Type: application/octet-stream\r\n\r\n\r\n")
    return ("".join(lines) + "--x--\r\n").encode(), "multipart/form-data; boundary=x"


@pytest.mark.parametrize(
    "content", [b"", b"<svg/>", b"MZ\x90", png()[:40], b"\x00" * 99]
)
def test_a_file_that_is_no_medium_is_refused_in_the_form(
    client_editor, project, content
):
    version = make_version(project, [{"query": "q", "image_url": None}])
    file = SimpleUploadedFile("x.png", content, "image/png")
    fields = {"file-1": file, "state-1": "value", "cell-0": "q"}
    response = client_editor.post(address(version, "dataset_row_edit"), fields)
    assert response.status_code in (302, 422)
    if response.status_code == 422:
        assert 'class="error"' in response.content.decode()


def test_a_search_for_anything_finds_or_says_nothing(client_editor, version):
    for words in ("%", "_", "\\", "'", '"', "\x00", "q" * 5000, "🐼"):
        response = client_editor.get(version_page(version), {"q": words})
        assert response.status_code == 200, words
    assert "No rows match" in text_of(
        client_editor.get(version_page(version), {"q": "nowhere"})
    )
