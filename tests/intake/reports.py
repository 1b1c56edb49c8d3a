"""What tests of bug reports do as a person would: upload, look, map, evaluate."""

from __future__ import annotations

import base64
import csv
import io
import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from datasets import uploads
from datasets.models import DatasetVersion
from evaluations import drafts, runner
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from tests.factories import run_import
from tests.intake.cases import FOLDER
from tests.support.making import make_deployment, make_spec

MEDIA = FOLDER.parent / "media"


def data(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def medium(name: str) -> bytes:
    return (MEDIA / name).read_bytes()


def uri(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(content).decode()}"


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def values(version: DatasetVersion) -> list[dict[str, object]]:
    return [row.values for row in version.rows.order_by("index")]


def notes(version: DatasetVersion) -> list[str]:
    return [note["message"] for note in version.import_report["notes"]]


def problems(version: DatasetVersion) -> list[str]:
    return [problem["message"] for problem in version.import_report["problems"]]


def names(version: DatasetVersion) -> list[str]:
    return [column["name"] for column in version.columns]


class Person:
    """Somebody in front of the pages of `project`."""

    def __init__(self, client, project, user) -> None:
        self.client, self.project, self.user = client, project, user

    def at(self, name: str, *args: object) -> str:
        return reverse(name, args=[self.project.slug, *args])

    def send(self, content: bytes, file_name: str, kind: str = "text/csv", **fields):
        """The answer to an upload."""
        file = SimpleUploadedFile(file_name, content, kind)
        address = fields.pop("address", self.at("dataset_upload"))
        return self.client.post(address, {"file": file, **fields})

    def bring(self, content: bytes, file_name: str, **fields) -> DatasetVersion:
        """Upload and import; what waits for a decision is kept as it is."""
        response = self.send(content, file_name, **fields)
        assert response.status_code == 302, response.content.decode()[:2000]
        version = run_import(DatasetVersion.objects.order_by("-pk")[0])
        if version.state == DatasetVersion.State.REVIEW:
            assert uploads.keep(version)
            version.refresh_from_db()
        return version

    def bring_case(self, name: str, **fields) -> DatasetVersion:
        return self.bring(data(name), name, **fields)

    def bring_rows(self, *rows: object, name: str = "rows.jsonl") -> DatasetVersion:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return self.bring(lines.encode(), name)

    def look(self, version: DatasetVersion, name="dataset_version", *args, **query):
        """The text of a page of `version`, which opens."""
        address = self.at(name, version.dataset.slug, version.number, *args)
        response = self.client.get(address, query)
        assert response.status_code == 200, (address, response.status_code)
        return response.content.decode()

    def download(self, version: DatasetVersion, form: str) -> bytes:
        address = self.at("dataset_download", version.dataset.slug, version.number)
        return body(self.client.get(address, {"format": form}))

    def mapped(self, version, evaluators, llm=None, **mapping):
        """A spec as the wizard makes it; `mapping` overrides what was matched."""
        judge = make_deployment(self.project, llm.url) if llm else None
        spec = make_spec(version, evaluators, judge=judge, name="Reported")
        spec = drafts.remap(spec, look_around(self.project, spec))
        criteria = tuple(
            c.model_copy(update={"mapping": {**c.mapping, **mapping}})
            for c in spec.criteria
        )
        return spec.model_copy(update={"criteria": criteria})

    def evaluate(self, spec):
        """The finished run of `spec`."""
        run = submit_draft(drafts.create(self.project, self.user, spec), by=self.user)
        runner.work(run.pk)
        run.refresh_from_db()
        return run
