from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from evaluators.models import Evaluator
    from evaluators.pages import OpenDraft
    from workspace.models import Project


class RubricsConfig(AppConfig):
    name = "rubrics"

    def ready(self) -> None:
        from evaluators.pages import Workshop, register

        workshop = Workshop(
            page=page_of,
            drafts=drafts_of,
            actions=[
                (gettext_lazy("Generate rubric"), "rubric_generate"),
                (gettext_lazy("Create rubric"), "rubric_new"),
            ],
        )
        register("rubric", workshop)


def page_of(evaluator: Evaluator, number: int | None = None) -> str:
    """The page of a rubric, or of one of its versions. Needs its project."""
    address = reverse("rubric", args=[evaluator.project.slug, evaluator.ref])
    return f"{address}?v={number}" if number else address


def drafts_of(project: Project) -> list[OpenDraft]:
    """1 query."""
    from evaluators.pages import OpenDraft
    from rubrics.queries import open_drafts

    return [
        OpenDraft(
            draft.document.get("name") or _("Untitled rubric"),
            reverse("rubric_draft", args=[project.slug, draft.ref]),
            str(draft.by),
            draft.updated_at,
        )
        for draft in open_drafts(project)
    ]
