"""Rows that a person changes, and versions made of other versions."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from assay.data.media import as_blob
from datasets import changes, compare
from datasets.models import Dataset, DatasetVersion, Row, RowChange
from tests.datasets.test_pages import page, text_of, uri, version_page
from tests.factories import add_file, make_version, png, run_import, wav

pytestmark = pytest.mark.django_db
State = DatasetVersion.State


@pytest.fixture
def version(project):
    rows = [{"query": f"Q{n}", "score": n, "tags": ["a", n]} for n in range(1, 11)]
    return make_version(project, rows, name="Booking rows")


def values(version):
    return [row.values for row in Row.objects.filter(version=version).order_by("index")]


def edit(client, version, index, **fields):
    name, args = ("dataset_row_edit", [index]) if index else ("dataset_row_new", [])
    return client.post(version_page(version, name, *args), fields)


def save(client, version):
    client.post(version_page(version, "dataset_changes"))
    return run_import(DatasetVersion.objects.order_by("-pk")[0])


# Editing


def test_changes_become_the_next_version(client_editor, version):
    edit(client_editor, version, 2, **{"cell-0": "New question"})
    edit(client_editor, version, 3, **{"cell-1": "1.50"})
    client_editor.post(version_page(version, "dataset_row_remove", 4))
    edit(client_editor, version, 0, **{"cell-0": "Added", "state-0": "value"})
    old = values(version)
    new = save(client_editor, version)
    assert (new.number, new.state, new.base) == (2, State.READY, version)
    assert new.row_count == 10
    found = values(new)
    assert found[1] == {"query": "New question", "score": 2, "tags": ["a", 2]}
    assert Row.objects.get(version=new, index=3).data.endswith('"tags":["a",3]}')
    assert '"score":1.50' in Row.objects.get(version=new, index=3).data
    assert {"query": "Q4", "score": 4, "tags": ["a", 4]} not in found
    assert found[-1] == {"query": "Added"}
    assert values(version) == old


def test_what_was_not_touched_stays_as_it_was(client_editor, project):
    row = {"a": "one\ntwo", "b": "x\r\ny", "c": "\u0000\ud800", "d": "  ", "e": 1e400}
    row["e"] = 2
    version = make_version(project, [row])
    response = client_editor.get(version_page(version, "dataset_row_edit", 1))
    form = response.context["form"]
    sent = {
        f"cell-{cell.position}": cell.text.replace("\r\n", "\n").replace("\n", "\r\n")
        for cell in form.cells
    }
    sent["cell-3"] = "changed"
    edit(client_editor, version, 1, **sent)
    new = save(client_editor, version)
    assert values(new) == [{**row, "d": "changed"}]


def test_null_and_absent_can_be_chosen(client_editor, version):
    edit(client_editor, version, 1, **{"state-0": "null", "state-2": "absent"})
    assert values(save(client_editor, version))[0] == {"query": None, "score": 1}


def test_wrong_json_is_said_and_the_text_stays(client_editor, version):
    response = edit(client_editor, version, 1, **{"cell-2": '["a", 1'})
    assert response.status_code == 422
    text = response.content.decode()
    assert "This is no JSON." in text
    assert "[&quot;a&quot;, 1" in text
    assert not RowChange.objects.exists()


def test_a_row_too_large_is_refused(client_editor, version, settings):
    settings.MAX_ROW_BYTES = 100
    response = edit(client_editor, version, 1, **{"cell-0": "x" * 200})
    assert response.status_code == 422
    assert "too large" in text_of(response)


def test_an_image_replaces_another(client_editor, project):
    rows = [{"image_url": uri("image/png", png()), "query": "Which?"}]
    version = make_version(project, rows)
    file = SimpleUploadedFile("new.png", png(10, 20), "image/png")
    response = edit(client_editor, version, 1, **{"file-0": file})
    assert response.status_code == 302
    ref = as_blob(values(save(client_editor, version))[0]["image_url"])
    assert ref is not None
    assert ref.size == len(png(10, 20))


def test_a_file_that_is_no_medium_is_refused(client_editor, project):
    version = make_version(project, [{"image_url": uri("image/png", png())}])
    file = SimpleUploadedFile("new.png", b"<html>", "image/png")
    response = edit(client_editor, version, 1, **{"file-0": file})
    assert response.status_code == 422
    assert not RowChange.objects.exists()


def test_changes_are_undone_one_by_one_and_all(client_editor, editor, version):
    for index in (1, 2, 3):
        edit(client_editor, version, index, **{"cell-0": "New"})
    address = version_page(version, "dataset_changes")
    first = changes.changes_of(version, editor)[0]
    client_editor.post(address, {"undo": str(first.pk)})
    assert [c.index for c in changes.changes_of(version, editor)] == [2, 3]
    client_editor.post(address, {"undo": "all"})
    assert not RowChange.objects.exists()
    assert client_editor.post(address, {"undo": "x"}).status_code == 404


def test_changes_of_another_person_are_not_mine(client_editor, client_owner, version):
    edit(client_owner, version, 1, **{"cell-0": "Of the owner"})
    assert "No changes" in text_of(
        client_editor.get(version_page(version, "dataset_changes"))
    )
    client_editor.post(version_page(version, "dataset_changes"))
    assert version.dataset.versions.count() == 1
    assert "1 change of yours" in text_of(client_owner.get(version_page(version)))


def test_the_same_row_changed_twice_is_one_change(client_editor, version):
    edit(client_editor, version, 1, **{"cell-0": "First"})
    edit(client_editor, version, 1, **{"cell-0": "Second"})
    assert values(save(client_editor, version))[0]["query"] == "Second"


def test_there_is_an_end_to_changes_by_hand(client_editor, version, monkeypatch):
    monkeypatch.setattr(changes, "MAX_CHANGES", 2)
    for index in (1, 2, 3):
        response = edit(client_editor, version, index, **{"cell-0": "New"})
    assert "There are 2 changes." in text_of(client_editor.get(response.url))
    assert RowChange.objects.count() == 2


def test_an_empty_row_is_refused(client_editor, version):
    sent = {f"state-{n}": "absent" for n in range(3)}
    edit(client_editor, version, 1, **sent)
    assert not RowChange.objects.exists()


def test_viewers_change_nothing(client_viewer, version):
    for name, args in [
        ("dataset_row_edit", [1]),
        ("dataset_row_remove", [1]),
        ("dataset_changes", []),
        ("dataset_convert", []),
        ("dataset_part", []),
    ]:
        address = version_page(version, name, *args)
        assert client_viewer.post(address).status_code == 403, name


# What changed


def test_a_comparison_names_rows_and_columns(client_editor, version):
    edit(client_editor, version, 2, **{"cell-0": "Changed question"})
    client_editor.post(version_page(version, "dataset_row_remove", 4))
    edit(client_editor, version, 0, **{"cell-0": "Added", "state-0": "value"})
    new = save(client_editor, version)
    found = compare.compare(version, new)
    assert (found.kept, found.changed, found.added, found.removed) == (8, 1, 1, 1)
    text = text_of(client_editor.get(version_page(new, "dataset_compare", 1)))
    assert "Q2" in text
    assert "Changed question" in text
    assert "against v1" in text_of(
        client_editor.get(version_page(new) + "?tab=versions")
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "abc", (3, 0, 0, 0)),
        ("abc", "axc", (2, 1, 0, 0)),
        ("abc", "ac", (2, 0, 0, 1)),
        ("ac", "abc", (2, 0, 1, 0)),
        ("abc", "cab", (3, 0, 0, 0)),
        ("aab", "ab", (2, 0, 0, 1)),
        ("", "ab", (0, 0, 2, 0)),
        ("abc", "xyz", (0, 3, 0, 0)),
        ("abcd", "axyd", (2, 2, 0, 0)),
        ("abcd", "axd", (2, 1, 0, 1)),
    ],
)
def test_rows_are_compared_by_content(project, before, after, expected):
    versions = [
        make_version(project, [{"v": "start"}, *({"v": c} for c in letters)], name=name)
        for name, letters in [("old", before), ("new", after)]
    ]
    found = compare.compare(*versions)
    kept, *rest = expected
    assert (found.kept - 1, found.changed, found.added, found.removed) == (kept, *rest)


# Types


def convert(client, version, **kinds):
    names = [column["name"] for column in version.columns]
    fields = {f"kind-{names.index(name)}": kind for name, kind in kinds.items()}
    client.post(version_page(version, "dataset_convert"), fields)
    return run_import(DatasetVersion.objects.order_by("-pk")[0])


def test_text_becomes_what_it_says(client_editor, project):
    data = b'n,flag,list,id\n1.50,TRUE,"[1, {""a"": 2}]",007\nx,no,{,008\n,,,\n'
    version = run_import(add_file(project, data, file_name="typed.csv"))
    new = convert(client_editor, version, n="number", flag="boolean", list="json")
    assert new.number == 2
    rows = Row.objects.filter(version=new).order_by("index")
    assert rows[0].data == '{"n":1.50,"flag":true,"list":[1,{"a":2}],"id":"007"}'
    assert rows[1].data == '{"n":"x","flag":"no","list":"{","id":"008"}'
    messages = [note["message"] for note in new.import_report["notes"]]
    assert any('1 values of "n" cannot be read as number' in m for m in messages)


def test_base64_becomes_an_image_and_a_sound(client_editor, project):
    import base64

    rows = [
        {
            "p": base64.b64encode(png()).decode(),
            "s": base64.b64encode(wav()).decode(),
        }
    ]
    version = make_version(project, rows)
    new = convert(client_editor, version, p="image", s="audio")
    row = values(new)[0]
    assert as_blob(row["p"]).mime == "image/png"
    assert as_blob(row["s"]).mime == "audio/wav"


def test_without_another_type_nothing_happens(client_editor, version):
    client_editor.post(version_page(version, "dataset_convert"), {"kind-0": "text"})
    assert version.dataset.versions.count() == 1


# Parts


def part(client, version, query="", **fields):
    address = version_page(version, "dataset_part") + query
    return client.post(address, {"name": "Part", "seed": "1", **fields})


def test_a_sample_is_drawn_again_by_its_seed(client_editor, version):
    part(client_editor, version, how="sample", size="4")
    first = run_import(DatasetVersion.objects.order_by("-pk")[0])
    part(client_editor, version, how="sample", size="4", name="Again")
    second = run_import(DatasetVersion.objects.order_by("-pk")[0])
    assert first.row_count == 4
    assert values(first) == values(second)
    assert all(row in values(version) for row in values(first))


def test_a_split_has_every_row_once(client_editor, version):
    part(client_editor, version, how="split", size="7")
    one, two = (Dataset.objects.get(name=f"Part {n}") for n in (1, 2))
    rows = [
        row
        for dataset in (one, two)
        for row in values(run_import(dataset.versions.get()))
    ]
    assert sorted(row["score"] for row in rows) == list(range(1, 11))
    assert one.versions.get().row_count == 7


def test_filtered_rows_become_a_dataset(client_editor, version):
    part(client_editor, version, "?q=Q1", how="found")
    found = values(run_import(DatasetVersion.objects.order_by("-pk")[0]))
    assert [row["query"] for row in found] == ["Q1", "Q10"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"how": "sample", "size": "11"}, "At most 10 of the 10 rows."),
        ({"how": "split", "size": "10"}, "At most 9 of the 10 rows."),
        ({"how": "sample", "size": ""}, "How many rows?"),
        ({"how": "sample", "size": "0"}, "greater than or equal to 1"),
        ({"how": "sample", "size": "2", "name": ""}, "This field is required."),
    ],
)
def test_a_part_that_cannot_be_is_refused(client_editor, version, fields, message):
    response = part(client_editor, version, **fields)
    assert response.status_code == 422
    assert message in text_of(response)
    assert Dataset.objects.count() == 1


def test_pages_of_a_made_version_open(client_editor, project, version):
    part(client_editor, version, how="sample", size="3")
    made = run_import(DatasetVersion.objects.order_by("-pk")[0])
    for tab in ("rows", "columns", "versions", "report"):
        response = client_editor.get(version_page(made) + f"?tab={tab}")
        assert response.status_code == 200
    assert "Part" in text_of(client_editor.get(page(project)))


def test_a_wrong_row_has_no_form(client_editor, version):
    assert (
        client_editor.get(version_page(version, "dataset_row_edit", 11)).status_code
        == 404
    )
