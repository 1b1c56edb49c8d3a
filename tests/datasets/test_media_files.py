"""The collected files with media, through the import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.data.chat import MediaPart
from assay.data.media import as_blob
from assay.data.messages import normalise, render
from blobs.links import Fetched, fetch_all
from blobs.models import Blob
from datasets.media import links_in
from datasets.models import DatasetVersion
from tests.datasets.mediadesk import (
    PICTURE,
    URI,
    Desk,
    notes,
    page_of,
    stored,
    text_of,
    uri,
)
from tests.factories import add_file, make_version, run_import

pytestmark = pytest.mark.django_db
FOLDER = Path(__file__).parents[1] / "data" / "cases" / "data"


def imported(project, name):
    version = run_import(
        add_file(project, (FOLDER / name).read_bytes(), file_name=name)
    )
    assert version.state == DatasetVersion.State.READY, version.import_report
    return version


def test_images_with_captions(client_owner, project):
    version = imported(project, "mm_image_caption_foundry.jsonl")
    refs = [as_blob(values["image_url"]) for values in stored(version)]
    kinds = [ref.mime for ref in refs[:4]]
    assert kinds == ["image/png", "image/jpeg", "image/webp", "image/gif"]
    assert stored(version)[4]["image_url"] == "https://media.example.org/path/image.png"
    assert notes(version) == []
    html = page_of(client_owner, version).content.decode()
    assert html.count("data-lightbox") >= 4
    assert "base64" not in html
    assert 'src="https://media.example.org' not in html


def test_recordings_with_expected_words(client_owner, project):
    version = imported(project, "mm_audio_expected_foundry.jsonl")
    refs = [as_blob(values["audio_data"]) for values in stored(version)]
    blobs = [Blob.objects.get(sha256=ref.sha256) for ref in refs]
    assert [blob.mime for blob in blobs] == ["audio/wav", "audio/wav", "audio/mpeg"]
    lengths = [blob.duration for blob in blobs]
    assert lengths == pytest.approx([1.0, 3.3, 4.9], abs=0.05)
    assert notes(version) == []
    assert page_of(client_owner, version).content.decode().count("<audio") >= 3


def test_a_conversation_with_images_and_recordings(project):
    version = imported(project, "mm_chat_image_audio_foundry.jsonl")
    first, second = (
        render(normalise(values["messages"])) for values in stored(version)
    )
    assert [p.ref.kind for p in first if isinstance(p, MediaPart)] == ["image", "audio"]
    assert [p.ref.kind for p in second if isinstance(p, MediaPart)] == [
        "audio",
        "image",
    ]
    assert "[image: https://media.example.org/path/image.png]" in text_of(first)
    assert "[audio: https://media.example.org/path/voice.wav]" in text_of(first)
    assert '[unknown part: unknown_part] {"type":"unknown_part","x":1}' in text_of(
        second
    )
    assert version.columns[0]["kind"] == "chat"


def test_pictures_by_file_name_are_missed_and_never_opened(project):
    version = imported(project, "pf_vision_chat_local_paths.jsonl")
    assert version.row_count == 2
    said = notes(version)
    assert (
        'Line 1: "question" names the file "logo.jpg", which was not uploaded.' in said
    )
    assert Blob.objects.filter(kind="image").count() == 0


def test_bare_base64_in_a_table(project):
    version = imported(project, "promptfoo_images_raw_base64.csv")
    rows = stored(version)
    assert [values["label"] for values in rows] == ["Sandal", "T-shirt/top"]
    for values in rows:
        blob = Blob.objects.get(sha256=as_blob(values["image_base64"]).sha256)
        assert (blob.mime, blob.width, blob.height) == ("image/jpeg", 28, 28)


BROKEN = {
    1: "cannot be decoded",
    2: "is declared as image/png, but its bytes are image/jpeg",
    3: "cannot be decoded",
    4: "cannot be decoded",
    5: "a data URI of type text/html, which is no medium",
    6: "holds a script, which is not run",
    7: "holds a script, which is not run",
    8: "is no web link and no medium",
    12: "too many pixels",
}


def test_broken_images_are_said_row_by_row(client_owner, project):
    version = imported(project, "mm_broken_media.jsonl")
    assert version.row_count == 12
    said = {}
    for note in version.import_report["notes"]:
        said.setdefault(note["line"], []).append(note["message"])
    assert said.keys() == BROKEN.keys()
    for line, words in BROKEN.items():
        assert words in " ".join(said[line])
    rows = stored(version)
    assert (rows[8]["image_url"], rows[9]["image_url"]) == ("", None)
    assert as_blob(rows[10]["image_url"]["url"]).mime == "image/png"
    html = page_of(client_owner, version).content.decode()
    assert "<script>window.__xss" not in html
    assert "base64 length not a multiple of 4" in html


def test_broken_recordings_are_said_row_by_row(project):
    version = imported(project, "mm_audio_broken.jsonl")
    rows = stored(version)
    blobs = [
        Blob.objects.get(sha256=as_blob(values["audio_data"]).sha256) for values in rows
    ]
    said = {note["line"]: note["message"] for note in version.import_report["notes"]}
    assert said.keys() == {1, 2, 3}
    assert "The recording is incomplete" in said[1]
    assert "declared as audio/wav, but its bytes are audio/mpeg" in said[2]
    assert "The recording holds no samples." in said[3]
    assert [blob.is_shown for blob in blobs] == [True, True, False, *[True] * 4]
    assert blobs[3].mime == "audio/wav"
    assert [blob.duration for blob in blobs[3:]] == pytest.approx([1.0, 0.4, 2.0, 1.0])


def test_addresses_that_must_not_be_asked_stay_text(project):
    version = imported(project, "mm_ssrf_urls.jsonl")
    lines = (FOLDER / "mm_ssrf_urls.jsonl").read_text().splitlines()
    assert stored(version) == [json.loads(line) for line in lines]
    said = {note["line"]: note["message"] for note in version.import_report["notes"]}
    silent = set(range(1, 16)) - said.keys()
    assert silent == {13}  # a name that only its resolution betrays
    assert all("The address is not allowed" in said[line] for line in range(1, 8))


def test_addresses_that_must_not_be_asked_are_refused_when_links_are_loaded(project):
    lines = (FOLDER / "mm_ssrf_urls.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    urls = [url for values in rows for url in links_in(values)]
    limits = {"max_bytes": 1000, "seconds": 5, "total_seconds": 10}
    found = fetch_all(urls, private=(), **limits)
    assert not any(isinstance(one, Fetched) for one in found.values())
    desk = Desk(project, found.get)
    assert [desk.take(**values) for values in rows] == rows
    assert len(desk.said) == 15


def test_rows_beside_a_broken_one_are_there(project):
    rows = [
        {"image_url": URI},
        {"image_url": uri("image/png", PICTURE[:90])},
        {"image_url": URI},
    ]
    version = make_version(project, rows)
    assert version.row_count == 3
    assert notes(version) == ['Line 2, "image_url": The picture is incomplete.']
