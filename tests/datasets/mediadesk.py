"""An extractor on its own, and what tests of media ask of a version."""

from __future__ import annotations

import base64

from django.urls import reverse

from assay.data.chat import MediaPart
from assay.data.media import as_blob
from blobs import store
from blobs.queries import visible_blob
from datasets.media import Extractor
from tests.factories import png, wav

PICTURE, SOUND = png(60, 40, "#aa3311"), wav(0.4)
B64 = base64.b64encode(PICTURE).decode()
SOUND64 = base64.b64encode(SOUND).decode()
URI = f"data:image/png;base64,{B64}"


def uri(mime, data):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def stored(version):
    return [row.values for row in version.rows.order_by("index")]


def notes(version):
    return [note["message"] for note in version.import_report["notes"]]


def page_of(client, version):
    dataset = version.dataset
    place = [dataset.project.slug, dataset.slug, version.number]
    return client.get(reverse("dataset_version", args=place))


class Desk:
    """An extractor on its own, with what it noted."""

    def __init__(self, project, pin=None):
        self.notes = []
        self.extractor = Extractor(
            put=lambda data: store.put_bytes(data, project=project),
            find=lambda sha: visible_blob(project, sha),
            note=self.notes.append,
            max_bytes=1_000_000,
            pin=pin,
        )

    def take(self, **values):
        return self.extractor.take_out(values, 7)

    @property
    def said(self):
        return [problem.message for problem in self.notes]


def bytes_of(value):
    ref = as_blob(value)
    assert ref is not None, value
    return store.read_bytes(ref.sha256)[0]


def text_of(parts):
    """The text of message parts, media as `<>`."""
    return "".join("<>" if isinstance(p, MediaPart) else p.text for p in parts)
