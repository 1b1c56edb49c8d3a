"""What happens is what a person was shown: nothing more goes, nothing is hidden."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from datasets import changes, uploads
from datasets.models import Dataset, DatasetVersion, RowChange
from tests.datasets.test_pages import page, text_of, upload, uri, version_page
from tests.factories import add_file, make_version, run_import, wav

pytestmark = pytest.mark.django_db
State = DatasetVersion.State


def test_a_version_that_came_meanwhile_is_not_deleted_along(client_owner, project):
    first = make_version(project, [{"a": 1}], name="rows")
    address = reverse("dataset_delete", args=[project.slug, "rows"])
    html = client_owner.get(address).content.decode()
    assert 'name="shown" value="1"' in html
    make_version(project, [{"a": 2}], name="rows")
    response = client_owner.post(address, {"shown": "1"})
    assert response.status_code == 409
    assert "changed meanwhile" in text_of(response)
    assert first.dataset.versions.count() == 2
    assert client_owner.post(address, {"shown": "2,1"}).status_code == 302


def test_a_part_never_goes_into_a_dataset_that_exists(client_owner, project):
    version = make_version(project, [{"a": n} for n in range(9)], name="rows")
    make_version(project, [{"b": 1}], name="prices")
    make_version(project, [{"b": 2}], name="half 2")
    address = version_page(version, "dataset_part")
    for name, how in (("Prices", "sample"), ("half", "split")):
        sent = {"name": name, "how": how, "size": "3", "seed": "1"}
        response = client_owner.post(address, sent)
        assert response.status_code == 422
        assert "There is already a dataset" in text_of(response)
    assert DatasetVersion.objects.count() == 3


def test_changes_of_an_old_version_say_what_they_leave_out(
    client_owner, owner, project
):
    old = make_version(project, [{"a": 1}], name="rows")
    make_version(project, [{"a": 2}], name="rows")
    changes.change_row(old, owner, 1, {"a": 5})
    text = text_of(client_owner.get(version_page(old, "dataset_changes")))
    assert "What is new in it will not be in version 3" in text


def test_a_change_of_nothing_is_no_change(client_owner, project):
    version = make_version(project, [{"a": "x"}])
    client_owner.post(version_page(version, "dataset_row_edit", 1), {"cell-0": "x"})
    assert not RowChange.objects.exists()


def test_an_empty_row_keeps_what_was_typed(client_owner, project):
    version = make_version(project, [{"a": "x", "b": "y"}])
    sent = {"state-0": "absent", "state-1": "absent", "cell-0": "typed"}
    response = client_owner.post(version_page(version, "dataset_row_edit", 1), sent)
    assert response.status_code == 422
    assert "A row needs at least one value." in text_of(response)


def test_other_choices_cannot_be_saved_before_they_are_read(client_owner, project):
    data = "query;response\nwas łódź?;Eine Stadt.\n".encode("cp1250")
    upload(client_owner, project, data, file_name="menu.csv")
    version = run_import(DatasetVersion.objects.get())
    assert version.state == State.REVIEW

    def shown(**choices):
        address = version_page(version, "dataset_reread")
        headers = {"HX-Request": "true"}
        return client_owner.get(address, choices, headers=headers).content.decode()

    assert "disabled" in shown(encoding="cp1250")
    assert "The dataset cannot be saved before" in shown(encoding="cp1250")
    assert "disabled" not in shown()


def test_a_saved_dataset_is_not_given_up(project):
    version = make_version(project, [{"a": 1}])
    assert not uploads.give_up(version)
    version.refresh_from_db()
    assert version.state == State.READY


def test_types_that_did_not_fit_are_said_on_the_page(client_owner, project):
    version = run_import(
        add_file(project, b'price\n"1.001,50"\nfree\n', file_name="prices.csv")
    )
    client_owner.post(version_page(version, "dataset_convert"), {"kind-0": "number"})
    new = run_import(DatasetVersion.objects.order_by("-pk")[0])
    text = text_of(client_owner.get(version_page(new)))
    assert "cannot be read as number and stay as they were: rows 1, 2." in text


def test_recordings_of_messages_come_back_as_models_take_them(client_owner, project):
    data = uri("audio/wav", wav())
    part = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    rows = [{"messages": [{"role": "user", "content": [part]}]}]
    version = make_version(project, rows)
    address = version_page(version, "dataset_download") + "?format=jsonl"
    content = b"".join(client_owner.get(address).streaming_content)
    (message,) = json.loads(content)["messages"]
    sent = message["content"][0]["input_audio"]
    assert sent == {"data": data.partition(",")[2], "format": "wav"}
    copy = run_import(add_file(project, content, name="copy"))
    assert copy.digest == version.digest
    assert Dataset.objects.count() == 2
    assert page(project)
