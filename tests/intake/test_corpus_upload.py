"""Each file of the corpus as a person brings it in: upload, import, the page of it."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from assay.data.media import as_blob
from datasets.models import DatasetVersion, Row
from tests.factories import run_import
from tests.intake.cases import FOLDER, NAMES, reading, upload_name
from tests.intake.expected import FILES

pytestmark = pytest.mark.django_db
FAILED = DatasetVersion.State.FAILED


def without_media(value, stored):
    """`value` with the reference of `stored` where an import takes a medium out."""
    if as_blob(stored) is not None and isinstance(value, str):
        return stored
    if isinstance(value, dict) and isinstance(stored, dict):
        return {key: without_media(v, stored.get(key)) for key, v in value.items()}
    if isinstance(value, list) and isinstance(stored, list):
        pairs = zip(value, stored, strict=True)
        return [without_media(item, kept) for item, kept in pairs]
    return value


def uploaded(client, project, name):
    """The page after the upload, and the version that it made, if any."""
    file = SimpleUploadedFile(upload_name(name), (FOLDER / name).read_bytes())
    address = reverse("dataset_upload", args=[project.slug])
    response = client.post(address, {"file": file, "name": ""}, follow=True)
    return response, DatasetVersion.objects.first()


@pytest.mark.parametrize("name", NAMES)
def test_a_person_brings_the_file_in(name, project, client_editor):
    response, version = uploaded(client_editor, project, name)
    assert response.status_code in (200, 422)
    if version is None:
        assert FILES[name].wrong
        assert b"The file is empty." in response.content
        return
    run_import(version)
    expected = reading(name)
    page = client_editor.get(
        reverse("dataset_version", args=[project.slug, version.dataset.slug, 1])
    )
    assert page.status_code == 200
    if FILES[name].wrong:
        assert version.state == FAILED
        assert not Row.objects.filter(version=version).exists()
        listed = [p["message"] for p in version.import_report["problems"]]
        assert listed == [p.message for p in expected.problems if not p.is_warning]
        assert escape(listed[0]) in page.content.decode()
        return
    assert version.state != FAILED, version.import_report
    stored = [row.values for row in version.rows.order_by("index")]
    assert len(stored) == len(expected.rows) == version.row_count
    assert stored == [
        without_media(value, kept)
        for value, kept in zip(expected.values, stored, strict=True)
    ]
    codes = [note["code"] for note in version.import_report["notes"]]
    assert set(FILES[name].notes) <= set(codes)
