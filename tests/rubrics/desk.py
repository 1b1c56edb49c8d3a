"""A person at the editor: what a browser would post."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import reverse

from rubrics.documents import Document
from rubrics.models import RubricDraft
from rubrics.samples import restaurant_json
from workspace.models import Project

HTMX = {"HX-Request": "true"}


@dataclass
class Desk:
    """One opened editor page: posts what it shows, with changes."""

    client: Client
    project: Project
    draft: RubricDraft
    page: str = "page1"

    @property
    def url(self) -> str:
        return reverse("rubric_draft", args=[self.project.slug, self.draft.ref])

    @property
    def document(self) -> Document:
        self.draft.refresh_from_db()
        return Document.model_validate(self.draft.document)

    def fields(self, document: Document | None = None) -> dict[str, Any]:
        document = document or self.document
        posted: dict[str, Any] = {
            "revision": self.draft.revision,
            "page": self.page,
            "dimensions": "1",
            "settings": "1",
            "shape": document.shape,
            "key": [d.key for d in document.dimensions],
        }
        for name in (
            "name", "title", "description", "category", "level", "scoring",
            "normalization", "pass_threshold",
        ):  # fmt: skip
            posted[name] = getattr(document, name)
        for name in ("fail_on_any_1", "one_call_per_dimension"):
            if getattr(document, name):
                posted[name] = "on"
        for d in document.dimensions:
            posted[f"id-{d.key}"] = d.id
            posted[f"description-{d.key}"] = d.description
            posted[f"weight-{d.key}"] = d.weight
            posted[f"allowed-{d.key}"] = d.allowed
            if d.always_applicable:
                posted[f"always-{d.key}"] = "on"
        return posted

    def post(self, do: str = "save", *, htmx: bool = False, **changes: Any):
        posted = {**self.fields(), "do": do, **changes}
        posted = {name: value for name, value in posted.items() if value is not None}
        return self.client.post(self.url, posted, headers=HTMX if htmx else {})

    def key(self, position: int) -> str:
        return self.document.dimensions[position].key


def start(client: Client, project: Project, **fields: Any) -> Desk:
    """A draft of the restaurant rubric, made on the page."""
    data = {"start": "json", "name": "booking", "json": restaurant_json(), **fields}
    answer = client.post(reverse("rubric_new", args=[project.slug]), data)
    assert answer.status_code == 302, answer.content.decode()
    ref = re.search(r"/drafts/(\w+)/", answer["Location"])[1]
    return Desk(client, project, RubricDraft.objects.get(ref=ref))


def text_of(answer) -> str:
    return answer.content.decode()
